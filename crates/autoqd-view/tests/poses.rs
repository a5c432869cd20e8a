//! The poses that pictures are drawn from are MuJoCo's own.

use std::sync::Arc;

use autoqd_env::{Environment, LocomotionTask, Perturbation, Pose, Seed};
use mujoco_rs::prelude::MjData;

#[test]
fn poses_equal_geom_xpos_and_geom_xmat_of_the_unmodified_model() {
    for name in ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"] {
        let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
        let mut world = task.world().unwrap();
        let mut observation = vec![0.0; world.spec().observation_size];
        world.reset(Some(&Seed::from(11_u64)), &mut observation).unwrap();
        let mut poses: Vec<Pose> = Vec::new();
        world.poses(&mut poses);
        let mut data = MjData::new(Arc::clone(task.untuned_model()));
        data.qpos_mut().copy_from_slice(world.qpos());
        data.forward();
        assert_eq!(poses.len(), data.geom_xpos().len());
        let wanted = data.geom_xpos().iter().zip(data.geom_xmat());
        for (pose, (position, rotation)) in poses.iter().zip(wanted) {
            let got = pose.position.iter().chain(&pose.rotation);
            for (got, want) in got.zip(position.iter().chain(rotation)) {
                assert!((got - want).abs() < 1e-12, "{name}: {got} is not {want}");
            }
        }
    }
}
