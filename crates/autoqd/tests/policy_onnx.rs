//! Policies as ONNX models, run by onnxruntime where it is installed.

use std::path::Path;
use std::process::Command;

use autoqd::export::policy_to_onnx;
use autoqd::policy::{Policy, PolicyKind, PolicySpec};

const SCRIPT: &str = r#"
import json, sys
import numpy, onnx, onnxruntime
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1])
observations = numpy.array(json.load(open(sys.argv[2])), dtype=numpy.float32)
print(json.dumps(session.run(["action"], {"observation": observations})[0].tolist()))
"#;

fn wave(n: usize, amplitude: f64) -> Vec<f64> {
    (0..n).map(|i| amplitude * (i as f64 * 0.7).sin()).collect()
}

fn python() -> Option<String> {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import numpy, onnx, onnxruntime"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(python)
}

/// Actions of a batch of observations according to onnxruntime.
fn run_model(python: &str, folder: &Path, model: &[u8], observations: &[Vec<f64>]) -> Vec<Vec<f32>> {
    let (model_path, data_path) = (folder.join("policy.onnx"), folder.join("observations.json"));
    std::fs::write(&model_path, model).unwrap();
    std::fs::write(&data_path, serde_json::to_string(observations).unwrap()).unwrap();
    let output = Command::new(python).args(["-c", SCRIPT]).args([&model_path, &data_path]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn onnxruntime_acts_as_the_policy_does() {
    let Some(python) = python() else {
        assert!(
            std::env::var_os("AUTOQD_REQUIRE_ALL").is_none(),
            "Python with onnx and onnxruntime is missing"
        );
        eprintln!("skipped: no Python with onnx and onnxruntime");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (kind, hidden) in [
        (PolicyKind::Toeplitz, vec![128, 128]),
        (PolicyKind::Dense, vec![20]),
        (PolicyKind::Toeplitz, vec![]),
    ] {
        let spec = PolicySpec::new(kind, hidden, 17, vec![-1.0, -0.5, 2.0], vec![1.0, 3.0, 4.0]).unwrap();
        let parameters = wave(spec.parameter_count(), 0.3);
        let observations: Vec<Vec<f64>> = (1..5).map(|i| wave(17, f64::from(i))).collect();
        let model = policy_to_onnx(&spec, &parameters).unwrap();
        let answers = run_model(&python, folder.path(), &model, &observations);
        let mut policy = Policy::new(&spec, &parameters).unwrap();
        let mut action = vec![0.0; 3];
        for (observation, answer) in observations.iter().zip(answers) {
            policy.act(observation, &mut action);
            for (ours, theirs) in action.iter().zip(answer) {
                assert!((ours - theirs).abs() < 1e-5, "{ours} {theirs}");
            }
        }
    }
}

#[test]
fn the_same_policy_gives_the_same_bytes() {
    let spec = PolicySpec::new(PolicyKind::Toeplitz, vec![8], 3, vec![-1.0], vec![1.0]).unwrap();
    let parameters = wave(spec.parameter_count(), 1.0);
    assert_eq!(policy_to_onnx(&spec, &parameters).unwrap(), policy_to_onnx(&spec, &parameters).unwrap());
    assert!(policy_to_onnx(&spec, &parameters[1..]).is_err());
}
