use super::*;

fn walker(reuse: WorldReuse) -> BipedalWalker {
    let mut walker = BipedalWalkerTask::default().walker(reuse).unwrap();
    walker.reset(Some(&Seed::from(3_u64)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
    walker
}

fn act(
    walker: &mut BipedalWalker,
    action: &[f64],
) -> Result<(Transition, [f64; OBSERVATION_SIZE]), EnvError> {
    let mut observation = [0.0; OBSERVATION_SIZE];
    walker.step(Action::F64(action), &mut observation).map(|transition| (transition, observation))
}

#[test]
fn a_state_that_is_not_finite_ends_the_episode_and_poisons_no_later_one() {
    let run = |walker: &mut BipedalWalker| -> Vec<_> {
        (0..100).map(|_| act(walker, &[0.4, -1.0, 1.0, 0.2]).unwrap()).collect()
    };
    let reference = run(&mut walker(WorldReuse::Never));
    for (reuse, velocity) in
        [(WorldReuse::Never, f32::NAN), (WorldReuse::Always, f32::NAN), (WorldReuse::Always, 1e38)]
    {
        let mut hurt = walker(reuse);
        // Contacts have to exist, so that Box2D's own assertions see the bad numbers, too.
        run(&mut hurt);
        hurt.world.set_hull_velocity(velocity, velocity);
        let last = (0..20).map_while(|_| act(&mut hurt, &[0.1; 4]).ok()).last().unwrap().0;
        assert!(last.diverged && last.done() && last.reward == 0.0, "{velocity}: {last:?}");
        let error = act(&mut hurt, &[0.0; 4]).unwrap_err();
        assert!(matches!(error, EnvError::NotReset { .. }), "{error}");
        hurt.reset(Some(&Seed::from(3_u64)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
        assert!(run(&mut hurt) == reference, "{reuse:?}, {velocity}");
    }
}

/// Box2D asserts by throwing, here from within its solver; the exception must not leave the shim.
#[test]
fn a_failed_assertion_of_box2d_ends_the_episode_and_the_world_is_built_anew() {
    let mut hurt = walker(WorldReuse::Always);
    hurt.world.sabotage();
    let last = (0..50).map_while(|_| act(&mut hurt, &[0.1; 4]).ok()).last().unwrap().0;
    assert!(last.diverged && last.reward == 0.0, "{last:?}");
    assert_eq!(world::Failure::last().0, "IsLocked() == false");
    assert!(!hurt.world.step(&Motors::default(), &mut State::default()), "a world that failed stays failed");
    hurt.reset(Some(&Seed::from(3_u64)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
    let mut fresh = walker(WorldReuse::Never);
    for _ in 0..50 {
        assert_eq!(act(&mut hurt, &[0.5; 4]).unwrap(), act(&mut fresh, &[0.5; 4]).unwrap());
    }
}

#[test]
fn the_lowest_and_the_greatest_perturbation_run() {
    for (friction, mass) in [(0.0, 1.0), (1e6, 1.0), (2.5, 1e-3), (2.5, 1e3)] {
        let task = BipedalWalkerTask::new(friction, mass).unwrap();
        let mut walker = task.walker(WorldReuse::Never).unwrap();
        let mut observation = [0.0; OBSERVATION_SIZE];
        for seed in 0..3_u64 {
            walker.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
            for t in 0..200 {
                let action = [0.3, 0.9, 1.4, 2.2].map(|w: f64| (w * f64::from(t)).sin() * 1.5);
                let transition = walker.step(Action::F64(&action), &mut observation).unwrap();
                assert!(observation.iter().all(|x| x.is_finite()) || transition.diverged);
                if transition.diverged {
                    break;
                }
            }
        }
    }
}

#[test]
fn impossible_perturbations_are_refused() {
    for (friction, mass) in [(-1.0, 1.0), (f64::NAN, 1.0), (2.5, 0.0), (2.5, f64::INFINITY)] {
        let message = BipedalWalkerTask::new(friction, mass).unwrap_err().to_string();
        assert!(message.contains("friction") || message.contains("mass-scale"), "{message}");
    }
}

#[test]
fn bad_actions_and_buffers_are_refused_and_change_nothing() {
    let (mut plain, mut tried) = (walker(WorldReuse::Never), walker(WorldReuse::Never));
    assert!(matches!(act(&mut tried, &[0.0; 3]), Err(EnvError::ActionSize { got: 3, expected: 4, .. })));
    assert!(matches!(
        act(&mut tried, &[0.0, f64::NAN, 0.0, 0.0]),
        Err(EnvError::ActionNotFinite { index: 1, .. })
    ));
    let short = tried.step(Action::F32(&[0.0; 4]), &mut [0.0; 23]);
    assert!(matches!(short, Err(EnvError::ObservationSize { got: 23, expected: 24, .. })));
    for _ in 0..50 {
        assert_eq!(act(&mut tried, &[0.5; 4]).unwrap(), act(&mut plain, &[0.5; 4]).unwrap());
    }
}

#[test]
fn a_step_needs_an_episode() {
    let mut walker = BipedalWalkerTask::default().walker(WorldReuse::Never).unwrap();
    assert!(matches!(act(&mut walker, &[0.0; 4]), Err(EnvError::NotReset { .. })));
}

#[test]
fn poses_follow_the_bodies() {
    let mut walker = walker(WorldReuse::Never);
    let mut poses = Vec::new();
    walker.poses(&mut poses);
    let scene = walker.scene().unwrap();
    assert_eq!(scene.shapes.len(), poses.len());
    // The hip joint holds hull and upper legs together.
    let hip = |pose: &Pose, anchor: [f32; 2]| pose.apply([f64::from(anchor[0]), f64::from(anchor[1]), 0.0]);
    let limb = &walker.definition.limbs[0];
    for leg in [2, 4] {
        let (on_hull, on_leg) = (hip(&poses[1], limb.anchor_parent), hip(&poses[leg], limb.anchor));
        assert!((on_hull[0] - on_leg[0]).abs() < 1e-2 && (on_hull[1] - on_leg[1]).abs() < 1e-2);
    }
    act(&mut walker, &[1.0; 4]).unwrap();
    let before = poses.clone();
    walker.poses(&mut poses);
    assert_eq!(poses[0], before[0]);
    assert_ne!(poses[2], before[2]);
}
