//! Boxes, violins and bars.

use super::figure::{Figure, LegendEntry, Panel};
use super::mark::{Mark, Marker, Tile};
use super::scale::{Axis, extent};
use super::stats::{density, mean_and_error};
use super::theme::{Mode, Rgb, Theme};
use autoqd::cwpca::quantile;

/// Numbers of one series in one group.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Group on the horizontal axis, for instance a friction coefficient.
    pub group: String,
    /// Series within the group, for instance a method.
    pub series: String,
    /// The numbers.
    pub values: Vec<f64>,
}

/// Order of first appearance.
fn names<'a>(samples: &'a [Sample], of: impl Fn(&'a Sample) -> &'a String) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for sample in samples {
        if !names.contains(of(sample)) {
            names.push(of(sample).clone());
        }
    }
    names
}

fn legend(series: &[String], theme: &Theme) -> Vec<LegendEntry> {
    let entry = |(i, name): (usize, &String)| LegendEntry {
        name: name.clone(),
        color: theme.series(i),
        dash: "",
        marker: Some(Marker::Square),
    };
    series.iter().enumerate().map(entry).collect()
}

/// Groups side by side, series side by side within a group: (centre, half width).
fn slot(group: usize, series: usize, of: usize) -> (f64, f64) {
    let width = 0.8 / of.max(1) as f64;
    (group as f64 - 0.4 + width * (series as f64 + 0.5), 0.42 * width)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Draws every sample in its slot with `draw(sorted, centre, half width, colour)`.
fn grouped(
    title: &str,
    samples: &[Sample],
    x_label: &str,
    y: Axis,
    theme: &Theme,
    draw: impl Fn(&[f64], f64, f64, Rgb) -> Vec<Mark>,
) -> Figure {
    let groups = names(samples, |s| &s.group);
    let series = names(samples, |s| &s.series);
    let mut panel = Panel::new("", Axis::named(x_label, &groups), y);
    for sample in samples {
        let group = groups.iter().position(|g| *g == sample.group).unwrap_or(0);
        let index = series.iter().position(|s| *s == sample.series).unwrap_or(0);
        let (center, half) = slot(group, index, series.len());
        let sorted = sorted(&sample.values);
        if !sorted.is_empty() {
            panel.marks.extend(draw(&sorted, center, half, theme.series(index)));
        }
    }
    let mut figure = Figure::single(title, panel);
    figure.panel_size = ((140.0 + 26.0 * (groups.len() * series.len()) as f64).clamp(520.0, 1200.0), 400.0);
    figure.legend = legend(&series, theme);
    figure
}

/// Box plots: quartiles, whiskers to the last number within 1.5 box heights, and every number beyond as a dot.
pub fn box_plots(title: &str, samples: &[Sample], x_label: &str, y_label: &str, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let y = Axis::fit(y_label, samples.iter().flat_map(|s| s.values.iter().copied()));
    grouped(title, samples, x_label, y, &theme, |sorted, x, half, color| {
        one_box(sorted, x, half, color, &theme)
    })
}

/// Boxes of samples whose five values are smallest, quartiles and largest; the whiskers reach to the ends.
pub fn summary_boxes(title: &str, samples: &[Sample], x_label: &str, y_label: &str, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let y = Axis::fit(y_label, samples.iter().flat_map(|s| s.values.iter().copied()));
    grouped(title, samples, x_label, y, &theme, |sorted, x, half, color| {
        box_marks([0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(sorted, q)), x, half, color, &theme)
    })
}

fn one_box(sorted: &[f64], x: f64, half: f64, color: Rgb, theme: &Theme) -> Vec<Mark> {
    let [q1, q2, q3] = [0.25, 0.5, 0.75].map(|q| quantile(sorted, q));
    let reach = 1.5 * (q3 - q1);
    let inside = || sorted.iter().copied().filter(|v| (q1 - reach..=q3 + reach).contains(v));
    let (low, high) = extent(inside());
    let points = sorted.iter().filter(|v| **v < low || **v > high).map(|v| (x, *v)).collect();
    let mut marks = box_marks([low, q1, q2, q3, high], x, half, color, theme);
    marks.push(Mark::Dots { points, color, marker: Marker::Circle, radius: 1.6, opacity: 0.5 });
    marks
}

fn box_marks([low, q1, q2, q3, high]: [f64; 5], x: f64, half: f64, color: Rgb, theme: &Theme) -> Vec<Mark> {
    vec![
        Mark::Whisker { x, y: (low, high), cap: 0.5 * half, color },
        Mark::Tiles(vec![Tile { x: (x - half, x + half), y: (q1, q3), color }]),
        Mark::Line {
            points: vec![(x - half, q2), (x + half, q2)],
            color: theme.plot,
            dash: "",
            width: 2.0,
            opacity: 1.0,
        },
    ]
}

/// Violins on a logarithmic axis: densities of the logarithms, with median and quartiles.
pub fn violins(title: &str, samples: &[Sample], x_label: &str, y_label: &str, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let positive = samples.iter().flat_map(|s| s.values.iter().copied()).filter(|v| *v > 0.0);
    let y = Axis::log(y_label, positive);
    grouped(title, samples, x_label, y, &theme, |sorted, x, half, color| {
        let logs: Vec<f64> = sorted.iter().filter(|v| **v > 0.0).map(|v| libm::log10(*v)).collect();
        if logs.is_empty() { Vec::new() } else { violin(&logs, x, half, color, &theme) }
    })
}

fn violin(logs: &[f64], x: f64, half: f64, color: Rgb, theme: &Theme) -> Vec<Mark> {
    let power = |log: f64| libm::pow(10.0, log);
    let (low, high) = (logs[0], logs[logs.len() - 1]);
    let places: Vec<f64> = (0..=60).map(|i| low + (high - low) * f64::from(i) / 60.0).collect();
    let width = density(logs, &places);
    let most = width.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let side = |sign: f64| {
        let edge = places.iter().zip(&width).map(move |(p, w)| (x + sign * half * w / most, power(*p)));
        edge.collect::<Vec<_>>()
    };
    let outline = side(-1.0).into_iter().chain(side(1.0).into_iter().rev()).collect();
    let [q1, q2, q3] = [0.25, 0.5, 0.75].map(|q| power(quantile(logs, q)));
    vec![
        Mark::Area { outline, color, opacity: 0.75 },
        Mark::Line { points: vec![(x, q1), (x, q3)], color: theme.ink, dash: "", width: 3.5, opacity: 0.8 },
        Mark::Dots {
            points: vec![(x, q2)],
            color: theme.plot,
            marker: Marker::Circle,
            radius: 2.6,
            opacity: 1.0,
        },
    ]
}

/// Bars of means with standard errors; one panel per quantity (title, samples), one bar per group and series.
pub fn ablation_bars(title: &str, panels: &[(String, Vec<Sample>)], x_label: &str, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let make = |(name, samples): &(String, Vec<Sample>)| {
        let ends = samples.iter().flat_map(|s| {
            let (mean, error) = mean_and_error(&s.values);
            [mean - error, mean + error, 0.0]
        });
        let series = names(samples, |s| &s.series).len();
        let one = grouped("", samples, x_label, Axis::fit("", ends), &theme, |sorted, x, half, color| {
            // Bars of methods have the methods' colours, bars of a setting's values share one.
            let color =
                if x_label.is_empty() && series == 1 { theme.series(x.round() as usize) } else { color };
            bar(sorted, x, half, color, &theme)
        });
        let mut panel = one.panels.into_iter().next().expect("grouped makes one panel");
        panel.title.clone_from(name);
        panel
    };
    let mut figure = Figure::grid(title, panels.iter().map(make).collect(), 3);
    figure.panel_size = (330.0, 280.0);
    let series = panels.first().map(|(_, samples)| names(samples, |s| &s.series)).unwrap_or_default();
    if series.len() > 1 {
        figure.legend = legend(&series, &theme);
    }
    figure
}

fn bar(sorted: &[f64], x: f64, half: f64, color: Rgb, theme: &Theme) -> Vec<Mark> {
    let (mean, error) = mean_and_error(sorted);
    let half = half.min(0.28);
    let y = (mean.min(0.0), mean.max(0.0));
    vec![
        Mark::Tiles(vec![Tile { x: (x - half, x + half), y, color }]),
        Mark::Whisker { x, y: (mean - error, mean + error), cap: 0.35 * half, color: theme.ink },
    ]
}
