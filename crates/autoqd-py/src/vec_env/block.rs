//! A batch of worlds as part of a vector environment: what happens to each of its environments in a step or reset.

use autoqd_env::{Action, EnvError, InfoSpec, Seed, Transition, Worlds};

/// What happens when an episode is over, as in Gymnasium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Autoreset {
    /// The next step resets the environment, and ignores its action.
    NextStep,
    /// The step that ends the episode resets the environment; its last observation is kept apart.
    SameStep,
    /// Nothing: the user resets.
    Disabled,
}

/// Worlds that are stepped together, and what became of them in the last step or reset.
pub(super) struct Block {
    worlds: Box<dyn Worlds>,
    /// Lanes in use; those after them never have an episode.
    pub count: usize,
    /// Steps after which an episode is truncated.
    limit: usize,
    active: Vec<bool>,
    transitions: Vec<Transition>,
    steps: Vec<usize>,
    /// One row per lane.
    pub observations: Vec<f64>,
    /// One row per lane: the task's infos, then the reward terms.
    pub infos: Vec<f64>,
    /// What the last step ended with, where it also began the next episode.
    pub last_observations: Vec<f64>,
    /// The same for infos.
    pub last_infos: Vec<f64>,
    pub outcomes: Vec<Outcome>,
    info_size: usize,
}

/// What a step brought for one environment, besides numbers in rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    /// The simulation failed or the action was not finite; the episode is over.
    pub diverged: bool,
    /// The observation is the first of an episode.
    pub fresh: bool,
    /// The episode is over and waits for a reset.
    pub over: bool,
    /// A last observation and last infos are there.
    pub ended: bool,
}

impl Block {
    pub(super) fn new(worlds: Box<dyn Worlds>, count: usize, limit: usize) -> Self {
        let (lanes, spec) = (worlds.lanes(), worlds.spec());
        let info_size = worlds.infos().len() + spec.reward_terms.len();
        let observations = vec![0.0; lanes * spec.observation_size];
        Self {
            count: count.min(lanes),
            limit,
            active: vec![false; lanes],
            transitions: vec![Transition::default(); lanes],
            steps: vec![0; lanes],
            last_observations: observations.clone(),
            observations,
            infos: vec![0.0; lanes * info_size],
            last_infos: vec![0.0; lanes * info_size],
            outcomes: vec![Outcome::default(); lanes],
            info_size,
            worlds,
        }
    }

    /// Name of the task.
    pub(super) fn task(&self) -> &str {
        &self.worlds.spec().name
    }

    pub(super) fn task_infos(&self) -> &[InfoSpec] {
        self.worlds.infos()
    }

    /// Brings the worlds nearer to the processor.
    pub(super) fn prefetch(&self) {
        self.worlds.prefetch();
    }

    /// Starts an episode in every lane whose seed is asked for: `Some(None)` goes on with the random stream.
    pub(super) fn reset(&mut self, seeds: &[Option<Option<Seed>>]) -> Result<(), EnvError> {
        for (lane, seed) in seeds.iter().enumerate() {
            if let Some(seed) = seed {
                self.begin(lane, seed.as_ref())?;
                self.outcomes[lane] = Outcome { fresh: true, ..Outcome::default() };
            }
        }
        Ok(())
    }

    /// Advances every environment; the actions are those of the lanes in use.
    pub(super) fn step(&mut self, mode: Autoreset, actions: Action<'_>) -> Result<(), EnvError> {
        let width = self.worlds.spec().action_size;
        for lane in 0..self.count {
            let restart = mode == Autoreset::NextStep && self.outcomes[lane].over;
            self.outcomes[lane] = Outcome { fresh: restart, ..Outcome::default() };
            self.active[lane] = !restart && is_finite(actions.row(lane, width));
            if restart {
                self.begin(lane, None)?;
            } else if !self.active[lane] {
                self.transitions[lane] = Transition { diverged: true, ..Transition::default() };
            }
        }
        if self.active.contains(&true) {
            self.worlds.step(&self.active, actions, &mut self.observations, &mut self.transitions)?;
        }
        for lane in 0..self.count {
            if !self.outcomes[lane].fresh {
                self.conclude(lane);
            }
        }
        if mode == Autoreset::SameStep {
            (0..self.count).try_for_each(|lane| self.begin_next(lane))?;
        }
        Ok(())
    }

    /// Starts an episode in a lane.
    fn begin(&mut self, lane: usize, seed: Option<&Seed>) -> Result<(), EnvError> {
        let size = self.worlds.spec().observation_size;
        self.steps[lane] = 0;
        self.worlds.reset(lane, seed, &mut self.observations[lane * size..][..size])?;
        let infos = &mut self.infos[lane * self.info_size..][..self.info_size];
        self.worlds.info(lane, infos);
        // Velocities and rewards belong to steps.
        let of_steps = infos.iter_mut().enumerate();
        let known = |i: usize| self.worlds.infos().get(i).is_some_and(|info| info.at_reset);
        of_steps.filter(|(i, _)| !known(*i)).for_each(|(_, value)| *value = 0.0);
        Ok(())
    }

    /// Takes in what a step did to a lane.
    fn conclude(&mut self, lane: usize) {
        let size = self.worlds.spec().observation_size;
        let transition = self.transitions[lane];
        let infos = &mut self.infos[lane * self.info_size..][..self.info_size];
        self.worlds.info(lane, infos);
        let terms = self.worlds.infos().len();
        infos[terms..].copy_from_slice(self.worlds.reward_terms(lane));
        self.steps[lane] += 1;
        let outcome = &mut self.outcomes[lane];
        outcome.reward = transition.reward;
        outcome.terminated = transition.terminated || transition.diverged;
        outcome.truncated = transition.truncated || self.steps[lane] >= self.limit;
        outcome.diverged = transition.diverged;
        outcome.over = outcome.terminated || outcome.truncated;
        if transition.diverged {
            // What a failed step left behind must not reach anybody's statistics.
            outcome.reward = 0.0;
            infos[terms..].fill(0.0);
            let row = &mut self.observations[lane * size..][..size];
            row.iter_mut().chain(infos).filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        }
    }

    /// Keeps how a lane's episode ended, and begins the next one.
    fn begin_next(&mut self, lane: usize) -> Result<(), EnvError> {
        if !self.outcomes[lane].over {
            return Ok(());
        }
        let row = row_of(lane, self.worlds.spec().observation_size);
        self.last_observations[row.clone()].copy_from_slice(&self.observations[row]);
        let row = row_of(lane, self.info_size);
        self.last_infos[row.clone()].copy_from_slice(&self.infos[row]);
        self.begin(lane, None)?;
        let outcome = &mut self.outcomes[lane];
        (outcome.over, outcome.ended, outcome.fresh) = (false, true, true);
        Ok(())
    }
}

fn row_of(lane: usize, size: usize) -> std::ops::Range<usize> {
    lane * size..(lane + 1) * size
}

fn is_finite(action: Action<'_>) -> bool {
    match action {
        Action::F32(action) => action.iter().all(|x| x.is_finite()),
        Action::F64(action) => action.iter().all(|x| x.is_finite()),
    }
}
