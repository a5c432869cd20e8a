use super::super::rehearsal::{Episodes, bad_actions_move_nobody, compare, step_all};
use super::continuous::stays_away;
use super::impact::time_of_impact;
use super::*;

fn state(crowd: &Crowd, lane: usize) -> State {
    crowd.members[lane].walker.state
}

/// Compares episodes with Box2D's.
fn check(task: &BipedalWalkerTask, count: u64, length: usize, past_the_end: bool) -> usize {
    check_with(Backend::available()[0], task, count, length, past_the_end)
}

fn check_with(
    backend: Backend,
    task: &BipedalWalkerTask,
    count: u64,
    length: usize,
    past_the_end: bool,
) -> usize {
    let mut crowd = Crowd::on(backend, task).unwrap();
    let what = Episodes { task, reuse: WorldReuse::Never, count, length, past_the_end };
    compare(&mut crowd, state, &what)
}

#[test]
fn every_number_is_that_of_box2d() {
    let steps = check(&BipedalWalkerTask::default(), 350, 400, false);
    assert!(steps > 30_000, "{steps}");
}

#[test]
fn every_instruction_set_has_the_bits_of_box2d() {
    for backend in Backend::available() {
        assert!(
            check_with(backend, &BipedalWalkerTask::default(), 100, 200, true) >= WORLDS * 200,
            "{backend:?}"
        );
    }
}

/// Walkers on their backs touch many edges and fall asleep.
#[test]
fn walkers_that_have_fallen_lie_as_in_box2d() {
    assert!(check(&BipedalWalkerTask::default(), 100, 400, true) >= WORLDS * 400);
}

/// Slippery and sticky ground, feathers and lead.
#[test]
fn other_grounds_and_masses_are_those_of_box2d() {
    for (friction, mass) in [(0.0, 1.0), (1e6, 1.0), (2.5, 1e-3), (2.5, 1e3)] {
        let task = BipedalWalkerTask::new(friction, mass).unwrap();
        assert!(check(&task, 100, 150, true) >= WORLDS * 150);
    }
}

/// A million steps of walkers that fall, and of walkers that lie; minutes.
#[test]
#[ignore = "slow"]
fn a_million_steps_are_those_of_box2d() {
    let task = BipedalWalkerTask::default();
    let steps = check(&task, 6000, 1600, false) + check(&task, 400, 1000, true);
    assert!(steps > 1_000_000, "{steps}");
}

/// The tests above show nothing about what does not happen in them.
#[test]
fn bodies_are_stopped_at_edges_and_fall_asleep() {
    let mut crowd = Crowd::new(&BipedalWalkerTask::default()).unwrap();
    let mut observations = vec![0.0; WORLDS * OBSERVATION_SIZE];
    for (lane, row) in observations.chunks_mut(OBSERVATION_SIZE).enumerate() {
        crowd.reset(lane, Some(&Seed::from(lane as u64)), row).unwrap();
    }
    let (mut stopped, mut asleep, mut most_contacts, mut searches) = (0, 0, 0, 0);
    let limp = [Some(Motors::default()); WORLDS];
    for _ in 0..600 {
        crowd.advance(&limp);
        for member in &crowd.members {
            let lane = &member.lane;
            stopped += usize::from(!lane.advanced_edges.is_empty());
            asleep += usize::from(!lane.bodies[0].awake);
            most_contacts = most_contacts.max((0..5).flat_map(|body| lane.touching(body)).count());
            searches += usize::from(agree_about_impacts(lane, &crowd.robot));
        }
    }
    assert!(stopped > 10, "{stopped} steps with impacts");
    assert!(asleep > 20, "{asleep} steps at whose end the robot sleeps");
    assert!(most_contacts > 1, "{most_contacts} contacts of a robot");
    assert!(searches > 1000, "{searches} steps without an impact");
}

/// Where a body is said to stay away from an edge, the search finds no impact either. False if the step had impacts, after
/// which nobody asks.
fn agree_about_impacts(lane: &Lane, robot: &Robot) -> bool {
    if !lane.advanced_edges.is_empty() {
        return false;
    }
    for contact in &lane.contacts {
        let (body, part) = (&lane.bodies[contact.body], &robot.parts[contact.body]);
        let edge = lane.terrain.edge(contact.edge);
        if stays_away(edge, part, body) {
            assert!(time_of_impact(edge, part, &body.sweep).is_none_or(|t| t >= 1.0));
        }
    }
    true
}

/// Not a number in one lane, and one in another that soon gives some.
#[test]
fn a_lane_that_fails_leaves_the_others_alone() {
    let task = BipedalWalkerTask::default();
    let (mut whole, mut hurt) = (Crowd::new(&task).unwrap(), Crowd::new(&task).unwrap());
    let mut observations = [(); 2].map(|()| vec![0.0; WORLDS * OBSERVATION_SIZE]);
    let mut now: [_; WORLDS] = std::array::from_fn(|lane| (lane as u64, 0));
    for (crowd, observations) in [&mut whole, &mut hurt].into_iter().zip(&mut observations) {
        for (lane, row) in observations.chunks_mut(OBSERVATION_SIZE).enumerate() {
            crowd.reset(lane, Some(&Seed::from(lane as u64)), row).unwrap();
        }
    }
    let mut failed = [false; WORLDS];
    for t in 0..60 {
        if t == 30 {
            hurt.members[3].lane.bodies[0].velocity = [f32::NAN, 0.0];
            hurt.members[9].lane.bodies[0].velocity = [1e38, 1e38];
        }
        let expected = step_all(&mut whole, &now, &mut observations[0]);
        let got = step_all(&mut hurt, &now, &mut observations[1]);
        for lane in 0..WORLDS {
            now[lane].1 += 1;
            failed[lane] |= got[lane].diverged;
            assert!(failed[lane] || lane == 9 || got[lane] == expected[lane], "lane {lane}, step {t}");
            if got[lane].done() || expected[lane].done() {
                for (crowd, rows) in [&mut whole, &mut hurt].into_iter().zip(&mut observations) {
                    let row = &mut rows[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
                    crowd.reset(lane, Some(&Seed::from(100_u64)), row).unwrap();
                }
                (now[lane], failed[lane]) = ((100, 0), false);
            }
            assert!(!got[lane].diverged || lane == 3 || lane == 9, "lane {lane} diverged");
        }
    }
    assert_eq!(observations[0], observations[1]);
    assert_eq!(now[3].0, 100, "the lane with the bad number went on");
}

#[test]
fn a_bad_action_moves_nobody() {
    bad_actions_move_nobody(&mut Crowd::new(&BipedalWalkerTask::default()).unwrap());
}
