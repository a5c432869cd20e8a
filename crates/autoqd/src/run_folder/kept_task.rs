//! The task of a run, kept in its folder: a run goes on in the task it began in, whatever becomes of the files.

use super::atomic::sync_folder_of;
use super::manifest::FileSum;
use super::sealed::{read_sealed, write_sealed};
use super::{MACHINE_FILE, RunFolderError, TASK_FOLDER, write_atomic};
use autoqd_env::{Task, TaskDigest, TaskFiles};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Value;

const VERSION: u32 = 1;
/// The record in the folder of a run.
pub(super) const TASK_RECORD: &str = "task/task.json";
/// What the folder of the task holds besides the files.
const RECORD_FILE: &str = "task.json";
/// The folder of the task before it is complete.
const UNFINISHED_FOLDER: &str = ".task.tmp";
/// Longer files stay where they are: the folder has a link to them and their checksum.
const LARGEST_COPY: u64 = 64 << 20;

/// One file of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFile {
    /// Where it came from.
    source: PathBuf,
    /// Whether it is read there, not from a copy.
    in_place: bool,
    #[serde(flatten)]
    sum: FileSum,
}

/// The content of task.json.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// The task as the configuration names it.
    task: String,
    /// The task file, for a task from a file.
    file: Option<PathBuf>,
    /// Every file by its path in the folder of the task; files that are read in place by their own path.
    files: BTreeMap<PathBuf, KeptFile>,
    /// Digests of what the task is made of, as loaded.
    digests: Vec<TaskDigest>,
}

/// The task that a run keeps in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTask {
    /// Folder of the task.
    folder: PathBuf,
    record: Record,
}

/// Loads the task at a path, for its digests.
pub type LoadDigests<'a> = &'a dyn Fn(&str) -> Option<Vec<TaskDigest>>;

impl KeptTask {
    /// Copies the files of a task into the folder of a run. A copy that does not give the same task, because a model
    /// names files in a way that we do not follow, is not used: the files are then read where they are, and compared.
    pub(super) fn write(
        run: &Path,
        name: &str,
        task: &dyn Task,
        files: Option<&TaskFiles>,
        load: LoadDigests<'_>,
    ) -> Result<Self, RunFolderError> {
        Self::write_with(run, name, task, files, load, LARGEST_COPY)
    }

    fn write_with(
        run: &Path,
        name: &str,
        task: &dyn Task,
        files: Option<&TaskFiles>,
        load: LoadDigests<'_>,
        largest: u64,
    ) -> Result<Self, RunFolderError> {
        let unfinished = run.join(UNFINISHED_FOLDER);
        let digests = task.digests();
        let empty =
            || Record { task: name.to_owned(), file: None, files: BTreeMap::new(), digests: digests.clone() };
        fresh_folder(&unfinished)?;
        let mut record = empty();
        if let Some(files) = files {
            copy_all(files, &unfinished, largest, &mut record)?;
            let copy = record.file.as_ref().and_then(|file| Some(unfinished.join(file).to_str()?.to_owned()));
            if copy.and_then(|copy| load(&copy)).as_ref() != Some(&digests) {
                fresh_folder(&unfinished)?;
                record = empty();
                for file in files.files.iter().chain(&files.fixed) {
                    record.in_place(file)?;
                }
            }
        }
        record.write(&unfinished)?;
        let folder = run.join(TASK_FOLDER);
        fs::rename(&unfinished, &folder).map_err(|e| RunFolderError::io("write", &folder, e))?;
        sync_folder_of(&folder)?;
        Ok(Self { folder, record })
    }

    /// The task that a run keeps; `None` for runs made before there was one.
    pub fn read(run: &Path) -> Result<Option<Self>, RunFolderError> {
        let folder = run.join(TASK_FOLDER);
        match Record::read(&folder) {
            Ok(record) => Ok(Some(Self { folder, record })),
            // Since machines are recorded, tasks are kept.
            Err(e) if e.is_not_found() && run.join(MACHINE_FILE).exists() => {
                let reason =
                    "it is missing, so that nobody can say which task the run is of; restore it from a copy";
                Err(RunFolderError::damaged(&folder.join(RECORD_FILE), reason))
            }
            Err(e) if e.is_not_found() => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The name or path to load the task from, after comparing every file with its checksum.
    pub fn location(&self) -> Result<String, RunFolderError> {
        for (name, kept) in &self.record.files {
            let path = self.folder.join(name);
            match FileSum::of(&path)? {
                Some(found) if found == kept.sum => {}
                found => return Err(self.not_the_file(&path, kept, found.is_some())),
            }
        }
        let Some(file) = &self.record.file else { return Ok(self.record.task.clone()) };
        let path = self.folder.join(file);
        let unreadable =
            || RunFolderError::damaged(&path, "its path is not UTF-8; move the run to another folder");
        path.to_str().map(str::to_owned).ok_or_else(unreadable)
    }

    fn not_the_file(&self, path: &Path, kept: &KeptFile, there: bool) -> RunFolderError {
        let what = if there { "has been changed" } else { "is missing" };
        let remedy = match kept.in_place {
            true => {
                format!("the run has no copy of it; put it back to {}", kept.source.display())
            }
            false => "restore it; a run cannot change its task".to_owned(),
        };
        let sum = format!("{} bytes, BLAKE3 {}", kept.sum.bytes, kept.sum.blake3);
        self.changed(format!("{} {what} since the run began ({sum}): {remedy}", path.display()))
    }

    fn changed(&self, reason: String) -> RunFolderError {
        let run = self.folder.parent().unwrap_or(&self.folder).to_owned();
        RunFolderError::TaskChanged { run, reason }
    }

    /// Compares a task that was loaded from [`KeptTask::location`] with what it was when the run began.
    pub fn check(&self, task: &dyn Task) -> Result<(), RunFolderError> {
        let now = task.digests();
        let old = &self.record.digests;
        let words = |digest: &TaskDigest| format!("the {} ({:.12})", digest.of, digest.blake3);
        let differs = old.iter().zip(&now).find(|(old, new)| old != new);
        match differs {
            None if old.len() == now.len() => Ok(()),
            None => Err(self.changed("this program makes the task of other things".to_owned())),
            Some((old, new)) => {
                let remedy = "use the program and the simulator that the run began with";
                Err(self.changed(format!(
                    "it was made with {}, now there is {}; {remedy}",
                    words(old),
                    words(new)
                )))
            }
        }
    }

    /// What has changed in the files that the copies were made from, if they are still there.
    pub fn changed_sources(&self) -> Result<Option<String>, RunFolderError> {
        for (name, kept) in self.record.files.iter().filter(|(_, kept)| !kept.in_place) {
            let copy = self.folder.join(name);
            let same_file = kept.source.canonicalize().ok() == copy.canonicalize().ok();
            match FileSum::of(&kept.source) {
                Ok(Some(found)) if found != kept.sum && !same_file => {
                    return Ok(Some(difference(&copy, &kept.source)));
                }
                // A source that cannot be read any more is as good as one that was deleted.
                _ => {}
            }
        }
        Ok(None)
    }

    /// Digest of the files, wherever they lie; none for a task that needs no file.
    pub fn files_digest(&self) -> Option<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        for (name, kept) in &self.record.files {
            let name = if kept.in_place { Path::new("") } else { name };
            hasher
                .update(name.as_os_str().as_encoded_bytes())
                .update(&[0])
                .update(kept.sum.blake3.as_bytes());
        }
        (!self.record.files.is_empty()).then(|| hasher.finalize())
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.record.files.len()
    }

    /// Whether the task needs no file.
    pub fn is_empty(&self) -> bool {
        self.record.files.is_empty()
    }

    /// Files that are read where they were, not from the folder.
    pub fn in_place(&self) -> impl Iterator<Item = &Path> {
        self.record.files.values().filter(|kept| kept.in_place).map(|kept| kept.source.as_path())
    }
}

impl Record {
    fn in_place(&mut self, path: &Path) -> Result<(), RunFolderError> {
        let kept = KeptFile { source: path.to_owned(), in_place: true, sum: sum(path)? };
        self.files.insert(path.to_owned(), kept);
        Ok(())
    }

    fn write(&self, folder: &Path) -> Result<(), RunFolderError> {
        write_sealed(&folder.join(RECORD_FILE), VERSION, self)
    }

    fn read(folder: &Path) -> Result<Self, RunFolderError> {
        let path = folder.join(RECORD_FILE);
        let record: Self = read_sealed(&path, VERSION)?;
        let inside = |name: &PathBuf| name.components().all(|c| matches!(c, std::path::Component::Normal(_)));
        let mut files = record.files.iter();
        let placed = files.all(|(name, kept)| inside(name) || (kept.in_place && name.is_absolute()));
        match placed && record.file.iter().all(inside) {
            true => Ok(record),
            false => Err(RunFolderError::damaged(&path, "it names files outside its folder")),
        }
    }
}

/// Whether a folder is the task of a run, and nothing that somebody else put there.
pub(super) fn is_kept_task(folder: &Path) -> bool {
    Record::read(folder).is_ok()
}

/// Removes a task that was kept in a folder whose creation was cut short.
///
/// Under its own name it is whole or not there: half of it would be taken for the work of somebody else.
pub(super) fn remove_unfinished(run: &Path) -> Result<(), RunFolderError> {
    let [unfinished, task] = [UNFINISHED_FOLDER, TASK_FOLDER].map(|name| run.join(name));
    remove_folder(&unfinished)?;
    if task.is_dir() {
        fs::rename(&task, &unfinished).map_err(|e| RunFolderError::io("remove", &task, e))?;
    }
    remove_folder(&unfinished)
}

fn remove_folder(folder: &Path) -> Result<(), RunFolderError> {
    match folder.is_dir() {
        true => fs::remove_dir_all(folder).map_err(|e| RunFolderError::io("remove", folder, e)),
        false => Ok(()),
    }
}

fn fresh_folder(folder: &Path) -> Result<(), RunFolderError> {
    remove_folder(folder)?;
    fs::create_dir_all(folder).map_err(|e| RunFolderError::io("make the folder", folder, e))
}

fn sum(path: &Path) -> Result<FileSum, RunFolderError> {
    let missing = || RunFolderError::io("read", path, std::io::ErrorKind::NotFound.into());
    FileSum::of(path)?.ok_or_else(missing)
}

/// Copies the files with their places relative to each other.
fn copy_all(
    files: &TaskFiles,
    folder: &Path,
    largest: u64,
    record: &mut Record,
) -> Result<(), RunFolderError> {
    let root = common_folder(&files.files);
    for source in &files.files {
        let name = source.strip_prefix(&root).unwrap_or(source).to_owned();
        let target = folder.join(&name);
        let parent = target.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|e| RunFolderError::io("make the folder", parent, e))?;
        let sum = sum(source)?;
        let in_place = sum.bytes > largest;
        match in_place {
            true => link(source, &target)?,
            false => copy(source, &target)?,
        }
        if *source == files.task {
            record.file = Some(name.clone());
        }
        record.files.insert(name, KeptFile { source: source.clone(), in_place, sum });
    }
    files.fixed.iter().try_for_each(|path| record.in_place(path))
}

fn copy(source: &Path, target: &Path) -> Result<(), RunFolderError> {
    let mut from = fs::File::open(source).map_err(|e| RunFolderError::io("read", source, e))?;
    write_atomic(target, |file| Ok(std::io::copy(&mut from, file).map(|_| ())?))
}

#[cfg(unix)]
fn link(source: &Path, target: &Path) -> Result<(), RunFolderError> {
    std::os::unix::fs::symlink(source, target).map_err(|e| RunFolderError::io("write", target, e))
}

#[cfg(not(unix))]
fn link(source: &Path, target: &Path) -> Result<(), RunFolderError> {
    copy(source, target)
}

/// The deepest folder that holds all files.
fn common_folder(files: &[PathBuf]) -> PathBuf {
    let folders = files.iter().map(|file| file.parent().unwrap_or(file).to_owned());
    let common = |a: PathBuf, b: PathBuf| -> PathBuf {
        a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    };
    folders.reduce(common).unwrap_or_default()
}

/// What differs between the copy of a file and the file now.
fn difference(copy: &Path, source: &Path) -> String {
    let table = |path: &Path| fs::read_to_string(path).ok()?.parse::<toml::Table>().ok().map(Value::Table);
    let named = match copy.extension().is_some_and(|end| end == "toml") {
        true => table(copy).zip(table(source)).and_then(|(old, new)| first_difference(&old, &new, "")),
        false => None,
    };
    match named {
        Some(words) => format!("{} has changed: {words}", source.display()),
        None => format!("{} has changed", source.display()),
    }
}

/// The first place in which two values differ, in words.
fn first_difference(old: &Value, new: &Value, place: &str) -> Option<String> {
    let below = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    match (old, new) {
        (Value::Table(a), Value::Table(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            names.into_iter().find_map(|name| match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) => first_difference(a, b, &below(name)),
                (None, Some(b)) => Some(format!("{} = {b} is new", below(name))),
                (Some(a), None) => Some(format!("{} = {a} is gone", below(name))),
                (None, None) => None,
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| first_difference(a, b, &format!("{place}[{i}]"))),
        (Value::Array(a), Value::Array(b)) => {
            Some(format!("{place} has {} entries, was {}", b.len(), a.len()))
        }
        _ if old == new => None,
        _ => Some(format!("{place} is {new}, was {old}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task whose digest is the content of one of its files.
    struct Stub(PathBuf, autoqd_env::PointMazeTask);

    impl Task for Stub {
        fn spec(&self) -> &autoqd_env::EnvSpec {
            self.1.spec()
        }

        fn make(&self) -> Result<Box<dyn autoqd_env::Environment>, autoqd_env::EnvError> {
            self.1.make()
        }

        fn digests(&self) -> Vec<TaskDigest> {
            vec![TaskDigest::new("file", blake3::hash(&fs::read(&self.0).unwrap()))]
        }
    }

    #[test]
    fn a_large_file_is_linked_and_compared_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("origin")).unwrap();
        let [task, mesh] = ["origin/task.toml", "origin/mesh.bin"].map(path);
        fs::write(&task, "name = 'a'").unwrap();
        fs::write(&mesh, [7; 100]).unwrap();
        let stub = Stub(mesh.clone(), Default::default());
        let files = TaskFiles { task: task.clone(), files: vec![mesh.clone(), task], fixed: Vec::new() };
        let load = |_: &str| Some(stub.digests());
        fs::create_dir(path("run")).unwrap();
        let kept = KeptTask::write_with(&path("run"), "a", &stub, Some(&files), &load, 50).unwrap();
        assert_eq!(KeptTask::read(&path("run")).unwrap().as_ref(), Some(&kept));
        assert_eq!(kept.in_place().collect::<Vec<_>>(), [&mesh]);
        assert!(kept.location().unwrap().ends_with("run/task/task.toml"));
        fs::write(&mesh, [8; 100]).unwrap();
        let refused = kept.location().unwrap_err().to_string();
        assert!(refused.contains("mesh.bin has been changed"), "{refused}");
    }

    #[test]
    fn differences_of_task_files_are_named_by_their_place() {
        let value = |text: &str| Value::Table(text.parse().unwrap());
        let old = value("a = 1\n[[reward]]\nweight = 1.0\n[[reward]]\nweight = 2.0");
        for (new, words) in [
            ("a = 1\n[[reward]]\nweight = 1.0\n[[reward]]\nweight = 3.0", "reward[1].weight is 3.0, was 2.0"),
            ("a = 1\n[[reward]]\nweight = 1.0", "reward has 1 entries, was 2"),
            ("a = 2\nb = 1\n[[reward]]\nweight = 1.0", "a is 2, was 1"),
        ] {
            assert_eq!(first_difference(&old, &value(new), "").as_deref(), Some(words));
        }
    }
}
