//! Panels in a grid, with axes, a legend and a colour bar.

use super::mark::{Mark, Marker};
use super::scale::Axis;
use super::svg::{Anchor, Svg, TextStyle, text_width};
use super::theme::{Mode, Rgb, Theme, sequential};

const TITLE: f64 = 15.0;
const LABEL: f64 = 12.0;
const TICK: f64 = 11.0;
/// Room at the right for a colour bar and its numbers.
const BAR_ROOM: f64 = 76.0;
/// Names of groups that have no room side by side are slanted by this many degrees.
const SLANT: f64 = 24.0;

/// A colour scale beside a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorBar {
    /// What the colour shows.
    pub label: String,
    /// Number at the dark end and at the bright end.
    pub range: (f64, f64),
}

/// One set of axes and what is drawn in them.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Title above, may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in this order.
    pub marks: Vec<Mark>,
    /// Colour scale at the right.
    pub color_bar: Option<ColorBar>,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: Vec::new(), color_bar: None }
    }
}

/// One line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// Name of the series.
    pub name: String,
    /// Its colour.
    pub color: Rgb,
    /// Its dash pattern, for lines.
    pub dash: &'static str,
    /// Its marker, for dots; `None` draws a line.
    pub marker: Option<Marker>,
}

/// A picture: one or more panels.
///
/// ```
/// use autoqd_view::plot::{Axis, Figure, Mark, Mode, Panel, Theme};
///
/// let theme = Theme::new(Mode::Light);
/// let mut panel = Panel::new("", Axis::linear("iteration", (0.0, 2.0)), Axis::linear("QD score", (0.0, 9.0)));
/// panel.marks.push(Mark::line(vec![(0.0, 1.0), (1.0, 5.0), (2.0, 8.0)], theme.series(0), ""));
/// let svg = Figure::single("Learning", panel).svg(Mode::Light);
/// assert!(svg.starts_with("<svg"));
/// ```
#[derive(Clone, Debug)]
pub struct Figure {
    /// Title above all panels, may be empty.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels in a row.
    pub columns: usize,
    /// Width and height of one panel with its labels.
    pub panel_size: (f64, f64),
    /// Shown under the title, may be empty.
    pub legend: Vec<LegendEntry>,
    /// A remark under the panels, may be empty.
    pub note: String,
    /// Colour scale at the right of all panels, where they share one.
    pub color_bar: Option<ColorBar>,
}

/// Where a panel's data go on the page.
pub(crate) struct Area<'a> {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    panel: &'a Panel,
}

impl Area<'_> {
    pub(crate) fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        // Far outside is as good as endless; keeps the numbers in the file short.
        let place = |axis: &Axis, v: f64| axis.place(v).clamp(-50.0, 50.0);
        let x = self.left + self.width * place(&self.panel.x, x);
        (x, self.top + self.height * (1.0 - place(&self.panel.y, y)))
    }

    pub(crate) fn pixels(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|p| self.pixel(*p)).collect()
    }
}

/// From line to line of a note.
const NOTE_LINE: f64 = 15.0;
/// Share of the width that a note may take: browsers without the usual typefaces have wider ones.
const NOTE_SHARE: f64 = 0.88;

impl Figure {
    /// A figure of one panel.
    pub fn single(title: impl Into<String>, panel: Panel) -> Self {
        Self::grid(title, vec![panel], 1)
    }

    /// Panels in rows of `columns`.
    pub fn grid(title: impl Into<String>, panels: Vec<Panel>, columns: usize) -> Self {
        let panel_size = if panels.len() == 1 { (640.0, 420.0) } else { (360.0, 290.0) };
        let (title, legend, note) = (title.into(), Vec::new(), String::new());
        Self { title, panels, columns: columns.max(1), panel_size, legend, note, color_bar: None }
    }

    /// Each panel as a figure of its own, with the legend in each.
    pub fn apart(self) -> Vec<Self> {
        let Self { title, panels, panel_size, legend, note, .. } = self;
        let one = |panel: Panel| {
            let mut figure = Self::single(title.clone(), panel);
            figure.panel_size = panel_size;
            (figure.legend, figure.note) = (legend.clone(), note.clone());
            figure
        };
        panels.into_iter().map(one).collect()
    }

    /// The picture as an SVG document, the same bytes for the same content.
    pub fn svg(&self, mode: Mode) -> String {
        let theme = Theme::new(mode);
        let columns = self.columns.min(self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let panels_width = 8.0 + columns as f64 * self.panel_size.0;
        let width = panels_width + if self.color_bar.is_some() { BAR_ROOM } else { 8.0 };
        let title_height = if self.title.is_empty() { 8.0 } else { 34.0 };
        let legend_rows = legend_rows(&self.legend, width - 32.0);
        let top = title_height + 22.0 * legend_rows.len() as f64;
        let note = lines(&self.note, NOTE_SHARE * (width - 32.0));
        let note_height = 6.0 + if note.is_empty() { 0.0 } else { 5.0 + NOTE_LINE * note.len() as f64 };
        let height = top + rows as f64 * self.panel_size.1 + note_height;
        let mut svg = Svg::new(width, height);
        svg.rect(0.0, 0.0, width, height, theme.background);
        if !self.title.is_empty() {
            svg.text((16.0, 25.0), &self.title, TextStyle::new(TITLE, theme.ink).bold());
        }
        for (row, entries) in legend_rows.iter().enumerate() {
            draw_legend(&mut svg, entries, title_height + 22.0 * row as f64 + 12.0, &theme);
        }
        for (i, panel) in self.panels.iter().enumerate() {
            let left = 8.0 + (i % columns) as f64 * self.panel_size.0;
            draw_panel(
                &mut svg,
                panel,
                (left, top + (i / columns) as f64 * self.panel_size.1),
                self.panel_size,
                &theme,
            );
        }
        if let Some(bar) = &self.color_bar {
            let height = rows as f64 * self.panel_size.1;
            draw_color_bar(&mut svg, (panels_width, top + 10.0, height - 56.0), bar, &theme);
        }
        for (line, above) in note.iter().rev().zip(0..) {
            let y = height - 10.0 - NOTE_LINE * f64::from(above);
            svg.text((16.0, y), line, TextStyle::new(TICK, theme.muted));
        }
        svg.finish()
    }
}

fn entry_width(entry: &LegendEntry) -> f64 {
    46.0 + text_width(&entry.name, LABEL)
}

/// Breaks a note between words into lines that fit the width.
fn lines(note: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in note.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), TICK) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Breaks a legend into rows that fit the width.
fn legend_rows(legend: &[LegendEntry], width: f64) -> Vec<Vec<&LegendEntry>> {
    let mut rows: Vec<Vec<&LegendEntry>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in legend {
        if used + entry_width(entry) > width {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += entry_width(entry);
        rows.last_mut().expect("a row was just pushed").push(entry);
    }
    rows
}

fn draw_legend(svg: &mut Svg, entries: &[&LegendEntry], y: f64, theme: &Theme) {
    let mut x = 16.0;
    for entry in entries {
        match entry.marker {
            Some(marker) => marker.draw(svg, (x + 12.0, y - 4.0), 5.0, entry.color, 1.0),
            None => svg.polyline(&[(x, y - 4.0), (x + 24.0, y - 4.0)], entry.color, 2.5, entry.dash, 1.0),
        }
        svg.text((x + 30.0, y), &entry.name, TextStyle::new(LABEL, theme.ink));
        x += entry_width(entry);
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, at: (f64, f64), size: (f64, f64), theme: &Theme) {
    let y_ticks = panel.y.ticks((size.1 / 60.0) as usize);
    let widest = y_ticks.iter().map(|(_, label)| text_width(label, TICK)).fold(0.0, f64::max);
    let left = 18.0 + widest + if panel.y.label.is_empty() { 0.0 } else { 20.0 };
    let right = if panel.color_bar.is_some() { BAR_ROOM } else { 14.0 };
    let top = if panel.title.is_empty() { 10.0 } else { 28.0 };
    let slanted = slanted_names(&panel.x, size.0 - left - right);
    let bottom = if panel.x.label.is_empty() { 26.0 } else { 46.0 } + slanted.unwrap_or(0.0);
    let area = Area {
        left: (at.0 + left).round(),
        top: (at.1 + top).round(),
        width: (size.0 - left - right).round(),
        height: (size.1 - top - bottom).round(),
        panel,
    };
    svg.rect(area.left, area.top, area.width, area.height, theme.plot);
    let x_ticks = panel.x.ticks((area.width / 75.0) as usize);
    draw_grid(svg, &area, &x_ticks, &y_ticks, theme);
    draw_marks(svg, &area);
    draw_axes(svg, &area, &x_ticks, &y_ticks, theme, left);
    if let Some(bar) = &panel.color_bar {
        let place = (area.left + area.width + 12.0, area.top, area.height);
        draw_color_bar(svg, place, bar, theme);
    }
}

/// Additional room under the axis if the names of its places must be slanted.
fn slanted_names(axis: &Axis, width: f64) -> Option<f64> {
    let names = axis.ticks.as_ref()?;
    let longest = names.iter().map(|(_, name)| text_width(name, TICK)).fold(0.0, f64::max);
    let room = width / (axis.range.1 - axis.range.0).max(1.0);
    (longest > room - 6.0).then(|| longest * SLANT.to_radians().sin())
}

fn shown<'t>(axis: &Axis, ticks: &'t [(f64, String)]) -> impl Iterator<Item = &'t (f64, String)> {
    let axis = axis.clone();
    ticks.iter().filter(move |(v, _)| (-1e-6..=1.0 + 1e-6).contains(&axis.place(*v)))
}

fn draw_grid(svg: &mut Svg, area: &Area<'_>, x: &[(f64, String)], y: &[(f64, String)], theme: &Theme) {
    if area.panel.x.grid {
        for (value, _) in shown(&area.panel.x, x) {
            let (px, _) = area.pixel((*value, area.panel.y.range.0));
            svg.line((px, area.top), (px, area.top + area.height), theme.grid, 1.0);
        }
    }
    if area.panel.y.grid {
        for (value, _) in shown(&area.panel.y, y) {
            let (_, py) = area.pixel((area.panel.x.range.0, *value));
            svg.line((area.left, py), (area.left + area.width, py), theme.grid, 1.0);
        }
    }
}

/// A nested drawing clips at its own edge and needs no name, so many figures fit on one page.
fn draw_marks(svg: &mut Svg, area: &Area<'_>) {
    let (l, t, w, h) = (area.left, area.top, area.width, area.height);
    svg.raw(&format!("<svg x=\"{l}\" y=\"{t}\" width=\"{w}\" height=\"{h}\" viewBox=\"{l} {t} {w} {h}\">\n"));
    for mark in &area.panel.marks {
        mark.draw(svg, area);
    }
    svg.raw("</svg>\n");
}

fn draw_axes(
    svg: &mut Svg,
    area: &Area<'_>,
    x: &[(f64, String)],
    y: &[(f64, String)],
    theme: &Theme,
    left_margin: f64,
) {
    let bottom = area.top + area.height;
    let panel = area.panel;
    svg.line((area.left, bottom), (area.left + area.width, bottom), theme.muted, 1.0);
    svg.line((area.left, area.top), (area.left, bottom), theme.muted, 1.0);
    let slanted = slanted_names(&panel.x, area.width);
    let style = TextStyle::new(TICK, theme.muted);
    let style = match slanted {
        Some(_) => style.anchor(Anchor::End).rotate(-SLANT),
        None => style.anchor(Anchor::Middle),
    };
    for (value, label) in shown(&panel.x, x) {
        let (px, _) = area.pixel((*value, panel.y.range.0));
        svg.text((px + if slanted.is_some() { 6.0 } else { 0.0 }, bottom + 16.0), label, style);
    }
    for (value, label) in shown(&panel.y, y) {
        let (_, py) = area.pixel((panel.x.range.0, *value));
        svg.text((area.left - 6.0, py + 4.0), label, TextStyle::new(TICK, theme.muted).anchor(Anchor::End));
    }
    let center = area.left + 0.5 * area.width;
    let label = TextStyle::new(LABEL, theme.ink).anchor(Anchor::Middle);
    svg.text((center, bottom + 36.0 + slanted.unwrap_or(0.0)), &panel.x.label, label);
    let side = (area.left - left_margin + 16.0, area.top + 0.5 * area.height);
    svg.text(side, &panel.y.label, label.rotate(-90.0));
    svg.text((area.left, area.top - 9.0), &panel.title, TextStyle::new(LABEL + 1.0, theme.ink).bold());
}

fn draw_color_bar(svg: &mut Svg, (x, top, height): (f64, f64, f64), bar: &ColorBar, theme: &Theme) {
    let steps = 64;
    for i in 0..steps {
        let (from, to) = (f64::from(i) / f64::from(steps), f64::from(i + 1) / f64::from(steps));
        let y = (top + height * (1.0 - to)).floor();
        let end = (top + height * (1.0 - from)).ceil();
        svg.rect(x, y, 12.0, end - y, sequential(0.5 * (from + to)));
    }
    let axis = Axis::linear("", bar.range);
    for (value, label) in axis.ticks((height / 60.0) as usize) {
        let y = top + height * (1.0 - axis.place(value));
        svg.text((x + 16.0, y + 4.0), &label, TextStyle::new(TICK, theme.muted));
    }
    let style = TextStyle::new(TICK, theme.ink).anchor(Anchor::End);
    svg.text((x + 58.0, top - 9.0), &bar.label, style);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_takes_more_lines_and_no_word_of_it_is_lost() {
        let note =
            "Dots outside the frame: 16 elites beyond the archive's bounds; 4 of them lie farther out.";
        let broken = lines(note, 200.0);
        assert!(broken.len() > 1 && broken.iter().all(|line| text_width(line, TICK) <= 200.0), "{broken:?}");
        assert_eq!(broken.join(" "), note);
        assert_eq!(lines("short", 200.0), ["short"]);
        assert_eq!(lines("endlesslylongword", 1.0).len(), 1);
        let height = |note: &str| {
            let mut figure = Figure::single(
                "",
                Panel::new("", Axis::linear("", (0.0, 1.0)), Axis::linear("", (0.0, 1.0))),
            );
            (figure.panel_size, figure.note) = ((200.0, 100.0), note.to_owned());
            let svg = figure.svg(Mode::Light);
            let after = svg.split("height=\"").nth(1).unwrap();
            after.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(height(note) >= height("short") + NOTE_LINE);
    }
}
