//! Pictures of an archive: heatmaps and parallel axes.

use super::figure::{ColorBar, Figure, Panel};
use super::mark::{Mark, Tile};
use super::scale::{Axis, extent};
use super::theme::{Mode, Theme, sequential};

/// Lines of a parallel-axes plot beyond this many hide each other and only bloat the file.
const MOST_LINES: usize = 3000;

/// What the plots need to know about an archive.
#[derive(Clone, Debug, Default)]
pub struct ArchivePlot {
    /// Name of each measure.
    pub names: Vec<String>,
    /// Bounds of each measure.
    pub bounds: Vec<(f64, f64)>,
    /// Cells of the grid in each dimension.
    pub cells: Vec<usize>,
    /// Measures of each elite.
    pub measures: Vec<Vec<f64>>,
    /// Colour value of each elite, usually the objective.
    pub values: Vec<f64>,
    /// Name of the colour value.
    pub value_name: String,
}

impl ArchivePlot {
    fn color(&self, value: f64) -> u32 {
        let (low, high) = extent(self.values.iter().copied());
        // 64 shades: tiles of one shade share a path.
        let t = if high > low { (value - low) / (high - low) } else { 1.0 };
        sequential((t * 63.0).round() / 63.0)
    }

    fn color_bar(&self) -> ColorBar {
        ColorBar { label: self.value_name.clone(), range: extent(self.values.iter().copied()) }
    }

    /// Index of the cell of a measure along one dimension, clipped to the grid as an archive clips.
    fn cell(&self, dimension: usize, measure: f64) -> usize {
        let (low, high) = self.bounds[dimension];
        let n = self.cells[dimension];
        let place = (measure - low) / (high - low) * n as f64;
        (place.max(0.0) as usize).min(n - 1)
    }

    /// The best value of every cell of the grid over dimensions `i` and `j`, as tiles.
    fn tiles(&self, i: usize, j: usize) -> Vec<Tile> {
        let (columns, rows) = (self.cells[i], self.cells[j]);
        let mut best: Vec<Option<f64>> = vec![None; columns * rows];
        for (measures, value) in self.measures.iter().zip(&self.values) {
            let cell = &mut best[self.cell(j, measures[j]) * columns + self.cell(i, measures[i])];
            *cell = Some(cell.map_or(*value, |b| b.max(*value)));
        }
        let edge = |d: usize, n: usize| {
            let (low, high) = self.bounds[d];
            low + (high - low) * n as f64 / self.cells[d] as f64
        };
        let tile = |(at, value): (usize, &Option<f64>)| {
            let (column, row) = (at % columns, at / columns);
            value.map(|value| Tile {
                x: (edge(i, column), edge(i, column + 1)),
                y: (edge(j, row), edge(j, row + 1)),
                color: self.color(value),
            })
        };
        best.iter().enumerate().filter_map(tile).collect()
    }

    fn panel(&self, i: usize, j: usize) -> Panel {
        let x = Axis { grid: false, ..Axis::linear(self.names[i].clone(), self.bounds[i]) };
        let y = Axis { grid: false, ..Axis::linear(self.names[j].clone(), self.bounds[j]) };
        let mut panel = Panel::new("", x, y);
        panel.marks.push(Mark::Tiles(self.tiles(i, j)));
        panel
    }
}

/// The grid over dimensions `i` and `j`; with more dimensions a cell shows its best elite.
pub fn heatmap(title: &str, archive: &ArchivePlot, i: usize, j: usize) -> Figure {
    let mut panel = archive.panel(i, j);
    panel.color_bar = Some(archive.color_bar());
    let mut figure = Figure::single(title, panel);
    figure.panel_size = (600.0, 500.0);
    figure
}

/// The grids over all pairs of dimensions. An archive of one dimension is a strip of its cells.
pub fn heatmap_pairs(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let n = archive.names.len();
    if n == 2 {
        return heatmap(title, archive, 0, 1);
    }
    if n < 2 {
        return strip(title, archive, mode);
    }
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut figure = Figure::grid(title, pairs.map(|(i, j)| archive.panel(i, j)).collect(), 3);
    figure.panel_size = (310.0, 300.0);
    figure.color_bar = Some(archive.color_bar());
    figure.note = "Each cell shows the best elite of all that fall into it.".to_string();
    figure
}

fn strip(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let name = archive.names.first().cloned().unwrap_or_default();
    let bounds = archive.bounds.first().copied().unwrap_or((0.0, 1.0));
    // What lies beyond the bounds is drawn at the edge, as it does in the archive.
    let inside = |m: &f64| m.max(bounds.0).min(bounds.1);
    let pairs = archive.measures.iter().zip(&archive.values);
    let points = pairs.filter_map(|(m, v)| Some((inside(m.first()?), *v))).collect();
    let y = Axis::fit(archive.value_name.clone(), archive.values.iter().copied());
    let mut panel = Panel::new("", Axis::linear(name, bounds), y);
    let color = Theme::new(mode).series(0);
    let marker = super::mark::Marker::Circle;
    panel.marks.push(Mark::Dots { points, color, marker, radius: 4.0, opacity: 0.9 });
    Figure::single(title, panel)
}

/// One line per elite across one axis per measure, brighter for a higher value.
pub fn parallel_axes(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let x = Axis::named("", &archive.names);
    let y = Axis { ticks: Some(Vec::new()), grid: false, ..Axis::linear("", (-0.09, 1.09)) };
    let mut panel = Panel::new("", Axis { range: (-0.25, archive.names.len().max(1) as f64 - 0.75), ..x }, y);
    panel.marks = strands(archive);
    for (d, (low, high)) in archive.bounds.iter().enumerate() {
        let x = d as f64;
        let points = vec![(x, 0.0), (x, 1.0)];
        panel.marks.push(Mark::Line { points, color: theme.ink, dash: "", width: 1.5, opacity: 1.0 });
        panel.marks.push(Mark::label((x, 1.025), short(*high), 11.0, theme.muted));
        panel.marks.push(Mark::label((x, -0.06), short(*low), 11.0, theme.muted));
    }
    panel.color_bar = Some(archive.color_bar());
    let mut figure = Figure::single(title, panel);
    figure.panel_size = (180.0 + 150.0 * archive.names.len() as f64, 430.0);
    if archive.values.len() > MOST_LINES {
        figure.note =
            format!("{MOST_LINES} of {} elites, evenly by {}.", archive.values.len(), archive.value_name);
    }
    figure
}

/// Lines from worst to best, so that the best lie on top.
fn strands(archive: &ArchivePlot) -> Vec<Mark> {
    let mut order: Vec<usize> = (0..archive.values.len()).collect();
    order.sort_by(|a, b| archive.values[*a].total_cmp(&archive.values[*b]));
    let n = order.len();
    let shown = n.min(MOST_LINES);
    let opacity = (150.0 / shown.max(1) as f64).clamp(0.15, 0.9);
    // Evenly spaced in rank, from the worst to the best.
    let pick = |i: usize| order[if shown > 1 { i * (n - 1) / (shown - 1) } else { 0 }];
    let strand = |elite: usize| {
        let measures = archive.measures[elite].iter().zip(&archive.bounds).enumerate();
        let points = measures
            .map(|(d, (m, (low, high)))| (d as f64, ((m - low) / (high - low)).clamp(0.0, 1.0)))
            .collect();
        Mark::Line { points, color: archive.color(archive.values[elite]), dash: "", width: 1.0, opacity }
    };
    (0..shown).map(|i| strand(pick(i))).collect()
}

fn short(value: f64) -> String {
    super::svg::number(value).replace('-', "\u{2212}")
}
