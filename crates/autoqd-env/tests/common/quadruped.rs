//! The example's quadruped with task files of its own.

use autoqd_env::{Action, Environment, LocomotionTask, Perturbation, Physics, Seed, Task, Transition};
use std::path::Path;

pub const HEAD: &str = r#"
name = "quadruped"
model = "quadruped.xml"
frame_skip = 5
max_episode_steps = 100
floor = "ground"
"#;

const HEAD_OF_OTHERS: &str =
    "name = \"other\"\nmodel = \"quadruped.xml\"\nframe_skip = 2\nmax_episode_steps = 100\n";

pub const PARTS: &str = r#"
[reset]
position_noise = 0.02
velocity_noise = 0.05
[action]
around = "start"
scale = 0.3
filter = 0.2
[[observation]]
kind = "vertical"
body = "trunk"
[[observation]]
kind = "local-velocity"
body = "trunk"
[[observation]]
kind = "clock"
period = 0.5
[[observation]]
kind = "previous-action"
[[reward]]
kind = "velocity"
name = "forward"
body = "trunk"
motion = "forward"
target = 0.5
tolerance = 0.05
scale = 0.25
shape = "gaussian"
product = "walk"
[[reward]]
kind = "upright"
body = "trunk"
target = 1.0
scale = 0.5
shape = "quadratic"
product = "walk"
weight = 2.0
[[reward]]
kind = "velocity"
name = "turn"
body = "trunk"
motion = "turn"
[[reward]]
kind = "value"
name = "height"
of = { body = "trunk", axis = "z" }
target = 0.3
scale = 0.2
shape = "linear"
[[reward]]
kind = "posture-cost"
joints = ["fl_hip", "fr_hip"]
weight = 0.5
[[reward]]
kind = "torque-cost"
weight = 1e-3
[[reward]]
kind = "power-cost"
weight = 1e-3
[[reward]]
kind = "action-rate-cost"
weight = 0.1
"#;

pub const RANDOMISATION: &str = r#"
[randomisation]
observation_noise = 0.1
action_delay = [1, 3]
push = { body = "trunk", every = 0.1, speed = 0.5 }
"#;

/// Its task with these parts, or the error.
pub fn quadruped(parts: &str) -> Result<LocomotionTask, String> {
    quadruped_with(parts, &Perturbation::default())
}

pub fn quadruped_with(parts: &str, perturbation: &Perturbation) -> Result<LocomotionTask, String> {
    quadruped_of(&model(), &format!("{HEAD}{parts}"), perturbation)
}

/// The same without a ground that the task file names.
pub fn without_floor(parts: &str) -> Result<LocomotionTask, String> {
    let head = HEAD.replace("floor = \"ground\"\n", "");
    quadruped_of(&model(), &format!("{head}{parts}"), &Perturbation::default())
}

fn model() -> String {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quadruped/quadruped.xml");
    std::fs::read_to_string(example).unwrap()
}

/// Any model's task.
pub fn quadruped_of(model: &str, task: &str, perturbation: &Perturbation) -> Result<LocomotionTask, String> {
    let folder = tempfile::tempdir().unwrap();
    let head = if task.contains("frame_skip") { "" } else { HEAD_OF_OTHERS };
    std::fs::write(folder.path().join("quadruped.xml"), model).unwrap();
    std::fs::write(folder.path().join("task.toml"), format!("{head}{task}")).unwrap();
    LocomotionTask::from_file(folder.path().join("task.toml"), perturbation)
        .map_err(|error| error.to_string())
}

/// Steps both simulators side by side.
pub fn is_the_same_on_both_simulators(task: &LocomotionTask) {
    let mut worlds = task.make_worlds(Physics::Lanes).unwrap();
    let (width, length) = (task.spec().action_size, task.spec().observation_size);
    let mut rows = vec![0.0; 8 * length];
    let mut reference = task.make().unwrap();
    let mut expected = vec![0.0; length];
    for lane in 0..8 {
        worlds.reset(lane, Some(&Seed::from(3_u64)), &mut rows[lane * length..(lane + 1) * length]).unwrap();
    }
    reference.reset(Some(&Seed::from(3_u64)), &mut expected).unwrap();
    let mut transitions = vec![Transition::default(); 8];
    for step in 0..15 {
        let action: Vec<f32> = (0..width).map(|i| ((step * 7 + i * 3) as f32).sin()).collect();
        worlds.step(&[true; 8], Action::F32(&action.repeat(8)), &mut rows, &mut transitions).unwrap();
        let wanted = reference.step(Action::F32(&action), &mut expected).unwrap();
        assert!((transitions[5].reward - wanted.reward).abs() < 1e-7, "step {step}");
        assert_eq!(transitions[5].terminated, wanted.terminated);
        for (got, wanted) in rows[5 * length..6 * length].iter().zip(&expected) {
            assert!((got - wanted).abs() < 1e-7 * (1.0 + wanted.abs()), "step {step}: {got} {wanted}");
        }
    }
}

/// Observations of an episode whose actions are all `action`.
pub fn episode(task: &LocomotionTask, seed: u64, steps: usize, action: f64) -> Vec<Vec<f64>> {
    let mut robot = task.world().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    robot.reset(Some(&Seed::from(seed)), &mut seen).unwrap();
    let mut all = vec![seen.clone()];
    let actions = vec![action; task.spec().action_size];
    for _ in 0..steps {
        robot.step(Action::F64(&actions), &mut seen).unwrap();
        all.push(seen.clone());
    }
    all
}
