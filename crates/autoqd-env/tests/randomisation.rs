//! What is random within an episode besides its start.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Action, Environment, LocomotionTask, Perturbation, Physics, Seed, Task};
use common::quadruped::{PARTS, episode, quadruped, quadruped_with};

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
        ("friction_scale = [2.0, 0.5]", "friction_scale = [2, 0.5]"),
        ("mass_scale = [0.0, 1.0]", "from 0.001 to 1000"),
        ("motor_scale = 0.5", "expected an array of length 2"),
        ("gravity_scale = [0.5, nan]", "gravity_scale = [0.5, NaN]"),
    ] {
        let error = quadruped(&format!("{PARTS}[randomisation]\n{line}\n")).err();
        let error = error.unwrap_or_else(|| panic!("{line} is taken"));
        assert!(error.contains(expected), "{error}");
    }
}

type Change = fn(&mut Perturbation);

/// A task whose episodes all have these factors, and the same task with its model changed by them.
fn scaled_both_ways(range: &str, change: impl Fn(&mut Perturbation)) -> [LocomotionTask; 2] {
    let drawn = quadruped(&format!("{PARTS}[randomisation]\n{range}\n")).unwrap();
    let mut perturbation = Perturbation::default();
    change(&mut perturbation);
    [drawn, quadruped_with(PARTS, &perturbation).unwrap()]
}

/// The largest difference between two episodes, relative to 1 + the size.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max)
}

#[test]
fn physics_of_an_episode_are_those_of_a_perturbation_with_the_same_name() {
    let plain = episode(&quadruped(PARTS).unwrap(), 4, 12, 0.4);
    let knobs: [(&str, Change); 5] = [
        ("friction_scale = [0.4, 0.4]", |p| p.friction_scale = 0.4),
        ("mass_scale = [1.3, 1.3]", |p| p.mass_scale = 1.3),
        ("motor_scale = [0.6, 0.6]", |p| p.motor_scale = 0.6),
        ("damping_scale = [2.0, 2.0]", |p| p.damping_scale = 2.0),
        ("gravity_scale = [0.5, 0.5]", |p| p.gravity_scale = 0.5),
    ];
    for (range, change) in knobs {
        let [drawn, perturbed] = scaled_both_ways(range, change).map(|task| episode(&task, 4, 12, 0.4));
        assert!(apart(&drawn, &perturbed) < 1e-9, "{range}: {:e}", apart(&drawn, &perturbed));
        assert!(apart(&drawn, &plain) > 1e-4, "{range} changes nothing");
    }
    let all = "friction_scale = [1.0, 1.0]\nmass_scale = [1.0, 1.0]\nmotor_scale = [1.0, 1.0]\n\
               damping_scale = [1.0, 1.0]\ngravity_scale = [1.0, 1.0]";
    let [ones, _] = scaled_both_ways(all, |_| {});
    assert_eq!(episode(&ones, 4, 12, 0.4), plain, "factors of one leave every bit");
}

#[test]
fn physics_are_drawn_for_every_episode_and_come_back_with_its_seed() {
    let ranges =
        "[randomisation]\nfriction_scale = [0.5, 1.5]\nmass_scale = [0.8, 1.2]\nmotor_scale = [0.7, 1.0]\n";
    let task = quadruped(&format!("{PARTS}{ranges}")).unwrap();
    let mut robot = task.world().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    let mut last = |seed: u64| {
        robot.reset(Some(&Seed::from(seed)), &mut seen).unwrap();
        let actions = vec![0.3; task.spec().action_size];
        for _ in 0..10 {
            robot.step(Action::F64(&actions), &mut seen).unwrap();
        }
        seen.clone()
    };
    let (first, second) = (last(1), last(2));
    assert_eq!((last(1), last(2)), (first, second), "nothing of an earlier episode is left");
    let reason = task.physics_note(Physics::Auto);
    assert!(reason.contains("libmujoco, because physics that are drawn"), "{reason}");
    assert!(task.make_worlds(Physics::Lanes).err().unwrap().to_string().contains("drawn for every episode"));
}
