//! The log files of a run: metrics.csv, timing.csv, TensorBoard events and those that only some methods have.

use super::columns::{EpochLosses, FigureRow, IterationRow, Row, TimingRow, TrainingRow};
use super::csv_log::{CsvLog, Looked, read_rows, readable_rows};
use super::events::{EventLog, kept_bytes};
use super::log_sums::{BINARY_LOGS, LogSum, LogSums, Summing};
use super::manifest::Manifest;
use super::{
    EVENTS_FILE, FIGURES_FILE, METRICS_FILE, NOTICES_FILE, RunFolderError, TIMING_FILE, TRAINING_FILE,
    write_atomic,
};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The open log files of a run.
#[derive(Debug)]
pub struct RunLogs {
    metrics: CsvLog<IterationRow>,
    timing: CsvLog<TimingRow>,
    events: EventLog,
    /// Opened by the first training, so that other methods have no such file.
    training: Option<CsvLog<TrainingRow>>,
    /// Opened by the first figure, likewise.
    figures: Option<CsvLog<FigureRow>>,
    folder: PathBuf,
}

impl RunLogs {
    /// Opens the logs in a folder, cut back to `iteration` (0 for a new run), if they are what the run wrote.
    pub(super) fn open(folder: &Path, iteration: u64) -> Result<Self, RunFolderError> {
        let sums = LogSums::read(folder)?;
        let known = sums.clone().unwrap_or_default();
        // All of them before any is changed.
        let metrics = Looked::at(folder, METRICS_FILE, iteration, &known)?;
        let timing = Looked::at(folder, TIMING_FILE, iteration, &known)?;
        let training = Looked::at(folder, TRAINING_FILE, iteration, &known)?;
        let figures = Looked::at(folder, FIGURES_FILE, iteration, &known)?;
        let [events, notices] = [EVENTS_FILE, NOTICES_FILE].map(|name| binary(folder, name, &known));
        let (events, notices) = (events?.unwrap_or_default(), notices?);
        let keep = kept_bytes(&events, iteration);
        let events = Summing::of(&events[..keep as usize], None);
        Manifest::remove(folder)?;
        if sums.is_some() {
            let all = [
                (METRICS_FILE, metrics.is_there().then(|| metrics.sum())),
                (TIMING_FILE, timing.is_there().then(|| timing.sum())),
                (TRAINING_FILE, training.is_there().then(|| training.sum())),
                (FIGURES_FILE, figures.is_there().then(|| figures.sum())),
                (EVENTS_FILE, Some(events.sum())),
                (NOTICES_FILE, notices.map(|bytes| Summing::of(&bytes, None).sum())),
            ];
            named(all).write(folder)?;
        }
        Ok(Self {
            figures: figures.is_there().then(|| figures.open()).transpose()?,
            training: training.is_there().then(|| training.open()).transpose()?,
            metrics: metrics.open()?,
            timing: timing.open()?,
            events: EventLog::open(&folder.join(EVENTS_FILE), keep, events, unix_time())?,
            folder: folder.to_owned(),
        })
    }

    /// Adds one iteration to all logs.
    pub fn append(
        &mut self,
        metrics: &IterationRow,
        figures: &[(String, f64)],
        timing: &TimingRow,
    ) -> Result<(), RunFolderError> {
        self.append_figures(metrics.iteration, figures)?;
        self.metrics.append(metrics)?;
        self.timing.append(timing)?;
        let tagged = |group: &str, numbers: Vec<(&str, f64)>| {
            let wanted = numbers.into_iter().filter(|(name, _)| !matches!(*name, "iteration" | "unix_time"));
            wanted.map(|(name, value)| (format!("{group}/{name}"), value)).collect::<Vec<_>>()
        };
        let mut scalars = tagged("search", metrics.numbers());
        scalars.extend(tagged("timing", timing.numbers()));
        scalars.extend(figures.iter().map(|(name, value)| (format!("figures/{name}"), *value)));
        self.events.append(metrics.iteration, timing.unix_time, &scalars)
    }

    fn append_figures(&mut self, iteration: u64, figures: &[(String, f64)]) -> Result<(), RunFolderError> {
        if figures.is_empty() {
            return Ok(());
        }
        let log = match &mut self.figures {
            Some(log) => log,
            none => none.insert(new_log(&self.folder, FIGURES_FILE, iteration)?),
        };
        for (name, value) in figures {
            log.append(&FigureRow { iteration, name: name.replace([',', '\n'], " "), value: *value })?;
        }
        Ok(())
    }

    /// Adds the loss curve of one training.
    pub fn append_training(&mut self, iteration: u64, losses: &[EpochLosses]) -> Result<(), RunFolderError> {
        if losses.is_empty() {
            return Ok(());
        }
        let log = match &mut self.training {
            Some(log) => log,
            none => none.insert(new_log(&self.folder, TRAINING_FILE, iteration)?),
        };
        for (epoch, losses) in (1..).zip(losses) {
            let (training_loss, validation_loss) = (losses.training, losses.validation);
            log.append(&TrainingRow { iteration, epoch, training_loss, validation_loss })?;
        }
        Ok(())
    }

    /// Flushes everything to disk, to survive a loss of power, and writes down checksums of it; called before a
    /// checkpoint that relies on it.
    pub fn sync(&self) -> Result<(), RunFolderError> {
        let optional = |log: Option<Result<LogSum, RunFolderError>>| log.transpose();
        let all = [
            (METRICS_FILE, Some(self.metrics.sync()?)),
            (TIMING_FILE, Some(self.timing.sync()?)),
            (TRAINING_FILE, optional(self.training.as_ref().map(CsvLog::sync))?),
            (FIGURES_FILE, optional(self.figures.as_ref().map(CsvLog::sync))?),
            (EVENTS_FILE, Some(self.events.sync()?)),
            (NOTICES_FILE, synced(&self.folder.join(NOTICES_FILE))?),
        ];
        named(all).write(&self.folder)
    }
}

/// The log of something that the run did not have before.
fn new_log<R: Row>(folder: &Path, name: &str, iteration: u64) -> Result<CsvLog<R>, RunFolderError> {
    Looked::at(folder, name, iteration, &LogSums::default())?.open()
}

fn named(all: [(&str, Option<LogSum>); 6]) -> LogSums {
    LogSums(all.into_iter().filter_map(|(name, sum)| Some((name.to_owned(), sum?))).collect())
}

/// The bytes of a log without lines, if there is one, which must be what the run wrote.
fn binary(folder: &Path, name: &str, sums: &LogSums) -> Result<Option<Vec<u8>>, RunFolderError> {
    let bytes = if_there(&folder.join(name))?;
    sums.check(folder, name, bytes.as_deref().unwrap_or_default(), false)?;
    Ok(bytes)
}

fn if_there(path: &Path) -> Result<Option<Vec<u8>>, RunFolderError> {
    match std::fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(|e| RunFolderError::io("read", path, e)),
    }
}

/// The checksum of a file that is written line by line, once it is on disk.
fn synced(path: &Path) -> Result<Option<LogSum>, RunFolderError> {
    let Some(bytes) = if_there(path)? else { return Ok(None) };
    let synced = File::open(path).and_then(|file| file.sync_data());
    synced.map_err(|e| RunFolderError::io("write", path, e))?;
    Ok(Some(Summing::of(&bytes, None).sum()))
}

/// Compares a log with what the run wrote, and says how long it is; `whole` if nothing may follow.
pub(super) fn check_log(folder: &Path, name: &str, whole: bool) -> Result<usize, RunFolderError> {
    let sums = LogSums::read(folder)?.unwrap_or_default();
    let path = folder.join(name);
    let missing = || RunFolderError::io("read", &path, ErrorKind::NotFound.into());
    let bytes = if_there(&path)?;
    sums.check(folder, name, bytes.as_deref().unwrap_or_default(), whole)?;
    bytes.map(|bytes| bytes.len()).ok_or_else(missing)
}

/// Takes the logs as they are: of one that is not what the run wrote a copy is set aside, and the lines that can be
/// read are kept. The answer says what was done.
pub(super) fn accept_logs(folder: &Path) -> Result<Vec<String>, RunFolderError> {
    let mut sums = LogSums::read(folder).ok().flatten().unwrap_or_default();
    let mut accepted = Vec::new();
    for (name, readable) in [
        (METRICS_FILE, readable_rows::<IterationRow> as Readable),
        (TIMING_FILE, readable_rows::<TimingRow>),
        (TRAINING_FILE, readable_rows::<TrainingRow>),
        (FIGURES_FILE, readable_rows::<FigureRow>),
    ] {
        let path = folder.join(name);
        let bytes = if_there(&path)?;
        let kept = bytes.as_ref().and_then(|bytes| readable(&path, bytes));
        let whole =
            kept.as_ref().zip(bytes.as_ref()).is_some_and(|((kept, _), bytes)| bytes.starts_with(kept));
        let known = sums.check(folder, name, bytes.as_deref().unwrap_or_default(), false).is_ok();
        if !(known && (whole || bytes.is_none())) {
            accepted.push((name, bytes, kept));
        }
    }
    for name in BINARY_LOGS {
        let bytes = if_there(&folder.join(name))?;
        if sums.check(folder, name, bytes.as_deref().unwrap_or_default(), false).is_err() {
            accepted.push((name, bytes.clone(), bytes.map(|bytes| (bytes, 0))));
        }
    }
    accepted.iter().for_each(|(name, ..)| drop(sums.0.remove(*name)));
    // Before the files: what has no checksum may be anything.
    sums.write(folder)?;
    accepted.into_iter().map(|(name, bytes, kept)| replace(folder, name, bytes, kept)).collect()
}

type Readable = fn(&Path, &[u8]) -> Option<(Vec<u8>, usize)>;

/// Puts what can be read in the place of a log, of which a copy is set aside.
fn replace(
    folder: &Path,
    name: &str,
    bytes: Option<Vec<u8>>,
    kept: Option<(Vec<u8>, usize)>,
) -> Result<String, RunFolderError> {
    let path = folder.join(name);
    let Some(bytes) = bytes else { return Ok(format!("{name} is missing and begins anew")) };
    let aside = format!("{name}.rejected");
    write_atomic(&folder.join(&aside), |file| Ok(file.write_all(&bytes)?))?;
    match kept {
        Some((kept, rows)) => {
            write_atomic(&path, |file| Ok(file.write_all(&kept)?))?;
            let what =
                if rows > 0 { format!("with its {rows} readable rows") } else { "as it is".to_owned() };
            Ok(format!("{name} was changed; it goes on {what}, and what was found is kept as {aside}"))
        }
        None => {
            std::fs::remove_file(&path).map_err(|e| RunFolderError::io("remove", &path, e))?;
            Ok(format!("{name} cannot be read and begins anew; what was found is kept as {aside}"))
        }
    }
}

/// Seconds since 1970.
pub fn unix_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// All rows of a run's metrics.csv.
pub fn read_metrics(folder: &Path) -> Result<Vec<IterationRow>, RunFolderError> {
    read_rows(folder, METRICS_FILE)
}

/// All rows of a run's training.csv, which only methods that train have.
pub fn read_training(folder: &Path) -> Result<Vec<TrainingRow>, RunFolderError> {
    read_rows(folder, TRAINING_FILE)
}

/// All rows of a run's figures.csv, which only methods with figures of their own have.
pub fn read_figures(folder: &Path) -> Result<Vec<FigureRow>, RunFolderError> {
    read_rows(folder, FIGURES_FILE)
}

/// All rows of a run's timing.csv.
pub fn read_timing(folder: &Path) -> Result<Vec<TimingRow>, RunFolderError> {
    read_rows(folder, TIMING_FILE)
}
