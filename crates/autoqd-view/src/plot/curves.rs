//! Lines over something: learning, adaptation, success counts; and the trade-off of quality and diversity.

use super::figure::{Figure, LegendEntry, Panel};
use super::mark::{Mark, Marker};
use super::scale::Axis;
use super::stats::Band;
use super::svg::{Anchor, TextStyle};
use super::theme::{Mode, Theme, dash};

/// A named curve with its band.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Mean and band.
    pub band: Band,
}

/// A result in the plane of quality and diversity.
#[derive(Clone, Debug)]
pub struct Point {
    /// Name of the method: one colour and marker per name.
    pub series: String,
    /// Name of the task, written beside the point; may be empty.
    pub label: String,
    /// Quality, 0 to 1.
    pub x: f64,
    /// Diversity, 0 to 1.
    pub y: f64,
}

/// One panel of curves over `x_label`.
pub fn curve_panel(title: &str, x_label: &str, y_label: &str, curves: &[Curve], mode: Mode) -> Panel {
    let theme = Theme::new(mode);
    let (low, high) = super::scale::extent(curves.iter().flat_map(|c| c.band.x.iter().copied()));
    let ys = curves.iter().flat_map(|c| c.band.low.iter().chain(&c.band.high).copied());
    let mut panel = Panel::new(title, Axis::linear(x_label, (low, high)), Axis::fit(y_label, ys));
    panel.x.whole = x_label == "iteration";
    for (i, curve) in curves.iter().enumerate() {
        let band = &curve.band;
        panel.marks.push(Mark::band(&band.x, &band.low, &band.high, theme.series(i)));
    }
    for (i, curve) in curves.iter().enumerate() {
        let points = curve.band.x.iter().copied().zip(curve.band.mean.iter().copied()).collect();
        panel.marks.push(curve_mark(points, i, &theme));
    }
    panel
}

/// A line, or a dot where one point is all there is.
fn curve_mark(points: Vec<(f64, f64)>, i: usize, theme: &Theme) -> Mark {
    let color = theme.series(i);
    match points.len() {
        1 => Mark::Dots { points, color, marker: Marker::series(i), radius: 4.0, opacity: 1.0 },
        _ => Mark::line(points, color, dash(i)),
    }
}

fn line_legend<'a>(names: impl IntoIterator<Item = &'a str>, theme: &Theme) -> Vec<LegendEntry> {
    let entry = |(i, name): (usize, &str)| LegendEntry {
        name: name.to_string(),
        color: theme.series(i),
        dash: dash(i),
        marker: None,
    };
    names.into_iter().enumerate().map(entry).collect()
}

/// Learning curves: one panel per quantity (title, curves), bands over seeds. Every panel lists its curves in
/// the same order.
pub fn learning_curves(title: &str, panels: &[(String, Vec<Curve>)], x_label: &str, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let make = |(name, curves): &(String, Vec<Curve>)| curve_panel(name, x_label, "", curves, mode);
    let mut figure =
        Figure::grid(title, panels.iter().map(make).collect(), if panels.len() > 4 { 3 } else { 2 });
    let names = panels.first().map(|(_, curves)| curves.as_slice()).unwrap_or_default();
    if names.len() > 1 {
        figure.legend = line_legend(names.iter().map(|c| c.name.as_str()), &theme);
    }
    if figure.panels.len() > 1 {
        figure.panel_size = (420.0, 270.0);
    }
    figure
}

/// Return of the best policy of each population while the task changes; one panel per kind of change.
pub fn adaptation(title: &str, panels: &[(String, Vec<Curve>)], mode: Mode) -> Figure {
    let make =
        |(x, curves): &(String, Vec<Curve>)| curve_panel("", x, "return of the best policy", curves, mode);
    curves_side_by_side(title, panels, make, mode)
}

/// Number of policies of each population that keep their return; one panel per threshold (title, curves).
pub fn success_counts(title: &str, x_label: &str, panels: &[(String, Vec<Curve>)], mode: Mode) -> Figure {
    let make = |(name, curves): &(String, Vec<Curve>)| {
        let mut panel = curve_panel(name, x_label, "successful policies", curves, mode);
        panel.y.range.0 = 0.0;
        panel
    };
    curves_side_by_side(title, panels, make, mode)
}

fn curves_side_by_side(
    title: &str,
    panels: &[(String, Vec<Curve>)],
    make: impl Fn(&(String, Vec<Curve>)) -> Panel,
    mode: Mode,
) -> Figure {
    let mut figure = Figure::grid(title, panels.iter().map(make).collect(), 2);
    figure.panel_size = (460.0, 330.0);
    let names = panels.first().map(|(_, curves)| curves.as_slice()).unwrap_or_default();
    figure.legend = line_legend(names.iter().map(|c| c.name.as_str()), &Theme::new(mode));
    figure
}

/// The names of the tasks beside their points, one under the other where points lie together.
fn task_names(points: &[Point], theme: &Theme) -> Vec<Mark> {
    let near = |a: &Point, b: &Point| (a.x - b.x).abs() < 0.16 && (a.y - b.y).abs() < 0.02;
    let label = |(i, p): (usize, &Point)| {
        let line = points[..i].iter().filter(|other| !other.label.is_empty() && near(p, other)).count();
        // At the right edge the name goes to the left of its point.
        let right = p.x > 0.85;
        let anchor = if right { Anchor::End } else { Anchor::Start };
        Mark::Label {
            at: (p.x, p.y),
            shift: (if right { -9.0 } else { 9.0 }, 3.5 + 12.0 * line as f64),
            text: p.label.clone(),
            style: TextStyle::new(10.5, theme.muted).anchor(anchor),
        }
    };
    points.iter().enumerate().filter(|(_, p)| !p.label.is_empty()).map(label).collect()
}

/// Quality against diversity, both scaled to [0, 1]; points above the line from (0, 1) to (1, 0) gain more of one than
/// they lose of the other.
pub fn trade_off(title: &str, points: &[Point], mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    // Room below for names that stand one under the other.
    let axis = |label: &str| Axis::linear(label, (-0.17, 1.08));
    let mut panel = Panel::new("", axis("normalised mean objective"), axis("normalised Vendi score"));
    let diagonal = vec![(-1.0, 2.0), (2.0, -1.0)];
    panel.marks.push(Mark::Line {
        points: diagonal,
        color: theme.muted,
        dash: "5 4",
        width: 1.2,
        opacity: 0.9,
    });
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.series.as_str()) {
            names.push(&point.series);
        }
    }
    for (i, name) in names.iter().enumerate() {
        let own = || points.iter().filter(|p| p.series == *name);
        let (color, marker) = (theme.series(i), Marker::series(i));
        let dots = own().map(|p| (p.x, p.y)).collect();
        panel.marks.push(Mark::Dots { points: dots, color, marker, radius: 6.0, opacity: 0.85 });
    }
    panel.marks.extend(task_names(points, &theme));
    let mut figure = Figure::single(title, panel);
    figure.panel_size = (600.0, 520.0);
    let entry = |(i, name): (usize, &&str)| LegendEntry {
        name: name.to_string(),
        color: theme.series(i),
        dash: "",
        marker: Some(Marker::series(i)),
    };
    figure.legend = names.iter().enumerate().map(entry).collect();
    figure
}
