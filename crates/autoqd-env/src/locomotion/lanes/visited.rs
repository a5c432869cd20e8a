//! States that policies visit: episodes on libmujoco as the task runs them, some of whose steps are repeated in lanes.

use super::super::memory::Memory;
use super::super::observation::Past;
use super::check::{Agreement, CheckOptions, Checker, Policy};
use super::side_by_side::stream;
use crate::{Action, NumpyRng, mujoco};
use autoqd_lanes::LANES;

/// One simulator step in this many is compared, so that more policies are covered. Not a multiple of the steps per
/// action, so that every step within an action is compared.
const STRIDE: usize = 7;

/// Steps of the task for which an episode continues after a fall: folded and lying bodies have contacts of their own.
const AFTER_FALL: usize = 50;

/// The episode of one world.
#[derive(Clone, Copy, Default)]
struct Turn {
    policy: usize,
    /// Steps of the simulator so far.
    steps: usize,
    /// Steps of the task since the fall, that one included.
    fallen: usize,
}

/// Every world runs episodes of one policy after the other; steps before and after a fall are counted apart.
pub(super) fn visited(
    checker: &mut Checker<'_>,
    policies: &mut [Box<Policy<'_>>],
    options: &CheckOptions,
) -> Vec<Agreement> {
    let mut agreement = [Agreement::new("visited by policies"), Agreement::new("after their falls")];
    let mut rng = stream(options.seed);
    let mut turns: [Turn; LANES] = std::array::from_fn(|lane| Turn { policy: lane, ..Turn::default() });
    for round in 0.. {
        for (lane, turn) in turns.iter_mut().enumerate() {
            if turn.steps % checker.recipe.frame_skip == 0 {
                act(checker, lane, turn, policies, &mut rng);
            }
            turn.steps += 1;
        }
        if round % STRIDE == 0 {
            checker.compare(&mut agreement, turns.map(|turn| usize::from(turn.fallen > 0)));
        } else {
            advance(checker);
        }
        if agreement[0].steps >= options.lane_steps {
            break;
        }
    }
    agreement.into_iter().filter(|agreement| agreement.steps > 0).collect()
}

/// Starts an episode where one is due, and sets the controls of the next steps.
fn act(
    checker: &mut Checker<'_>,
    lane: usize,
    turn: &mut Turn,
    policies: &mut [Box<Policy<'_>>],
    rng: &mut NumpyRng,
) {
    let recipe = checker.recipe;
    let spec = &recipe.spec;
    let world = &checker.pair.worlds[lane];
    // What an episode remembers is not kept here either: contacts and velocities of places are those of a start.
    let memory = Memory::new(&recipe.followed, recipe.start.goal_numbers(), recipe.model.body_mass());
    let fell = turn.steps > 0 && recipe.terminate_when_unhealthy && !recipe.healthy(world, &memory);
    turn.fallen += usize::from(fell || turn.fallen > 0);
    let over = turn.fallen > AFTER_FALL
        || turn.steps >= spec.max_episode_steps * recipe.frame_skip
        || mujoco::diverged(world);
    if over {
        *turn = Turn { policy: turn.policy + LANES, ..Turn::default() };
    }
    if turn.steps == 0 {
        checker.start(lane, rng);
        checker.pair.worlds[lane].forward();
    }
    let (mut observation, mut action) = (vec![0.0; spec.observation_size], vec![0.0; spec.action_size]);
    let world = &mut checker.pair.worlds[lane];
    // The last action is not kept here: a policy that sees it visits states as if every step were its first.
    let seconds = turn.steps as f64 * recipe.model.opt().timestep;
    let past = Past { action: &vec![0.0; spec.action_size], seconds, memory: &memory };
    recipe.observe(world, &past, &mut observation);
    policies[turn.policy % policies.len()](&observation, &mut action);
    match &recipe.action {
        Some(plan) => {
            if turn.steps == 0 {
                plan.start(world.ctrl_mut());
            }
            plan.apply(Action::F32(&action), world.ctrl_mut());
        }
        None => world.ctrl_mut().iter_mut().zip(&action).for_each(|(control, a)| *control = f64::from(*a)),
    }
}

/// A step of libmujoco alone.
fn advance(checker: &mut Checker<'_>) {
    for world in &mut checker.pair.worlds {
        world.step();
        if checker.recipe.needs.contact_forces {
            world.rne_post_constraint();
        }
    }
}
