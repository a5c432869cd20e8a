//! A table of runs, with a line also for a run that cannot be read.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use autoqd::registry::Registry;
use autoqd::run_folder::{CHECKPOINT_FILE, CONFIG_FILE, METRICS_FILE, RunState, Status, status};

/// A run: what it did, or why that is not known.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A run that can be read.
    Sound {
        /// What it did.
        #[serde(flatten)]
        status: Box<Status>,
        /// Seconds since it last wrote something.
        age_seconds: Option<u64>,
    },
    /// A run that cannot.
    Damaged {
        /// Its folder.
        #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
        path: PathBuf,
        /// What is wrong.
        error: String,
        /// Seconds since it last wrote something.
        age_seconds: Option<u64>,
    },
}

impl Row {
    /// Reads the status of a run, whatever state its folder is in.
    pub fn read(path: &Path, registry: &Registry) -> Self {
        let age_seconds = age(path);
        match status(path, registry) {
            Ok(status) => Self::Sound { status: Box::new(status), age_seconds },
            Err(error) => Self::Damaged {
                path: path.to_owned(),
                error: crate::message(&anyhow::Error::from(error)),
                age_seconds,
            },
        }
    }

    /// Whether the run can be read.
    pub fn is_sound(&self) -> bool {
        matches!(self, Self::Sound { .. })
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        match self {
            Self::Sound { status, age_seconds } => [
                status.path.display().to_string(),
                short(&status.task),
                status.method.clone(),
                status.seed.to_string(),
                state(status.state).to_owned(),
                format!("{}/{}", status.iteration, status.iterations),
                status.elites.to_string(),
                status.best_objective.map_or_else(|| "-".to_owned(), |best| format!("{best:.1}")),
                status.outside.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
                age_text(*age_seconds),
            ],
            Self::Damaged { path, age_seconds, .. } => {
                let mut cells = COLUMNS.map(|_| "-".to_owned());
                cells[0] = path.display().to_string();
                cells[4] = "damaged".to_owned();
                cells[COLUMNS.len() - 1] = age_text(*age_seconds);
                cells
            }
        }
    }

    fn error(&self) -> Option<&str> {
        match self {
            Self::Sound { .. } => None,
            Self::Damaged { error, .. } => Some(error),
        }
    }
}

/// The name of a task, or that of its file without the folders: paths would be most of the table.
fn short(task: &str) -> String {
    let file = Path::new(task).file_name().filter(|_| task.ends_with(".toml"));
    file.map_or_else(|| task.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A state in a word.
pub fn state(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Stopped => "stopped",
        RunState::Finished => "finished",
    }
}

const COLUMNS: [&str; 10] =
    ["run", "task", "method", "seed", "state", "iteration", "elites", "best return", "outside", "age"];

/// Prints rows in aligned columns: words to the left, numbers to the right.
pub fn print(rows: &[Row], out: &mut dyn Write) -> std::io::Result<()> {
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let header = COLUMNS.map(str::to_owned);
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(|column| {
        let all = cells.iter().chain([&header]).map(|row| row[column].chars().count());
        all.max().unwrap_or(0)
    });
    writeln!(out, "{}", line(&header, &widths))?;
    for (row, cells) in rows.iter().zip(&cells) {
        // Some errors show the place over several lines; a row has one.
        let words: Vec<&str> = row.error().unwrap_or_default().split_whitespace().collect();
        writeln!(out, "{}", format!("{}  {}", line(cells, &widths), words.join(" ")).trim_end())?;
    }
    Ok(())
}

fn line(cells: &[String; COLUMNS.len()], widths: &[usize; COLUMNS.len()]) -> String {
    let aligned = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        let is_number = matches!(column, 3 | 5..);
        if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    });
    aligned.collect::<Vec<_>>().join("  ")
}

/// Seconds since the newest of the files that a run writes as it goes.
fn age(folder: &Path) -> Option<u64> {
    let files = [METRICS_FILE, CHECKPOINT_FILE, CONFIG_FILE];
    let changed = |name: &str| folder.join(name).metadata().and_then(|file| file.modified()).ok();
    let newest = files.iter().filter_map(|name| changed(name)).max()?;
    // A clock that was set back makes no run older than nothing.
    Some(SystemTime::now().duration_since(newest).unwrap_or_default().as_secs())
}

fn age_text(seconds: Option<u64>) -> String {
    match seconds {
        None => "-".to_owned(),
        Some(s @ 0..60) => format!("{s}s"),
        Some(s @ 60..3600) => format!("{}m", s / 60),
        Some(s @ 3600..86_400) => format!("{}h", s / 3600),
        Some(s) => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let texts = [None, Some(59), Some(61), Some(7200), Some(200_000)].map(age_text);
        assert_eq!(texts, ["-", "59s", "1m", "2h", "2d"]);
    }
}
