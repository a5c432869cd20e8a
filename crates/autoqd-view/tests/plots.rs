//! Every kind of plot: the same bytes as the golden SVG, and pixels with text in them.

mod common;

use autoqd_view::plot::{
    ArchivePlot, Band, Curve, Figure, Mode, Point, Sample, ablation_bars, adaptation, band_over_seeds,
    box_plots, heatmap_pairs, learning_curves, parallel_axes, png, success_counts, svg_to_pixels, trade_off,
    violins,
};
use common::Numbers;

const METHODS: [&str; 4] = ["AutoQD", "RegularQD", "Aurora", "LSTM-Aurora"];

/// An archive whose good elites lie around the middle.
fn archive(dimensions: usize, elites: usize) -> ArchivePlot {
    let mut numbers = Numbers(1);
    let measures: Vec<Vec<f64>> =
        (0..elites).map(|_| (0..dimensions).map(|_| 0.5 + 0.17 * numbers.normal()).collect()).collect();
    let value = |m: &Vec<f64>| 3000.0 - 9000.0 * m.iter().map(|x| (x - 0.4) * (x - 0.4)).sum::<f64>();
    ArchivePlot {
        names: (1..=dimensions).map(|d| format!("measure {d}")).collect(),
        bounds: vec![(0.0, 1.0); dimensions],
        cells: vec![if dimensions == 2 { 50 } else { 20 }; dimensions],
        values: measures.iter().map(value).collect(),
        measures,
        value_name: "objective".to_string(),
        marked: if elites > 5 { vec![0, 3, 5] } else { Vec::new() },
    }
}

fn curves(falling: bool) -> Vec<Curve> {
    let mut numbers = Numbers(2);
    let mut curve = |(i, name): (usize, &&str)| {
        let seeds: Vec<Vec<(f64, f64)>> = (0..3)
            .map(|_| {
                let (mut level, top) = (0.0, 300.0 - 55.0 * i as f64);
                let mut step = |x: f64| {
                    level += 0.06 * (top - level) + 6.0 * (numbers.next() - 0.5);
                    (x, if falling { 300.0 - level } else { level })
                };
                (0..60).map(|t| step(f64::from(t) * 8.0)).collect()
            })
            .collect();
        Curve { name: name.to_string(), band: band_over_seeds(&seeds) }
    };
    METHODS.iter().enumerate().map(&mut curve).collect()
}

fn samples(groups: &[&str]) -> Vec<Sample> {
    let mut numbers = Numbers(3);
    let mut samples = Vec::new();
    for group in groups {
        for (i, series) in METHODS.iter().enumerate() {
            let values = (0..80).map(|_| libm_exp(numbers.normal() * 0.8 + 0.4 * i as f64)).collect();
            samples.push(Sample { group: group.to_string(), series: series.to_string(), values });
        }
    }
    samples
}

/// A series long enough for these numbers, without the platform's mathematics.
fn libm_exp(x: f64) -> f64 {
    (1..40).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum)
}

fn points() -> Vec<Point> {
    let mut numbers = Numbers(4);
    let tasks = ["Ant", "Hopper", "Swimmer"];
    let mut make = |series: &str, label: &str| Point {
        series: series.to_string(),
        label: label.to_string(),
        x: numbers.next(),
        y: numbers.next(),
    };
    METHODS.iter().flat_map(|m| tasks.map(|t| (m, t))).map(|(m, t)| make(m, t)).collect()
}

fn figures(mode: Mode) -> Vec<(&'static str, Figure)> {
    let two = |a: &str, b: &str| vec![(a.to_string(), curves(true)), (b.to_string(), curves(false))];
    let learning: Vec<(String, Vec<Curve>)> = ["QD score", "coverage", "max objective", "mean objective"]
        .map(|n| (n.to_string(), curves(false)))
        .into();
    let bars: Vec<(String, Vec<Sample>)> = ["GT QD score", "mean objective", "Vendi score"]
        .map(|n| (n.to_string(), samples(&["100", "500", "1000"]).into_iter().step_by(4).collect()))
        .into();
    vec![
        ("heatmap", heatmap_pairs("half-cheetah", &archive(2, 3000), mode)),
        ("heatmap-pairs", heatmap_pairs("swimmer: all pairs of measures", &archive(4, 1500), mode)),
        ("heatmap-strip", heatmap_pairs("hopper", &archive(1, 20), mode)),
        ("parallel", parallel_axes("ant", &archive(5, 400), mode)),
        ("learning", learning_curves("Learning", &learning, "iteration", mode)),
        ("adaptation", adaptation("Adaptation", &two("friction", "mass scale"), mode)),
        ("success", success_counts("Successful policies", "friction", &two("p = 0.9", "p = 0.7"), mode)),
        ("trade-off", trade_off("Quality and diversity", &points(), mode)),
        ("boxes", box_plots("Returns", &samples(&["0.5", "2.5", "7.5"]), "friction", "return", mode)),
        (
            "violins",
            violins("Stability", &samples(&["Ant", "Hopper"]), "", "variance of the descriptor", mode),
        ),
        ("ablation", ablation_bars("Embedding size", &bars, "random features", mode)),
    ]
}

#[test]
fn every_plot_has_the_same_bytes_as_its_golden_file() {
    for (name, figure) in figures(Mode::Light) {
        let svg = figure.svg(Mode::Light);
        common::show(&format!("{name}.png"), &png(&svg, 2.0).unwrap());
        if common::bless() {
            common::write_golden(&format!("plots/{name}.svg"), svg.as_bytes());
        }
        let golden = std::fs::read_to_string(common::golden(&format!("plots/{name}.svg"))).unwrap();
        assert!(
            svg == golden,
            "{name}: look at it with AUTOQD_PICTURES=folder, then accept with AUTOQD_BLESS=1"
        );
    }
}

#[test]
fn light_and_dark_differ_in_colour_only() {
    for ((name, light), (_, dark)) in figures(Mode::Light).into_iter().zip(figures(Mode::Dark)) {
        let (light, dark) = (light.svg(Mode::Light), dark.svg(Mode::Dark));
        common::show(&format!("{name}-dark.png"), &png(&dark, 1.0).unwrap());
        assert_ne!(light, dark);
        let shape =
            |svg: &str| svg.split('#').map(|s| s.get(6..).unwrap_or(s).to_string()).collect::<String>();
        // Tiles are grouped by colour, and a group's order may differ between the modes.
        if !matches!(name, "boxes" | "ablation") {
            assert_eq!(shape(&light).len(), shape(&dark).len(), "{name}");
        }
    }
}

#[test]
fn text_is_drawn_without_any_system_font() {
    let draw = |text: &str| {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\" font-family=\"Noto Sans\">\
             <text x=\"5\" y=\"30\" font-size=\"20\">{text}</text></svg>"
        );
        svg_to_pixels(&svg, 1.0).unwrap().rgba.chunks_exact(4).filter(|p| p[3] > 128).count()
    };
    assert_eq!(draw(""), 0);
    for text in ["return 12.5", "−3 ± 0.4", "1e−5", "ψ π × ·"] {
        assert!(draw(text) > 100, "'{text}' left {} pixels", draw(text));
    }
}

#[test]
fn empty_and_odd_data_still_give_a_picture() {
    let nothing = ArchivePlot {
        names: vec!["a".into(), "b".into()],
        bounds: vec![(0.0, 0.0); 2],
        cells: vec![3; 2],
        ..ArchivePlot::default()
    };
    let odd = Curve {
        name: "<&>".into(),
        band: Band {
            x: vec![0.0, 1.0],
            mean: vec![f64::NAN, 1.0],
            low: vec![f64::NAN, 0.0],
            high: vec![f64::INFINITY, 2.0],
        },
    };
    let figures = [
        heatmap_pairs("", &nothing, Mode::Light),
        heatmap_pairs("", &ArchivePlot::default(), Mode::Light),
        parallel_axes("", &nothing, Mode::Light),
        parallel_axes("", &ArchivePlot::default(), Mode::Light),
        learning_curves("", &[], "", Mode::Light),
        learning_curves("", &[("x".into(), vec![odd])], "", Mode::Light),
        box_plots("", &[], "", "", Mode::Light),
        violins(
            "",
            &[Sample { group: "g".into(), series: "s".into(), values: vec![0.0, -1.0] }],
            "",
            "",
            Mode::Light,
        ),
        trade_off("", &[], Mode::Light),
    ];
    for figure in figures {
        svg_to_pixels(&figure.svg(Mode::Light), 0.5).unwrap();
    }
}
