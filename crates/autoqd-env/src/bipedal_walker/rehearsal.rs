//! Episodes with which the tests compare walkers that step together with walkers on their own.

use super::world::State;
use super::{ACTION_SIZE, BipedalWalker, BipedalWalkerTask, OBSERVATION_SIZE, WorldReuse};
use crate::{Action, EnvError, Environment, Seed, Transition, Worlds};

/// Swings of all joints whose speeds and sizes differ by episode: some fall at once, some kneel, some stand.
pub fn swing(episode: u64, t: usize) -> [f32; ACTION_SIZE] {
    std::array::from_fn(|k| {
        let part = episode * 7 + k as u64 * 13;
        let (speed, phase) = ((part % 17) as f32 * 0.03 + 0.02, (part % 19) as f32);
        (speed * t as f32 + phase).sin() * (0.1 + (part % 11) as f32 * 0.12)
    })
}

/// An action without an episode, one that is no number: nobody moves then.
pub fn bad_actions_move_nobody(walkers: &mut dyn Worlds) {
    let last = walkers.lanes() - 1;
    let mut observations = vec![0.0; (last + 1) * OBSERVATION_SIZE];
    for (lane, row) in observations.chunks_mut(OBSERVATION_SIZE).enumerate().take(last) {
        walkers.reset(lane, Some(&Seed::from(1_u64)), row).unwrap();
    }
    let before = observations.clone();
    let mut active = vec![true; last + 1];
    let mut transitions = vec![Transition::default(); last + 1];
    let mut actions = vec![0.5; (last + 1) * ACTION_SIZE];
    let error =
        walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap_err();
    assert!(matches!(error, EnvError::NotReset { .. }), "{error}");
    active[last] = false;
    actions[5] = f32::NAN;
    let error =
        walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap_err();
    assert!(matches!(error, EnvError::ActionNotFinite { index: 1, .. }), "{error}");
    assert_eq!(observations, before);
    actions[5] = 0.5;
    walkers.step(&active, Action::F32(&actions), &mut observations, &mut transitions).unwrap();
    let rows: Vec<_> = observations.chunks(OBSERVATION_SIZE).take(last).collect();
    assert!(rows.iter().all(|row| *row == rows[0] && *row != &before[..OBSERVATION_SIZE]));
    assert_eq!(observations[last * OBSERVATION_SIZE..], before[last * OBSERVATION_SIZE..]);
}

/// Steps all lanes with their swings.
pub fn step_all(
    walkers: &mut dyn Worlds,
    episodes: &[(u64, usize)],
    observations: &mut [f64],
) -> Vec<Transition> {
    let actions: Vec<f32> = episodes.iter().flat_map(|&(episode, t)| swing(episode, t)).collect();
    let mut transitions = vec![Transition::default(); episodes.len()];
    walkers.step(&vec![true; episodes.len()], Action::F32(&actions), observations, &mut transitions).unwrap();
    transitions
}

/// What is compared.
pub struct Episodes<'a> {
    pub task: &'a BipedalWalkerTask,
    pub reuse: WorldReuse,
    pub count: u64,
    pub length: usize,
    /// Whether to go on when an episode is over, so that walkers that have fallen come to rest.
    pub past_the_end: bool,
}

/// Compares every number of some episodes with those of a walker on its own; returns the number of steps.
pub fn compare<W: Worlds>(walkers: &mut W, state: impl Fn(&W, usize) -> State, what: &Episodes<'_>) -> usize {
    let lanes = walkers.lanes();
    let mut alone: Vec<_> = (0..lanes).map(|_| what.task.walker(what.reuse).unwrap()).collect();
    let mut observations = vec![0.0; lanes * OBSERVATION_SIZE];
    let mut expected = [0.0; OBSERVATION_SIZE];
    let mut now = vec![(0, 0); lanes];
    let (mut next, mut steps) = (0, 0);
    let mut begin = |walkers: &mut W, alone: &mut BipedalWalker, lane: usize, row: &mut [f64]| {
        walkers.reset(lane, Some(&Seed::from(next)), row).unwrap();
        alone.reset(Some(&Seed::from(next)), &mut [0.0; OBSERVATION_SIZE]).unwrap();
        next += 1;
        (next - 1, 0)
    };
    for lane in 0..lanes {
        let row = &mut observations[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
        now[lane] = begin(walkers, &mut alone[lane], lane, row);
    }
    while now.iter().all(|&(episode, _)| episode < what.count) {
        let transitions = step_all(walkers, &now, &mut observations);
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
            let (got, wanted) = (state(walkers, lane).bits(), alone[lane].state.bits());
            assert!(transition.diverged || got == wanted, "episode {episode}, step {t}");
            now[lane].1 += 1;
            steps += 1;
            let over = transition.diverged || transition.done() && !what.past_the_end;
            if over || t + 1 == what.length {
                let mut measures = [[0.0; 2]; 2];
                walkers.measures(lane, &mut measures[0]);
                alone[lane].measures(&mut measures[1]);
                assert_eq!(measures[0], measures[1]);
                now[lane] = begin(walkers, &mut alone[lane], lane, row);
            }
        }
    }
    steps
}
