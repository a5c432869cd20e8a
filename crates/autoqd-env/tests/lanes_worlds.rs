//! Tasks behave on the lanes engine as they do on libmujoco.
#![cfg(feature = "mujoco")]

use autoqd_env::lanes::{CheckOptions, check, stream};
use autoqd_env::{
    Action, EnvError, Environment, LocomotionTask, Margin, Perturbation, Physics, Seed, Task, Transition,
};

const TASKS: [&str; 8] = [
    "ant",
    "half-cheetah",
    "hopper",
    "inverted-double-pendulum",
    "inverted-pendulum",
    "reacher",
    "swimmer",
    "walker2d",
];

fn close(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max)
}

/// Eight episodes in lanes against the same episodes on the reference, for as long as rounding stays small.
fn compare(task: &LocomotionTask, steps: usize) {
    let name = task.spec().name.clone();
    let mut worlds = task.make_worlds(Physics::Lanes).unwrap();
    let lanes = worlds.lanes();
    let (width, length) = (task.spec().action_size, task.spec().observation_size);
    let mut reference: Vec<Box<dyn Environment>> = (0..lanes).map(|_| task.make().unwrap()).collect();
    let mut observations = vec![0.0; lanes * length];
    let mut expected = vec![0.0; length];
    for lane in 0..lanes {
        let seed = Seed::from(100 + lane as u64);
        worlds.reset(lane, Some(&seed), &mut observations[lane * length..(lane + 1) * length]).unwrap();
        reference[lane].reset(Some(&seed), &mut expected).unwrap();
        // Positions and velocities are the same to the bit; where bodies are, and forces, to rounding.
        let apart = close(&observations[lane * length..(lane + 1) * length], &expected);
        let tolerance =
            if ["inverted-double-pendulum", "reacher"].contains(&&name[..]) { 1e-11 } else { 0.0 };
        assert!(apart <= tolerance, "{name}: the same start, but for {apart:e}");
    }
    let mut rng = stream(7);
    let mut active = vec![true; lanes];
    let mut transitions = vec![Transition::default(); lanes];
    for step in 0..steps {
        let actions: Vec<f32> = (0..lanes * width).map(|_| rng.uniform(-1.0, 1.0) as f32).collect();
        let before = active.clone();
        worlds.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap();
        for lane in (0..lanes).filter(|&lane| before[lane]) {
            let action = Action::F32(&actions[lane * width..(lane + 1) * width]);
            let wanted = reference[lane].step(action, &mut expected).unwrap();
            let got = transitions[lane];
            let observation = &observations[lane * length..(lane + 1) * length];
            let apart = close(observation, &expected);
            assert!(apart < 1e-7, "{name}, step {step}, lane {lane}: observation {apart:e}");
            assert!((got.reward - wanted.reward).abs() < 1e-7, "{name}: {got:?} {wanted:?}");
            assert_eq!(
                (got.terminated, got.truncated, got.diverged),
                (wanted.terminated, wanted.truncated, false)
            );
            active[lane] = !got.done();
            let (mut a, mut b) =
                (vec![0.0; task.spec().measures.len()], vec![0.0; task.spec().measures.len()]);
            worlds.measures(lane, &mut a);
            reference[lane].measures(&mut b);
            assert!(close(&a, &b) < 1e-6, "{name}: measures {a:?} {b:?}");
        }
    }
}

#[test]
fn episodes_begin_as_on_the_reference() {
    for task in TASKS {
        compare(&LocomotionTask::builtin(task, &Perturbation::default()).unwrap(), 12);
    }
}

#[test]
fn perturbations_work_in_lanes() {
    let light = Perturbation { friction_scale: 0.6, mass_scale: 0.7, ..Perturbation::default() };
    for task in TASKS {
        compare(&LocomotionTask::builtin(task, &light).unwrap(), 8);
    }
    let paper = Perturbation { margin: Margin::PaperEra, ..Perturbation::default() };
    compare(&LocomotionTask::builtin("ant", &paper).unwrap(), 8);
}

#[test]
fn auto_takes_lanes_for_the_built_in_tasks_and_says_so() {
    for name in TASKS {
        let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
        assert_eq!(task.make_worlds(Physics::Auto).unwrap().lanes(), 8, "{name}");
        assert_eq!(task.make_worlds(Physics::Reference).unwrap().lanes(), 1);
        let note = task.physics_note(Physics::Auto);
        assert!(note.starts_with("lanes engine") && note.contains("differs from libmujoco"), "{note}");
        assert_eq!(task.physics_note(Physics::Reference), "libmujoco");
    }
}

const TENDON: &str = r#"<mujoco><option timestep="0.01"/><worldbody>
  <body pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.2"/>
    <body pos="0 0 -0.4"><joint name="elbow" type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.2"/></body>
  </body></worldbody>
  <tendon><fixed name="hamstring" armature="0.1"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-1"/></fixed></tendon>
  <actuator><motor joint="shoulder"/></actuator></mujoco>"#;

const TASK_FILE: &str = r#"
name = "arm"
model = "arm.xml"
frame_skip = 2
max_episode_steps = 10
[[observation]]
kind = "positions"
[[reward]]
kind = "control-cost"
weight = 1.0
"#;

#[test]
fn an_unsupported_model_runs_on_libmujoco_and_the_reason_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arm.xml"), TENDON).unwrap();
    std::fs::write(folder.path().join("arm.toml"), TASK_FILE).unwrap();
    let task = LocomotionTask::from_file(folder.path().join("arm.toml"), &Perturbation::default()).unwrap();
    assert_eq!(task.make_worlds(Physics::Auto).unwrap().lanes(), 1);
    let note = task.physics_note(Physics::Auto);
    assert!(note.contains("armature of tendon 'hamstring' is not supported by the lanes engine"), "{note}");
    let error = task.make_worlds(Physics::Lanes).err().expect("lanes must be refused").to_string();
    assert!(error.contains("tendon 'hamstring'") && error.contains("reference"), "{error}");
}

#[test]
fn humanoid_observes_the_same_on_both_and_the_other_solver_is_named() {
    for name in ["humanoid", "humanoid-standup"] {
        let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
        let length = task.spec().observation_size;
        let mut observations = [Physics::Reference, Physics::Lanes].map(|physics| {
            let mut worlds = task.make_worlds(physics).unwrap();
            let mut observation = vec![0.0; length];
            worlds.reset(0, Some(&Seed::from(5_u64)), &mut observation).unwrap();
            observation
        });
        // Inertias and velocities of all bodies are among them.
        let moving = observations[0].iter().filter(|x| x.abs() > 1e-6).count();
        assert!(moving > 150, "{name}: {moving}");
        let lanes = std::mem::take(&mut observations[1]);
        for (i, (a, b)) in lanes.iter().zip(&observations[0]).enumerate() {
            assert!((a - b).abs() < 1e-9, "{name}, observation {i}: {a} and {b}");
        }
        let note = task.physics_note(Physics::Auto);
        assert!(
            note.starts_with("lanes engine") && note.contains("Newton's method in place of PGS"),
            "{note}"
        );
    }
}

const SENSED: &str = r#"<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="trunk" pos="0 0 0.4"><freejoint/><geom type="box" size="0.2 0.1 0.05"/>
    <site name="imu" pos="0.1 0.02 0.03" euler="20 30 40"/>
    <body name="leg" pos="0.1 0 0"><joint name="hip" type="hinge" axis="0 1 0"/><geom type="capsule" size="0.03 0.15" pos="0 0 -0.2"/>
      <body name="foot" pos="0 0 -0.35"><joint name="ankle" type="ball"/><geom name="sole" type="sphere" size="0.05" pos="0.02 0 0"/></body></body>
  </body></worldbody>
  <actuator><motor joint="hip" ctrlrange="-1 1" gear="4"/></actuator>
  <sensor><gyro site="imu"/><velocimeter site="imu" cutoff="0.3"/><accelerometer site="imu"/>
    <framepos objtype="geom" objname="sole"/><framequat objtype="site" objname="imu"/><framezaxis objtype="body" objname="foot"/>
    <framelinvel objtype="xbody" objname="foot"/><frameangvel objtype="body" objname="leg"/>
    <jointpos joint="hip"/><jointvel joint="hip"/><ballquat joint="ankle"/><ballangvel joint="ankle"/><subtreecom body="leg"/>
  </sensor></mujoco>"#;

const SENSED_TASK: &str = r#"
name = "sensed"
model = "arm.xml"
frame_skip = 2
max_episode_steps = 40
[[observation]]
kind = "sensors"
[[reward]]
kind = "control-cost"
weight = 1.0
"#;

#[test]
fn sensors_read_the_same_on_both() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("arm.xml"), SENSED).unwrap();
    std::fs::write(folder.path().join("arm.toml"), SENSED_TASK).unwrap();
    let task = LocomotionTask::from_file(folder.path().join("arm.toml"), &Perturbation::default()).unwrap();
    let length = task.spec().observation_size;
    assert_eq!(length, 3 * 9 + 4 + 4 + 2);
    let episodes = [Physics::Reference, Physics::Lanes].map(|physics| {
        let mut worlds = task.make_worlds(physics).unwrap();
        let lanes = worlds.lanes();
        let mut observations = vec![0.0; lanes * length];
        let mut transitions = vec![Transition::default(); lanes];
        let mut active = vec![false; lanes];
        active[0] = true;
        worlds.reset(0, Some(&Seed::from(3_u64)), &mut observations[..length]).unwrap();
        let mut all = observations[..length].to_vec();
        for step in 0..40 {
            let actions = vec![(step as f64 * 0.7).sin(); lanes];
            worlds.step(&active, Action::F64(&actions), &mut observations, &mut transitions).unwrap();
            all.extend_from_slice(&observations[..length]);
        }
        all
    });
    for (i, (theirs, ours)) in episodes[0].iter().zip(&episodes[1]).enumerate() {
        let difference = (theirs - ours).abs() / (1.0 + theirs.abs());
        assert!(difference < 1e-6, "step {}, number {}: {theirs} and {ours}", i / length, i % length);
    }
}

#[test]
fn an_action_that_is_not_finite_is_refused() {
    let task = LocomotionTask::builtin("hopper", &Perturbation::default()).unwrap();
    let mut worlds = task.make_worlds(Physics::Lanes).unwrap();
    let length = task.spec().observation_size;
    let mut observations = vec![0.0; 8 * length];
    for lane in 0..8 {
        let rows = &mut observations[lane * length..(lane + 1) * length];
        worlds.reset(lane, Some(&Seed::from(lane as u64)), rows).unwrap();
    }
    let mut actions = vec![0.0_f32; 8 * 3];
    actions[4] = f32::NAN;
    let mut transitions = vec![Transition::default(); 8];
    let error =
        worlds.step(&[true; 8], Action::F32(&actions), &mut observations, &mut transitions).unwrap_err();
    assert!(matches!(error, EnvError::ActionNotFinite { .. }), "{error}");
}

#[test]
fn a_check_reports_agreement_and_the_worst_step() {
    let task = LocomotionTask::builtin("walker2d", &Perturbation::default()).unwrap();
    let options = CheckOptions { lane_steps: 800, seed: 3, speed_rounds: 0 };
    let mut policy = |observation: &[f64], action: &mut [f32]| {
        action.iter_mut().enumerate().for_each(|(i, a)| *a = (observation[i] * 3.0).sin() as f32);
    };
    let report = check(&task, &options, &mut [Box::new(&mut policy)]).unwrap();
    let states: Vec<&str> = report.agreement.iter().map(|a| a.states.as_str()).collect();
    assert_eq!(states[3..], ["visited by policies", "after their falls"]);
    for (kind, agreement) in report.agreement.iter().enumerate() {
        assert!(kind == 4 || (800..808).contains(&agreement.steps), "{agreement:?}");
        assert_eq!(agreement.histogram.iter().sum::<usize>(), agreement.steps);
        let worst = agreement.worst.as_ref().unwrap();
        assert!(worst.deviation < 1e-9 && worst.place.contains("joint"), "{worst:?}");
    }
}
