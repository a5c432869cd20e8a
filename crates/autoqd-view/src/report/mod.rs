//! `autoqd report`: one HTML file that shows what runs found, and needs nothing else.

mod behaviours;

use std::fmt::Write;

use autoqd::run_folder::{ArchiveTable, Status};
use autoqd_measure::RunMetrics;

use self::behaviours::behaviours;
use crate::figures::{archive_plot, learning, tasks_of};
use crate::measured::Measured;
use crate::plot::svg::escape;
use crate::plot::{Figure, Mode, heatmap_pairs, parallel_axes};
use crate::{RunView, ViewError};

const STYLE: &str = include_str!("report.css");
/// The painter exports; inside one inline module the exports reach the code below it.
const SCRIPT: [&str; 2] = [include_str!("painter.js"), include_str!("report.js")];

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub struct ReportOptions {
    /// Behaviours per run: the best, then those farthest from all chosen ones among the best fifth.
    pub behaviours: usize,
    /// Seconds of each behaviour.
    pub seconds: f64,
    /// Largest size of the page in bytes: a report of many runs shows fewer and shorter behaviours of each.
    pub bytes: usize,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { behaviours: 9, seconds: 12.0, bytes: 20_000_000 }
    }
}

impl ReportOptions {
    /// The next smaller report; `None` if there is none.
    fn smaller(self) -> Option<Self> {
        match self {
            Self { behaviours: 2.., .. } => Some(Self { behaviours: self.behaviours / 2, ..self }),
            _ if self.seconds > 1.0 => Some(Self { seconds: 0.5 * self.seconds, ..self }),
            _ => None,
        }
    }
}

/// The report of these runs as one HTML document without any reference to the outside.
pub fn report(runs: &[RunView], mut options: ReportOptions) -> Result<String, ViewError> {
    let measured = Measured::read(runs)?;
    loop {
        let page = page(runs, &measured, options)?;
        match options.smaller() {
            Some(smaller) if page.len() >= options.bytes => options = smaller,
            _ => return Ok(page),
        }
    }
}

fn page(runs: &[RunView], measured: &Measured, options: ReportOptions) -> Result<String, ViewError> {
    let title = match runs {
        [run] => run.name().to_owned(),
        _ => format!("{} runs", runs.len()),
    };
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{} · autoqd report</title>\n\
         <style>\n{STYLE}</style></head><body>\n<header><h1>{}</h1>{}</header>\n<main>\n",
        escape(&title),
        escape(&title),
        subtitle(runs),
    );
    let statuses: Vec<Option<Status>> = runs.iter().map(RunView::status).collect::<Result<_, _>>()?;
    page.push_str(&numbers(runs, &statuses));
    page.push_str(&section("Learning", &all_of(|mode| learning(runs, mode))?));
    let content = measured_content(runs, measured)?;
    if !content.is_empty() {
        page.push_str(&section("Measured", &content));
    }
    for run in runs {
        page.push_str(&run_section(run, runs.len(), options)?);
    }
    let _ = write!(
        page,
        "</main>\n<script type=\"module\">\n{}\n{}</script>\n</body></html>\n",
        SCRIPT[0], SCRIPT[1]
    );
    Ok(page)
}

fn subtitle(runs: &[RunView]) -> String {
    format!("<p>{}</p>", escape(&tasks_of(runs).join(", ")))
}

fn section(title: &str, content: &str) -> String {
    format!("<section><h2>{}</h2>\n{content}</section>\n", escape(title))
}

/// A figure for light and for dark pages; the style shows one of them.
fn both(make: impl Fn(Mode) -> Result<Figure, ViewError>) -> Result<String, ViewError> {
    let (light, dark) = (make(Mode::Light)?, make(Mode::Dark)?);
    // Panels side by side are scrolled on a narrow page, not shrunk until nothing can be read.
    let class = if light.panels.len() > 1 { " class=\"panels\"" } else { "" };
    Ok(format!(
        "<figure{class}><div class=\"light\">{}</div><div class=\"dark\">{}</div></figure>\n",
        light.svg(Mode::Light),
        dark.svg(Mode::Dark)
    ))
}

/// Figures with their file names, for light and for dark pages.
fn all_of(make: impl Fn(Mode) -> Result<Vec<(String, Figure)>, ViewError>) -> Result<String, ViewError> {
    let (light, dark) = (make(Mode::Light)?, make(Mode::Dark)?);
    let pairs = light.into_iter().zip(dark);
    pairs.map(|((_, l), (_, d))| both(|m| Ok(if m == Mode::Light { l.clone() } else { d.clone() }))).collect()
}

/// Numbers and figures of what was measured, and what is missing because it is out of date.
fn measured_content(runs: &[RunView], measured: &Measured) -> Result<String, ViewError> {
    let mut content = measured_numbers(runs, measured.evaluations());
    content.push_str(&all_of(|mode| Ok(measured.figures(mode)))?);
    for stale in measured.stale() {
        let _ = writeln!(content, "<p class=\"note\">Left out: {}.</p>", escape(stale));
    }
    Ok(content)
}

/// What `autoqd eval` found, one row per run that was measured.
fn measured_numbers(runs: &[RunView], evaluations: &[Option<RunMetrics>]) -> String {
    if evaluations.iter().all(Option::is_none) {
        return String::new();
    }
    let mut table = String::from(
        "<div class=\"wide\"><table><thead><tr><th>run</th><th>policies</th><th>GT QD score</th>\
         <th>GT cells</th><th>Vendi score</th><th>qVS</th><th>mean return</th><th>best return</th></tr></thead><tbody>\n",
    );
    for (run, found) in runs.iter().zip(evaluations) {
        let Some(found) = found else { continue };
        let gt = found.gt.first();
        let cells = [
            escape(run.name()),
            thousands(found.policies as u64),
            gt.map_or_else(dash, |gt| number(gt.qd_score)),
            gt.map_or_else(dash, |gt| format!("{} of {}", gt.coverage, gt.cells)),
            number(found.vendi.value),
            found.quality_vendi.map_or_else(dash, number),
            found.mean_objective.map_or_else(dash, number),
            found.max_objective.map_or_else(dash, number),
        ];
        let _ = writeln!(table, "<tr><td>{}</td></tr>", cells.join("</td><td>"));
    }
    table.push_str(
        "</tbody></table></div>\n<p class=\"note\">Every policy rolled out again, with seeds that no search uses.</p>\n",
    );
    table
}

/// The table of numbers, one row per run.
fn numbers(runs: &[RunView], statuses: &[Option<Status>]) -> String {
    let mut table = String::from(
        "<section><h2>Numbers</h2><div class=\"wide\"><table><thead><tr><th>run</th><th>task</th><th>method</th>\
         <th>seed</th><th>iterations</th><th>evaluations</th><th>steps</th><th>elites</th><th>coverage</th>\
         <th>QD score</th><th>best</th><th>mean</th><th>time</th></tr></thead><tbody>\n",
    );
    for (run, status) in runs.iter().zip(statuses) {
        let (facts, status) = (run.run(), status.as_ref());
        let of = |text: &dyn Fn(&Status) -> String| status.map_or_else(dash, text);
        let cells = [
            escape(run.name()),
            escape(&facts.task),
            escape(&facts.method),
            facts.seed.map_or_else(dash, |seed| seed.to_string()),
            of(&|s| format!("{} of {}", s.iteration, s.iterations)),
            of(&|s| thousands(s.evaluations)),
            of(&|s| thousands(s.env_steps)),
            of(&|s| thousands(s.elites)),
            of(&|s| s.coverage.map_or_else(dash, |c| format!("{:.1} %", 100.0 * c))),
            of(&|s| s.qd_score.map_or_else(dash, number)),
            of(&|s| s.best_objective.map_or_else(dash, number)),
            of(&|s| s.mean_objective.map_or_else(dash, number)),
            of(&|s| duration(s.seconds)),
        ];
        let _ = writeln!(table, "<tr><td>{}</td></tr>", cells.join("</td><td>"));
    }
    table.push_str("</tbody></table></div></section>\n");
    table
}

fn run_section(run: &RunView, runs: usize, options: ReportOptions) -> Result<String, ViewError> {
    let table = run.archive()?;
    let name = |what: &str| if runs > 1 { format!("{}: {what}", run.name()) } else { capital(what) };
    let mut html = String::new();
    if table.is_empty() {
        html.push_str(&section(&name("archive"), "<p>The archive has no elite yet.</p>"));
    } else {
        html.push_str(&section(&name("archive"), &archive_figures(run, &table, runs)?));
        html.push_str(&section(&name("behaviours"), &behaviours(run, &table, options)?));
        html.push_str(&section(&name("best elites"), &best_elites(&table)));
    }
    if let Some(config) = run.config() {
        let _ = writeln!(
            html,
            "<section><details><summary>{}</summary><pre>{}</pre></details></section>",
            escape(&name("configuration")),
            escape(&config.to_toml())
        );
    }
    Ok(html)
}

/// Lines of thousands of elites are most of a page's size: reports of many runs go without.
const MOST_RUNS_WITH_LINES: usize = 5;

fn archive_figures(run: &RunView, table: &ArchiveTable, runs: usize) -> Result<String, ViewError> {
    let plot = archive_plot(run, table, None);
    let mut html = both(|mode| Ok(heatmap_pairs("", &plot, mode)))?;
    if plot.names.len() > 2 && runs <= MOST_RUNS_WITH_LINES {
        html.push_str(&both(|mode| Ok(parallel_axes("", &plot, mode)))?);
    }
    Ok(html)
}

fn best_elites(table: &ArchiveTable) -> String {
    let order = autoqd_measure::top_fraction(&table.objective, 1.0);
    let mut html = String::from(
        "<div class=\"wide\"><table><thead><tr><th>id</th><th>cell</th><th>found in iteration</th><th>objective</th><th>measures</th>",
    );
    let statistics: Vec<&(String, Vec<f64>)> = table.statistics.iter().take(4).collect();
    for (name, _) in &statistics {
        let _ = write!(html, "<th>{}</th>", escape(name));
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in order.into_iter().take(12) {
        let measures: Vec<String> = table.measures.row(row).iter().map(|m| number(*m)).collect();
        let _ = write!(
            html,
            "<tr><td>#{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
            table.id[row],
            table.cell[row],
            table.iteration[row],
            number(table.objective[row]),
            measures.join(", ")
        );
        for (_, values) in &statistics {
            let _ = write!(html, "<td>{}</td>", number(values[row]));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn dash() -> String {
    "–".to_string()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// As many digits as are meaningful.
pub(crate) fn number(value: f64) -> String {
    let text = match value.abs() {
        _ if !value.is_finite() => return dash(),
        size if size >= 1e7 => format!("{value:.3e}"),
        size if size >= 1000.0 => {
            let whole = thousands(value.abs().round() as u64);
            if value < 0.0 { format!("-{whole}") } else { whole }
        }
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    text.replace('-', "\u{2212}")
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202F}');
        }
        text.push(digit);
    }
    text
}

fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..60 => format!("{seconds:.0} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_plain() {
        assert_eq!(number(-12345.6), "\u{2212}12\u{202F}346");
        assert_eq!(
            [number(0.5), number(3.0), number(250.4), number(f64::NAN)],
            ["0.500", "3.00", "250", "–"]
        );
        assert_eq!([duration(59.0), duration(61.0), duration(7300.0)], ["59 s", "1 min 1 s", "2 h 1 min"]);
    }
}
