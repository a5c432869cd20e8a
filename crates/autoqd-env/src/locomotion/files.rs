//! Which files a task is made of, so that a run can keep them.

use crate::{EnvError, TaskFiles};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Attributes of MJCF elements that name a file.
const FILE_ATTRIBUTES: [&str; 7] =
    ["file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"];
/// Attributes of the element `compiler` that name a folder of assets.
const FOLDER_ATTRIBUTES: [&str; 3] = ["assetdir", "meshdir", "texturedir"];

/// The task file, its model and whatever that includes or loads.
pub(super) fn files_of(path: &Path) -> Result<TaskFiles, EnvError> {
    let (text, shown) = super::task::read(path)?;
    let file = super::task::parse(&text, &shown)?;
    let task = absolute(path);
    let model = normal(&task.parent().unwrap_or(Path::new("/")).join(&file.model));
    let mut search =
        Search { main: model.parent().unwrap_or(Path::new("/")).to_owned(), ..Search::default() };
    search.model(&model);
    // A folder of assets may be named after the files in it.
    while search.look_again() {}
    search.found.insert(task.clone());
    search.found.insert(model);
    let Search { found, fixed, .. } = search;
    Ok(TaskFiles { task, files: found.into_iter().collect(), fixed: fixed.into_iter().collect() })
}

#[derive(Default)]
struct Search {
    /// Folder of the model that the task names.
    main: PathBuf,
    /// Every folder that a model names for its assets.
    folders: BTreeSet<PathBuf>,
    /// Names of files, with the folder of the model that names them.
    named: BTreeSet<(PathBuf, PathBuf)>,
    found: BTreeSet<PathBuf>,
    /// Files that are named by their absolute path.
    fixed: BTreeSet<PathBuf>,
    read: BTreeSet<PathBuf>,
}

impl Search {
    /// Collects what a model names. One that cannot be read or is no XML names nothing; MuJoCo says what is wrong.
    fn model(&mut self, path: &Path) {
        if !self.read.insert(path.to_owned()) {
            return;
        }
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let Ok(document) = roxmltree::Document::parse(&text) else { return };
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        for element in document.descendants().filter(roxmltree::Node::is_element) {
            if element.has_tag_name("compiler") {
                let named = FOLDER_ATTRIBUTES.iter().filter_map(|name| element.attribute(*name));
                self.folders.extend(named.map(PathBuf::from));
            }
            let named = FILE_ATTRIBUTES.iter().filter_map(|name| element.attribute(*name));
            self.named.extend(named.map(|name| (folder.clone(), PathBuf::from(name))));
        }
    }

    /// Looks for everything named so far in all places that MuJoCo may look in, which depend on its version and on
    /// elements that other files may override; a file too many does no harm. Says whether there was anything new.
    fn look_again(&mut self) -> bool {
        let before = (self.found.len() + self.fixed.len(), self.named.len(), self.folders.len());
        for (folder, name) in self.named.clone() {
            for (path, fixed) in self.places(&folder, &name).into_iter().filter(|(path, _)| path.is_file()) {
                if path.extension().is_some_and(|end| end == "xml" || end == "mjcf" || end == "urdf") {
                    self.model(&path);
                }
                if fixed { &mut self.fixed } else { &mut self.found }.insert(path);
            }
        }
        before != (self.found.len() + self.fixed.len(), self.named.len(), self.folders.len())
    }

    /// Where a file may be, and whether that place is absolute.
    fn places(&self, folder: &Path, name: &Path) -> BTreeSet<(PathBuf, bool)> {
        let bare = name.file_name().map(PathBuf::from).unwrap_or_default();
        let mut places = BTreeSet::new();
        for name in [name, &bare] {
            let beside = std::iter::once(name.to_owned());
            for named in beside.chain(self.folders.iter().map(|assets| assets.join(name))) {
                let fixed = named.is_absolute();
                places.extend([folder, &self.main].map(|base| (normal(&base.join(&named)), fixed)));
            }
        }
        places
    }
}

fn absolute(path: &Path) -> PathBuf {
    normal(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The path without `.` and `..`, by its text: links stay as they are named.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}
