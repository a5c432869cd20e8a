//! Policies, embedding and calibrated weighted PCA against an independent computation in numpy.
//!
//! `scripts/make_embedding_reference.py` makes the committed file; where numpy is installed, a fresh one from
//! another seed is made and compared as well.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use autoqd::cwpca::{self, AffineMap, CwPcaOptions};
use autoqd::embedding::{
    Embedding, FeatureMap, Normalizer, PsiAccumulator, PsiOptions, RunningStatistics, reference,
};
use autoqd::policy::{self, Policy, PolicySpec, Weights};
use serde::Deserialize;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    policies: Vec<PolicyCase>,
    embeddings: Vec<EmbeddingCase>,
    cwpca: Vec<CwPcaCase>,
    turns: Vec<TurnCase>,
    statistics: Vec<StatisticsCase>,
}

#[derive(Deserialize)]
struct PolicyCase {
    kind: Weights,
    sizes: Vec<usize>,
    low: Vec<f64>,
    high: Vec<f64>,
    parameters: Vec<f64>,
    observations: Rows,
    actions_f32: Rows,
    actions_f64: Rows,
}

#[derive(Deserialize)]
struct EmbeddingCase {
    observations: Rows,
    actions: Vec<Vec<f32>>,
    mean: Vec<f64>,
    std: Vec<f64>,
    weights: Rows,
    phases: Vec<f64>,
    gamma: f64,
    length_normalized: bool,
    psi_f64: Vec<f64>,
    psi_f32: Vec<f64>,
}

#[derive(Deserialize)]
struct CwPcaCase {
    embeddings: Rows,
    objectives: Vec<f64>,
    k: usize,
    weighted: bool,
    weights: Vec<f64>,
    mean: Vec<f64>,
    components: Rows,
    scale: Vec<f64>,
    a: Rows,
    b: Vec<f64>,
    variance: Vec<f64>,
    total_variance: f64,
    measures: Rows,
}

#[derive(Deserialize)]
struct TurnCase {
    before: Rows,
    after: Rows,
    objectives: Vec<f64>,
    k: usize,
    principal_degrees: Vec<f64>,
}

#[derive(Deserialize)]
struct StatisticsCase {
    chunks: Vec<Rows>,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

/// Checks that two vectors agree relative to the largest entry of the expected one.
fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}: length");
    let size = expected.iter().fold(1e-300_f64, |size, x| size.max(x.abs()));
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= tolerance * size, "{what}[{i}]: {g} instead of {e}");
    }
}

fn check_policy(case: &PolicyCase) {
    let hidden = case.sizes[1..case.sizes.len() - 1].to_vec();
    let spec =
        PolicySpec::new(case.kind, hidden, case.sizes[0], case.low.clone(), case.high.clone()).unwrap();
    let spec = spec.with_biases(policy::Biases::All);
    let mut policy = Policy::new(&spec, &case.parameters).unwrap();
    let mut action = vec![0.0; spec.action_size()];
    for ((observation, single), double) in
        case.observations.iter().zip(&case.actions_f32).zip(&case.actions_f64)
    {
        policy.act(observation, &mut action);
        let widened: Vec<f64> = action.iter().map(|a| f64::from(*a)).collect();
        assert_eq!(&widened, single, "numpy in single precision gives the same bits");
        assert_close(
            &policy::reference::act_f64(&spec, &case.parameters, observation).unwrap(),
            double,
            1e-10,
            "action",
        );
        assert_close(&widened, double, 2e-5, "action in single precision");
    }
}

fn check_embedding(case: &EmbeddingCase) {
    let map =
        FeatureMap::from_parts(case.weights[0].len(), case.weights.concat(), case.phases.clone()).unwrap();
    let normalizer = Normalizer::new(case.mean.clone(), case.std.clone());
    let options = PsiOptions { gamma: case.gamma, length_normalized: case.length_normalized };
    let embedding = Arc::new(Embedding::new(Arc::new(map), normalizer, options).unwrap());
    let mut accumulator = PsiAccumulator::new(embedding.clone());
    for (observation, action) in case.observations.iter().zip(&case.actions) {
        accumulator.push(observation, action);
    }
    let psi = accumulator.finish();
    let double = reference::psi_f64(&embedding, &case.observations.concat(), &case.actions.concat());
    assert_close(&double, &case.psi_f64, 1e-10, "psi in double precision");
    assert_close(&psi, &case.psi_f32, 1e-14, "psi in single precision, same order of operations");
    assert_close(&psi, &case.psi_f64, 1e-5, "psi in single precision");
}

fn fit(embeddings: &Rows, objectives: &[f64], k: usize, weighted: bool) -> AffineMap {
    cwpca::fit(embeddings, objectives, k, &CwPcaOptions { weighted, ..Default::default() }).unwrap()
}

fn check_cwpca(case: &CwPcaCase) {
    if case.weighted {
        assert_close(&cwpca::weights(&case.objectives), &case.weights, 1e-10, "weights");
    }
    let map = fit(&case.embeddings, &case.objectives, case.k, case.weighted);
    assert_close(&map.mean, &case.mean, 1e-10, "mean");
    assert_close(&map.components, &case.components.concat(), 1e-10, "components");
    assert_close(&map.scale, &case.scale, 1e-10, "scale");
    assert_close(&map.a, &case.a.concat(), 1e-10, "A");
    assert_close(&map.b, &case.b, 1e-10, "b");
    assert_close(&map.variance, &case.variance, 1e-10, "variance");
    assert_close(&[map.total_variance], &[case.total_variance], 1e-10, "total variance");
    for (embedding, measures) in case.embeddings.iter().zip(&case.measures) {
        assert_close(&map.map(embedding), measures, 1e-10, "measures");
    }
}

fn check_turn(case: &TurnCase) {
    let before = fit(&case.before, &case.objectives, case.k, true);
    let mut after = fit(&case.after, &case.objectives, case.k, true);
    let turn = after.align(&before, Default::default()).unwrap();
    assert_close(&turn.principal_degrees, &case.principal_degrees, 1e-6, "principal angles");
}

fn check_statistics(case: &StatisticsCase) {
    let mut all = RunningStatistics::new(case.mean.len());
    for chunk in &case.chunks {
        let mut part = RunningStatistics::new(case.mean.len());
        chunk.iter().for_each(|row| part.push(row));
        all.merge(&RunningStatistics::from_row(&part.to_row()));
    }
    assert_close(all.mean(), &case.mean, 1e-10, "mean of observations");
    assert_close(&all.variance(), &case.variance, 1e-9, "variance of observations");
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let reference: Reference = serde_json::from_str(&text).unwrap();
    reference.policies.iter().for_each(check_policy);
    reference.embeddings.iter().for_each(check_embedding);
    reference.cwpca.iter().for_each(check_cwpca);
    reference.turns.iter().for_each(check_turn);
    reference.statistics.iter().for_each(check_statistics);
}

#[test]
fn committed_numpy_results_are_reproduced() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/embedding_reference.json"));
}

#[test]
fn fresh_numpy_results_are_reproduced() {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{python} has no numpy");
        eprintln!("skipped: {python} has no numpy");
        return;
    }
    let script: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../scripts/make_embedding_reference.py"].iter().collect();
    let folder = tempfile::tempdir().unwrap();
    for seed in 2..12 {
        let out = folder.path().join(format!("{seed}.json"));
        let status = Command::new(&python)
            .arg(&script)
            .args(["--seed", &seed.to_string(), "--out"])
            .arg(&out)
            .status()
            .unwrap();
        assert!(status.success(), "{} failed", script.display());
        check(&out);
    }
}
