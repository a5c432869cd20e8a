//! One process per run folder.

use super::RunFolderError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

pub(super) const LOCK_FILE: &str = "run.lock";

/// An exclusive lock, held by the operating system for as long as the process lives: a killed process leaves none.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock and writes the process id into it, for the message that others get.
    pub(super) fn take(folder: &Path) -> Result<Self, RunFolderError> {
        let path = folder.join(LOCK_FILE);
        let refused = |e| RunFolderError::io("lock", &path, e);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(refused)?;
        // A reader of the status holds a shared lock for a moment, so one failure does not count.
        for attempt in 0.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < 4 => std::thread::sleep(Duration::from_millis(25)),
                Err(TryLockError::WouldBlock) => {
                    let holder = holder(&mut file);
                    return Err(RunFolderError::Locked { path: folder.to_owned(), holder });
                }
                Err(TryLockError::Error(e)) => return Err(refused(e)),
            }
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(refused)?;
        Ok(Self { _file: file })
    }
}

fn holder(file: &mut File) -> String {
    match read_pid(file) {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Whether a process works in the folder, and its id if known. Does not disturb it.
pub(super) fn holder_of(folder: &Path) -> Option<Option<u32>> {
    let mut file = File::open(folder.join(LOCK_FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_pid(&mut file)),
        _ => None,
    }
}
