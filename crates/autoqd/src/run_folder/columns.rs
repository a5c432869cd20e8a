//! Rows of the log files, with their columns described once.

/// A value that a log file can hold.
pub(super) trait Cell: Sized {
    /// The value in a file that does not have the column.
    const MISSING: Self;
    fn write(&self) -> String;
    fn parse(text: &str) -> Option<Self>;
    fn number(&self) -> Option<f64>;
}

impl Cell for u64 {
    const MISSING: Self = 0;

    fn write(&self) -> String {
        self.to_string()
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self::MISSING) } else { text.parse().ok() }
    }

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Cell for f64 {
    const MISSING: Self = f64::NAN;

    /// The shortest text that reads back as the same number; nothing for a number that is not finite.
    fn write(&self) -> String {
        if self.is_finite() { format!("{self:?}") } else { String::new() }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self::MISSING) } else { text.parse().ok() }
    }

    fn number(&self) -> Option<f64> {
        self.is_finite().then_some(*self)
    }
}

impl Cell for String {
    const MISSING: Self = String::new();

    fn write(&self) -> String {
        self.clone()
    }

    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn number(&self) -> Option<f64> {
        None
    }
}

/// A row of a log file.
pub trait Row: Sized {
    /// Name and meaning of every column; the first is the iteration. A new one is added at the end.
    const COLUMNS: &'static [(&'static str, &'static str)];

    /// The iteration of the row.
    fn iteration(&self) -> u64;

    /// The values as text, in the order of the columns.
    fn cells(&self) -> Vec<String>;

    /// The values as numbers, without those that are missing.
    fn numbers(&self) -> Vec<(&'static str, f64)>;

    /// Reads the values in the order of the columns, with `None` for a column that the file does not have: its value is
    /// then 0 for a count and NaN for a number.
    fn read(cells: &[Option<&str>]) -> Option<Self>;
}

/// Declares a row: the doc comment of a field is also the description of its column.
macro_rules! row {
    ($(#[$meta:meta])* $name:ident { $(#[doc = $doc:literal] $field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name { $(#[doc = $doc] pub $field: $type,)+ }

        impl Row for $name {
            const COLUMNS: &'static [(&'static str, &'static str)] = &[$((stringify!($field), $doc),)+];

            fn iteration(&self) -> u64 {
                self.iteration
            }

            fn cells(&self) -> Vec<String> {
                vec![$(Cell::write(&self.$field),)+]
            }

            fn numbers(&self) -> Vec<(&'static str, f64)> {
                let all = [$((stringify!($field), Cell::number(&self.$field)),)+];
                all.into_iter().filter_map(|(name, number)| Some((name, number?))).collect()
            }

            fn read(cells: &[Option<&str>]) -> Option<Self> {
                let mut cells = cells.iter();
                let row = Self { $($field: cells.next()?.map_or(Some(Cell::MISSING), Cell::parse)?,)+ };
                // Every row has its iteration, whatever else is missing.
                (row.iteration > 0).then_some(row)
            }
        }
    };
}

/// Mean squared error of an autoencoder after one epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpochLosses {
    /// On the data it was trained on, as seen during the epoch.
    pub training: f64,
    /// On the policies held back.
    pub validation: f64,
}

row! {
    /// A row of `metrics.csv`: the same bytes for any number of threads.
    IterationRow {
        /// Iteration, from 1.
        iteration: u64,
        /// Policies evaluated so far.
        evaluations: u64,
        /// Environment steps so far.
        env_steps: u64,
        /// Elites in the result archive.
        elites: u64,
        /// Share of the result archive's cells that hold an elite.
        coverage: f64,
        /// Sum of objective minus offset over the result archive's elites.
        qd_score: f64,
        /// QD score per cell of the archive.
        normalized_qd_score: f64,
        /// Highest objective in the result archive.
        best_objective: f64,
        /// Mean objective of the result archive's elites.
        mean_objective: f64,
        /// Elites in the search archive.
        search_elites: u64,
        /// Highest objective among this iteration's candidates.
        batch_best_objective: f64,
        /// Mean objective of this iteration's candidates.
        batch_mean_objective: f64,
        /// Mean length of this iteration's episodes, in steps.
        batch_mean_length: f64,
        /// Candidates of this iteration that the search archive accepted.
        accepted: u64,
        /// Cells of the result archive that this iteration opened.
        new_cells: u64,
        /// Restarts of emitters so far.
        restarts: u64,
        /// Smallest step size among the emitters.
        sigma_min: f64,
        /// Largest step size among the emitters.
        sigma_max: f64,
        /// Elites in the reserve.
        reserve: u64,
        /// Episodes so far in which the simulator left the finite numbers.
        non_finite: u64,
        /// Elites of the result archive before this iteration's refit; empty without a refit.
        refit_before: f64,
        /// Elites of the result archive after this iteration's refit; empty without a refit.
        refit_after: f64,
        /// Largest angle, in degrees, by which this iteration's refit turned an axis; empty without a refit.
        refit_angle: f64,
        /// Share of the best fifth of the result archive's elites that lie outside its bounds; empty without bounds.
        outside: f64,
    }
}

row! {
    /// A row of `training.csv`: one epoch of a descriptor that trains; the same bytes for any number of threads.
    TrainingRow {
        /// Iteration at whose start it was trained.
        iteration: u64,
        /// Epoch, from 1.
        epoch: u64,
        /// Mean squared error on the training data, as seen during the epoch.
        training_loss: f64,
        /// Mean squared error on the policies held back.
        validation_loss: f64,
    }
}

row! {
    /// A row of `timing.csv`: everything that differs between two runs of the same configuration.
    TimingRow {
        /// Iteration, from 1.
        iteration: u64,
        /// Seconds of computing so far, over all sessions of the run.
        seconds: f64,
        /// Seconds of this iteration.
        iteration_seconds: f64,
        /// Environment steps per second of this iteration.
        env_steps_per_second: f64,
        /// Seconds spent asking the emitters.
        ask_seconds: f64,
        /// Seconds spent evaluating.
        evaluate_seconds: f64,
        /// Seconds spent in the archives and telling the emitters.
        tell_seconds: f64,
        /// Seconds spent on a refit.
        refit_seconds: f64,
        /// Seconds spent on the checkpoint of the iteration before.
        checkpoint_seconds: f64,
        /// Worker threads.
        threads: u64,
        /// Time of day at the end of the iteration, in seconds since 1970.
        unix_time: f64,
    }
}

row! {
    /// A row of `figures.csv`: a number of one method alone.
    FigureRow {
        /// Iteration, from 1.
        iteration: u64,
        /// What it is, in words without commas.
        name: String,
        /// The number.
        value: f64,
    }
}
