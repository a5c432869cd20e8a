//! The archive as comma-separated values.

use crate::run_folder::{ArchiveTable, Column, ColumnData, FillError, RunFolderError, write_atomic};
use std::io::Write;
use std::path::Path;

pub(super) fn write(table: &ArchiveTable, path: &Path) -> Result<(), RunFolderError> {
    let columns = table.columns();
    write_atomic(path, |file| {
        let names: Vec<String> = columns.iter().flat_map(header).collect();
        writeln!(file, "{}", names.join(","))?;
        let mut line = String::new();
        for row in 0..table.len() {
            line.clear();
            columns.iter().try_for_each(|column| write_cells(&mut line, column, row))?;
            line.pop();
            writeln!(file, "{line}")?;
        }
        Ok(())
    })
}

/// Name of a column, or of each of its parts.
fn header(column: &Column<'_>) -> Vec<String> {
    match column.width {
        None => vec![csv_field(&column.name)],
        Some(width) => (0..width).map(|i| format!("{}_{i}", column.name)).collect(),
    }
}

/// A text as one field of a CSV file: quoted where it holds a separator, a quote or a line break.
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Numbers are written with as many digits as it takes to read back the same bits; NaN as an empty cell.
fn write_cells(line: &mut String, column: &Column<'_>, row: usize) -> Result<(), FillError> {
    use std::fmt::Write;
    let width = column.width.unwrap_or(1);
    let range = row * width..(row + 1) * width;
    match &column.data {
        ColumnData::U64(values) => values[range].iter().try_for_each(|v| write!(line, "{v},"))?,
        ColumnData::F64(values) => values[range].iter().try_for_each(|v| match v.is_nan() {
            true => write!(line, ","),
            false => write!(line, "{v:?},"),
        })?,
    }
    Ok(())
}
