//! Actions, observations and rewards of legged robots in task files, on both simulators.
#![cfg(feature = "mujoco")]

use autoqd_env::{Action, Environment, LocomotionTask, Perturbation, Physics, Seed, Task, Transition};
use std::path::Path;

const HEAD: &str = r#"
name = "quadruped"
model = "quadruped.xml"
frame_skip = 5
max_episode_steps = 100
floor = "ground"
"#;

const PARTS: &str = r#"
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

const RANDOMISATION: &str = r#"
[randomisation]
observation_noise = 0.1
action_delay = [1, 3]
push = { body = "trunk", every = 0.1, speed = 0.5 }
"#;

fn quadruped(parts: &str) -> Result<LocomotionTask, String> {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quadruped/quadruped.xml");
    std::fs::copy(example, folder.path().join("quadruped.xml")).unwrap();
    std::fs::write(folder.path().join("task.toml"), format!("{HEAD}{parts}")).unwrap();
    LocomotionTask::from_file(folder.path().join("task.toml"), &Perturbation::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_legged_robots_task_is_the_same_on_both_simulators() {
    for randomisation in ["", RANDOMISATION] {
        let task = quadruped(&format!("{PARTS}{randomisation}")).unwrap();
        is_the_same_on_both_simulators(&task, randomisation.is_empty());
    }
}

fn is_the_same_on_both_simulators(task: &LocomotionTask, exact: bool) {
    let mut worlds = task.make_worlds(Physics::Lanes).unwrap();
    let (width, length) = (task.spec().action_size, task.spec().observation_size);
    assert_eq!(length, 3 + 6 + 2 + width);
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
        for (got, wanted) in rows[5 * length..6 * length].iter().zip(&expected) {
            assert!((got - wanted).abs() < 1e-7 * (1.0 + wanted.abs()), "step {step}: {got} {wanted}");
        }
        if !exact {
            continue;
        }
        assert_eq!(expected[length - width..], action.iter().map(|&a| f64::from(a)).collect::<Vec<_>>()[..]);
    }
}

#[test]
fn action_zero_holds_the_start_pose_and_products_multiply() {
    let task = quadruped(&PARTS.replace("0.02", "0.0").replace("0.05\n[action]", "0.0\n[action]")).unwrap();
    assert_eq!((task.spec().action_low[0], task.spec().action_high[0]), (-1.0, 1.0));
    let mut robot = task.world().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    robot.reset(Some(&Seed::from(0_u64)), &mut seen).unwrap();
    let start = robot.qpos()[7..].to_vec();
    assert_eq!(seen[..3], [0.0, 0.0, 1.0]);
    let (angle, still) = (seen[9..11].to_vec(), seen[3..9].to_vec());
    assert_eq!((angle, still), (vec![0.0, 1.0], vec![0.0; 6]));
    let zero = vec![0.0; task.spec().action_size];
    let mut last = Transition::default();
    for _ in 0..50 {
        last = robot.step(Action::F64(&zero), &mut seen).unwrap();
    }
    let drift = robot.qpos()[7..].iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(drift < 0.3, "servos hold the start pose but for the weight: {drift}");
    let terms = robot.reward_terms();
    let expected = terms[0] * terms[1] + terms[2..].iter().sum::<f64>();
    assert!((last.reward - expected).abs() < 1e-12, "{terms:?}");
    assert!((1.9..=2.0).contains(&terms[1]) && terms[7] == 0.0, "upright, and the action does not change");
    // At rest the velocity misses its target by 0.45 beyond the tolerance.
    assert!((terms[0] - (-(0.45_f64 / 0.25).powi(2)).exp()).abs() < 0.05, "{terms:?}");
}

#[test]
fn delta_actions_add_up_and_stay_in_the_control_range() {
    let parts = PARTS.replace("around = \"start\"", "delta = true").replace("filter = 0.2", "");
    let task = quadruped(&parts).unwrap();
    let mut robot = task.world().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    robot.reset(Some(&Seed::from(0_u64)), &mut seen).unwrap();
    let hip = |robot: &autoqd_env::Locomotion| robot.qpos()[7];
    let up = vec![1.0; task.spec().action_size];
    let before = hip(&robot);
    for _ in 0..40 {
        robot.step(Action::F64(&up), &mut seen).unwrap();
    }
    assert!(hip(&robot) - before > 0.3, "controls went on from step to step: {}", hip(&robot));
    assert!(robot.qpos().iter().all(|q| q.is_finite()));
}

/// Observations of an episode whose actions are all `action`.
fn episode(task: &LocomotionTask, seed: u64, steps: usize, action: f64) -> Vec<Vec<f64>> {
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

#[test]
fn late_actions_arrive_later() {
    let late = quadruped(&format!("{PARTS}[randomisation]\naction_delay = [2, 2]\n")).unwrap();
    let (moved, held) = (episode(&late, 1, 6, 0.8), episode(&late, 1, 6, 0.0));
    // The last numbers are the action itself.
    let body = |seen: &[f64]| seen[..9].to_vec();
    for step in 0..=2 {
        assert_eq!(body(&moved[step]), body(&held[step]), "step {step}: nothing has arrived");
    }
    assert_ne!(body(&moved[3]), body(&held[3]));
    let drawn = quadruped(&format!("{PARTS}[randomisation]\naction_delay = [0, 2]\n")).unwrap();
    let arrival = |seed: u64| {
        let (moved, held) = (episode(&drawn, seed, 4, 0.8), episode(&drawn, seed, 4, 0.0));
        (1..=4).find(|&step| body(&moved[step]) != body(&held[step])).unwrap()
    };
    let arrivals: std::collections::BTreeSet<_> = (0..40).map(arrival).collect();
    assert_eq!(arrivals.into_iter().collect::<Vec<_>>(), [1, 2, 3], "all delays are drawn");
}

#[test]
fn noise_has_its_deviation_and_pushes_come_when_due() {
    let exact = quadruped(PARTS).unwrap();
    let noisy = quadruped(&format!("{PARTS}[randomisation]\nobservation_noise = 0.1\n")).unwrap();
    let (plain, blurred) = (episode(&exact, 2, 60, 0.1), episode(&noisy, 2, 60, 0.1));
    assert_eq!(blurred, episode(&noisy, 2, 60, 0.1), "the same seed, the same noise");
    let errors: Vec<f64> = plain.iter().flatten().zip(blurred.iter().flatten()).map(|(a, b)| b - a).collect();
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let deviation = (errors.iter().map(|e| e * e).sum::<f64>() / count).sqrt();
    assert!(mean.abs() < 0.02 && (deviation - 0.1).abs() < 0.01, "{mean} {deviation}");

    let push = "[randomisation]\npush = { body = \"trunk\", every = 0.1, speed = 3.0 }\n";
    let pushed = quadruped(&format!("{PARTS}{push}")).unwrap();
    let (before, after) = (episode(&exact, 2, 20, 0.1), episode(&pushed, 2, 20, 0.1));
    let first = (0..=20).find(|&step| before[step] != after[step]).unwrap();
    let due = (0.1 / (5.0 * exact.model().opt().timestep)).round() as usize;
    assert_eq!(first, due + 1, "the step after the first push");
    let speeds = |seen: &[f64]| seen[3].hypot(seen[4]);
    assert!((speeds(&after[first]) - speeds(&before[first])).abs() > 0.1);
}

#[test]
fn mistakes_of_randomisation_are_named() {
    for (line, expected) in [
        ("observation_noise = -1.0", "observation_noise must be finite and not negative"),
        ("observation_noise = [0.1, 0.2]", "observation_noise has 2 numbers for 19"),
        ("action_delay = [3, 1]", "action_delay = [3, 1]"),
        ("action_delay = [0, 5000]", "at most 1000"),
        ("push = { every = 1.0, speed = 1.0 }", "either `body` or `joints`"),
        ("push = { body = \"trunc\", every = 1.0, speed = 1.0 }", "no body 'trunc'"),
        ("push = { body = \"trunk\", every = 0.0, speed = 1.0 }", "`every` above zero"),
        ("frictions = [0.5, 2.0]", "frictions"),
    ] {
        let error = quadruped(&format!("{PARTS}[randomisation]\n{line}\n")).err();
        let error = error.unwrap_or_else(|| panic!("{line} is taken"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn mistakes_in_the_vocabulary_are_named() {
    for (from, to, expected) in [
        ("scale = 0.3", "scale = [0.3, 0.3]", "2 scales for 8 actuators"),
        ("filter = 0.2", "filter = 1.0", "filter from 0 to below 1"),
        ("around = \"start\"", "around = \"hme\"", "no keyframe 'hme'"),
        ("period = 0.5", "period = 0.0", "period = 0"),
        ("scale = 0.25", "scale = 0.0", "scale = 0"),
        ("shape = \"gaussian\"", "", "needs a shape"),
        ("shape = \"gaussian\"", "shape = \"gausian\"", "gausian"),
        ("motion = \"turn\"", "motion = \"spin\"", "spin"),
        ("joints = [\"fl_hip\", \"fr_hip\"]", "joints = [\"fl_hipp\"]", "no joint 'fl_hipp'"),
        (
            "kind = \"local-velocity\"\nbody = \"trunk\"",
            "kind = \"local-velocity\"\nbody = \"world\"",
            "no free joint",
        ),
    ] {
        assert!(PARTS.contains(from), "{from}");
        let error = quadruped(&PARTS.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to} is taken"));
        assert!(error.contains(expected), "{error}");
    }
}
