//! Evaluated candidates on their way into an archive.

use crate::error::{Error, Result, check_len};
use crate::rows::{Rows, all_finite};
use crate::schema::Schema;

/// An objective beyond this magnitude counts as non-finite, so that sums over an archive stay finite.
pub const OBJECTIVE_LIMIT: f64 = 1e300;

/// Candidates with their evaluation, one per row. Nothing is copied.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Parameters.
    pub solutions: Rows<'a>,
    /// Objectives; larger is better.
    pub objective: &'a [f64],
    /// Measures.
    pub measures: Rows<'a>,
    /// Extra fields in the schema's order, or `None` when the schema declares none.
    pub fields: Option<Rows<'a>>,
    /// Identities; without them the archive counts its candidates.
    pub ids: Option<&'a [u64]>,
}

impl<'a> Batch<'a> {
    /// A batch without extra fields and identities.
    pub fn new(solutions: Rows<'a>, objective: &'a [f64], measures: Rows<'a>) -> Self {
        Self { solutions, objective, measures, fields: None, ids: None }
    }

    /// Adds the extra fields.
    pub fn with_fields(mut self, fields: Rows<'a>) -> Self {
        self.fields = Some(fields);
        self
    }

    /// Adds the identities.
    pub fn with_ids(mut self, ids: &'a [u64]) -> Self {
        self.ids = Some(ids);
        self
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.objective.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.objective.is_empty()
    }

    /// The candidate of one row as a batch of its own.
    ///
    /// # Panics
    /// When `row` is out of range, as slices do.
    pub fn single(&self, row: usize) -> Batch<'a> {
        Batch {
            solutions: self.solutions.slice(row..row + 1),
            objective: &self.objective[row..row + 1],
            measures: self.measures.slice(row..row + 1),
            fields: self.fields.map(|f| f.slice(row..row + 1)),
            ids: self.ids.map(|ids| &ids[row..row + 1]),
        }
    }

    /// The extra fields of one row; empty when there are none.
    pub(crate) fn fields_row(&self, row: usize) -> &'a [f64] {
        self.fields.map_or(&[], |f| f.row(row))
    }

    /// Checks all sizes against a schema.
    ///
    /// # Errors
    /// Names the first part that does not fit.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let n = self.len();
        let per_row = "give one row per objective";
        let dims = "use the sizes of the archive's schema";
        if n > 0 {
            check_len("width of the solutions", schema.solution_dim(), self.solutions.width(), dims)?;
            check_len("width of the measures", schema.measure_dim(), self.measures.width(), dims)?;
        }
        check_len("rows of the solutions", n, self.solutions.len(), per_row)?;
        check_len("rows of the measures", n, self.measures.len(), per_row)?;
        let width = self.fields.map_or(0, |f| f.width());
        if n > 0 {
            check_len("width of the extra fields", schema.fields_width(), width, dims)?;
        }
        if let Some(fields) = self.fields.filter(|f| f.width() > 0) {
            check_len("rows of the extra fields", n, fields.len(), per_row)?;
        }
        self.ids.map_or(Ok(()), |ids| check_len("ids of the batch", n, ids.len(), per_row))
    }

    /// Which number of the evaluation of this row is unusable, if any.
    pub(crate) fn defect(&self, row: usize) -> Option<&'static str> {
        let objective = self.objective[row].abs();
        if objective.is_nan() || objective > OBJECTIVE_LIMIT {
            Some("objective")
        } else if !all_finite(self.measures.row(row)) {
            Some("measures")
        } else if !all_finite(self.fields_row(row)) {
            Some("extra fields")
        } else {
            None
        }
    }

    /// Strict mode: the whole batch is rejected when one row has a defect.
    pub(crate) fn check_all_finite(&self) -> Result<()> {
        for row in 0..self.len() {
            let solution = all_finite(self.solutions.row(row));
            if let Some(what) = self.defect(row).or((!solution).then_some("solution")) {
                let remedy = "repair the evaluation, or switch strict mode off to drop such rows";
                return Err(Error::NonFinite { what, row, remedy });
            }
        }
        Ok(())
    }
}
