//! Policies as ONNX models, run by onnxruntime where it is installed.

mod policy_shapes;

use std::path::Path;
use std::process::Command;

use autoqd::export::policy_to_onnx;
use autoqd::policy::{Policy, PolicySpec, Weights};
use policy_shapes::{python, shapes, wave};

const SCRIPT: &str = r#"
import json, sys
import numpy, onnx, onnxruntime
onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)
session = onnxruntime.InferenceSession(sys.argv[1])
observations = numpy.array(json.load(open(sys.argv[2])), dtype=numpy.float32)
print(json.dumps(session.run(["action"], {"observation": observations})[0].tolist()))
"#;

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
    let Some(python) = python("import numpy, onnx, onnxruntime") else { return };
    let folder = tempfile::tempdir().unwrap();
    for spec in shapes() {
        // Small enough that no sum of a wide layer is large: its rounding would be all that is compared.
        let widest = spec.sizes().into_iter().max().unwrap();
        let parameters = wave(spec.parameter_count(), (1.5 / (widest as f64).sqrt()).min(0.3));
        let observations: Vec<Vec<f64>> = (1..5).map(|i| wave(17, f64::from(i))).collect();
        let model = policy_to_onnx(&spec, &parameters).unwrap();
        let answers = run_model(&python, folder.path(), &model, &observations);
        let mut policy = Policy::new(&spec, &parameters).unwrap();
        let mut action = vec![0.0; 3];
        for (observation, answer) in observations.iter().zip(answers) {
            policy.act(observation, &mut action);
            for (ours, theirs) in action.iter().zip(answer) {
                assert!((ours - theirs).abs() < 1e-5, "{ours} {theirs} {spec:?}");
            }
        }
    }
}

#[test]
fn the_same_policy_gives_the_same_bytes() {
    let spec = PolicySpec::new(Weights::Toeplitz, vec![8], 3, vec![-1.0], vec![1.0]).unwrap();
    let parameters = wave(spec.parameter_count(), 1.0);
    assert_eq!(policy_to_onnx(&spec, &parameters).unwrap(), policy_to_onnx(&spec, &parameters).unwrap());
    assert!(policy_to_onnx(&spec, &parameters[1..]).is_err());
}
