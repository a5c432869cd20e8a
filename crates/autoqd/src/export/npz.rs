//! The archive as numpy arrays: a zip file with one `.npy` per column, and one text, `metadata`, which says in JSON what
//! the columns cannot, such as the shape of the policies.

use crate::run_folder::{ArchiveTable, ColumnData, RunFolderError, write_atomic};
use std::io::Write;
use std::path::Path;
use zip::write::{SimpleFileOptions, ZipWriter};

pub(super) fn write(table: &ArchiveTable, path: &Path) -> Result<(), RunFolderError> {
    // Stored like numpy.savez does; the date is left at the format's first day, so that the bytes do not change.
    let options =
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
    write_atomic(path, |file| {
        let mut zip = ZipWriter::new(file);
        for column in table.columns() {
            let kind = match column.data {
                ColumnData::U64(_) => "<u8",
                ColumnData::F64(_) => "<f8",
            };
            zip.start_file(format!("{}.npy", column.name), options)?;
            let shape = match column.width {
                None => format!("({},)", table.len()),
                Some(width) => format!("({}, {width})", table.len()),
            };
            zip.write_all(&header(kind, &shape))?;
            column.data.chunks().try_for_each(|bytes| zip.write_all(&bytes))?;
        }
        zip.start_file("metadata.npy", options)?;
        zip.write_all(&text(&serde_json::to_string(&table.metadata)?))?;
        zip.finish()?;
        Ok(())
    })
}

/// Header of a `.npy` file, version 1.0: a Python dictionary padded so that the data start at a multiple of 64.
fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    const PREAMBLE: usize = 10;
    while !(PREAMBLE + dictionary.len() + 1).is_multiple_of(64) {
        dictionary.push(' ');
    }
    dictionary.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes
}

/// A `.npy` file with one text, which numpy keeps as UTF-32.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = header(&format!("<U{}", text.chars().count()), "()");
    bytes.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
    bytes
}
