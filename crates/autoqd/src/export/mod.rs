//! The result archive in the formats other tools read.

mod csv;
mod npz;
mod policy_onnx;

pub use csv::csv_field;
pub use policy_onnx::policy_to_onnx;

use crate::run_folder::{ArchiveTable, ColumnData, RunFolderError, Tensor, TensorFile};
use std::path::Path;

/// A file format for the archive table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Columns with types; what pandas, polars and DuckDB read.
    Parquet,
    /// Text; lists are spread over several columns. Nothing but the columns: no metadata.
    Csv,
    /// numpy arrays, one per column, and the metadata as JSON in a text.
    Npz,
    /// Tensors, one per column; what PyTorch and JAX read.
    Safetensors,
}

impl TableFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Parquet, Self::Csv, Self::Npz, Self::Safetensors];

    /// The name, which is also the ending of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Npz => "npz",
            Self::Safetensors => "safetensors",
        }
    }

    /// The format that a file name asks for by its ending.
    pub fn of_path(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.parse().ok()
    }
}

impl std::fmt::Display for TableFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for TableFormat {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|f| f.as_str() == word);
        found.ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

/// Writes the archive table in a format; the same table gives the same bytes.
///
/// ```
/// use autoqd::export::{TableFormat, write_table};
/// use autoqd::run_folder::ArchiveTable;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("archive.csv");
/// write_table(&ArchiveTable::default(), TableFormat::of_path(&path).unwrap(), &path)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "cell,id,iteration,objective\n");
/// # Ok::<(), autoqd::run_folder::RunFolderError>(())
/// ```
pub fn write_table(table: &ArchiveTable, format: TableFormat, path: &Path) -> Result<(), RunFolderError> {
    table.check().map_err(|reason| RunFolderError::encode(path, reason))?;
    match format {
        TableFormat::Parquet => table.write_parquet(path),
        TableFormat::Csv => csv::write(table, path),
        TableFormat::Npz => npz::write(table, path),
        TableFormat::Safetensors => to_tensors(table).write(path),
    }
}

/// One tensor per column, with the table's metadata.
fn to_tensors(table: &ArchiveTable) -> TensorFile {
    let tensors = table.columns().into_iter().map(|column| {
        let mut shape = vec![table.len()];
        shape.extend(column.width);
        match &column.data {
            ColumnData::U64(values) => Tensor::u64(&column.name, &shape, values),
            ColumnData::F64(values) => Tensor::f64(&column.name, &shape, values),
        }
    });
    let metadata = table.metadata.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect();
    TensorFile { tensors: tensors.collect(), metadata }
}
