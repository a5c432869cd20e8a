//! Log files of comma-separated values, one row per iteration.

use super::columns::Row;
use super::{RunFolderError, write_atomic};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// An open log file.
#[derive(Debug)]
pub(super) struct CsvLog<R> {
    file: File,
    path: PathBuf,
    row: PhantomData<R>,
}

impl<R: Row> CsvLog<R> {
    /// Opens the file, cut back to the rows up to `iteration`; makes it when it is missing.
    pub(super) fn open(path: &Path, iteration: u64) -> Result<Self, RunFolderError> {
        let refused = |e| RunFolderError::io("write", path, e);
        if !path.try_exists().map_err(refused)? {
            write_atomic(path, |file| Ok(writeln!(file, "{}", header::<R>())?))?;
        }
        let keep = kept_bytes::<R>(path, iteration)?;
        let mut file = OpenOptions::new().write(true).open(path).map_err(refused)?;
        file.set_len(keep).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        Ok(Self { file, path: path.to_owned(), row: PhantomData })
    }

    /// Adds a row. One write, so that a reader never sees half of it.
    pub(super) fn append(&mut self, row: &R) -> Result<(), RunFolderError> {
        let line = row.cells().join(",") + "\n";
        self.file.write_all(line.as_bytes()).map_err(|e| RunFolderError::io("write", &self.path, e))
    }

    /// Makes everything written survive a loss of power.
    pub(super) fn sync(&self) -> Result<(), RunFolderError> {
        self.file.sync_data().map_err(|e| RunFolderError::io("write", &self.path, e))
    }
}

fn header<R: Row>() -> String {
    R::COLUMNS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// Length of the header and of the whole rows up to `iteration`.
fn kept_bytes<R: Row>(path: &Path, iteration: u64) -> Result<u64, RunFolderError> {
    let refused = |e| RunFolderError::io("read", path, e);
    let mut reader = BufReader::new(File::open(path).map_err(refused)?);
    let mut line = Vec::new();
    let mut keep = reader.read_until(b'\n', &mut line).map_err(refused)? as u64;
    if line.strip_suffix(b"\n") != Some(header::<R>().as_bytes()) {
        return Err(RunFolderError::damaged(
            path,
            "its first line does not name the columns of this version",
        ));
    }
    loop {
        line.clear();
        reader.read_until(b'\n', &mut line).map_err(refused)?;
        let row = line.strip_suffix(b"\n").and_then(|l| R::parse(std::str::from_utf8(l).ok()?));
        match row {
            Some(row) if row.iteration() <= iteration => keep += line.len() as u64,
            _ => return Ok(keep),
        }
    }
}

/// The last whole row, without reading the rest of the file.
pub(super) fn last_row<R: Row>(path: &Path) -> Result<Option<R>, RunFolderError> {
    const TAIL: u64 = 4096;
    let refused = |e| RunFolderError::io("read", path, e);
    let mut file = File::open(path).map_err(refused)?;
    let len = file.seek(SeekFrom::End(0)).map_err(refused)?;
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL))).map_err(refused)?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).map_err(refused)?;
    let whole = tail.iter().rposition(|b| *b == b'\n').map_or(&tail[..0], |end| &tail[..end]);
    let line = whole.rsplit(|b| *b == b'\n').next().and_then(|l| std::str::from_utf8(l).ok());
    Ok(line.and_then(R::parse))
}

/// All rows of a log file.
pub(super) fn read_rows<R: Row>(path: &Path) -> Result<Vec<R>, RunFolderError> {
    let text = std::fs::read_to_string(path).map_err(|e| RunFolderError::io("read", path, e))?;
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some(header::<R>().as_str()) {
        return Err(RunFolderError::damaged(
            path,
            "its first line does not name the columns of this version",
        ));
    }
    // A run still going may be in the middle of its last line.
    let whole = lines.filter_map(|l| l.strip_suffix('\n'));
    whole
        .map(|line| {
            R::parse(line).ok_or_else(|| RunFolderError::damaged(path, format!("cannot read row '{line}'")))
        })
        .collect()
}
