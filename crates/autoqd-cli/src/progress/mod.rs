//! What a search is doing: a progress bar on a terminal, plain lines elsewhere.

mod within_iteration;

use autoqd::evaluator::Work;
use autoqd::observer::{EndReason, IterationReport, Observer, ObserverError, StartReport};
use autoqd::trainer::Refit;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::notes::note;
use within_iteration::{Now, WithinIteration};

/// Plain lines come no more often than this, except for the first and the last.
const LINE_INTERVAL: Duration = Duration::from_secs(2);
/// Weight of the newest iteration in the mean that the remaining time is computed from.
const NEWEST: f64 = 0.2;

/// Shows the progress of a search on standard error.
pub struct Progress {
    /// `None` where standard error is not a terminal.
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    /// Running mean of the seconds per iteration.
    seconds: Option<f64>,
    /// Where the search stood when it started or was resumed: iterations done and asked for.
    start: (u64, u64),
    within: Option<WithinIteration>,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// A bar if standard error is a terminal, else lines.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // Two lines, because all figures do not fit into the 80 columns of a common terminal.
            let style = ProgressStyle::with_template("{bar:20} {pos}/{len}  {prefix}\n{msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, last_line: None, seconds: None, start: (0, 0), within: None }
    }

    /// A line that stays, above the bar if there is one.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => note!("{line}"),
        }
    }

    fn remaining(&mut self, report: &IterationReport) -> f64 {
        let newest = report.timing.iteration_seconds;
        let mean = self.seconds.map_or(newest, |mean| mean + NEWEST * (newest - mean));
        self.seconds = Some(mean);
        mean * report.iterations.saturating_sub(report.metrics.iteration) as f64
    }

    fn line_is_due(&self, report: &IterationReport) -> bool {
        let last = report.metrics.iteration >= report.iterations;
        last || self.last_line.is_none_or(|at| at.elapsed() >= LINE_INTERVAL)
    }
}

impl Observer for Progress {
    fn on_start(&mut self, report: &StartReport) -> Result<(), ObserverError> {
        self.say(&start_line(report));
        self.start = (report.iteration, report.iterations);
        if let Some(bar) = &self.bar {
            bar.set_length(report.iterations);
            bar.set_position(report.iteration);
            bar.tick();
        }
        Ok(())
    }

    fn on_work(&mut self, work: Arc<Work>) {
        let (iteration, iterations) = self.start;
        let now = Now { iteration, iterations, began: Instant::now(), pace: String::new() };
        self.within = Some(WithinIteration::new(work, now, self.bar.clone()));
    }

    fn on_iteration(&mut self, report: &IterationReport) -> Result<(), ObserverError> {
        let (pace, found) = (pace(report, self.remaining(report)), found(report));
        if let Some(within) = &self.within {
            let (iteration, iterations) = (report.metrics.iteration, report.iterations);
            within.renew(Now { iteration, iterations, began: Instant::now(), pace: pace.clone() });
        }
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(pace);
                bar.set_message(found);
                bar.set_position(report.metrics.iteration);
            }
            None if self.line_is_due(report) => {
                note!("iteration {}/{}  {pace}  {found}", report.metrics.iteration, report.iterations);
                self.last_line = Some(Instant::now());
            }
            None => {}
        }
        Ok(())
    }

    fn on_refit(&mut self, iteration: u64, refit: &Refit, _seconds: f64) -> Result<(), ObserverError> {
        self.say(&refit_line(iteration, refit));
        Ok(())
    }

    fn on_notice(&mut self, text: &str) -> Result<(), ObserverError> {
        self.say(&format!("note: {text}"));
        Ok(())
    }

    fn on_end(&mut self, reason: EndReason) -> Result<(), ObserverError> {
        self.within = None;
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
        match reason {
            EndReason::Finished | EndReason::Interrupted => {}
            EndReason::MaxTime => note!("the time limit is reached"),
            EndReason::MaxEnvSteps => note!("the limit of environment steps is reached"),
        }
        Ok(())
    }
}

fn start_line(report: &StartReport) -> String {
    let StartReport { task, method, seed, iteration, iterations, threads, candidates, parameters, physics } =
        report;
    let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    if iteration >= iterations {
        return format!(
            "{task}, {method}, seed {seed}: all {iterations} iterations are done already; --iterations asks for \
             more"
        );
    }
    format!(
        "{task}, {method}, seed {seed}: iterations {} to {iterations} of {candidates} policies with {parameters} \
         parameters; {threads}, {physics}",
        iteration + 1
    )
}

/// How fast it goes and what comes next.
fn pace(report: &IterationReport, remaining: f64) -> String {
    // Only a search has refits.
    let next = match report.next_refit {
        Some(t) => format!("  next refit {t}"),
        None if report.metrics.coverage.is_finite() => "  no refit left".to_owned(),
        None => String::new(),
    };
    let rate = rate(report.timing.env_steps_per_second);
    format!("ETA {}  {rate} steps/s{next}", duration(remaining))
}

/// What was found so far: the archive's numbers where there is one, and the method's own.
fn found(report: &IterationReport) -> String {
    let metrics = &report.metrics;
    let mut line = format!("{} elites", metrics.elites);
    if metrics.coverage.is_finite() {
        line += &format!("  coverage {:.1} %  QD score {:.0}", 100.0 * metrics.coverage, metrics.qd_score);
    }
    line += &format!("  best return {:.1}", metrics.best_objective);
    for (name, value) in &report.figures {
        line += &format!("  {name} {value:.4}");
    }
    line
}

fn refit_line(iteration: u64, refit: &Refit) -> String {
    let fit = &refit.descriptor;
    let mut line = format!(
        "refit at iteration {iteration}: {} elites before, {} after, {} in reserve",
        refit.elites_before,
        refit.elites_after(),
        refit.archives.reserved
    );
    if fit.turned_degrees.is_finite() {
        line += &format!(", axes turned by up to {:.0}°", fit.turned_degrees);
    }
    let best = fit.losses.iter().map(|epoch| epoch.validation).reduce(f64::min);
    if let Some(best) = best {
        line += &format!(", {} epochs, validation loss {best:.4}", fit.losses.len());
    }
    if let Some(factor) = fit.exchanged_codes {
        line += &format!(", {factor:.2} times that with codes exchanged");
    }
    line
}

fn rate(per_second: f64) -> String {
    match per_second {
        r if r >= 999_500.0 => format!("{:.1}M", r / 1e6),
        r if r >= 9_950.0 => format!("{:.0}k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

fn duration(seconds: f64) -> String {
    let s = seconds.max(0.0).ceil() as u64;
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        _ => format!("{}h{:02}m", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoqd::descriptor::RefitReport;
    use autoqd::run_folder::{IterationRow, TimingRow};
    use autoqd_qd::RedescribeReport;

    fn report(iteration: u64) -> IterationReport {
        IterationReport {
            figures: vec![("entropy".to_owned(), 0.25)],
            iterations: 40,
            next_refit: Some(10),
            metrics: IterationRow {
                iteration,
                elites: 57,
                coverage: 0.1425,
                qd_score: 1234.4,
                best_objective: 35.26,
                ..IterationRow::default()
            },
            timing: TimingRow {
                iteration_seconds: 2.0,
                env_steps_per_second: 61_234.0,
                ..TimingRow::default()
            },
        }
    }

    #[test]
    fn the_figures_say_all_that_is_promised() {
        assert_eq!(pace(&report(5), 70.0), "ETA 1m10s  61k steps/s  next refit 10");
        assert_eq!(
            found(&report(5)),
            "57 elites  coverage 14.2 %  QD score 1234  best return 35.3  entropy 0.2500"
        );
    }

    #[test]
    fn the_remaining_time_follows_the_iterations() {
        let mut progress =
            Progress { bar: None, last_line: None, seconds: None, start: (0, 0), within: None };
        assert_eq!(progress.remaining(&report(5)), 70.0);
        assert_eq!(progress.remaining(&report(39)), 2.0);
        assert_eq!(progress.remaining(&report(40)), 0.0);
    }

    #[test]
    fn lines_are_not_too_many_but_the_first_and_last_always_come() {
        let mut progress =
            Progress { bar: None, last_line: None, seconds: None, start: (0, 0), within: None };
        assert!(progress.line_is_due(&report(1)));
        progress.on_iteration(&report(1)).unwrap();
        assert!(!progress.line_is_due(&report(2)));
        assert!(progress.line_is_due(&report(40)));
    }

    #[test]
    fn durations_and_rates_are_short() {
        assert_eq!(
            [0.0, 59.2, 61.0, 3599.0, 7260.0].map(duration),
            ["0s", "1m00s", "1m01s", "59m59s", "2h01m"]
        );
        assert_eq!([12.3, 9_949.0, 61_234.0, 2_345_678.0].map(rate), ["12", "9949", "61k", "2.3M"]);
    }

    #[test]
    fn a_refit_says_what_it_kept() {
        let refit = Refit {
            elites_before: 90,
            // More than before, when the reserve gives some back.
            archives: RedescribeReport { stored: vec![114], reserved: 9, ..RedescribeReport::default() },
            descriptor: RefitReport { turned_degrees: 41.6, ..RefitReport::default() },
            ..Refit::default()
        };
        let expected =
            "refit at iteration 20: 90 elites before, 114 after, 9 in reserve, axes turned by up to 42°";
        assert_eq!(refit_line(20, &refit), expected);
    }
}
