//! First task files for models: they load, run, and guess what a robot stands on.
#![cfg(feature = "mujoco")]

use autoqd_env::{Action, Draft, LocomotionTask, Perturbation, Seed, Task, load_task};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The task of a draft, after a few steps.
fn try_out(model: &Path) -> (Draft, LocomotionTask) {
    let model = model.canonicalize().unwrap();
    let draft = Draft::new(&model, model.to_str().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("task.toml");
    std::fs::write(&file, &draft.task).unwrap();
    let task = LocomotionTask::from_file(&file, &Perturbation::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", draft.task));
    let mut world = task.make().unwrap();
    let mut observation = vec![0.0; task.spec().observation_size];
    world.reset(Some(&Seed::from(1_u64)), &mut observation).unwrap();
    for _ in 0..10 {
        let action = vec![0.01; task.spec().action_size];
        let step = world.step(Action::F64(&action), &mut observation).unwrap();
        assert!(step.reward.is_finite() && !step.terminated && !step.diverged, "{}", draft.task);
    }
    (draft, task)
}

#[test]
fn a_quadruped_gets_its_floor_its_trunk_and_its_feet() {
    let (draft, task) = try_out(&root().join("examples/quadruped/quadruped.xml"));
    assert!(draft.notices.is_empty(), "{:?}", draft.notices);
    assert!(draft.task.contains("floor = \"ground\"") && draft.task.contains("body = \"trunk\""));
    assert_eq!(task.spec().measures.len(), 4, "{}", draft.task);
    assert!(draft.inventory.contains("fl_foot") && draft.inventory.contains("actuators"));
    assert!(draft.task.contains("kind = \"tilt\""));
}

#[test]
fn every_model_of_the_built_in_tasks_gets_a_task_that_runs() {
    for entry in std::fs::read_dir(root().join("crates/autoqd-env/tasks")).unwrap() {
        let path = entry.unwrap().path();
        // The humanoid of the standup task starts lying down, which a task that loses low episodes ends at once.
        if path.extension().is_some_and(|extension| extension == "xml") {
            let (draft, task) = try_out(&path);
            assert!(!draft.task.is_empty() && !task.spec().measures.is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn a_model_where_a_task_is_expected_is_answered_with_the_remedy() {
    let error = load_task("robots/go1.xml", &Perturbation::default()).err().unwrap().to_string();
    assert!(error.contains("a model, not a task") && error.contains("autoqd init robots/go1.xml"), "{error}");
}

#[test]
fn what_is_no_model_is_refused() {
    let error = Draft::new("nowhere.xml", "nowhere.xml").err().unwrap().to_string();
    assert!(error.contains("nowhere.xml") && error.contains("cannot be read"), "{error}");
}
