//! Policies in numpy (`scripts/policy_numpy.py`), and their shapes in files.

mod policy_shapes;

use std::path::Path;
use std::process::Command;

use autoqd::export::{TableFormat, write_table};
use autoqd::policy::{Activation, Biases, FilterSpec, Policy, PolicySpec, Squash, Weights};
use autoqd::run_folder::{ArchiveTable, Block, TensorFile};
use policy_shapes::{python, shapes, wave};
use serde_json::json;

const SCRIPT: &str = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
from policy_numpy import Policy
for case in json.load(open(sys.argv[2])):
    policy = Policy(case["shape"], case["parameters"])
    actions = [policy.act(observation) for observation in case["observations"]]
    assert all(action.dtype == "float32" for action in actions)
    print(json.dumps([action.tolist() for action in actions]))
"#;

/// Toeplitz and dense, biases, activations, squashing and filter in all combinations, beside the other shapes.
fn all_shapes() -> Vec<PolicySpec> {
    let mut all = shapes();
    for weights in [Weights::Toeplitz, Weights::Dense] {
        for biases in [Biases::Hidden, Biases::All, Biases::None] {
            for activation in [Activation::Tanh, Activation::Relu, Activation::None] {
                for squash in [Squash::Tanh, Squash::Clip] {
                    let spec = PolicySpec::new(weights, vec![20, 9], 5, vec![-1.0, -0.3], vec![1.0, 0.4]);
                    let spec =
                        spec.unwrap().with_biases(biases).with_activation(activation).with_squash(squash);
                    all.extend([spec.clone(), spec.with_filter(FilterSpec { clip: Some(1.5) })]);
                }
            }
        }
    }
    all
}

#[test]
fn numpy_gives_the_same_bits() {
    let Some(python) = python("import numpy") else { return };
    let specs = all_shapes();
    let observations = |spec: &PolicySpec| -> Vec<Vec<f64>> {
        (1..5).map(|i| wave(spec.observation_size, 0.7 * f64::from(i))).collect()
    };
    let parameters = |spec: &PolicySpec| wave(spec.parameter_count(), 0.9);
    let cases: Vec<_> = specs
        .iter()
        .map(|s| json!({"shape": s.to_json(), "parameters": parameters(s), "observations": observations(s)}))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("cases.json");
    std::fs::write(&data, json!(cases).to_string()).unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    let output = Command::new(python).args(["-c", SCRIPT]).args([&scripts, &data]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), specs.len());
    for (spec, answer) in specs.iter().zip(answers.lines()) {
        let theirs: Vec<Vec<f32>> = serde_json::from_str(answer).unwrap();
        let mut policy = Policy::new(spec, &parameters(spec)).unwrap();
        let mut action = vec![0.0; spec.action_size()];
        for (observation, theirs) in observations(spec).iter().zip(theirs) {
            policy.act(observation, &mut action);
            assert_eq!(action, theirs, "{spec:?}");
        }
    }
}

/// A table of two policies of a shape.
fn table(spec: &PolicySpec) -> ArchiveTable {
    let width = spec.parameter_count();
    let mut table = ArchiveTable {
        cell: vec![0, 1],
        id: vec![5, 6],
        iteration: vec![1, 1],
        objective: vec![1.0, 2.0],
        parameters: Block { width, values: wave(2 * width, 0.5) },
        ..ArchiveTable::default()
    };
    table.set_policy(spec);
    table
}

#[test]
fn tables_keep_the_shape_of_their_policies() {
    let folder = tempfile::tempdir().unwrap();
    let [parquet, tensors] = ["archive.parquet", "archive.safetensors"].map(|name| folder.path().join(name));
    assert_eq!(ArchiveTable::read_policy(&parquet).unwrap(), None);
    for spec in all_shapes() {
        let table = table(&spec);
        table.write_parquet(&parquet).unwrap();
        let read = ArchiveTable::read_parquet(&parquet).unwrap();
        assert_eq!((read.policy().unwrap(), read.parameters), (Some(spec.clone()), table.parameters.clone()));
        assert_eq!(ArchiveTable::read_policy(&parquet).unwrap(), Some(spec.clone()));
        write_table(&table, TableFormat::Safetensors, &tensors).unwrap();
        let file = TensorFile::read(&tensors).unwrap();
        let shape = PolicySpec::from_json(file.metadata["policy"].as_str().unwrap()).unwrap();
        assert_eq!(shape, spec);
        assert_eq!(file.get("parameters").unwrap().to_f64().unwrap(), table.parameters.values);
    }
}

#[test]
fn a_table_without_a_shape_has_the_digest_of_one_with_it() {
    let spec = &shapes()[0];
    let table = table(spec);
    let mut old = table.clone();
    old.metadata.clear();
    assert_eq!((old.policy().unwrap(), old.digest()), (None, table.digest()));
}
