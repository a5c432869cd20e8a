//! Log files of comma-separated values, in order of iterations.
//!
//! Columns are known by their names. One that a file lacks is empty; one that this program does not know stays as it is
//! when a log is cut back or continued. A file that lacks columns is rewritten with them once, when it is continued.

use super::columns::Row;
use super::log_sums::{LogSum, LogSums, Summing, read_checked, remedy};
use super::{RunFolderError, write_atomic};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// An open log file.
#[derive(Debug)]
pub(super) struct CsvLog<R> {
    file: File,
    path: PathBuf,
    /// For each column of the file its place in a row; none for columns that only other versions know.
    order: Vec<Option<usize>>,
    summing: Summing,
    row: PhantomData<R>,
}

/// A log file whose rows up to an iteration have been looked at, and nothing changed yet.
pub(super) struct Looked<R> {
    path: PathBuf,
    /// The header and the rows that are kept.
    kept: Vec<u8>,
    columns: Columns,
    /// Whether there is a file.
    there: bool,
    row: PhantomData<R>,
}

impl<R: Row> Looked<R> {
    /// Looks at a log, which need not be there.
    pub(super) fn at(
        folder: &Path,
        name: &str,
        iteration: u64,
        sums: &LogSums,
    ) -> Result<Self, RunFolderError> {
        let path = folder.join(name);
        let found = if_there(&path)?;
        let there = found.is_some();
        let mut kept = found.unwrap_or_else(|| (own_columns::<R>().join(",") + "\n").into_bytes());
        let columns = Columns::of::<R>(&path, &kept)?;
        let keep = kept_bytes::<R>(&path, &kept, &columns, iteration)?;
        sums.check(folder, name, if there { &kept } else { &[] }, false)?;
        kept.truncate(keep);
        Ok(Self { path, kept, columns, there, row: PhantomData })
    }

    /// The checksum of what is kept.
    pub(super) fn sum(&self) -> LogSum {
        Summing::of(&self.kept, Some(self.columns.names.len())).sum()
    }

    /// Whether there is a file.
    pub(super) fn is_there(&self) -> bool {
        self.there
    }

    /// Opens the file, cut back to what is kept; makes it when it is missing.
    pub(super) fn open(self) -> Result<CsvLog<R>, RunFolderError> {
        let Self { path, mut kept, mut columns, there, .. } = self;
        let refused = |e| RunFolderError::io("write", &path, e);
        let lacks_columns = columns.places.contains(&None);
        if lacks_columns {
            kept = with_new_columns::<R>(&kept, &columns);
            columns = Columns::of::<R>(&path, &kept)?;
        }
        if lacks_columns || !there {
            write_atomic(&path, |file| Ok(file.write_all(&kept)?))?;
        }
        let mut file = OpenOptions::new().write(true).open(&path).map_err(refused)?;
        file.set_len(kept.len() as u64).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        let place = |name: &String| R::COLUMNS.iter().position(|(own, _)| own == name);
        let order = columns.names.iter().map(place).collect();
        let summing = Summing::of(&kept, Some(columns.names.len()));
        Ok(CsvLog { file, path, order, summing, row: PhantomData })
    }
}

impl<R: Row> CsvLog<R> {
    /// Adds a row. One write, so that a reader never sees half of it.
    pub(super) fn append(&mut self, row: &R) -> Result<(), RunFolderError> {
        let cells = row.cells();
        let line: Vec<&str> = self.order.iter().map(|own| own.map_or("", |own| &cells[own])).collect();
        let line = line.join(",") + "\n";
        self.file.write_all(line.as_bytes()).map_err(|e| RunFolderError::io("write", &self.path, e))?;
        self.summing.add(line.as_bytes());
        Ok(())
    }

    /// Flushes everything to disk, to survive a loss of power; the answer is the checksum of it.
    pub(super) fn sync(&self) -> Result<LogSum, RunFolderError> {
        self.file.sync_data().map_err(|e| RunFolderError::io("write", &self.path, e))?;
        Ok(self.summing.sum())
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
            return Err(damaged(path, "its first line does not name columns"));
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
    let reason = format!("line {number} cannot be read or is out of order ('{shown}')");
    damaged(path, &reason)
}

fn damaged(path: &Path, reason: &str) -> RunFolderError {
    let folder = path.parent().unwrap_or(path);
    RunFolderError::damaged(path, format!("{reason}; {}", remedy(folder)))
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

/// The bytes of a file; nothing if there is no file.
fn if_there(path: &Path) -> Result<Option<Vec<u8>>, RunFolderError> {
    match std::fs::read(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(|e| RunFolderError::io("read", path, e)),
    }
}

/// The last whole row, without reading the others.
pub(super) fn last_row<R: Row>(folder: &Path, name: &str) -> Result<Option<R>, RunFolderError> {
    let path = folder.join(name);
    read_checked(folder, name, |bytes| {
        let columns = Columns::of::<R>(&path, bytes)?;
        let unreadable = || damaged(&path, "its last row cannot be read");
        complete_lines(bytes).last().map(|(_, line)| columns.row(line).ok_or_else(unreadable)).transpose()
    })
}

/// All rows of a log file. A run still going may be in the middle of its last line, which does not count.
pub(super) fn read_rows<R: Row>(folder: &Path, name: &str) -> Result<Vec<R>, RunFolderError> {
    let path = folder.join(name);
    read_checked(folder, name, |bytes| {
        let columns = Columns::of::<R>(&path, bytes)?;
        let row = |(number, line)| columns.row(line).ok_or_else(|| bad_line(&path, number, line));
        complete_lines(bytes).map(row).collect()
    })
}

/// The header and those rows of a damaged log that can be read and are in order; how many there are.
pub(super) fn readable_rows<R: Row>(path: &Path, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let columns = Columns::of::<R>(path, bytes).ok()?;
    let end = bytes.iter().position(|b| *b == b'\n')? + 1;
    let lines: Vec<(u64, &[u8])> = complete_lines(bytes)
        .filter_map(|(_, line)| Some((columns.row::<R>(line)?.iteration(), line)))
        .collect();
    let iterations: Vec<u64> = lines.iter().map(|(iteration, _)| *iteration).collect();
    let in_order = in_order(&iterations);
    let rows = in_order.len();
    let kept_lines = in_order.into_iter().flat_map(|at| [lines[at].1, b"\n"].concat());
    let kept = bytes[..end].iter().copied().chain(kept_lines).collect();
    Some((kept, rows))
}

/// Where the longest part of the numbers stands that never falls: one number out of order does not cost the others.
fn in_order(numbers: &[u64]) -> Vec<usize> {
    // For every length the place of the smallest number that a part of that length can end with.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (at, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers[end] <= *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut places: Vec<usize> = std::iter::successors(ends.last().copied(), |&at| before[at]).collect();
    places.reverse();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_out_of_order_does_not_cost_the_others() {
        let kept = |numbers: &[u64]| in_order(numbers).into_iter().map(|at| numbers[at]).collect::<Vec<_>>();
        assert_eq!(kept(&[1, 2, 9, 4, 5]), [1, 2, 4, 5]);
        assert_eq!(kept(&[1, 2, 3, 1, 4]), [1, 2, 3, 4]);
        assert_eq!(kept(&[1, 1, 2, 2, 2]), [1, 1, 2, 2, 2]);
        assert_eq!(kept(&[]), [0; 0]);
    }
}
