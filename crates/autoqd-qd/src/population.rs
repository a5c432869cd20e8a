//! Owned elites as a structure of arrays: what archives store and a reserve holds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::error::{Error, Result, check_len};
use crate::rows::Rows;
use crate::schema::Schema;

/// One stored candidate, borrowed from a [`Population`].
#[derive(Debug, Clone, Copy)]
pub struct Elite<'a> {
    /// Identity given at insertion.
    pub id: u64,
    /// Parameters.
    pub solution: &'a [f64],
    /// Objective.
    pub objective: f64,
    /// Measures.
    pub measures: &'a [f64],
    /// All extra fields in the schema's order.
    pub fields: &'a [f64],
    schema: &'a Schema,
}

impl<'a> Elite<'a> {
    /// One extra field by name.
    ///
    /// # Errors
    /// When the schema does not declare it.
    pub fn field(&self, name: &str) -> Result<&'a [f64]> {
        Ok(&self.fields[self.schema.field_range(name)?])
    }
}

/// Elites in a fixed order.
///
/// ```
/// use autoqd_qd::{Batch, Population, Rows, Schema};
/// let mut population = Population::new(Schema::new(2, 1)?);
/// let batch = Batch::new(Rows::new(&[1.0, 2.0], 2)?, &[7.0], Rows::new(&[0.5], 1)?);
/// population.extend_from_batch(&batch.with_ids(&[3]))?;
/// assert_eq!(population.get(0).unwrap().objective, 7.0);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Population {
    schema: Schema,
    ids: Vec<u64>,
    solutions: Vec<f64>,
    objectives: Vec<f64>,
    measures: Vec<f64>,
    fields: Vec<f64>,
}

impl Population {
    /// No elites yet.
    pub fn new(schema: Schema) -> Self {
        let (ids, solutions, objectives) = (Vec::new(), Vec::new(), Vec::new());
        Self { schema, ids, solutions, objectives, measures: Vec::new(), fields: Vec::new() }
    }

    /// The shape of the elites.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Number of elites.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Identities.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Parameters, one row per elite.
    pub fn solutions(&self) -> Rows<'_> {
        Rows::trusted(&self.solutions, self.schema.solution_dim())
    }

    /// Objectives.
    pub fn objectives(&self) -> &[f64] {
        &self.objectives
    }

    /// Measures, one row per elite.
    pub fn measures(&self) -> Rows<'_> {
        Rows::trusted(&self.measures, self.schema.measure_dim())
    }

    /// All extra fields, one row per elite (no rows when none are declared).
    pub fn fields(&self) -> Rows<'_> {
        Rows::trusted(&self.fields, self.schema.fields_width())
    }

    /// One elite.
    pub fn get(&self, index: usize) -> Option<Elite<'_>> {
        (index < self.len()).then(|| Elite {
            id: self.ids[index],
            solution: self.solutions().row(index),
            objective: self.objectives[index],
            measures: self.measures().row(index),
            fields: row(&self.fields, self.schema.fields_width(), index),
            schema: &self.schema,
        })
    }

    /// Elite after elite.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Elite<'_>> {
        (0..self.len()).map(|i| self.get(i).expect("the index is below len()"))
    }

    /// Everything as one batch, ready to be added to an archive.
    pub fn as_batch(&self) -> Batch<'_> {
        let batch = Batch::new(self.solutions(), &self.objectives, self.measures()).with_ids(&self.ids);
        if self.schema.fields().is_empty() { batch } else { batch.with_fields(self.fields()) }
    }

    /// Appends a copy of every row of a batch that carries identities.
    ///
    /// # Errors
    /// When the batch does not fit the schema or has no identities.
    pub fn extend_from_batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        batch.check(&self.schema)?;
        let ids = batch.ids.ok_or(Error::Unsupported {
            what: "a batch without identities",
            by: "Population",
            remedy: "give them with Batch::with_ids",
        })?;
        self.ids.extend_from_slice(ids);
        self.solutions.extend_from_slice(batch.solutions.as_slice());
        self.objectives.extend_from_slice(batch.objective);
        self.measures.extend_from_slice(batch.measures.as_slice());
        self.fields.extend_from_slice(batch.fields.map_or(&[], |f| f.as_slice()));
        Ok(())
    }

    /// Appends the elites of another population whose identity is not here yet, in their order.
    ///
    /// # Errors
    /// When the schemas differ.
    pub fn extend_unique(&mut self, other: &Population) -> Result<()> {
        self.check_schema(other)?;
        let mut seen: BTreeSet<u64> = self.ids.iter().copied().collect();
        for elite in other.iter().filter(|e| seen.insert(e.id)) {
            self.push(elite);
        }
        Ok(())
    }

    /// Appends the elites `indices` of another population.
    ///
    /// # Errors
    /// When the schemas differ.
    ///
    /// # Panics
    /// When an index is out of range, as slices do.
    pub fn extend_selected(&mut self, other: &Population, indices: &[usize]) -> Result<()> {
        self.check_schema(other)?;
        for &i in indices {
            self.push(other.get(i).expect("the caller's indices are in range"));
        }
        Ok(())
    }

    /// Replaces the measures of all elites.
    ///
    /// # Errors
    /// When the shape does not fit.
    pub fn set_measures(&mut self, measures: &[f64]) -> Result<()> {
        let expected = self.len() * self.schema.measure_dim();
        check_len("numbers in the new measures", expected, measures.len(), "give one row per elite")?;
        self.measures.copy_from_slice(measures);
        Ok(())
    }

    /// Removes all elites.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.solutions.clear();
        self.objectives.clear();
        self.measures.clear();
        self.fields.clear();
    }

    /// Keeps the elites for which `keep` is true, in their order.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let schema = &self.schema;
        retain_rows(&mut self.ids, 1, keep);
        retain_rows(&mut self.solutions, schema.solution_dim(), keep);
        retain_rows(&mut self.objectives, 1, keep);
        retain_rows(&mut self.measures, schema.measure_dim(), keep);
        retain_rows(&mut self.fields, schema.fields_width(), keep);
    }

    pub(crate) fn push(&mut self, elite: Elite<'_>) {
        self.ids.push(elite.id);
        self.solutions.extend_from_slice(elite.solution);
        self.objectives.push(elite.objective);
        self.measures.extend_from_slice(elite.measures);
        self.fields.extend_from_slice(elite.fields);
    }

    /// Appends one row of a batch that fits the schema.
    pub(crate) fn push_row(&mut self, batch: &Batch<'_>, row: usize, id: u64) {
        self.ids.push(id);
        self.solutions.extend_from_slice(batch.solutions.row(row));
        self.objectives.push(batch.objective[row]);
        self.measures.extend_from_slice(batch.measures.row(row));
        self.fields.extend_from_slice(batch.fields_row(row));
    }

    /// Overwrites one elite with a row of a batch that fits the schema.
    pub(crate) fn replace_row(&mut self, index: usize, batch: &Batch<'_>, row: usize, id: u64) {
        let schema = &self.schema;
        self.ids[index] = id;
        self.objectives[index] = batch.objective[row];
        row_mut(&mut self.solutions, schema.solution_dim(), index).copy_from_slice(batch.solutions.row(row));
        row_mut(&mut self.measures, schema.measure_dim(), index).copy_from_slice(batch.measures.row(row));
        row_mut(&mut self.fields, schema.fields_width(), index).copy_from_slice(batch.fields_row(row));
    }

    fn check_schema(&self, other: &Population) -> Result<()> {
        crate::error::check_parameter(
            self.schema == other.schema,
            "schema",
            &other.schema,
            "both populations must declare the same sizes and fields",
        )
    }
}

fn row(data: &[f64], width: usize, index: usize) -> &[f64] {
    &data[index * width..(index + 1) * width]
}

fn row_mut(data: &mut [f64], width: usize, index: usize) -> &mut [f64] {
    &mut data[index * width..(index + 1) * width]
}

fn retain_rows<T: Copy>(data: &mut Vec<T>, width: usize, keep: &[bool]) {
    let mut kept = 0;
    for (i, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
        data.copy_within(i * width..(i + 1) * width, kept * width);
        kept += 1;
    }
    data.truncate(kept * width);
}
