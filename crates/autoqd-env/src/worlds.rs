//! A batch of worlds driven in lockstep by one worker thread.

use crate::{Action, EnvError, EnvSpec, Environment, InfoSpec, Seed, Transition};

/// Several worlds of one task, one per lane.
///
/// Buffers are row-major with one row per lane. What happens in a lane depends neither on the lane's number nor
/// on its neighbours.
pub trait Worlds: Send {
    /// Sizes, bounds and names.
    fn spec(&self) -> &EnvSpec;

    /// Number of lanes.
    fn lanes(&self) -> usize;

    /// Whether scalar code does most of the work, beside which 512-bit kernels do not pay.
    fn is_scalar(&self) -> bool {
        self.lanes() == 1
    }

    /// Starts an episode in one lane and writes its first observation (one row). Without a seed the random stream of
    /// the lane continues.
    fn reset(&mut self, lane: usize, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError>;

    /// Advances every lane marked in `active`; the rows of the others are left alone.
    fn step(
        &mut self,
        active: &[bool],
        actions: Action<'_>,
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError>;

    /// Brings the worlds' state nearer to the processor: their step comes soon. Changes nothing.
    fn prefetch(&self) {}

    /// Writes the hand-designed measures of the episode in one lane so far.
    fn measures(&self, lane: usize, out: &mut [f64]);

    /// The terms of the last reward in one lane, in the order of [`EnvSpec::reward_terms`].
    fn reward_terms(&self, _lane: usize) -> &[f64] {
        &[]
    }

    /// What [`Self::info`] tells, in its order.
    fn infos(&self) -> &[InfoSpec] {
        &[]
    }

    /// Writes what the task tells about one lane besides observation and reward.
    fn info(&self, _lane: usize, _out: &mut [f64]) {}
}

/// A batch of one: any [`Environment`] as [`Worlds`].
pub struct SingleWorld<E: ?Sized + Environment>(Box<E>);

impl<E: ?Sized + Environment> SingleWorld<E> {
    /// Wraps one environment.
    pub fn new(environment: Box<E>) -> Self {
        Self(environment)
    }
}

impl<E: ?Sized + Environment> Worlds for SingleWorld<E> {
    fn spec(&self) -> &EnvSpec {
        self.0.spec()
    }

    fn lanes(&self) -> usize {
        1
    }

    fn reset(&mut self, _lane: usize, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        self.0.reset(seed, observation)
    }

    fn step(
        &mut self,
        active: &[bool],
        actions: Action<'_>,
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError> {
        if active[0] {
            transitions[0] = self.0.step(actions, observations)?;
        }
        Ok(())
    }

    fn prefetch(&self) {
        self.0.prefetch();
    }

    fn measures(&self, _lane: usize, out: &mut [f64]) {
        self.0.measures(out);
    }

    fn reward_terms(&self, _lane: usize) -> &[f64] {
        self.0.reward_terms()
    }

    fn infos(&self) -> &[InfoSpec] {
        self.0.infos()
    }

    fn info(&self, _lane: usize, out: &mut [f64]) {
        self.0.info(out);
    }
}
