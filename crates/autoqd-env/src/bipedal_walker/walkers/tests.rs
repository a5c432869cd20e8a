use super::super::rehearsal::{Episodes, bad_actions_move_nobody, compare, step_all, swing};
use super::*;

fn state(walkers: &Walkers, lane: usize) -> State {
    walkers.lanes[lane].walker.state
}

#[test]
fn a_walker_among_others_walks_as_it_would_alone() {
    for reuse in [WorldReuse::Never, WorldReuse::Always] {
        let task = BipedalWalkerTask::default();
        let mut walkers = Walkers::new(&task, reuse).unwrap();
        let what = Episodes { task: &task, reuse, count: 120, length: 400, past_the_end: false };
        let steps = compare(&mut walkers, state, &what);
        assert!(steps > 10_000, "{steps}");
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
    bad_actions_move_nobody(&mut Walkers::new(&BipedalWalkerTask::default(), WorldReuse::Never).unwrap());
}
