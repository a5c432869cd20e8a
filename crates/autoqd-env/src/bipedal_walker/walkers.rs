//! Several walkers in lockstep, whose velocity constraints are solved together.
//!
//! Box2D runs each world's step in a coroutine, which pauses where the velocity constraints of the step are known. When
//! all have reached that point, one vectorised solver (`solver.rs`) does for all of them what Box2D would do for each,
//! to the bit, and the steps continue. Alone, a step spends about three quarters of its time on these constraints.

use std::cell::UnsafeCell;
use std::ffi::c_void;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::solver::{Batch, Solver};
use super::wide::{Backend, LANES, with_backend};
use super::world::{Failure, Island, Motors, State};
use super::{ACTION_SIZE, BipedalWalker, BipedalWalkerTask, OBSERVATION_SIZE, WorldReuse, motors, refused};
use crate::{Action, EnvError, EnvSpec, Environment, Seed, Transition, Worlds};

/// With fewer steps than this at a time Box2D's own solver is used: the shared solver takes about as long as three of
/// Box2D's, however many lanes wait (estimated from profiles).
const WORTHWHILE: usize = 4;
/// Box2D needs a few kilobytes.
const STACK_SIZE: usize = 128 * 1024;

/// A Box2D step in progress. It ends with the resulting state, or with none if Box2D gave up.
type Step = Coroutine<(), (), Option<State>, DefaultStack>;

/// As many walkers as the solver has lanes.
pub struct Walkers {
    spec: EnvSpec,
    lanes: Vec<Lane>,
    batch: Box<dyn Solver>,
}

struct Lane {
    walker: BipedalWalker,
    /// Shared between a waiting step and the solver.
    island: Box<UnsafeCell<Island>>,
    stage: Stage,
}

enum Stage {
    /// No step. The stack is for the next one.
    Idle(DefaultStack),
    /// For the solution of its velocity constraints.
    Waiting(Step),
    /// With the resulting state.
    Over(DefaultStack, Option<State>),
    /// Within a function of [`Lane`].
    Between,
}

// SAFETY: no step is in progress outside of `Walkers::step`, so a lane that moves to another thread has none, and
// everything else in it may move.
unsafe impl Send for Lane {}

impl Walkers {
    pub fn new(task: &BipedalWalkerTask, reuse: WorldReuse) -> Result<Self, EnvError> {
        let lanes = (0..LANES).map(|_| Lane::new(task, reuse)).collect::<Result<_, _>>()?;
        let backend = Backend::best(&task.spec.name)?;
        let batch = with_backend!(backend, F => Box::new(Batch::<F>::new()) as Box<dyn Solver>);
        Ok(Self { spec: task.spec.clone(), lanes, batch })
    }

    fn solve(&mut self) {
        let mut islands = [const { None }; LANES];
        for (island, lane) in islands.iter_mut().zip(&mut self.lanes) {
            *island = lane.waiting_island();
        }
        if islands.iter().any(Option::is_some) {
            self.batch.solve(&mut islands);
        }
    }
}

impl Lane {
    fn new(task: &BipedalWalkerTask, reuse: WorldReuse) -> Result<Self, EnvError> {
        let no_stack = |e| refused(Failure(format!("no memory for a stack: {e}")));
        let stack = DefaultStack::new(STACK_SIZE).map_err(no_stack)?;
        Ok(Self { walker: task.walker(reuse)?, island: Box::default(), stage: Stage::Idle(stack) })
    }

    /// Begins a step and runs it until it waits or is over.
    fn start(&mut self, motors: Motors) {
        let Stage::Idle(stack) = std::mem::replace(&mut self.stage, Stage::Between) else {
            unreachable!("every step is finished before the next one")
        };
        let (world, island) = (self.walker.world.handle(), self.island.get());
        let step = Step::with_stack(stack, move |yielder, ()| {
            let mut state = State::default();
            let context = std::ptr::from_ref(yielder).cast_mut().cast();
            // SAFETY: `Walkers::step` finishes the step before anything else happens to the lane; `waiting_island`
            // hands the island out only while the step waits.
            unsafe { world.step(&motors, &mut state, island, pause, context) }.then_some(state)
        });
        self.go_on(step);
    }

    fn go_on(&mut self, mut step: Step) {
        self.stage = match step.resume(()) {
            CoroutineResult::Yield(()) => Stage::Waiting(step),
            CoroutineResult::Return(state) => Stage::Over(step.into_stack(), state),
        };
    }

    fn waiting_island(&mut self) -> Option<&mut Island> {
        // SAFETY: only the step has access besides this, and it is paused as long as `self` is borrowed.
        matches!(self.stage, Stage::Waiting(_)).then(|| unsafe { &mut *self.island.get() })
    }

    /// Runs the step to its end and hands its state to the walker.
    fn finish(&mut self) {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Between) {
                Stage::Waiting(step) => self.go_on(step),
                Stage::Over(stack, state) => {
                    self.stage = Stage::Idle(stack);
                    return self.walker.arrive(state);
                }
                Stage::Idle(_) | Stage::Between => unreachable!("a step was started"),
            }
        }
    }
}

/// Called by a step when its velocity constraints are known.
extern "C" fn pause(context: *mut c_void) {
    // SAFETY: `Lane::start` passes the yielder of the coroutine that this runs in.
    unsafe { &*context.cast::<Yielder<(), ()>>() }.suspend(());
}

impl Worlds for Walkers {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn is_scalar(&self) -> bool {
        true
    }

    fn reset(&mut self, lane: usize, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        self.lanes[lane].walker.reset(seed, observation)
    }

    fn step(
        &mut self,
        active: &[bool],
        actions: Action<'_>,
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError> {
        let action = |lane: usize| actions.row(lane, ACTION_SIZE);
        let stepping = || (0..LANES).filter(|lane| active[*lane]);
        // Nothing moves unless all can.
        stepping().try_for_each(|lane| self.lanes[lane].walker.check(action(lane)))?;
        if stepping().count() < WORTHWHILE {
            stepping().for_each(|lane| self.lanes[lane].walker.simulate(&motors(action(lane))));
        } else {
            stepping().for_each(|lane| self.lanes[lane].start(motors(action(lane))));
            self.solve();
            stepping().for_each(|lane| self.lanes[lane].finish());
        }
        for lane in stepping() {
            let row = &mut observations[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
            transitions[lane] = self.lanes[lane].walker.conclude(action(lane), row);
        }
        Ok(())
    }

    fn measures(&self, lane: usize, out: &mut [f64]) {
        self.lanes[lane].walker.measures(out);
    }

    fn reward_terms(&self, lane: usize) -> &[f64] {
        self.lanes[lane].walker.reward_terms()
    }
}

#[cfg(test)]
mod tests;
