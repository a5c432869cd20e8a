//! Runs whose policies have different shapes, side by side in every command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoqd::policy::{Activation, Biases, FilterSpec, PolicySpec, Squash, Weights, uniform};
use autoqd::run_folder::{ARCHIVE_FILE, ArchiveTable, Block};

fn autoqd(args: &[&str], paths: &[PathBuf]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autoqd"));
    let output = command.args(args).args(paths).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A short run of a task without a simulator.
fn search(folder: &Path) -> PathBuf {
    let run = folder.join("searched");
    let small = ["--preset=quick", "--set=iterations=3", "--set=batch_size=4", "--set=threads=1"];
    autoqd(&[&["run", "point-maze"][..], &small, &["--out"]].concat(), std::slice::from_ref(&run));
    run
}

/// A copy of a run that holds other policies, as one that finds them in another way would leave it.
fn with_policies(run: &Path, name: &str, spec: &PolicySpec, policies: &[Vec<f64>]) -> PathBuf {
    let copy = run.with_file_name(name);
    std::fs::create_dir(&copy).unwrap();
    for file in ["config.toml", "metrics.csv", "timing.csv"] {
        std::fs::copy(run.join(file), copy.join(file)).unwrap();
    }
    let rows: Vec<usize> = (0..policies.len()).collect();
    let mut table = ArchiveTable::read(run).unwrap().select(&rows);
    table.parameters = Block { width: spec.parameter_count(), values: policies.concat() };
    table.set_policy(spec);
    table.write_parquet(&copy.join(ARCHIVE_FILE)).unwrap();
    copy
}

/// The shape and the parameters of policies in it.
type Policies = (PolicySpec, Vec<Vec<f64>>);

fn random(spec: PolicySpec) -> Policies {
    let policies = (1..4).map(|seed| uniform(&spec, seed)).collect();
    (spec, policies)
}

/// The same policies with full matrices behind a filter that changes nothing.
fn written_out((spec, policies): &Policies) -> Policies {
    let mut dense = spec.clone().with_filter(FilterSpec { clip: None });
    dense.layers.iter_mut().for_each(|layer| layer.weights = Weights::Dense);
    let expand = |parameters: &Vec<f64>| {
        let mut full = [[0.0; OBSERVATIONS], [1.0; OBSERVATIONS]].concat();
        for layer in spec.split(parameters).unwrap().layers {
            full.extend(layer.matrix());
            full.extend(layer.biases);
        }
        full
    };
    (dense, policies.iter().map(expand).collect())
}

const OBSERVATIONS: usize = 8;

fn shape(weights: Weights, hidden: &[usize]) -> PolicySpec {
    PolicySpec::new(weights, hidden.to_vec(), OBSERVATIONS, vec![-1.0; 2], vec![1.0; 2]).unwrap()
}

fn mean_objective(run: &Path) -> f64 {
    let text = std::fs::read(run.join("eval/metrics.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    file.pointer("/metrics/mean_objective").unwrap().as_f64().unwrap()
}

#[test]
fn runs_of_different_shapes_are_measured_and_exported_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let searched = search(folder.path());
    let toeplitz = random(shape(Weights::Toeplitz, &[20, 9]));
    let relu = shape(Weights::Dense, &[24, 24]).with_activation(Activation::Relu).with_biases(Biases::All);
    let clipped =
        shape(Weights::Dense, &[16]).with_squash(Squash::Clip).with_filter(FilterSpec { clip: Some(5.0) });
    let populations = [
        ("toeplitz", toeplitz.clone()),
        ("dense", written_out(&toeplitz)),
        ("relu", random(relu)),
        ("clipped", random(clipped)),
    ];
    let mut runs = vec![searched.clone()];
    runs.extend(
        populations.iter().map(|(name, (spec, policies))| with_policies(&searched, name, spec, policies)),
    );

    autoqd(&["eval", "--episodes=3"], &runs);
    let means: Vec<f64> = runs.iter().map(|run| mean_objective(run)).collect();
    assert_eq!(means[1], means[2], "the same policies in two shapes have the same returns");
    assert!(means[3] != means[1] && means[4] != means[1], "{means:?}");

    autoqd(
        &["report", "--behaviours=1", "--seconds=0.2", "--out"],
        &[&[folder.path().join("report.html")], &runs[..]].concat(),
    );
    for run in &runs {
        let models = run.join("models");
        autoqd(&["export", "--format=onnx", "--out"], &[models.clone(), run.clone()]);
        let written = std::fs::read_dir(models).unwrap().count();
        assert_eq!(written, ArchiveTable::read(run).unwrap().len());
    }
}

#[test]
fn policies_of_another_task_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let searched = search(folder.path());
    let spec = PolicySpec::new(Weights::Dense, vec![3], 5, vec![-1.0; 2], vec![1.0; 2]).unwrap();
    let (spec, policies) = random(spec);
    let run = with_policies(&searched, "other", &spec, &policies);
    let output = Command::new(env!("CARGO_BIN_EXE_autoqd")).arg("eval").arg(&run).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains("5 observations") && error.contains("point-maze"),
        "{error}"
    );
}
