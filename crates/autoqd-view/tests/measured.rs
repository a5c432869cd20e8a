//! Figures of the measurements that other commands leave in run folders.

mod common;

use std::path::Path;

use autoqd::registry::Registry;
use autoqd_measure::MeasureError;
use autoqd_view::plot::{Mode, png};
use autoqd_view::report::{ReportOptions, report};
use autoqd_view::{Measured, RunView, ViewError};
use serde_json::{Value, json};

fn write(run: &Path, file: &str, value: &Value) {
    let path = run.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, value.to_string()).unwrap();
}

fn evaluation(variant: &str, quality: f64, diversity: f64) -> Value {
    let vendi = json!({"value": diversity, "lower": diversity, "upper": diversity, "rank": 3, "policies": 5});
    let gt = json!([{"cells_per_dimension": 20, "coverage": 7, "cells": 20, "qd_score": 40.0 * quality, "negative": 0}]);
    json!({"version": 1, "local": true, "reference": {"version": 1, "task": "hopper", "protocol": {},
        "normalizer": {"mean": [], "std": []}, "bandwidth": null, "bandwidth_length_normalized": null,
        "offset": 100.0, "best_mean": null}, "metrics": {
        "path": "run", "task": "hopper", "variant": variant, "seed": 0, "policies": 5, "left_out": 0,
        "mean_objective": quality, "max_objective": 2.0 * quality, "max_rechecked": null, "best_policy": 3, "gt": gt,
        "vendi": vendi, "vendi_length_normalized": diversity, "quality_vendi": null, "budget": null,
        "evaluation_steps": 100
    }})
}

fn adaptation(variant: &str, level: f64) -> Value {
    let point = |i: usize| {
        let best = json!({"mean": level - 10.0 * i as f64, "standard_error": 4.0, "count": 32});
        json!({"value": 0.5 + i as f64, "policy": 1, "best": best, "successes": [5 - i, 9]})
    };
    let curve = json!({
        "path": "run", "variant": variant, "seed": 0, "points": (0..4).map(point).collect::<Vec<_>>(), "area": null,
        "boxes": [{"value": 0.5, "count": 9, "negative": 1, "quantiles": [1.0, 20.0, 40.0, 90.0, level]},
                  {"value": 2.5, "count": 0, "negative": 9, "quantiles": null}]
    });
    let options = json!({"screening_episodes": 4, "episodes": 32, "finalists": 20, "full": false,
        "success": [0.9, 0.7], "boxes": 5, "seed": 0});
    let vary = json!({"knob": "friction-scale", "values": [0.5, 1.5, 2.5, 3.5]});
    json!({"version": 1, "adaptation": {"task": "hopper", "options": options, "best_unaltered": 300.0,
        "knobs": [{"vary": vary, "curves": [curve]}]}})
}

fn stability(variant: &str, scale: f64) -> Value {
    let variances: Vec<f64> = (1..40).map(|i| scale * f64::from(i)).collect();
    json!({"version": 1, "stability": {"path": "run", "variant": variant, "seed": 0, "dimension": 2,
        "variances": variances, "quantiles": null, "noise_share": 0.1}})
}

#[test]
fn every_measurement_that_is_there_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<RunView> = [("autoqd", 200.0), ("regular", 120.0)]
        .map(|(variant, level)| {
            let path = folder.path().join(variant);
            common::run::filled(&path, "hopper", 3);
            write(&path, "eval/metrics.json", &evaluation(variant, level, 1000.0 / level));
            write(&path, "eval/stability.json", &stability(variant, 1e-5 * level));
            write(&path, "adapt/adaptation.json", &adaptation(variant, level));
            RunView::open(&path, &Registry::default()).unwrap()
        })
        .into();
    let measured = Measured::read(&runs).unwrap();
    assert!(measured.stale().is_empty());
    let figures = measured.figures(Mode::Light);
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    let knob = "friction-scale";
    assert_eq!(
        names,
        [
            "trade-off",
            "hopper-scores",
            "adaptation",
            &format!("success-{knob}"),
            &format!("returns-{knob}"),
            "stability"
        ]
    );
    for (name, figure) in &figures {
        let svg = figure.svg(Mode::Light);
        assert!(svg.contains("autoqd") && svg.contains("regular"), "{name}: both methods are named");
        common::show(&format!("measured-{name}.png"), &png(&svg, 1.5).unwrap());
    }
}

#[test]
fn without_measurements_there_is_no_figure_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    common::run::filled(&path, "hopper", 3);
    let runs = [RunView::open(&path, &Registry::default()).unwrap()];
    assert!(Measured::read(&runs).unwrap().figures(Mode::Light).is_empty());
    write(&path, "eval/stability.json", &json!({"version": 1}));
    let error = Measured::read(&runs).unwrap_err();
    assert!(
        matches!(error, ViewError::Measure(MeasureError::Measurement { .. }))
            && error.to_string().contains("stability.json"),
        "{error}"
    );
}

#[test]
fn what_was_measured_of_another_archive_is_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    common::run::filled(&path, "hopper", 3);
    let runs = [RunView::open(&path, &Registry::default()).unwrap()];
    let digest = runs[0].run().archive().unwrap().unwrap().digest();
    for (archive, current) in [(digest.as_str(), true), ("of another day", false)] {
        let mut file = evaluation("autoqd", 200.0, 5.0);
        file["archive"] = archive.into();
        write(&path, "eval/metrics.json", &file);
        let measured = Measured::read(&runs).unwrap();
        assert_eq!(measured.evaluations()[0].is_some(), current);
        assert_eq!(measured.stale().len(), usize::from(!current));
        assert!(measured.stale().iter().all(|note| note.contains("`autoqd eval`")));
        let page = report(&runs, ReportOptions { behaviours: 1, ..ReportOptions::default() }).unwrap();
        assert_eq!(page.contains("Left out: run: the archive has changed"), !current);
    }
}
