//! Contacts, places that move, goals and starts in task files, on both simulators.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Action, Environment, Locomotion, LocomotionTask, Perturbation, Seed, Task, Transition};
use common::quadruped::{is_the_same_on_both_simulators, quadruped, quadruped_of};

/// A task of the quadruped whose observation and reward are all new kinds.
const ALL: &str = include_str!("common/every_kind.toml");

/// Where the parts of that observation begin.
const GOAL: usize = 0;
const VELOCITY: usize = 3;
const TURNING: usize = 8;
const QUATERNION: usize = 11;
const ANGLES: usize = 15;
const CONTACTS: usize = 18;
const POSE: usize = 22;
const AIR: usize = 24;
const DISTANCE: usize = 25;

fn start(task: &LocomotionTask, seed: u64) -> (Locomotion, Vec<f64>) {
    let mut robot = task.world().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    robot.reset(Some(&Seed::from(seed)), &mut seen).unwrap();
    (robot, seen)
}

#[test]
fn every_kind_is_the_same_on_both_simulators() {
    let task = quadruped(ALL).unwrap();
    assert_eq!(task.spec().observation_size, 29);
    is_the_same_on_both_simulators(&task);
}

#[test]
fn what_is_seen_is_what_the_state_says() {
    let task = quadruped(ALL).unwrap();
    let (mut robot, mut seen) = start(&task, 5);
    assert_eq!(seen[VELOCITY..TURNING + 3], [0.0; 8], "nothing has moved yet");
    assert_eq!(seen[CONTACTS..POSE], [0.0; 4], "and nothing has touched");
    let action: Vec<f64> = (0..8).map(|i| 0.5 * (i as f64).sin()).collect();
    let (mut touched, mut flew) = (0.0, 0.0);
    for step in 1..=40 {
        let before = robot.qpos().to_vec();
        robot.step(Action::F64(&action), &mut seen).unwrap();
        let q = robot.qpos();
        let speed = |k: usize| (q[k] - before[k]) / 0.02;
        // Poses are those of the last simulator step's start, a fifth of a step ago.
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (own, world) = (length(&seen[VELOCITY..VELOCITY + 3]), length(&[speed(0), speed(1), speed(2)]));
        assert!((own - world).abs() < 0.15, "step {step}: {own} {world}");
        let quaternion = &seen[QUATERNION..ANGLES];
        assert!(quaternion[0] >= 0.0 && (length(quaternion) - 1.0).abs() < 1e-12);
        let [w, x, y, z] = [quaternion[0], quaternion[1], quaternion[2], quaternion[3]];
        let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        assert!((seen[ANGLES + 2] - yaw).abs() < 1e-9, "the yaw of the quaternion");
        assert!(
            (length(&seen[GOAL..GOAL + 3]) - seen[DISTANCE]).abs() < 0.1,
            "from trunk and from the whole"
        );
        assert_eq!(seen[CONTACTS] == 1.0, robot.feet().next().unwrap(), "the foot measure says the same");
        touched += seen[CONTACTS];
        flew += f64::from(u8::from(seen[AIR] > 0.0));
        assert_eq!(seen[CONTACTS] == 0.0, seen[AIR] > 0.0, "in the air or on the ground");
    }
    let mut measures = vec![0.0; 3];
    robot.measures(&mut measures);
    assert!((measures[0] - touched / 40.0).abs() < 1e-12 && measures[2] == measures[0], "{measures:?}");
    assert!((measures[1] - 0.3).abs() < 1e-12, "the beacon does not move");
    assert_eq!(touched + flew, 40.0);
}

#[test]
fn landing_pays_for_the_time_in_the_air_and_slipping_costs() {
    let parts = "[[observation]]\nkind = \"contacts\"\ngeoms = [\"fl_foot\"]\n\
         [[observation]]\nkind = \"value\"\nof = { air_time = \"fl_foot\" }\n\
         [[observation]]\nkind = \"velocity\"\nof = { geom = \"fl_foot\" }\naxes = [\"x\", \"y\"]\n\
         [[reward]]\nkind = \"air-time\"\ngeoms = [\"fl_foot\"]\ntarget = 0.05\nweight = 2.0\n\
         [[reward]]\nkind = \"slip-cost\"\ngeoms = [\"fl_foot\"]\nweight = 3.0\n";
    let (mut robot, mut seen) = start(&quadruped(parts).unwrap(), 0);
    let (mut landings, mut slips) = (0, 0);
    for step in 0..60 {
        let away = seen[1];
        let swing = 0.8 * (f64::from(step) * 0.4).sin();
        let controls: Vec<f64> = (0..8).map(|i| if i % 2 == 0 { -swing } else { swing - 1.2 }).collect();
        robot.step(Action::F64(&controls), &mut seen).unwrap();
        let landed = seen[0] == 1.0 && away > 0.0;
        let expected = if landed { 2.0 * (away - 0.05) } else { 0.0 };
        assert!((robot.reward_terms()[0] - expected).abs() < 1e-12, "step {step}");
        let slip = if seen[0] == 1.0 { 3.0 * (seen[2] * seen[2] + seen[3] * seen[3]) } else { 0.0 };
        assert!((robot.reward_terms()[1] + slip).abs() < 1e-12, "step {step}");
        landings += usize::from(landed);
        slips += usize::from(slip > 0.0);
    }
    assert!(landings > 0 && slips > 2, "{landings} {slips}");
}

#[test]
fn goals_are_drawn_for_every_episode_from_their_box() {
    let task = quadruped(ALL).unwrap();
    let (mut near, mut poses) = (f64::INFINITY, std::collections::BTreeSet::new());
    for seed in 0..40 {
        let (_, seen) = start(&task, seed);
        assert_eq!(seen, start(&task, seed).1, "with the seed comes the goal");
        assert!(seen[POSE..POSE + 2].iter().all(|q| (-1.6..=-0.8).contains(q)));
        poses.insert(seen[POSE].to_bits());
        near = near.min(seen[DISTANCE]);
    }
    assert!(poses.len() == 40 && near > 0.8, "the length is at least one: {near}");
}

#[test]
fn starts_are_turned_noisy_and_settled_as_asked() {
    let turned = "[reset]\nheading = { body = \"trunk\", range = [1.0, 1.0] }\n[[reset.noise]]\njoints = [\"fl_hip\"]\n\
         position = 0.2\nvelocity = 0.5\n[[observation]]\nkind = \"positions\"\n[[observation]]\nkind = \"velocities\"\n\
         [[reward]]\nkind = \"healthy\"\n";
    let task = quadruped(turned).unwrap();
    let plain = start(&quadruped(&turned[turned.find("[[observation").unwrap()..]).unwrap(), 0).1;
    let mut hips = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let (_, seen) = start(&task, seed);
        assert!((seen[3] - 0.5_f64.cos()).abs() < 1e-12 && (seen[6] - 0.5_f64.sin()).abs() < 1e-12);
        assert!((seen[7] - plain[7]).abs() <= 0.2 && seen[15 + 6].abs() <= 0.5);
        assert_eq!(seen[8..15], plain[8..15], "other joints have no noise");
        hips.insert(seen[7].to_bits());
    }
    assert_eq!(hips.len(), 20);
    let settled = turned.replace("[reset]\n", "[reset]\nsettle_steps = 300\n");
    let (_, seen) = start(&quadruped(&settled).unwrap(), 0);
    let speed = seen[15..].iter().map(|v| v.abs()).fold(0.0, f64::max);
    assert!(speed < 0.3 && seen[2] < plain[2] - 0.01, "it has come down and stands: {speed} {}", seen[2]);
}

const KEYED: &str = r#"<mujoco><option timestep="0.01"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="ball" mocap="true" pos="0 0 1"><geom name="ball" type="sphere" size="0.1" contype="0" conaffinity="0"/></body>
  <body name="arm" pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0"/><geom name="arm" size="0.05" fromto="0 0 0 0.5 0 0"
    type="capsule"/><site name="tip" pos="0.5 0 0"/></body></worldbody>
  <actuator><motor name="a" joint="a" ctrlrange="-1 1"/></actuator>
  <keyframe><key name="low" qpos="1"/><key name="high" qpos="-1" qvel="2"/></keyframe></mujoco>"#;

const KEYED_TASK: &str = r#"
[reset]
keyframes = ["low", "high"]
[[reset.goal]]
name = "ball"
mocap = "ball"
low = [0.1, 0.2, 0.5]
high = [0.4, 0.2, 1.5]
[[observation]]
kind = "positions"
[[observation]]
kind = "velocities"
[[observation]]
kind = "place"
at = { body = "ball" }
[[observation]]
kind = "goal"
name = "ball"
[[reward]]
kind = "distance"
from = { site = "tip" }
to = { body = "ball" }
[[reward]]
kind = "value"
of = { distance = { from = { site = "tip" }, to = { goal = "ball" } } }
scale = 0.2
shape = "linear"
"#;

#[test]
fn keyframes_are_drawn_and_mocap_bodies_stand_at_their_goals() {
    let task = quadruped_of(KEYED, KEYED_TASK, &Perturbation::default()).unwrap();
    let mut starts = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let (mut robot, mut seen) = start(&task, seed);
        assert!(seen[0] == 1.0 && seen[1] == 0.0 || seen[0] == -1.0 && seen[1] == 2.0, "{seen:?}");
        starts.insert(seen[0] as i64);
        assert_eq!(seen[2..5], seen[5..8], "the ball is at its goal");
        let transition: Transition = robot.step(Action::F64(&[0.0]), &mut seen).unwrap();
        assert_eq!(seen[2..5], seen[5..8], "and stays there");
        assert!(transition.reward < 0.0);
    }
    assert_eq!(starts.len(), 2, "both are drawn");
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    for (from, to, expected) in [
        ("settle_steps = 40", "settle_steps = 1000000", "at most 100000"),
        ("range = [-3.0, 3.0]", "range = [3.0, -3.0]", "is not an interval"),
        ("body = \"trunk\", range", "body = \"fl_shin\", range", "no free joint"),
        ("joints = [\"fl_hip\", \"fr_hip\"]", "joints = []", "at least one joint"),
        ("low = [0.2]", "low = [0.2, 0.1]", "as many numbers"),
        ("low = [0.2]", "low = [0.9]", "must not exceed"),
        ("name = \"speed\"", "name = \"pose\"", "two goals are called 'pose'"),
        ("at = { goal = \"target\" }", "at = { goal = \"pose\" }", "no place: it has 2 numbers"),
        (
            "at = { goal = \"target\" }",
            "at = { goal = \"traget\" }",
            "no goal 'traget' (there are: target, speed, pose)",
        ),
        ("joints = [\"fl_knee\", \"fr_knee\"]\nlow", "joints = [\"fl_knee\"]\nlow", "2 numbers for 1 joints"),
        (
            "of = { air_time = \"fl_foot\" }",
            "of = { air_time = \"fl_foot\", axis = \"x\" }",
            "an `axis` is that of",
        ),
        ("of = { contact = \"trunk\" }", "of = { contact = \"trunk\", with = \"wall\" }", "no geom 'wall'"),
        ("of = { body = \"trunk\", angle = \"roll\" }", "of = { body = \"trunk\" }", "needs an `axis`"),
        ("of = { body = \"trunk\", angle = \"roll\" }", "of = { body = \"trunk\", angle = \"rol\" }", "rol"),
        (
            "of = { joint = \"fl_knee\", from_goal",
            "of = { joint = \"bl_knee\", from_goal",
            "no [[reset.goal]] has joint",
        ),
        ("target = { goal = \"speed\" }", "target = { goal = \"speed\", component = 1 }", "has 1 numbers"),
        (
            "kind = \"air-time\"\ngeoms = [\"fl_foot\", \"fr_foot\"]",
            "kind = \"air-time\"\ngeoms = []",
            "at least one geom",
        ),
        ("site = \"beacon\"\nweight", "weight", "a place is one of"),
        ("of = \"torque\"", "of = \"torqe\"", "torqe"),
    ] {
        assert!(ALL.contains(from), "{from}");
        let error = quadruped(&ALL.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to} is taken"));
        assert!(error.contains(expected), "{to}: {error}");
        assert!(error.contains("task.toml: line "), "{error}");
    }
    let no_floor = ALL.to_string();
    let error = common::quadruped::without_floor(&no_floor).err().unwrap();
    assert!(error.contains("needs `floor`"), "{error}");
    let error = quadruped_of(
        KEYED,
        &KEYED_TASK.replace("mocap = \"ball\"", "mocap = \"arm\""),
        &Perturbation::default(),
    );
    assert!(error.err().unwrap().contains("is not a mocap body"));
}
