//! Files that are either complete or absent.

use super::RunFolderError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a function that fills a file may return.
pub type FillError = Box<dyn std::error::Error + Send + Sync>;

const TEMPORARY_END: &str = ".tmp";

/// A file under construction, under a temporary name in the folder of its target.
pub struct AtomicFile {
    file: BufWriter<File>,
    /// None for a device or a pipe, which is written to as it is: a rename would put a file in its place.
    temporary: Option<PathBuf>,
    /// The first error of the system; encoders tend to hide it in their own errors.
    refused: Option<io::Error>,
}

impl AtomicFile {
    fn create(target: &Path) -> Result<Self, RunFolderError> {
        if target.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let file = OpenOptions::new().write(true).open(target);
            let file = file.map_err(|e| RunFolderError::io("write", target, e))?;
            return Ok(Self {
                file: BufWriter::with_capacity(1 << 16, file),
                temporary: None,
                refused: None,
            });
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.{}{TEMPORARY_END}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&temporary);
        let file = file.map_err(|e| RunFolderError::io("write", target, e))?;
        let temporary = Some(temporary);
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), temporary, refused: None })
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let (Err(e), None) = (&result, &self.refused) {
            self.refused =
                Some(e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error));
        }
        result
    }

    fn commit(mut self, target: &Path) -> Result<(), RunFolderError> {
        let refused = |e| RunFolderError::io("write", target, e);
        self.file.flush().map_err(refused)?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        self.file.get_ref().sync_all().map_err(refused)?;
        fs::rename(temporary, target).map_err(refused)?;
        sync_folder_of(target)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.file.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.file.flush();
        self.note(result)
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let result = self.file.seek(position);
        self.note(result)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a commit the name is gone already; after a failure this gives the space back.
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes a file so that after a crash at any moment either the old or the new content is there, never a part.
///
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("note.txt");
/// autoqd::run_folder::write_atomic(&path, |file| Ok(file.write_all(b"done")?)).unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"done");
/// ```
pub fn write_atomic<F>(target: &Path, fill: F) -> Result<(), RunFolderError>
where
    F: FnOnce(&mut AtomicFile) -> Result<(), FillError>,
{
    let target = &behind_links(target);
    let mut file = AtomicFile::create(target)?;
    match fill(&mut file) {
        Ok(()) => file.commit(target),
        Err(e) => Err(match (file.refused.take(), e.downcast::<io::Error>()) {
            (Some(refused), _) => RunFolderError::io("write", target, refused),
            (None, Ok(e)) => RunFolderError::io("write", target, *e),
            (None, Err(e)) => RunFolderError::encode(target, e),
        }),
    }
}

/// The file that a link leads to, so that the file is replaced and not the link.
fn behind_links(target: &Path) -> PathBuf {
    let linked = target.is_symlink() && target.metadata().is_ok_and(|found| found.is_file());
    linked.then(|| target.canonicalize().ok()).flatten().unwrap_or_else(|| target.to_owned())
}

/// Makes a rename in the folder of `path` survive a loss of power.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), RunFolderError> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let sync = File::open(folder).and_then(|f| f.sync_all());
    sync.map_err(|e| RunFolderError::io("write", folder, e))
}

/// Removes a file that need not be there.
pub(super) fn remove_if_there(path: &Path) -> Result<(), RunFolderError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(RunFolderError::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Removes what interrupted writes left behind. Only for the holder of the folder's lock.
pub(super) fn remove_temporaries(folder: &Path) -> Result<(), RunFolderError> {
    let refused = |e| RunFolderError::io("read", folder, e);
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if is_temporary(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|e| RunFolderError::io("remove", &path, e))?;
        }
    }
    Ok(())
}

pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TEMPORARY_END)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, symlink};

    #[test]
    fn a_pipe_is_written_to_and_a_link_followed_and_neither_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, file, link] = ["pipe", "file", "link"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_atomic(&pipe, |out| Ok(out.write_all(b"through")?)).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_atomic(&link, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        // As root, too, who could replace the device.
        let full = write_atomic(Path::new("/dev/full"), |out| Ok(out.write_all(b"x")?));
        assert!(full.is_err() && !Path::new("/dev/full").is_file());
    }
}
