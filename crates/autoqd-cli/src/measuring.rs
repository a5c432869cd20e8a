//! What the measuring commands share: opening runs, progress, and printing.

use autoqd::registry::Registry;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use autoqd::search::thread_pool;
use autoqd_env::Physics;
use autoqd_measure::{Bench, Format, LoadedRun, Progress, Table, name_variants, task_name};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::engine_args::EngineArgs;
use crate::notes::note;
use crate::run_args::RunsArg;

/// Plain lines of progress come no more often than this.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Runs to measure, and how to print.
#[derive(clap::Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    runs: RunsArg,
    #[command(flatten)]
    simulation: SimulationArgs,
    #[arg(long)]
    pub json: bool,
}

/// How policies are rolled out.
#[derive(clap::Args)]
pub struct SimulationArgs {
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// reference (libmujoco or Box2D), lanes (the batched one), or auto (lanes where it supports the model)
    #[arg(long, default_value = "reference", value_parser = physics)]
    physics: Physics,
    #[command(flatten)]
    engine: EngineArgs,
}

impl SimulationArgs {
    /// A run to be rolled out on the chosen simulator.
    pub fn load(&self, path: &Path) -> anyhow::Result<LoadedRun> {
        let mut run = LoadedRun::open(path)?;
        run.physics = self.physics;
        Ok(run)
    }

    /// Where policies are rolled out.
    pub fn bench(&self, registry: &Registry) -> anyhow::Result<Bench> {
        bench(&self.engine.apply(registry)?, self.threads)
    }
}

/// The parts of a registry, on so many threads.
pub fn bench(registry: &Registry, threads: Option<NonZeroUsize>) -> anyhow::Result<Bench> {
    Ok(Bench::new(registry.clone(), thread_pool(threads.map(NonZeroUsize::get))?))
}

fn physics(name: &str) -> Result<Physics, String> {
    match name {
        "reference" => Ok(Physics::Reference),
        "lanes" => Ok(Physics::Lanes),
        "auto" => Ok(Physics::Auto),
        _ => Err("use reference, lanes or auto".to_owned()),
    }
}

impl MeasureArgs {
    /// The runs, by task, each named by what tells it from the others of its task.
    pub fn by_task(&self) -> anyhow::Result<BTreeMap<String, Vec<LoadedRun>>> {
        let mut tasks: BTreeMap<String, Vec<LoadedRun>> = BTreeMap::new();
        for path in self.runs.with_policies() {
            let run = self.simulation.load(&path)?;
            tasks.entry(task_name(&run)).or_default().push(run);
        }
        tasks.values_mut().for_each(|group| name_variants(group));
        Ok(tasks)
    }

    /// The runs, which must be of one task.
    pub fn one_task(&self) -> anyhow::Result<Vec<LoadedRun>> {
        let mut tasks = self.by_task()?;
        let names: Vec<String> = tasks.keys().cloned().collect();
        anyhow::ensure!(
            tasks.len() == 1,
            "the runs are of different tasks ({}); measure them separately",
            names.join(", ")
        );
        Ok(tasks.pop_first().map(|(_, runs)| runs).unwrap_or_default())
    }

    /// Where policies are rolled out.
    pub fn bench(&self, registry: &Registry) -> anyhow::Result<Bench> {
        self.simulation.bench(registry)
    }
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// Aligned columns.
    #[default]
    Text,
    /// Markdown.
    Markdown,
    /// LaTeX, needs the package booktabs.
    Latex,
    /// One line per value.
    Csv,
}

impl TableFormat {
    /// Writes a table.
    pub fn print(self, table: &Table, out: &mut dyn Write) -> std::io::Result<()> {
        let format = match self {
            TableFormat::Text => Format::Terminal { color: std::io::stdout().is_terminal() },
            TableFormat::Markdown => Format::Markdown,
            TableFormat::Latex => Format::Latex,
            TableFormat::Csv => Format::Csv,
        };
        out.write_all(table.render(format).as_bytes())
    }
}

/// Shows rollouts done on standard error: a bar on a terminal, lines elsewhere.
pub struct RolloutProgress {
    bar: Option<ProgressBar>,
    stage: String,
    done: u64,
    total: u64,
    last_line: Instant,
}

impl Default for RolloutProgress {
    fn default() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg:12} {bar:30} {pos}/{len} rollouts  {eta} left");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, stage: String::new(), done: 0, total: 0, last_line: Instant::now() }
    }
}

impl Progress for RolloutProgress {
    fn start(&mut self, stage: &str, total: u64) {
        (self.stage, self.done, self.total) = (stage.to_owned(), 0, total);
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_length(total);
            bar.set_message(stage.to_owned());
        }
    }

    fn advance(&mut self, rollouts: u64) {
        self.done += rollouts;
        // Policies near a threshold are looked at again, how many is not known beforehand.
        self.total = self.total.max(self.done);
        match &self.bar {
            Some(bar) => {
                bar.set_length(self.total);
                bar.inc(rollouts);
            }
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                note!("{}: {} of {} rollouts", self.stage, self.done, self.total);
                self.last_line = Instant::now();
            }
            None => {}
        }
    }
}

impl Drop for RolloutProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Prints a value as JSON. An error of writing stays what it is, so that a closed pipe is recognised.
pub fn print_json(value: &impl serde::Serialize, out: &mut dyn Write) -> anyhow::Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string_pretty(value)?)?)
}
