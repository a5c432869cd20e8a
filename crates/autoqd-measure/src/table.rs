//! Tables of results as text, Markdown, LaTeX and CSV.

use autoqd::export::csv_field;
use autoqd_statistics::Estimate;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns; the best value in bold where `color` says the reader can show it, else with a star.
    Terminal {
        /// Whether to use escape sequences.
        color: bool,
    },
    /// A Markdown table.
    Markdown,
    /// A LaTeX `tabular` (needs the package booktabs).
    Latex,
    /// One line per value: group, row, column, mean, standard error, count, best.
    Csv,
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Empty.
    Empty,
    /// A mean with its standard error.
    Value(Estimate),
    /// Words.
    Text(String),
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the values are.
    pub label: String,
    /// One value per column.
    pub cells: Vec<Cell>,
    /// Digits after the point.
    pub digits: usize,
    /// Whether the largest value is marked as the best.
    pub mark_best: bool,
}

/// Lines that belong together, for instance those of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Heading; none if empty.
    pub title: String,
    /// The lines.
    pub rows: Vec<Row>,
}

/// A table.
///
/// ```
/// use autoqd_measure::{Cell, Estimate, Format, Group, Row, Table};
/// let value = |v: &[f64]| Estimate::of(v).map_or(Cell::Empty, Cell::Value);
/// let row = Row { label: "VS".into(), cells: vec![value(&[4.0, 5.0]), value(&[2.0])], digits: 2, mark_best: true };
/// let table = Table {
///     corner: "Metric".into(),
///     columns: vec!["AutoQD".into(), "RegularQD".into()],
///     groups: vec![Group { title: "Hopper".into(), rows: vec![row] }],
/// };
/// assert!(table.render(Format::Markdown).contains("| VS | **4.50 ± 0.50** | 2.00 |"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heading of the first column.
    pub corner: String,
    /// Headings of the values.
    pub columns: Vec<String>,
    /// The lines.
    pub groups: Vec<Group>,
}

impl Row {
    /// Position of the largest mean, if it is to be marked and there is something to compare with.
    pub fn best(&self) -> Option<usize> {
        let means: Vec<(usize, f64)> =
            self.cells.iter().enumerate().filter_map(|(i, c)| Some((i, c.mean()?))).collect();
        let top = means.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        (self.mark_best && means.len() > 1).then_some(top.0)
    }
}

impl Cell {
    fn mean(&self) -> Option<f64> {
        match self {
            Cell::Value(estimate) => Some(estimate.mean),
            _ => None,
        }
    }

    fn text(&self, digits: usize, plus_minus: &str) -> String {
        match self {
            Cell::Empty => "-".to_owned(),
            Cell::Text(text) => text.clone(),
            Cell::Value(Estimate { mean, standard_error: Some(error), .. }) => {
                format!("{mean:.digits$} {plus_minus} {error:.digits$}")
            }
            Cell::Value(Estimate { mean, .. }) => format!("{mean:.digits$}"),
        }
    }
}

impl Table {
    /// The table as text in the given format, ending in a line break.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Terminal { color } => self.terminal(color),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
            Format::Csv => self.csv(),
        }
    }

    fn terminal(&self, color: bool) -> String {
        let rows: Vec<Vec<String>> = self.rows().map(terminal_row).collect();
        let header: Vec<String> = std::iter::once(&self.corner).chain(&self.columns).cloned().collect();
        let width =
            |c: usize| rows.iter().chain([&header]).map(|r| r.get(c).map_or(0, |t| t.chars().count())).max();
        let widths: Vec<usize> = (0..header.len()).map(|c| width(c).unwrap_or(0)).collect();
        let mut out = line(&header, &widths, None);
        let mut texts = rows.iter();
        for group in &self.groups {
            if !group.title.is_empty() {
                out += &format!("\n{}\n", group.title);
            }
            for (row, text) in group.rows.iter().zip(texts.by_ref()) {
                out += &line(text, &widths, row.best().map(|best| (best + 1, color)));
            }
        }
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("| {} | {} |\n|---|", self.corner, self.columns.join(" | "));
        out += &"---:|".repeat(self.columns.len());
        out += "\n";
        for group in &self.groups {
            if !group.title.is_empty() {
                out += &format!("| **{}** |{}\n", group.title, " |".repeat(self.columns.len()));
            }
            for row in &group.rows {
                let cells = marked_cells(row, "±", |text| format!("**{text}**"));
                out += &format!("| {} | {} |\n", row.label, cells.join(" | "));
            }
        }
        out
    }

    fn latex(&self) -> String {
        let heads: Vec<String> =
            self.columns.iter().map(|c| format!("\\textbf{{{}}}", escape_latex(c))).collect();
        let mut out = format!("\\begin{{tabular}}{{l{}}}\n\\toprule\n", "c".repeat(self.columns.len()));
        out += &format!("\\textbf{{{}}} & {} \\\\\n", escape_latex(&self.corner), heads.join(" & "));
        for group in &self.groups {
            out += "\\midrule\n";
            if !group.title.is_empty() {
                let span = self.columns.len() + 1;
                out += &format!(
                    "\\multicolumn{{{span}}}{{l}}{{\\textbf{{{}}}}} \\\\\n",
                    escape_latex(&group.title)
                );
            }
            for row in &group.rows {
                out += &format!("{} & {} \\\\\n", escape_latex(&row.label), latex_cells(row).join(" & "));
            }
        }
        out + "\\bottomrule\n\\end{tabular}\n"
    }

    fn csv(&self) -> String {
        let mut out = "group,row,column,mean,standard_error,count,best,text\n".to_owned();
        for (group, row) in self.groups.iter().flat_map(|g| g.rows.iter().map(move |row| (g, row))) {
            for (i, (column, cell)) in self.columns.iter().zip(&row.cells).enumerate() {
                let head = [&group.title, &row.label, column].map(|t| csv_field(t)).join(",");
                out += &format!("{head},{}\n", csv_value(cell, row.best() == Some(i)));
            }
        }
        out
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

fn terminal_row(row: &Row) -> Vec<String> {
    let cells = row.cells.iter().map(|cell| cell.text(row.digits, "±"));
    std::iter::once(format!("  {}", row.label)).chain(cells).collect()
}

/// One line with padded columns, the first to the left; `best` is the marked column and whether escapes may be used.
fn line(texts: &[String], widths: &[usize], best: Option<(usize, bool)>) -> String {
    let mut out = String::new();
    for (c, text) in texts.iter().enumerate() {
        let pad = " ".repeat(widths[c].saturating_sub(text.chars().count()));
        out += &match (c, best) {
            (0, _) => format!("{text}{pad}"),
            (c, Some((at, true))) if at == c => format!("  {pad}\x1b[1m{text}\x1b[0m "),
            (c, Some((at, false))) if at == c => format!("  {pad}{text}*"),
            _ => format!("  {pad}{text} "),
        };
    }
    out.trim_end().to_owned() + "\n"
}

fn marked_cells(row: &Row, plus_minus: &str, mark: impl Fn(String) -> String) -> Vec<String> {
    let best = row.best();
    let cell = |(i, cell): (usize, &Cell)| {
        let text = cell.text(row.digits, plus_minus);
        if best == Some(i) { mark(text) } else { text }
    };
    row.cells.iter().enumerate().map(cell).collect()
}

fn latex_cells(row: &Row) -> Vec<String> {
    let best = row.best();
    let cell = |(i, cell): (usize, &Cell)| match cell {
        Cell::Value(_) if best == Some(i) => format!("$\\mathbf{{{}}}$", cell.text(row.digits, "\\pm")),
        Cell::Value(_) => format!("${}$", cell.text(row.digits, "\\pm")),
        Cell::Text(text) => escape_latex(text),
        Cell::Empty => "--".to_owned(),
    };
    row.cells.iter().enumerate().map(cell).collect()
}

/// Full precision, unlike the other formats: this one is for programs.
fn csv_value(cell: &Cell, best: bool) -> String {
    match cell {
        Cell::Empty => ",,,,".to_owned(),
        Cell::Text(text) => format!(",,,,{}", csv_field(text)),
        Cell::Value(e) => {
            let error = e.standard_error.map_or(String::new(), |error| error.to_string());
            format!("{},{error},{},{best},", e.mean, e.count)
        }
    }
}

fn escape_latex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '^' => out += "\\^{}",
            '±' => out += "$\\pm$",
            '×' => out += "$\\times$",
            c => out.push(c),
        }
    }
    // The one power that tables of QD scores are headed with.
    out.replace("$\\times$10\\^{}4", "$\\times 10^4$")
}
