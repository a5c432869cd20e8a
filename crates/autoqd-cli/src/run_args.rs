//! The runs that a command works on, and finding runs below a folder.

use std::path::{Path, PathBuf};

use autoqd::run_folder::{
    ARCHIVE_FILE, CHECKPOINT_FILE, CONFIG_FILE, MANIFEST_FILE, METRICS_FILE, PREVIOUS_CHECKPOINT_FILE,
};

use crate::notes::note;

/// One run.
#[derive(clap::Args)]
pub struct RunArg {
    /// Run folder, list of chosen policies (.json) or table of policies (.parquet)
    pub run: PathBuf,
}

/// One or more runs.
#[derive(clap::Args)]
pub struct RunsArg {
    /// Run folders, folders that hold runs, lists of chosen policies (.json) or tables of policies (.parquet)
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
}

impl RunsArg {
    /// What was given, with all its runs in place of a folder that holds several.
    pub fn all(&self) -> Vec<PathBuf> {
        self.runs.iter().flat_map(|path| expand(path)).collect()
    }

    /// The same without runs, of a folder of several, that have nothing to show yet.
    pub fn with_policies(&self) -> Vec<PathBuf> {
        self.runs.iter().flat_map(|path| with_policies(path)).collect()
    }

    /// The folder that stands for all runs, if one was given; what is made of them together goes there.
    pub fn common_folder(&self) -> Option<&Path> {
        let [folder] = &self.runs[..] else { return None };
        (!self.is_one()).then_some(folder)
    }

    /// Whether a single run was named, and not a folder of them.
    pub fn is_one(&self) -> bool {
        self.runs.len() == 1 && self.all() == self.runs
    }
}

fn with_policies(path: &Path) -> Vec<PathBuf> {
    let (ready, waiting): (Vec<PathBuf>, Vec<PathBuf>) =
        expand(path).into_iter().partition(|run| run == path || run.join(ARCHIVE_FILE).exists());
    if ready.is_empty() {
        return waiting;
    }
    for run in waiting {
        note!("note: left out {}: it has no {ARCHIVE_FILE} yet", run.display());
    }
    ready
}

/// The runs below a folder that is not itself one; any other path as it is, so that whoever opens it says what is wrong.
fn expand(path: &Path) -> Vec<PathBuf> {
    let given = || vec![path.to_owned()];
    if !path.is_dir() || is_run(path) {
        return given();
    }
    let found: Vec<PathBuf> =
        runs_below(path).into_iter().filter(|run| run.is_run).map(|run| run.path).collect();
    if found.is_empty() { given() } else { found }
}

fn is_run(path: &Path) -> bool {
    path.join(CONFIG_FILE).is_file()
}

/// Something below a folder that is a run, or should be.
pub struct Found {
    /// Its folder.
    pub path: PathBuf,
    /// Whether it has a configuration; without one, it only has files that runs leave.
    pub is_run: bool,
}

/// Every run at or below a folder, by path. Links to folders and hidden folders are not followed.
pub fn runs_below(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, found: &mut Vec<Found>) {
    let left_by_runs = [METRICS_FILE, CHECKPOINT_FILE, PREVIOUS_CHECKPOINT_FILE, ARCHIVE_FILE, MANIFEST_FILE];
    let is_run = is_run(folder);
    if is_run || left_by_runs.iter().any(|name| folder.join(name).is_file()) {
        found.push(Found { path: folder.to_owned(), is_run });
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), found);
        }
    }
}

/// A path as it must be written in a shell.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell_only_where_they_must_be() {
        assert_eq!(quoted(Path::new("runs/hopper-autoqd-0")), "runs/hopper-autoqd-0");
        assert_eq!(quoted(Path::new("my runs/it's")), r"'my runs/it'\''s'");
    }
}
