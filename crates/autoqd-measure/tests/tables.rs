//! Tables in their four formats.

use autoqd_measure::{Cell, Estimate, Format, Group, Row, Table};

fn value(values: &[f64]) -> Cell {
    Estimate::of(values).map_or(Cell::Empty, Cell::Value)
}

fn table() -> Table {
    let row =
        |label: &str, cells: Vec<Cell>, mark_best| Row { label: label.into(), cells, digits: 2, mark_best };
    Table {
        corner: "Metric".into(),
        columns: vec!["AutoQD".into(), "Lstm_Aurora".into(), "none".into()],
        groups: vec![
            Group {
                title: "Hopper".into(),
                rows: vec![
                    row("QD (×10^4)", vec![value(&[1.5, 2.5]), value(&[3.0]), value(&[])], true),
                    row("note", vec![Cell::Text("a, \"b\"".into()), Cell::Empty, Cell::Empty], false),
                ],
            },
            Group {
                title: "Ant".into(),
                rows: vec![row("VS", vec![value(&[2.0]), value(&[1.0]), Cell::Empty], true)],
            },
        ],
    }
}

#[test]
fn terminal_columns_are_aligned_and_the_best_is_marked() {
    let text = table().render(Format::Terminal { color: false });
    assert_eq!(
        text,
        "Metric             AutoQD   Lstm_Aurora   none\n\
         \n\
         Hopper\n\
         \x20 QD (×10^4)  2.00 ± 0.50          3.00*     -\n\
         \x20 note             a, \"b\"             -      -\n\
         \n\
         Ant\n\
         \x20 VS                 2.00*         1.00      -\n"
    );
    assert!(table().render(Format::Terminal { color: true }).contains("\x1b[1m3.00\x1b[0m"));
}

#[test]
fn markdown_latex_and_csv() {
    let markdown = table().render(Format::Markdown);
    assert!(markdown.starts_with(
        "| Metric | AutoQD | Lstm_Aurora | none |\n|---|---:|---:|---:|\n| **Hopper** | | | |\n"
    ));
    assert!(markdown.contains("| QD (×10^4) | 2.00 ± 0.50 | **3.00** | - |\n"));
    let latex = table().render(Format::Latex);
    assert!(latex.contains("& \\textbf{Lstm\\_Aurora} &"));
    assert!(latex.contains("QD ($\\times 10^4$) & $2.00 \\pm 0.50$ & $\\mathbf{3.00}$ & -- \\\\\n"));
    assert!(latex.ends_with("\\bottomrule\n\\end{tabular}\n"));
    let csv = table().render(Format::Csv);
    assert!(csv.contains("Hopper,QD (×10^4),AutoQD,2,0.5,2,false,\n"));
    assert!(csv.contains("Hopper,note,AutoQD,,,,,\"a, \"\"b\"\"\"\n"));
}

#[test]
fn a_single_value_is_not_called_the_best() {
    let mut table = table();
    table.groups[1].rows[0].cells = vec![value(&[2.0]), Cell::Empty, Cell::Empty];
    assert_eq!(table.groups[1].rows[0].best(), None);
}

#[test]
fn csv_lines_have_as_many_fields_as_the_header() {
    let csv = table().render(Format::Csv);
    let mut lines = csv.lines();
    let fields = lines.next().unwrap().split(',').count();
    for line in lines.filter(|line| !line.contains('"')) {
        assert_eq!(line.split(',').count(), fields, "{line}");
    }
}
