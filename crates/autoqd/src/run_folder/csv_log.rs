//! Log files of comma-separated values, in order of iterations.
//!
//! Columns are known by their names. One that a file lacks is empty; one that this program does not know stays as it is
//! when a log is cut back or continued. A file that lacks columns is rewritten with them once, when it is continued.

use super::columns::Row;
use super::{RunFolderError, write_atomic};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// An open log file.
#[derive(Debug)]
pub(super) struct CsvLog<R> {
    file: File,
    path: PathBuf,
    /// For each column of the file its place in a row; none for columns that only other versions know.
    order: Vec<Option<usize>>,
    row: PhantomData<R>,
}

impl<R: Row> CsvLog<R> {
    /// Opens the file, cut back to the rows up to `iteration`; makes it when it is missing.
    pub(super) fn open(path: &Path, iteration: u64) -> Result<Self, RunFolderError> {
        let refused = |e| RunFolderError::io("write", path, e);
        if !path.try_exists().map_err(refused)? {
            write_atomic(path, |file| Ok(writeln!(file, "{}", own_columns::<R>().join(","))?))?;
        }
        let bytes = read_bytes(path)?;
        let mut columns = Columns::of::<R>(path, &bytes)?;
        let mut keep = kept_bytes::<R>(path, &bytes, &columns, iteration)?;
        if columns.places.contains(&None) {
            let text = with_new_columns::<R>(&bytes[..keep], &columns);
            write_atomic(path, |file| Ok(file.write_all(&text)?))?;
            (columns, keep) = (Columns::of::<R>(path, &text)?, text.len());
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(refused)?;
        file.set_len(keep as u64).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        let place = |name: &String| R::COLUMNS.iter().position(|(own, _)| own == name);
        let order = columns.names.iter().map(place).collect();
        Ok(Self { file, path: path.to_owned(), order, row: PhantomData })
    }

    /// Adds a row. One write, so that a reader never sees half of it.
    pub(super) fn append(&mut self, row: &R) -> Result<(), RunFolderError> {
        let cells = row.cells();
        let line: Vec<&str> = self.order.iter().map(|own| own.map_or("", |own| &cells[own])).collect();
        let line = line.join(",") + "\n";
        self.file.write_all(line.as_bytes()).map_err(|e| RunFolderError::io("write", &self.path, e))
    }

    /// Flushes everything to disk, to survive a loss of power.
    pub(super) fn sync(&self) -> Result<(), RunFolderError> {
        self.file.sync_data().map_err(|e| RunFolderError::io("write", &self.path, e))
    }
}

fn own_columns<R: Row>() -> Vec<&'static str> {
    R::COLUMNS.iter().map(|(name, _)| *name).collect()
}

/// The columns of a file.
struct Columns {
    names: Vec<String>,
    /// For each column of a row its place in the file.
    places: Vec<Option<usize>>,
}

impl Columns {
    /// From the first line of a file.
    fn of<R: Row>(path: &Path, bytes: &[u8]) -> Result<Self, RunFolderError> {
        let header = bytes.split_inclusive(|b| *b == b'\n').next().and_then(|line| line.strip_suffix(b"\n"));
        let header = header.and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let twice = |(i, name): (usize, &String)| names[..i].contains(name);
        let place = |own: &str| names.iter().position(|name| name == own);
        let places: Vec<Option<usize>> = own_columns::<R>().into_iter().map(place).collect();
        // Without its iteration a row is meaningless.
        if places[0].is_none() || names.iter().enumerate().any(twice) {
            let reason = "its first line does not name columns; restore the file from a copy, or move it away \
                          and resume: the archive and the checkpoint do not depend on it";
            return Err(RunFolderError::damaged(path, reason));
        }
        Ok(Self { names, places })
    }

    /// A row, which must have a cell for every column of the file.
    fn row<R: Row>(&self, line: &[u8]) -> Option<R> {
        let cells: Vec<&str> = std::str::from_utf8(line).ok()?.split(',').collect();
        if cells.len() != self.names.len() {
            return None;
        }
        let own: Vec<Option<&str>> = self.places.iter().map(|place| place.map(|at| cells[at])).collect();
        R::read(&own)
    }
}

/// The complete lines after the header, with their numbers as an editor shows them.
fn complete_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split_inclusive(|b| *b == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    (1..).zip(lines).skip(1)
}

/// Length of the header and of the rows up to `iteration`.
///
/// They were on disk before the checkpoint was, so each must be readable. After them comes what a killed process wrote
/// later, which will be computed again.
fn kept_bytes<R: Row>(
    path: &Path,
    bytes: &[u8],
    columns: &Columns,
    iteration: u64,
) -> Result<usize, RunFolderError> {
    let mut keep = bytes.iter().position(|b| *b == b'\n').map_or(0, |end| end + 1);
    let mut latest = 0;
    let mut later = None;
    for (number, line) in complete_lines(bytes) {
        match (columns.row::<R>(line).map(|row| row.iteration()), later) {
            (Some(row), None) if row > iteration => later = Some((number, line)),
            (Some(row), None) if row >= latest => (latest, keep) = (row, keep + line.len() + 1),
            (Some(row), Some((number, line))) if row <= iteration => {
                return Err(bad_line(path, number, line));
            }
            (None, None) if latest < iteration => return Err(bad_line(path, number, line)),
            (Some(_), None) => return Err(bad_line(path, number, line)),
            _ => {}
        }
    }
    Ok(keep)
}

fn bad_line(path: &Path, number: usize, line: &[u8]) -> RunFolderError {
    let shown: String = String::from_utf8_lossy(line).chars().take(80).collect();
    let reason = format!(
        "line {number} cannot be read or is out of order ('{shown}'); restore the file from a copy, or delete this \
         line: the archive and the checkpoint do not depend on it"
    );
    RunFolderError::damaged(path, reason)
}

/// The same rows under a header with the columns that the file lacks at its end, their cells empty.
fn with_new_columns<R: Row>(bytes: &[u8], columns: &Columns) -> Vec<u8> {
    let missing = own_columns::<R>().into_iter().zip(&columns.places).filter(|(_, place)| place.is_none());
    let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
    let header = format!("{},{}\n", columns.names.join(","), missing.join(","));
    let empty = ",".repeat(missing.len());
    let rows = complete_lines(bytes).flat_map(|(_, line)| [line, empty.as_bytes(), b"\n"].concat());
    header.into_bytes().into_iter().chain(rows).collect()
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, RunFolderError> {
    std::fs::read(path).map_err(|e| RunFolderError::io("read", path, e))
}

/// The last whole row, without reading the rest of the file.
pub(super) fn last_row<R: Row>(path: &Path) -> Result<Option<R>, RunFolderError> {
    const PIECE: u64 = 1 << 16;
    let refused = |e| RunFolderError::io("read", path, e);
    let mut file = File::open(path).map_err(refused)?;
    let mut head = Vec::new();
    (&file).take(PIECE).read_to_end(&mut head).map_err(refused)?;
    let columns = Columns::of::<R>(path, &head)?;
    let len = file.seek(SeekFrom::End(0)).map_err(refused)?;
    file.seek(SeekFrom::Start(len.saturating_sub(PIECE))).map_err(refused)?;
    let mut tail = Vec::new();
    file.take(PIECE).read_to_end(&mut tail).map_err(refused)?;
    let whole = tail.iter().rposition(|b| *b == b'\n').map_or(&tail[..0], |end| &tail[..end]);
    let mut lines = whole.rsplit(|b| *b == b'\n');
    let last = lines.next().filter(|_| len > PIECE || lines.next().is_some());
    last.map(|line| {
        let unreadable = || RunFolderError::damaged(path, "its last row cannot be read");
        columns.row(line).ok_or_else(unreadable)
    })
    .transpose()
}

/// All rows of a log file. A run still going may be in the middle of its last line, which does not count.
pub(super) fn read_rows<R: Row>(path: &Path) -> Result<Vec<R>, RunFolderError> {
    let bytes = read_bytes(path)?;
    let columns = Columns::of::<R>(path, &bytes)?;
    let row = |(number, line)| columns.row(line).ok_or_else(|| bad_line(path, number, line));
    complete_lines(&bytes).map(row).collect()
}
