//! The poses that pictures are drawn from are MuJoCo's own.

mod common;

use autoqd_env::{Action, Environment, LocomotionTask, Perturbation, Pose, Seed};
use common::mujoco::{Beside, TASKS};

#[test]
fn poses_equal_geom_xpos_and_geom_xmat_of_the_unmodified_model() {
    for name in TASKS {
        let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
        let mut world = task.world().unwrap();
        let spec = world.spec().clone();
        let mut observation = vec![0.0; spec.observation_size];
        world.reset(Some(&Seed::from(11_u64)), &mut observation).unwrap();
        let mut beside = Beside::new(&task, &world);
        let mut poses: Vec<Pose> = Vec::new();
        for step in 0..20 {
            world.poses(&mut poses);
            same(name, &poses, &beside.geoms());
            let push = |i: usize| 0.8 * (0.4 * f64::from(step) + i as f64).sin();
            let action: Vec<f64> = (0..spec.action_size).map(|i| push(i) * spec.action_high[i]).collect();
            beside.step(&action);
            world.step(Action::F64(&action), &mut observation).unwrap();
        }
    }
}

fn same(name: &str, got: &[Pose], want: &[Pose]) {
    assert_eq!(got.len(), want.len());
    let numbers = |poses: &[Pose]| -> Vec<f64> {
        poses.iter().flat_map(|pose| pose.position.into_iter().chain(pose.rotation)).collect()
    };
    for (got, want) in numbers(got).iter().zip(numbers(want)) {
        assert!((got - want).abs() < 1e-12, "{name}: {got} is not {want}");
    }
}
