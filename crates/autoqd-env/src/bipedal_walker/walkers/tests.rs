use super::*;

/// Swings of all joints whose speeds and sizes differ by episode: some fall at once, some kneel, some stand.
fn swing(episode: u64, t: usize) -> [f32; ACTION_SIZE] {
    std::array::from_fn(|k| {
        let part = episode * 7 + k as u64 * 13;
        let (speed, phase) = ((part % 17) as f32 * 0.03 + 0.02, (part % 19) as f32);
        (speed * t as f32 + phase).sin() * (0.1 + (part % 11) as f32 * 0.12)
    })
}

/// Steps all lanes with their swings.
fn step_all(
    walkers: &mut Walkers,
    episodes: &[(u64, usize); LANES],
    observations: &mut [f64],
) -> [Transition; LANES] {
    let actions: Vec<f32> = episodes.iter().flat_map(|&(episode, t)| swing(episode, t)).collect();
    let mut transitions = [Transition::default(); LANES];
    walkers.step(&[true; LANES], Action::F32(&actions), observations, &mut transitions).unwrap();
    transitions
}

/// Compares every number of some episodes with those of a walker on its own.
fn compare(task: &BipedalWalkerTask, reuse: WorldReuse, episodes: u64, length: usize) -> usize {
    let mut walkers = Walkers::new(task, reuse).unwrap();
    let mut alone: Vec<_> = (0..LANES).map(|_| task.walker(reuse).unwrap()).collect();
    let mut observations = vec![0.0; LANES * OBSERVATION_SIZE];
    let mut expected = [0.0; OBSERVATION_SIZE];
    let mut now = [(0, 0); LANES];
    let (mut next, mut steps) = (0, 0);
    let mut begin = |walkers: &mut Walkers, alone: &mut BipedalWalker, lane: usize, row: &mut [f64]| {
        walkers.reset(lane, Some(&Seed::from(next)), row).unwrap();
        alone.reset(Some(&Seed::from(next)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
        next += 1;
        (next - 1, 0)
    };
    for lane in 0..LANES {
        let row = &mut observations[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
        now[lane] = begin(&mut walkers, &mut alone[lane], lane, row);
    }
    while now.iter().all(|&(episode, _)| episode < episodes) {
        let transitions = step_all(&mut walkers, &now, &mut observations);
        for (lane, transition) in transitions.into_iter().enumerate() {
            let (episode, t) = now[lane];
            let action = swing(episode, t);
            let same = alone[lane].step(Action::F32(&action), &mut expected).unwrap();
            assert_eq!(transition, same, "episode {episode}, step {t}");
            let row = &mut observations[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(
                transition.diverged || bits(row) == bits(&expected),
                "episode {episode}, step {t}: {row:?} is not {expected:?}"
            );
            now[lane].1 += 1;
            steps += 1;
            if transition.done() || t + 1 == length {
                let mut measures = [[0.0; 2]; 2];
                walkers.measures(lane, &mut measures[0]);
                alone[lane].measures(&mut measures[1]);
                assert_eq!(measures[0], measures[1]);
                now[lane] = begin(&mut walkers, &mut alone[lane], lane, row);
            }
        }
    }
    steps
}

#[test]
fn a_walker_among_others_walks_as_it_would_alone() {
    for reuse in [WorldReuse::Never, WorldReuse::Always] {
        let steps = compare(&BipedalWalkerTask::default(), reuse, 120, 400);
        assert!(steps > 10_000, "{steps}");
    }
    // Slippery and sticky ground, feathers and lead.
    for (friction, mass) in [(0.0, 1.0), (1e6, 1.0), (2.5, 1e-3), (2.5, 1e3)] {
        compare(&BipedalWalkerTask::new(friction, mass).unwrap(), WorldReuse::Never, 40, 150);
    }
}

#[test]
fn steps_wait_for_the_common_solver() {
    let mut walkers = Walkers::new(&BipedalWalkerTask::default(), WorldReuse::Never).unwrap();
    let (mut waited, mut contacts) = (0, 0);
    for lane in 0..LANES {
        walkers.reset(lane, Some(&Seed::from(lane as u64)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
    }
    for t in 0..60 {
        for (i, lane) in walkers.lanes.iter_mut().enumerate() {
            lane.start(motors(Action::F32(&swing(i as u64, t))));
            if let Some(island) = lane.waiting_island() {
                waited += 1;
                contacts += (0..5).map(|body| island.contacts(body).len()).sum::<usize>();
            }
        }
        walkers.solve();
        walkers.lanes.iter_mut().for_each(Lane::finish);
    }
    assert_eq!(waited, 60 * LANES);
    assert!(contacts > waited / 2, "{contacts} contacts in {waited} steps");
}

/// Not a number in one lane, and an assertion of Box2D that throws in another.
#[test]
fn a_lane_that_fails_leaves_the_others_alone() {
    let task = BipedalWalkerTask::default();
    let new = || Walkers::new(&task, WorldReuse::Never).unwrap();
    let (mut whole, mut hurt) = (new(), new());
    let mut observations = [(); 2].map(|()| vec![0.0; LANES * OBSERVATION_SIZE]);
    let mut now: [_; LANES] = std::array::from_fn(|lane| (lane as u64, 0));
    for (walkers, observations) in [&mut whole, &mut hurt].into_iter().zip(&mut observations) {
        for (lane, row) in observations.chunks_mut(OBSERVATION_SIZE).enumerate() {
            walkers.reset(lane, Some(&Seed::from(lane as u64)), row).unwrap();
        }
    }
    let mut failed = [false; LANES];
    for t in 0..60 {
        if t == 30 {
            hurt.lanes[3].walker.world.set_hull_velocity(f32::NAN, 0.0);
            hurt.lanes[9].walker.world.sabotage();
        }
        let expected = step_all(&mut whole, &now, &mut observations[0]);
        let got = step_all(&mut hurt, &now, &mut observations[1]);
        for lane in 0..LANES {
            now[lane].1 += 1;
            failed[lane] |= got[lane].diverged;
            assert!(failed[lane] || got[lane] == expected[lane], "lane {lane}, step {t}");
            if got[lane].done() || expected[lane].done() {
                for (walkers, rows) in [&mut whole, &mut hurt].into_iter().zip(&mut observations) {
                    let row = &mut rows[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
                    walkers.reset(lane, Some(&Seed::from(100_u64)), row).unwrap();
                }
                failed[lane] = false;
                now[lane] = (100, 0);
            }
            if got[lane].diverged {
                assert!(lane == 3 || lane == 9, "lane {lane} diverged");
            }
        }
    }
    assert_eq!(observations[0], observations[1]);
    assert_eq!(now[3].0, 100, "the lane with the bad number went on");
    assert_eq!(now[9].0, 100, "the lane with the failed assertion went on");
}

#[test]
fn a_bad_action_moves_nobody() {
    let mut walkers = Walkers::new(&BipedalWalkerTask::default(), WorldReuse::Never).unwrap();
    let mut observations = vec![0.0; LANES * OBSERVATION_SIZE];
    for (lane, row) in observations.chunks_mut(OBSERVATION_SIZE).enumerate().take(LANES - 1) {
        walkers.reset(lane, Some(&Seed::from(1_u64)), row).unwrap();
    }
    let before = observations.clone();
    let mut active = [true; LANES];
    let mut transitions = [Transition::default(); LANES];
    let mut actions = vec![0.5; LANES * ACTION_SIZE];
    let error =
        walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap_err();
    assert!(matches!(error, EnvError::NotReset { .. }), "{error}");
    active[LANES - 1] = false;
    actions[5] = f32::NAN;
    let error =
        walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap_err();
    assert!(matches!(error, EnvError::ActionNotFinite { index: 1, .. }), "{error}");
    assert_eq!(observations, before);
    actions[5] = 0.5;
    walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap();
    let rows: Vec<_> = observations.chunks(OBSERVATION_SIZE).take(LANES - 1).collect();
    assert!(rows.iter().all(|row| *row == rows[0] && *row != &before[..OBSERVATION_SIZE]));
    assert_eq!(observations[(LANES - 1) * OBSERVATION_SIZE..], before[(LANES - 1) * OBSERVATION_SIZE..]);
}
