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
    let statuses: Vec<Option<Status>> = runs.iter().map(RunView::status).collect::<Result<_, _>>()?;
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{} · autoqd report</title>\n\
         <style>\n{STYLE}</style></head><body>\n<header><h1>{}</h1>{}</header>\n<main>\n",
        escape(&title),
        escape(&title),
        lead(runs, &statuses),
    );
    if runs.len() > 1 {
        page.push_str(&contents(runs));
    }
    let several = runs.len();
    let tables = runs.iter().map(RunView::archive).collect::<Result<Vec<_>, _>>()?;
    for (i, (run, table)) in runs.iter().zip(&tables).enumerate() {
        page.push_str(&found_section(run, table, (i, several), options)?);
    }
    page.push_str(&numbers(runs, &statuses));
    page.push_str(&section("learning", "Learning", &curves(runs)?));
    let content = measured_content(runs, measured)?;
    if !content.is_empty() {
        page.push_str(&section("measured", "Measured with fresh seeds", &content));
    }
    for (i, (run, table)) in runs.iter().zip(&tables).enumerate() {
        page.push_str(&details(run, table, (i, several))?);
    }
    let _ = write!(
        page,
        "</main>\n<script type=\"module\">\n{}\n{}</script>\n</body></html>\n",
        SCRIPT[0], SCRIPT[1]
    );
    Ok(page)
}

/// What was found, in one sentence.
fn lead(runs: &[RunView], statuses: &[Option<Status>]) -> String {
    let sentence = match (runs, statuses) {
        ([run], [Some(status)]) => one_run(run, status),
        ([run], _) => format!("A table of policies for {}.", run.task().spec().name),
        _ => {
            let elites: u64 = statuses.iter().flatten().map(|s| s.elites).sum();
            let tasks = tasks_of(runs).join(", ");
            format!("{} runs on {tasks} found {} policies.", runs.len(), thousands(elites))
        }
    };
    format!("<p class=\"lead\">{}</p>", escape(&sentence))
}

fn one_run(run: &RunView, status: &Status) -> String {
    let facts = run.run();
    let mut text = format!(
        "{} with {} found {} different policies in {} environment steps ({})",
        capital(&run.task().spec().name),
        facts.method,
        thousands(status.elites),
        thousands(status.env_steps),
        duration(status.seconds)
    );
    if let Some(best) = status.best_objective {
        text += &format!("; the search found a best return of {}", number(best));
    }
    if let Some(mean) = status.mean_objective {
        text += &format!(" and {} on average", number(mean));
    }
    text += ".";
    if let Some(reason) = &status.inexact {
        text += &format!(" Not bit-exact: {reason}.");
    }
    text
}

/// Where the parts of a report of several runs are.
fn contents(runs: &[RunView]) -> String {
    let mut html = String::from("<nav aria-label=\"Contents\"><ul class=\"contents\">\n");
    for (i, run) in runs.iter().enumerate() {
        let _ = writeln!(html, "<li><a href=\"#run-{}\">{}</a></li>", i + 1, escape(run.name()));
    }
    html.push_str(
        "<li><a href=\"#numbers\">Numbers</a></li><li><a href=\"#learning\">Learning</a></li></ul></nav>\n",
    );
    html
}

fn section(id: &str, title: &str, content: &str) -> String {
    format!("<section id=\"{id}\"><h2>{}</h2>\n{content}</section>\n", escape(title))
}

/// Learning curves, every quantity a picture of its own, so that as many stand side by side as fit.
fn curves(runs: &[RunView]) -> Result<String, ViewError> {
    let panels = |mode| -> Result<Vec<(String, Figure)>, ViewError> {
        let figures = learning(runs, mode)?.into_iter();
        Ok(figures
            .flat_map(|(name, figure)| figure.apart().into_iter().map(move |f| (name.clone(), f)))
            .collect())
    };
    Ok(format!("<div class=\"curves\">\n{}</div>\n", all_of(panels)?))
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
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Measured\"><table><thead><tr><th>run</th><th>policies</th><th>GT QD score</th>\
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
        "</tbody></table></div>\n<p class=\"note\">Every policy rolled out again in the reference simulator, with seeds that no \
         search uses; returns are means over these fresh episodes.</p>\n",
    );
    table.push_str(&terms(&MEASURED_TERMS));
    table
}

/// The table of numbers, one row per run.
fn numbers(runs: &[RunView], statuses: &[Option<Status>]) -> String {
    let mut table = String::from(
        "<section id=\"numbers\"><h2>Numbers</h2><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers\"><table><thead><tr><th>run</th><th>task</th><th>method</th>\
         <th>seed</th><th>iterations</th><th>evaluations</th><th>steps</th><th>elites</th><th>coverage</th>\
         <th>QD score</th><th>best return found</th><th>mean return found</th><th>outside</th><th>time</th></tr></thead><tbody>\n",
    );
    for (run, status) in runs.iter().zip(statuses) {
        let (facts, status) = (run.run(), status.as_ref());
        let of = |text: &dyn Fn(&Status) -> String| status.map_or_else(dash, text);
        let cells = [
            escape(run.name()),
            escape(&run.task().spec().name),
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
            of(&|s| s.outside.map_or_else(dash, |o| format!("{:.0} %", 100.0 * o))),
            of(&|s| duration(s.seconds)),
        ];
        let _ = writeln!(table, "<tr><td>{}</td></tr>", cells.join("</td><td>"));
    }
    let _ = write!(table, "</tbody></table></div>\n{}</section>\n", terms(&SEARCH_TERMS));
    table
}

/// What the columns of the search's numbers mean.
const SEARCH_TERMS: [(&str, &str); 5] = [
    (
        "return found",
        "the return an elite was accepted with: the best of many tries in the search's own episodes and simulator; fresh episodes return less as a rule",
    ),
    ("elites", "policies in the archive, each the best in its cell"),
    ("coverage", "share of the archive's cells that hold an elite"),
    (
        "QD score",
        "sum of the returns of all elites, above the lowest that counts in the task: grows with more elites and with better ones",
    ),
    (
        "outside",
        "share of the best fifth of the elites whose measures lie beyond the archive's bounds, where they share border cells",
    ),
];

/// What `autoqd eval` measures.
const MEASURED_TERMS: [(&str, &str); 4] = [
    (
        "GT QD score, GT cells",
        "QD score and cells filled on a grid over the task's hand-designed measures, the same grid for every method",
    ),
    (
        "Vendi score",
        "the effective number of different policies, from similarities between where they go and what they do",
    ),
    ("qVS", "quality-weighted Vendi score: the Vendi score times how near the mean return comes to the best"),
    ("mean and best return", "over fresh episodes, not those of the search"),
];

fn terms(list: &[(&str, &str)]) -> String {
    let rows =
        list.iter().map(|(name, meaning)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(meaning)));
    format!("<dl class=\"terms\">{}</dl>\n", rows.collect::<String>())
}

/// Title of a section of one of several runs.
fn title_of(run: &RunView, runs: usize, what: &str) -> String {
    if runs > 1 { format!("{}: {what}", run.name()) } else { capital(what) }
}

/// The map, and beside it the elites that are numbered on it, at work.
fn found_section(
    run: &RunView,
    table: &ArchiveTable,
    (i, runs): (usize, usize),
    options: ReportOptions,
) -> Result<String, ViewError> {
    let (id, title) = (format!("run-{}", i + 1), title_of(run, runs, "the archive and some of its elites"));
    if table.is_empty() {
        return Ok(section(&id, &title, "<p>The archive has no elite yet.</p>"));
    }
    let shown = run.to_show(table, options.behaviours);
    let mut plot = archive_plot(run, table, None);
    plot.marked = shown.clone();
    let map = both(|mode| Ok(heatmap_pairs("", &plot, mode)))?;
    let class = if plot.names.len() > 2 { "found tall" } else { "found" };
    let films = behaviours(run, table, &shown, options)?;
    Ok(section(&id, &title, &format!("<div class=\"{class}\"><div>{map}</div>\n{films}</div>")))
}

/// Parallel axes, the table of the best elites and the configuration.
fn details(run: &RunView, table: &ArchiveTable, (i, runs): (usize, usize)) -> Result<String, ViewError> {
    let name = |what: &str| title_of(run, runs, what);
    let mut html = String::new();
    let plot = archive_plot(run, table, None);
    if !table.is_empty() && plot.names.len() > 2 && runs <= MOST_RUNS_WITH_LINES {
        let lines = both(|mode| Ok(parallel_axes("", &plot, mode)))?;
        html.push_str(&section(&format!("lines-{}", i + 1), &name("all measures"), &lines));
    }
    if !table.is_empty() {
        html.push_str(&section(&format!("best-{}", i + 1), &name("best elites"), &best_elites(run, table)));
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

fn best_elites(run: &RunView, table: &ArchiveTable) -> String {
    let order = autoqd_measure::top_fraction(&table.objective, 1.0);
    let mut html = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Best elites\"><table><thead><tr><th>id</th><th>cell</th>\
         <th>found in iteration</th><th>return found</th>",
    );
    let measures = run.measure_names(table.measures.width);
    let statistics: Vec<&(String, Vec<f64>)> = table.statistics.iter().collect();
    let names = statistics.iter().map(|(name, _)| statistic_name(name));
    for name in measures.into_iter().chain(names) {
        let _ = write!(html, "<th>{}</th>", escape(&name));
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
            measures.join("</td><td>")
        );
        for (_, values) in &statistics {
            let _ = write!(html, "<td>{}</td>", number(values[row]));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// What a column of the archive is called.
fn statistic_name(column: &str) -> String {
    match column.strip_prefix("hand_") {
        Some(measure) => format!("{measure} (hand-designed)"),
        None => match column {
            "return_std" => "spread of returns".to_owned(),
            "length_mean" => "episode length".to_owned(),
            other => other.replace('_', " "),
        },
    }
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
