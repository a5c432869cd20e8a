//! The log files of a run: metrics.csv, timing.csv and TensorBoard events.

use super::columns::{EpochLosses, FigureRow, IterationRow, Row, TimingRow, TrainingRow};
use super::csv_log::{CsvLog, read_rows};
use super::events::EventLog;
use super::{EVENTS_FILE, FIGURES_FILE, METRICS_FILE, RunFolderError, TIMING_FILE, TRAINING_FILE};
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
    /// Opens the logs in a folder, cut back to `iteration` (0 for a new run).
    pub(super) fn open(folder: &Path, iteration: u64) -> Result<Self, RunFolderError> {
        let training = folder.join(TRAINING_FILE);
        let figures = folder.join(FIGURES_FILE);
        Ok(Self {
            figures: figures.exists().then(|| CsvLog::open(&figures, iteration)).transpose()?,
            training: training.exists().then(|| CsvLog::open(&training, iteration)).transpose()?,
            folder: folder.to_owned(),
            metrics: CsvLog::open(&folder.join(METRICS_FILE), iteration)?,
            timing: CsvLog::open(&folder.join(TIMING_FILE), iteration)?,
            events: EventLog::open(&folder.join(EVENTS_FILE), iteration, unix_time())?,
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
            none => none.insert(CsvLog::open(&self.folder.join(FIGURES_FILE), iteration)?),
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
            none => none.insert(CsvLog::open(&self.folder.join(TRAINING_FILE), iteration)?),
        };
        for (epoch, losses) in (1..).zip(losses) {
            let (training_loss, validation_loss) = (losses.training, losses.validation);
            log.append(&TrainingRow { iteration, epoch, training_loss, validation_loss })?;
        }
        Ok(())
    }

    /// Flushes everything to disk, to survive a loss of power; called before a checkpoint that relies on it.
    pub fn sync(&self) -> Result<(), RunFolderError> {
        self.metrics.sync()?;
        self.training.as_ref().map_or(Ok(()), CsvLog::sync)?;
        self.figures.as_ref().map_or(Ok(()), CsvLog::sync)?;
        self.timing.sync()
    }
}

/// Seconds since 1970.
pub fn unix_time() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// All rows of a run's metrics.csv.
pub fn read_metrics(folder: &Path) -> Result<Vec<IterationRow>, RunFolderError> {
    read_rows(&folder.join(METRICS_FILE))
}

/// All rows of a run's training.csv, which only methods that train have.
pub fn read_training(folder: &Path) -> Result<Vec<TrainingRow>, RunFolderError> {
    read_rows(&folder.join(TRAINING_FILE))
}

/// All rows of a run's figures.csv, which only methods with figures of their own have.
pub fn read_figures(folder: &Path) -> Result<Vec<FigureRow>, RunFolderError> {
    read_rows(&folder.join(FIGURES_FILE))
}

/// All rows of a run's timing.csv.
pub fn read_timing(folder: &Path) -> Result<Vec<TimingRow>, RunFolderError> {
    read_rows(&folder.join(TIMING_FILE))
}
