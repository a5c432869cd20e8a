//! Checksums of the logs up to the latest checkpoint: a log is plain text that grows, so it cannot carry its own.
//!
//! `logs.json` is written after the logs are on disk and before the checkpoint, and again before a log is cut back, so
//! that at any moment the beginnings it tells of are in the files.

use super::atomic::remove_if_there;
use super::sealed::{read_sealed, write_sealed};
use super::{EVENTS_FILE, LOGS_FILE, NOTICES_FILE, RunFolderError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

const VERSION: u32 = 1;

/// The logs that are checked by their bytes, not by lines and columns.
pub(super) const BINARY_LOGS: [&str; 2] = [EVENTS_FILE, NOTICES_FILE];

/// Checksum of the beginning of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogSum {
    /// Lines, the header among them; bytes of a log without columns.
    length: u64,
    /// Columns there were. Later ones, which a later version added, are empty in these lines.
    columns: Option<usize>,
    blake3: String,
}

/// Sums a log up while it grows.
#[derive(Debug)]
pub(super) struct Summing {
    hasher: blake3::Hasher,
    length: u64,
    columns: Option<usize>,
}

impl Summing {
    /// Of the first bytes of a log, which end with a whole line; `columns` of a log of comma-separated values.
    pub(super) fn of(start: &[u8], columns: Option<usize>) -> Self {
        let mut summing = Self { hasher: blake3::Hasher::new(), length: 0, columns };
        summing.add(start);
        summing
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        let lines = || bytes.iter().filter(|b| **b == b'\n').count();
        self.length += self.columns.map_or(bytes.len(), |_| lines()) as u64;
    }

    pub(super) fn sum(&self) -> LogSum {
        let blake3 = self.hasher.finalize().to_hex().to_string();
        LogSum { length: self.length, columns: self.columns, blake3 }
    }
}

impl LogSum {
    /// What is wrong with a log that should begin as this sum says.
    fn fault(&self, bytes: &[u8]) -> Option<String> {
        let Some(columns) = self.columns else {
            let start = usize::try_from(self.length).ok().and_then(|length| bytes.get(..length));
            let same = start.is_some_and(|start| Summing::of(start, None).sum() == *self);
            return (!same).then(|| format!("its first {} bytes are not what the run wrote", self.length));
        };
        let lines: Vec<&[u8]> = bytes
            .split_inclusive(|b| *b == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .take(self.length as usize)
            .collect();
        if (lines.len() as u64) < self.length {
            return Some(format!("it has {} of the {} lines that the run wrote", lines.len(), self.length));
        }
        let mut found = Summing::of(&[], Some(columns));
        let sound = lines.iter().enumerate().all(|(number, line)| {
            let (own, later) = cells(line, columns);
            found.add(own);
            found.add(b"\n");
            // Only their names stand there.
            number == 0 || later.iter().all(|b| *b == b',')
        });
        (!sound || found.sum() != *self)
            .then(|| format!("its first {} lines are not what the run wrote", self.length))
    }
}

/// The first cells of a line, and the rest without the end of the line.
fn cells(line: &[u8], columns: usize) -> (&[u8], &[u8]) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut commas = line.iter().enumerate().filter(|(_, b)| **b == b',').map(|(at, _)| at);
    line.split_at(commas.nth(columns.saturating_sub(1)).unwrap_or(line.len()))
}

/// The checksums of a run's logs, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogSums(pub(super) BTreeMap<String, LogSum>);

impl LogSums {
    /// Those of a run; `None` for one without a checkpoint, or made before there were any.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, RunFolderError> {
        match read_sealed(&folder.join(LOGS_FILE), VERSION) {
            Err(e) if e.is_not_found() => Ok(None),
            Err(RunFolderError::Damaged { path, reason }) => {
                Err(RunFolderError::damaged(&path, format!("{reason}; {}", remedy(folder))))
            }
            other => other.map(Some),
        }
    }

    pub(super) fn remove(folder: &Path) -> Result<(), RunFolderError> {
        remove_if_there(&folder.join(LOGS_FILE))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), RunFolderError> {
        write_sealed(&folder.join(LOGS_FILE), VERSION, self)
    }

    /// Rejects a log that does not begin with what the run wrote; `whole` if nothing may follow.
    pub(super) fn check(
        &self,
        folder: &Path,
        name: &str,
        bytes: &[u8],
        whole: bool,
    ) -> Result<(), RunFolderError> {
        let Some(sum) = self.0.get(name) else { return Ok(()) };
        let longer = || {
            let length = sum.columns.map_or(bytes.len(), |_| bytes.iter().filter(|b| **b == b'\n').count());
            let more = length as u64 > sum.length || (sum.columns.is_some() && !bytes.ends_with(b"\n"));
            (whole && more).then(|| "it has more than the run wrote".to_owned())
        };
        match sum.fault(bytes).or_else(longer) {
            None => Ok(()),
            Some(reason) => {
                Err(RunFolderError::damaged(&folder.join(name), format!("{reason}; {}", remedy(folder))))
            }
        }
    }
}

/// How to go on without a sound copy of a log.
pub(super) fn remedy(folder: &Path) -> String {
    format!(
        "restore the file from a copy, or go on with the lines that can be read with `autoqd resume {} --accept-logs`: \
         neither archive nor checkpoint depends on it",
        folder.display()
    )
}

/// The bytes of a log, after comparing them with the checksum of their beginning.
///
/// `parse` sees them first: it can say which line is damaged. A log that is not there is an error only if it should be.
pub(super) fn read_checked<T>(
    folder: &Path,
    name: &str,
    parse: impl Fn(&[u8]) -> Result<T, RunFolderError>,
) -> Result<T, RunFolderError> {
    loop {
        // The sums first: a log that grows meanwhile still begins as they say.
        let sums = LogSums::read(folder)?.unwrap_or_default();
        let found = read_with(folder, name, &sums, &parse);
        // Unless it was cut back meanwhile, which writes the sums anew.
        if found.is_ok() || LogSums::read(folder)?.unwrap_or_default() == sums {
            return found;
        }
    }
}

fn read_with<T>(
    folder: &Path,
    name: &str,
    sums: &LogSums,
    parse: impl Fn(&[u8]) -> Result<T, RunFolderError>,
) -> Result<T, RunFolderError> {
    let path = folder.join(name);
    let bytes = match std::fs::read(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound && sums.0.contains_key(name) => Vec::new(),
        other => other.map_err(|e| RunFolderError::io("read", &path, e))?,
    };
    if bytes.is_empty() {
        sums.check(folder, name, &bytes, false)?;
    }
    let value = parse(&bytes)?;
    sums.check(folder, name, &bytes, false)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] = b"iteration,elites\n1,5\n2,6\n";

    fn sums(start: &[u8], columns: Option<usize>) -> LogSums {
        LogSums([("log".to_owned(), Summing::of(start, columns).sum())].into())
    }

    fn is_sound(sums: &LogSums, bytes: &[u8]) -> bool {
        sums.check(Path::new("run"), "log", bytes, false).is_ok()
    }

    #[test]
    fn every_changed_byte_of_what_was_written_is_seen_and_what_follows_is_free() {
        for columns in [Some(2), None] {
            let sums = sums(LOG, columns);
            for more in [&b""[..], b"3,7\n", b"3,"] {
                assert!(is_sound(&sums, &[LOG, more].concat()), "{columns:?}");
            }
            for at in 0..LOG.len() {
                let mut changed = LOG.to_vec();
                changed[at] ^= 1;
                assert!(!is_sound(&sums, &changed), "{columns:?} {at}");
                assert!(!is_sound(&sums, &LOG[..at]), "{columns:?} {at}");
            }
            assert!(sums.check(Path::new("run"), "log", LOG, true).is_ok());
            for more in [&b"3,7\n"[..], b"3,"] {
                assert!(sums.check(Path::new("run"), "log", &[LOG, more].concat(), true).is_err());
            }
        }
    }

    #[test]
    fn a_column_that_a_later_version_adds_changes_nothing() {
        let sums = sums(LOG, Some(2));
        assert!(is_sound(&sums, b"iteration,elites,regret,more\n1,5,,\n2,6,,\n3,7,1,2\n"));
        assert!(!is_sound(&sums, b"iteration,elites,regret,more\n1,5,,\n2,6,9,\n"));
        assert!(!is_sound(&sums, b"iteration,elites,regret\n1,5,\n2,7,\n"));
    }

    #[test]
    fn a_sum_that_grows_is_that_of_the_whole() {
        let mut grown = Summing::of(&LOG[..17], Some(2));
        LOG[17..].split_inclusive(|b| *b == b'\n').for_each(|line| grown.add(line));
        assert_eq!(grown.sum(), Summing::of(LOG, Some(2)).sum());
    }
}
