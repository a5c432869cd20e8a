//! The result archive as a table.

use super::RunFolderError;
use crate::policy::PolicySpec;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rows of equal width, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block<T> {
    /// Values per row.
    pub width: usize,
    /// All values, row by row.
    pub values: Vec<T>,
}

impl<T> Block<T> {
    /// Row `i`.
    pub fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// The result archive: one row per elite.
///
/// ```
/// use autoqd::run_folder::{ArchiveTable, Block};
/// let table = ArchiveTable {
///     cell: vec![4, 9],
///     id: vec![17, 3],
///     iteration: vec![2, 1],
///     objective: vec![10.5, -1.0],
///     measures: Block { width: 2, values: vec![0.0, 0.5, -1.0, 1.0] },
///     parameters: Block { width: 3, values: vec![0.1; 6] },
///     ..ArchiveTable::default()
/// };
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("archive.parquet");
/// table.write_parquet(&path)?;
/// assert_eq!(ArchiveTable::read_parquet(&path)?, table);
/// # Ok::<(), autoqd::run_folder::RunFolderError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArchiveTable {
    /// Cell of the archive.
    pub cell: Vec<u64>,
    /// Number of the candidate, unique within the run.
    pub id: Vec<u64>,
    /// Iteration in which it was found.
    pub iteration: Vec<u64>,
    /// Mean return.
    pub objective: Vec<f64>,
    /// Measures.
    pub measures: Block<f64>,
    /// Further columns by name: return_std, length_mean, the hand-designed measures, ...
    pub statistics: Vec<(String, Vec<f64>)>,
    /// Seed of each episode of the evaluation.
    pub seeds: Block<u64>,
    /// What the descriptor keeps with the elite to describe it again: the embedding psi for AutoQD, the last states for
    /// Aurora, the hand-designed measures for RegularQD; width 0 for descriptors that keep nothing.
    pub features: Block<f64>,
    /// Parameters of the policy.
    pub parameters: Block<f64>,
    /// Facts about the whole table, such as task and method.
    pub metadata: BTreeMap<String, String>,
}

/// A column in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Column<'a> {
    /// Name.
    pub name: String,
    /// Values per row for a column of lists.
    pub width: Option<usize>,
    /// The values.
    pub data: ColumnData<'a>,
}

/// Values of a column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData<'a> {
    /// Whole numbers.
    U64(std::borrow::Cow<'a, [u64]>),
    /// Numbers.
    F64(std::borrow::Cow<'a, [f64]>),
}

impl ColumnData<'_> {
    fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// The values as little-endian bytes, in pieces.
    pub fn chunks(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
        match self {
            Self::U64(values) => {
                Box::new(values.chunks(CHUNK).map(|c| concat(c.iter().map(|v| v.to_le_bytes()))))
            }
            Self::F64(values) => {
                Box::new(values.chunks(CHUNK).map(|c| concat(c.iter().map(|v| v.to_le_bytes()))))
            }
        }
    }
}

/// Values encoded at once.
const CHUNK: usize = 4096;

/// The bytes of several numbers in one piece.
pub(super) fn concat<const N: usize>(numbers: impl ExactSizeIterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * numbers.len());
    numbers.for_each(|number| bytes.extend_from_slice(&number));
    bytes
}

/// Key of the shape of the policies in the metadata.
pub(super) const POLICY: &str = "policy";
pub(super) const MEASURES_PREFIX: &str = "measures_";
const LISTS: [&str; 3] = ["seeds", FEATURES, "parameters"];
const FEATURES: &str = "features";
/// What the column of features was called in format version 1. It is part of the digest, by which archives of all
/// versions can be compared.
const FEATURES_BEFORE: &str = "embedding";

impl ArchiveTable {
    /// Number of elites.
    pub fn len(&self) -> usize {
        self.cell.len()
    }

    /// Whether there is no elite.
    pub fn is_empty(&self) -> bool {
        self.cell.is_empty()
    }

    /// The given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|row| values[*row].clone()).collect()
        }
        fn block<T: Clone>(block: &Block<T>, rows: &[usize]) -> Block<T> {
            Block {
                width: block.width,
                values: rows.iter().flat_map(|row| block.row(*row).to_vec()).collect(),
            }
        }
        let statistics = self.statistics.iter().map(|(name, values)| (name.clone(), pick(values, rows)));
        Self {
            cell: pick(&self.cell, rows),
            id: pick(&self.id, rows),
            iteration: pick(&self.iteration, rows),
            objective: pick(&self.objective, rows),
            measures: block(&self.measures, rows),
            statistics: statistics.collect(),
            seeds: block(&self.seeds, rows),
            features: block(&self.features, rows),
            parameters: block(&self.parameters, rows),
            metadata: self.metadata.clone(),
        }
    }

    /// The row of the elite with this id.
    pub fn row_of(&self, id: u64) -> Option<usize> {
        self.id.iter().position(|other| *other == id)
    }

    /// A statistic by name.
    pub fn statistic(&self, name: &str) -> Option<&[f64]> {
        self.statistics.iter().find(|(n, _)| n == name).map(|(_, values)| values.as_slice())
    }

    /// The shape of the policies; nothing in tables that were written before shapes were stored.
    pub fn policy(&self) -> Result<Option<PolicySpec>, crate::Error> {
        self.policy_text().map(PolicySpec::from_json).transpose()
    }

    /// The stored text of the shape.
    pub fn policy_text(&self) -> Option<&str> {
        self.metadata.get(POLICY).map(String::as_str)
    }

    /// Says what shape the policies have.
    pub fn set_policy(&mut self, spec: &PolicySpec) {
        self.metadata.insert(POLICY.to_owned(), spec.to_json().to_string());
    }

    /// Reads the result archive of a run.
    pub fn read(run: &Path) -> Result<Self, RunFolderError> {
        Self::read_parquet(&run.join(super::ARCHIVE_FILE))
    }

    /// All columns in the order of the file; lists of width 0 are left out, and all lists of an empty table.
    pub fn columns(&self) -> Vec<Column<'_>> {
        let number = |name: &str, values| Column {
            name: name.to_owned(),
            width: None,
            data: ColumnData::F64(std::borrow::Cow::Borrowed(values)),
        };
        let mut columns: Vec<Column<'_>> =
            [("cell", &self.cell), ("id", &self.id), ("iteration", &self.iteration)]
                .into_iter()
                .map(|(name, values)| Column {
                    name: name.to_owned(),
                    width: None,
                    data: ColumnData::U64(values.as_slice().into()),
                })
                .collect();
        columns.push(number("objective", self.objective.as_slice()));
        let width = self.measures.width;
        columns.extend((0..width).map(|j| Column {
            name: format!("{MEASURES_PREFIX}{j}"),
            width: None,
            data: ColumnData::F64(self.measures.values.iter().skip(j).step_by(width).copied().collect()),
        }));
        columns.extend(self.statistics.iter().map(|(name, values)| number(name, values.as_slice())));
        columns.extend(self.lists());
        columns
    }

    fn lists(&self) -> impl Iterator<Item = Column<'_>> {
        fn floats(block: &Block<f64>) -> (usize, ColumnData<'_>) {
            (block.width, ColumnData::F64(block.values.as_slice().into()))
        }
        let seeds = (self.seeds.width, ColumnData::U64(self.seeds.values.as_slice().into()));
        let lists = [seeds, floats(&self.features), floats(&self.parameters)];
        // An empty list column could not tell its width when it is read, so an empty table has none.
        let any = !self.is_empty();
        let named = LISTS.into_iter().zip(lists).filter(move |(_, (width, _))| any && *width > 0);
        named.map(|(name, (width, data))| Column { name: name.to_owned(), width: Some(width), data })
    }

    /// Checks that the columns fit together and hold only what may be stored.
    pub fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for column in self.columns() {
            let expected = self.len() * column.width.unwrap_or(1);
            if column.data.len() != expected {
                return Err(format!(
                    "column '{}' has {} values, not {expected}",
                    column.name,
                    column.data.len()
                ));
            }
            if column.name.is_empty() || !names.insert(column.name.clone()) {
                return Err(format!("there are two columns named '{}'", column.name));
            }
        }
        let blocks = [&self.measures, &self.features, &self.parameters];
        if self.measures.values.len() != self.len() * self.measures.width {
            return Err("the measures do not have one row per elite".to_owned());
        }
        let finite =
            self.objective.iter().chain(blocks.iter().flat_map(|b| &b.values)).all(|v| v.is_finite());
        if finite { Ok(()) } else { Err("an elite has a number that is not finite".to_owned()) }
    }

    /// Checksum of the content, in hexadecimal: the same for the same elites, however the file is encoded.
    ///
    /// The shape of the policies is left out, so that an old run that is resumed has the digest it always had.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let text = |hasher: &mut blake3::Hasher, text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        for (key, value) in self.metadata.iter().filter(|(key, _)| *key != POLICY) {
            text(&mut hasher, key);
            text(&mut hasher, value);
        }
        for column in self.columns() {
            text(&mut hasher, if column.name == FEATURES { FEATURES_BEFORE } else { &column.name });
            hasher.update(&(column.width.unwrap_or(0) as u64).to_le_bytes());
            hasher.update(&[matches!(column.data, ColumnData::F64(_)) as u8]);
            column.data.chunks().for_each(|bytes| {
                hasher.update(&bytes);
            });
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Whether a column has a place here. Columns of later versions may not; plain numbers always have.
    pub(super) fn keeps(name: &str, list: bool, floats: bool) -> bool {
        let known = ["cell", "id", "iteration", FEATURES_BEFORE].contains(&name) || LISTS.contains(&name);
        known || (!list && floats)
    }

    /// Puts a column that was read into its place.
    pub(super) fn insert(&mut self, column: Column<'static>) -> Result<(), String> {
        let Column { name, width, data } = column;
        match (name.as_str(), width, data) {
            ("cell", None, ColumnData::U64(v)) => self.cell = v.into_owned(),
            ("id", None, ColumnData::U64(v)) => self.id = v.into_owned(),
            ("iteration", None, ColumnData::U64(v)) => self.iteration = v.into_owned(),
            ("objective", None, ColumnData::F64(v)) => self.objective = v.into_owned(),
            ("seeds", Some(width), ColumnData::U64(v)) => {
                self.seeds = Block { width, values: v.into_owned() }
            }
            (FEATURES | FEATURES_BEFORE, Some(width), ColumnData::F64(v)) => {
                self.features = Block { width, values: v.into_owned() }
            }
            ("parameters", Some(width), ColumnData::F64(v)) => {
                self.parameters = Block { width, values: v.into_owned() };
            }
            (_, None, ColumnData::F64(v)) => self.statistics.push((name, v.into_owned())),
            _ => return Err(format!("column '{name}' has an unexpected type")),
        }
        Ok(())
    }
}
