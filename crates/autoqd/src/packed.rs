//! A run folder as bytes, for runs that are worked on where their folder is not.
//!
//! A run goes out whole and comes back without its task, which nothing changes. What came back is put into place so that the
//! folder can be continued whatever interrupts that: the logs first, which are cut back to the checkpoint anyway, then what
//! a checkpoint must not run ahead of, then the checkpoint.

use crate::Error;
use crate::evaluator::wire;
use crate::run_folder::{
    ARCHIVE_FILE, CHECKPOINT_FILE, CONFIG_FILE, DESCRIPTOR_FILE, EVENTS_FILE, FIGURES_FILE, LOGS_FILE,
    MACHINE_FILE, MANIFEST_FILE, METRICS_FILE, NOTICES_FILE, RunFolder, RunFolderError, TASK_FOLDER,
    TIMING_FILE, TRAINING_FILE, write_atomic,
};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

const MAGIC: &[u8; 8] = b"AQDRUN01";

/// What a run leaves in its folder, in the order in which it is put into another one.
const FILES: [&str; 12] = [
    METRICS_FILE,
    TRAINING_FILE,
    FIGURES_FILE,
    TIMING_FILE,
    EVENTS_FILE,
    NOTICES_FILE,
    LOGS_FILE,
    MACHINE_FILE,
    ARCHIVE_FILE,
    DESCRIPTOR_FILE,
    CONFIG_FILE,
    CHECKPOINT_FILE,
];

#[derive(Debug, Serialize, Deserialize)]
enum Entry {
    Content(Vec<u8>),
    /// A file of the task that is too large to be copied and is read where it is.
    Link(PathBuf),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Packed {
    files: Vec<(PathBuf, Entry)>,
}

/// A run with its task, for whoever is to continue it elsewhere.
pub fn pack_run(folder: &Path) -> Result<Vec<u8>, Error> {
    let mut packed = Packed::default();
    packed.add_folder(folder, Path::new(TASK_FOLDER))?;
    packed.add_results(folder)?;
    wire::seal(MAGIC, &packed)
}

/// What has been done for a run so far, without its task.
pub fn pack_results(folder: &Path) -> Result<Vec<u8>, Error> {
    let mut packed = Packed::default();
    packed.add_results(folder)?;
    wire::seal(MAGIC, &packed)
}

/// Writes a run that was packed with its task into a folder that is empty.
pub fn unpack_run(bytes: &[u8], folder: &Path) -> Result<(), Error> {
    for (name, entry) in Packed::read(bytes)?.files {
        let path = folder.join(&name);
        let refused = |e| RunFolderError::io("write", &path, e);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(refused)?;
        match entry {
            Entry::Content(content) => fs::write(&path, content).map_err(refused)?,
            Entry::Link(target) => link(&target, &path).map_err(refused)?,
        }
    }
    Ok(())
}

impl RunFolder {
    /// Puts what was done for this run elsewhere into its folder.
    pub fn put_results(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut packed = Packed::read(bytes)?;
        let known = |name: &Path| FILES.iter().chain(&[MANIFEST_FILE]).any(|known| Path::new(known) == name);
        if let Some((name, _)) = packed.files.iter().find(|(name, _)| !known(name)) {
            return Err(Error::Wire {
                reason: format!("{} is not a file of a run's results", name.display()),
            });
        }
        // They hold for the files that are about to be replaced.
        self.remove_sums()?;
        let last =
            |name: &Path| FILES.iter().position(|known| Path::new(known) == name).unwrap_or(FILES.len());
        packed.files.sort_by_key(|(name, _)| last(name));
        for (name, entry) in packed.files {
            let Entry::Content(content) = entry else {
                return Err(Error::Wire { reason: "results are not links".to_owned() });
            };
            match name == Path::new(CHECKPOINT_FILE) {
                true => self.put_checkpoint(&content)?,
                false => write_atomic(&self.path().join(name), |file| Ok(file.write_all(&content)?))?,
            }
        }
        Ok(())
    }
}

impl Packed {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let packed: Self = wire::open(MAGIC, bytes)?;
        let inside = |name: &Path| name.components().all(|c| matches!(c, Component::Normal(_)));
        match packed.files.iter().all(|(name, _)| inside(name)) && !packed.writes_through_links() {
            true => Ok(packed),
            false => Err(Error::Wire { reason: "it names files outside its folder".to_owned() }),
        }
    }

    /// Whether a file would be written where one of the links leads.
    fn writes_through_links(&self) -> bool {
        let below = |link: &Path| self.files.iter().filter(|(name, _)| name.starts_with(link)).count();
        self.files.iter().any(|(name, entry)| matches!(entry, Entry::Link(_)) && below(name) > 1)
    }

    fn add_results(&mut self, folder: &Path) -> Result<(), RunFolderError> {
        for name in FILES.into_iter().chain([MANIFEST_FILE]) {
            let path = folder.join(name);
            match fs::read(&path) {
                Ok(content) => self.files.push((name.into(), Entry::Content(content))),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(RunFolderError::io("read", &path, e)),
            }
        }
        Ok(())
    }

    fn add_folder(&mut self, root: &Path, name: &Path) -> Result<(), RunFolderError> {
        let folder = root.join(name);
        let refused = |e| RunFolderError::io("read", &folder, e);
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(refused)? {
            names.push(entry.map_err(refused)?.file_name());
        }
        names.sort();
        for below in names {
            let (name, path) = (name.join(&below), folder.join(&below));
            let unreadable = |e| RunFolderError::io("read", &path, e);
            let kind = path.symlink_metadata().map_err(unreadable)?.file_type();
            if kind.is_dir() {
                self.add_folder(root, &name)?;
            } else if kind.is_symlink() {
                self.files.push((name, Entry::Link(fs::read_link(&path).map_err(unreadable)?)));
            } else {
                self.files.push((name, Entry::Content(fs::read(&path).map_err(unreadable)?)));
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    fs::copy(target, path).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use crate::observer::{IterationReport, Observer, ObserverError};
    use crate::registry::Registry;
    use crate::runner::{Changes, Limits, Runner};

    struct Silent;

    impl Observer for Silent {
        fn on_iteration(&mut self, _report: &IterationReport) -> Result<(), ObserverError> {
            Ok(())
        }
    }

    /// So many more iterations, as far as there are any left.
    fn go_on(path: &Path, iterations: u64, registry: &Registry) {
        let changes = Changes { own_task: true, ..Changes::default() };
        let mut runner = Runner::resume(path, changes, registry).unwrap();
        let left = std::cell::Cell::new(iterations);
        let stop = || left.replace(left.get().saturating_sub(1)) == 0;
        runner.run(Limits::default(), &stop, &mut Silent).unwrap();
    }

    fn create(path: &Path, registry: &Registry) {
        let mut layers = Layers::new(registry).preset("quick").unwrap();
        for (key, value) in [("iterations", 3), ("batch_size", 4), ("emitters", 2)] {
            layers = layers.flag(key, toml::Value::Integer(value), "test").unwrap();
        }
        layers = layers.flag("task", "point-maze", "test").unwrap();
        let config = layers.build().unwrap();
        let task = registry.task("point-maze", &Default::default()).unwrap();
        let config = config.resolve(&task.spec().into(), registry).unwrap();
        drop(Runner::create(path, config, registry).unwrap());
    }

    #[test]
    fn a_run_that_moves_between_folders_ends_like_one_that_stays() {
        let (root, registry) = (tempfile::tempdir().unwrap(), Registry::default());
        let at = |name: &str| root.path().join(name);
        create(&at("stays"), &registry);
        create(&at("home"), &registry);
        go_on(&at("stays"), 3, &registry);
        for (name, iterations) in [("away", 1), ("elsewhere", 3)] {
            unpack_run(&pack_run(&at("home")).unwrap(), &at(name)).unwrap();
            go_on(&at(name), iterations, &registry);
            let back = pack_results(&at(name)).unwrap();
            RunFolder::open(&at("home")).unwrap().put_results(&back).unwrap();
        }
        for name in [ARCHIVE_FILE, METRICS_FILE, CONFIG_FILE] {
            assert!(
                fs::read(at("stays").join(name)).unwrap() == fs::read(at("home").join(name)).unwrap(),
                "{name}"
            );
        }
        assert!(crate::run_folder::verify(&at("home")).unwrap().ok);
        assert!(at("home/checkpoint.prev.aqd").is_file());
    }

    #[test]
    fn what_is_damaged_or_writes_elsewhere_is_refused() {
        let (root, registry) = (tempfile::tempdir().unwrap(), Registry::default());
        let path = root.path().join("run");
        create(&path, &registry);
        let bytes = pack_run(&path).unwrap();
        let folder = RunFolder::open(&path).unwrap();
        assert!(folder.put_results(&bytes[..bytes.len() - 1]).is_err(), "cut short");
        assert!(folder.put_results(&bytes).is_err(), "results bring no task");
        let link = || Entry::Link(root.path().to_path_buf());
        let file = || Entry::Content(vec![]);
        for files in [
            vec![("../x".into(), file())],
            vec![("away".into(), link()), ("away/x".into(), file())],
            vec![("away/x".into(), file()), ("away".into(), link())],
            vec![("x".into(), link()), ("x".into(), file())],
        ] {
            let outside = wire::seal(MAGIC, &Packed { files }).unwrap();
            assert!(unpack_run(&outside, &root.path().join("other")).is_err());
            assert!(!root.path().join("x").exists());
        }
    }
}
