//! Pictures of an archive: heatmaps and parallel axes.

use super::figure::{ColorBar, Figure, Panel};
use super::mark::{Mark, Marker, Tile};
use super::scale::{Axis, extent};
use super::svg::{Anchor, TextStyle};
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
    /// Elites that bear a number, counted from 1 in this order.
    pub marked: Vec<usize>,
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

    /// Index of the cell of a measure along one dimension; `None` outside the bounds.
    fn cell(&self, dimension: usize, measure: f64) -> Option<usize> {
        let (low, high) = self.bounds[dimension];
        let n = self.cells[dimension];
        let place = (measure - low) / (high - low) * n as f64;
        (measure >= low && measure <= high).then(|| (place as usize).min(n - 1))
    }

    /// What a picture shows of one dimension: the bounds, and beyond them wherever elites are.
    fn range(&self, dimension: usize) -> (f64, f64) {
        shown_range(self.bounds[dimension], self.measures.iter().map(|m| m[dimension]))
    }

    /// Where elites are in the picture of dimensions `i` and `j`: at their true places, but the few strays that the picture
    /// leaves out so near its edge that all of their marks is seen.
    fn places(&self, i: usize, j: usize) -> impl Fn(&[f64]) -> (f64, f64) + use<> {
        let along = |value: f64, (low, high): (f64, f64)| match 0.02 * (high - low) {
            inset if value < low => low + inset,
            inset if value > high => high - inset,
            _ => value,
        };
        let (x, y) = (self.range(i), self.range(j));
        move |measures| (along(measures[i], x), along(measures[j], y))
    }

    /// Elites that lie outside the bounds of dimension `i` or `j`.
    fn outside(&self, i: usize, j: usize) -> Vec<Mark> {
        let place = self.places(i, j);
        let is_outside = |m: &Vec<f64>| self.cell(i, m[i]).is_none() || self.cell(j, m[j]).is_none();
        let elites = self.measures.iter().zip(&self.values).filter(|(m, _)| is_outside(m));
        let mut elites: Vec<(f64, (f64, f64))> = elites.map(|(m, v)| (*v, place(m))).collect();
        // The best on top; elites of one shade share a mark.
        elites.sort_by(|a, b| a.0.total_cmp(&b.0));
        let dots = |group: &[(f64, (f64, f64))]| Mark::Dots {
            points: group.iter().map(|(_, place)| *place).collect(),
            color: self.color(group[0].0),
            marker: Marker::Circle,
            radius: 2.6,
            opacity: 0.95,
        };
        elites.chunk_by(|a, b| self.color(a.0) == self.color(b.0)).map(dots).collect()
    }

    /// The outline of the archive's bounds.
    fn frame(&self, i: usize, j: usize, color: u32) -> Mark {
        let ((l, r), (b, t)) = (self.bounds[i], self.bounds[j]);
        let points = vec![(l, b), (r, b), (r, t), (l, t), (l, b)];
        Mark::Line { points, color, dash: "5 3", width: 1.2, opacity: 1.0 }
    }

    /// Elites of which some measure lies outside its bounds.
    pub fn count_outside(&self) -> usize {
        let inside = |m: &Vec<f64>| m.iter().zip(&self.bounds).all(|(x, b)| (b.0..=b.1).contains(x));
        self.measures.iter().filter(|m| !inside(m)).count()
    }

    /// What the dots and the frame of a picture mean; empty if all elites are inside.
    fn note(&self) -> String {
        let ranges: Vec<_> = (0..self.bounds.len()).map(|d| self.range(d)).collect();
        let is_stray = |m: &&Vec<f64>| m.iter().zip(&ranges).any(|(x, (low, high))| *x < *low || *x > *high);
        let strays = self.measures.iter().filter(is_stray).count();
        match (self.count_outside(), strays) {
            (0, _) => String::new(),
            (n, 0) => format!(
                "Dots outside the frame: {n} elites beyond the archive's bounds, which share its border cells."
            ),
            (n, strays) => format!(
                "Dots outside the frame: {n} elites beyond the archive's bounds; {strays} of them, at the picture's edge, lie farther out."
            ),
        }
    }

    /// The best value of every cell of the grid over dimensions `i` and `j`, as tiles.
    fn tiles(&self, i: usize, j: usize) -> Vec<Tile> {
        let (columns, rows) = (self.cells[i], self.cells[j]);
        let mut best: Vec<Option<f64>> = vec![None; columns * rows];
        for (measures, value) in self.measures.iter().zip(&self.values) {
            let (Some(column), Some(row)) = (self.cell(i, measures[i]), self.cell(j, measures[j])) else {
                continue;
            };
            let cell = &mut best[row * columns + column];
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

    fn panel(&self, i: usize, j: usize, mode: Mode) -> Panel {
        let x = Axis { grid: false, ..Axis::linear(self.names[i].clone(), self.range(i)) };
        let y = Axis { grid: false, ..Axis::linear(self.names[j].clone(), self.range(j)) };
        let mut panel = Panel::new("", x, y);
        panel.marks.push(Mark::Tiles(self.tiles(i, j)));
        let outside = self.outside(i, j);
        if !outside.is_empty() {
            panel.marks.push(self.frame(i, j, Theme::new(mode).muted));
            panel.marks.extend(outside);
        }
        panel.marks.extend(self.numbers(i, j, &Theme::new(mode)));
        panel
    }

    /// The numbers of the marked elites, each in a disc.
    fn numbers(&self, i: usize, j: usize, theme: &Theme) -> Vec<Mark> {
        let disc = |at, color, radius| Mark::Dots {
            points: vec![at],
            color,
            marker: Marker::Circle,
            radius,
            opacity: 1.0,
        };
        let place = self.places(i, j);
        // The first number lies on top.
        let number = |(n, row): (usize, &usize)| {
            let at = place(&self.measures[*row]);
            let style = TextStyle::new(11.0, theme.ink).anchor(Anchor::Middle).bold();
            let text = Mark::Label { at, shift: (0.0, 4.0), text: (n + 1).to_string(), style };
            [disc(at, theme.ink, 9.0), disc(at, theme.background, 7.8), text]
        };
        self.marked.iter().enumerate().rev().flat_map(number).collect()
    }
}

/// What a picture shows of a measure: the bounds, and wherever elites are beyond them with a little room. A few stray
/// elites that would shrink everything else are drawn at the edge.
pub(crate) fn shown_range(bounds: (f64, f64), values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return bounds };
    if *first >= bounds.0 && *last <= bounds.1 {
        return bounds;
    }
    let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
    let usual = (bounds.0.min(at(0.01)), bounds.1.max(at(0.99)));
    let width = usual.1 - usual.0;
    let low = if usual.0 - first <= 0.5 * width { usual.0.min(*first) } else { usual.0 };
    let high = if last - usual.1 <= 0.5 * width { usual.1.max(*last) } else { usual.1 };
    let room = 0.03 * (high - low);
    (if low < bounds.0 { low - room } else { low }, if high > bounds.1 { high + room } else { high })
}

/// The grid over dimensions `i` and `j`; with more dimensions a cell shows its best elite.
pub fn heatmap(title: &str, archive: &ArchivePlot, (i, j): (usize, usize), mode: Mode) -> Figure {
    let mut panel = archive.panel(i, j, mode);
    panel.color_bar = Some(archive.color_bar());
    let mut figure = Figure::single(title, panel);
    figure.panel_size = (600.0, 500.0);
    figure.note = archive.note();
    figure
}

/// The grids over all pairs of dimensions. An archive of one dimension is a strip of its cells.
pub fn heatmap_pairs(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let n = archive.names.len();
    if n == 2 {
        return heatmap(title, archive, (0, 1), mode);
    }
    if n < 2 {
        return strip(title, archive, mode);
    }
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut figure = Figure::grid(title, pairs.map(|(i, j)| archive.panel(i, j, mode)).collect(), 3);
    figure.panel_size = (310.0, 300.0);
    figure.color_bar = Some(archive.color_bar());
    figure.note = format!("Each cell shows the best elite of all that fall into it. {}", archive.note());
    figure
}

fn strip(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let name = archive.names.first().cloned().unwrap_or_default();
    let bounds = archive.bounds.first().copied().unwrap_or((0.0, 1.0));
    let range = shown_range(bounds, archive.measures.iter().filter_map(|m| m.first().copied()));
    let inside = |m: &f64| m.max(range.0).min(range.1);
    let pairs = archive.measures.iter().zip(&archive.values);
    let points = pairs.filter_map(|(m, v)| Some((inside(m.first()?), *v))).collect();
    let y = Axis::fit(archive.value_name.clone(), archive.values.iter().copied());
    let mut panel = Panel::new("", Axis::linear(name, range), y);
    let (theme, marker) = (Theme::new(mode), Marker::Circle);
    if range != bounds {
        let (low, high) = panel.y.range;
        let edge = |x: f64| {
            let points = vec![(x, low), (x, high)];
            Mark::Line { points, color: theme.muted, dash: "5 3", width: 1.2, opacity: 1.0 }
        };
        panel.marks.extend([edge(bounds.0), edge(bounds.1)]);
    }
    panel.marks.push(Mark::Dots { points, color: theme.series(0), marker, radius: 4.0, opacity: 0.9 });
    let mut figure = Figure::single(title, panel);
    figure.note = archive.note();
    figure
}

/// One line per elite across one axis per measure, brighter for a higher value.
pub fn parallel_axes(title: &str, archive: &ArchivePlot, mode: Mode) -> Figure {
    let theme = Theme::new(mode);
    let x = Axis::named("", &archive.names);
    // Each axis spans the bounds of its measure; lines go on beyond its ends where elites do.
    let reach =
        archive.measures.iter().flat_map(|m| m.iter().zip(&archive.bounds)).map(|(m, b)| along(*m, *b));
    let (low, high) = extent(reach);
    let y = (low.min(0.0) - 0.09, high.max(1.0) + 0.09);
    let y = Axis { ticks: Some(Vec::new()), grid: false, ..Axis::linear("", y) };
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

/// Place on an axis of parallel axes: 0 to 1 within the bounds, no farther beyond them than they are wide.
fn along(measure: f64, (low, high): (f64, f64)) -> f64 {
    ((measure - low) / (high - low)).clamp(-1.0, 2.0)
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
        let points = measures.map(|(d, (m, bounds))| (d as f64, along(*m, *bounds))).collect();
        Mark::Line { points, color: archive.color(archive.values[elite]), dash: "", width: 1.0, opacity }
    };
    (0..shown).map(|i| strand(pick(i))).collect()
}

fn short(value: f64) -> String {
    super::svg::number(value).replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(measures: &[[f64; 2]]) -> ArchivePlot {
        ArchivePlot {
            names: vec!["speed".to_string(), "height".to_string()],
            bounds: vec![(-1.0, 1.0); 2],
            cells: vec![4; 2],
            measures: measures.iter().map(|m| m.to_vec()).collect(),
            values: (0..measures.len()).map(|i| i as f64).collect(),
            value_name: "objective".to_string(),
            marked: Vec::new(),
        }
    }

    #[test]
    fn elites_outside_the_bounds_are_drawn_where_they_are() {
        let archive = archive(&[[0.0, 0.0], [2.0, 0.5], [0.3, -1.5], [1.0, 1.0]]);
        assert_eq!(archive.count_outside(), 2);
        assert_eq!(archive.tiles(0, 1).len(), 2, "only elites inside are cells");
        let panel = archive.panel(0, 1, Mode::Light);
        assert!(panel.x.range.1 > 2.0 && panel.x.range.0 == -1.0 && panel.y.range.0 < -1.5);
        let dots = panel.marks.iter().filter_map(|mark| match mark {
            Mark::Dots { points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(dots.flatten().collect::<Vec<_>>(), [(2.0, 0.5), (0.3, -1.5)]);
    }

    #[test]
    fn an_archive_that_stays_inside_is_shown_as_its_grid() {
        let archive = archive(&[[0.0, 0.0], [1.0, -1.0]]);
        let panel = archive.panel(0, 1, Mode::Light);
        assert_eq!((panel.x.range, panel.marks.len()), ((-1.0, 1.0), 1));
        assert!(archive.note().is_empty());
    }

    #[test]
    fn one_stray_elite_does_not_shrink_the_picture() {
        let mut measures: Vec<[f64; 2]> = (0..200).map(|i| [0.01 * f64::from(i) - 1.0, 0.0]).collect();
        measures.push([500.0, 0.0]);
        let archive = archive(&measures);
        assert!(archive.range(0).1 < 1.2, "{:?}", archive.range(0));
        let Mark::Dots { points, .. } = &archive.outside(0, 1)[0] else { panic!("the stray elite is there") };
        let (low, high) = archive.range(0);
        assert!(points[0].0 < high && points[0].0 > high - 0.03 * (high - low), "all of its mark is seen");
        assert!(archive.note().contains("1 of them, at the picture's edge, lie farther out"));
    }
}
