//! Actions, observations and rewards of legged robots in task files, on both simulators.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Action, Environment, Seed, Task, Transition};
use common::quadruped::{PARTS, RANDOMISATION, episode, is_the_same_on_both_simulators, quadruped};

#[test]
fn a_legged_robots_task_is_the_same_on_both_simulators() {
    for randomisation in ["", RANDOMISATION] {
        let task = quadruped(&format!("{PARTS}{randomisation}")).unwrap();
        assert_eq!(task.spec().observation_size, 3 + 6 + 2 + task.spec().action_size);
        is_the_same_on_both_simulators(&task);
    }
}

#[test]
fn the_previous_action_is_seen_as_it_was_given() {
    let task = quadruped(PARTS).unwrap();
    for seen in &episode(&task, 3, 5, 0.3)[1..] {
        assert_eq!(seen[11..], [0.3; 8]);
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
