//! What a world keeps about its episode: rewards, health and measures, whichever simulator steps it.

use super::disturbance::Late;
use super::info;
use super::measure::Record;
use super::memory::Memory;
use super::observation::Past;
use super::reward::Step;
use super::state::State;
use super::task::Recipe;
use super::task_file::RewardOrder;
use crate::{Action, NumpyRng, Transition};

/// The bookkeeping of one episode.
pub(crate) struct Episode {
    /// Whether there is an episode to step.
    pub alive: bool,
    steps: usize,
    /// Per reward term: what it remembers from the state before a step.
    before: Vec<[f64; 3]>,
    /// The terms of the last reward, with their signs.
    pub terms: Vec<f64>,
    /// Per measure: whether its foot touches the floor after the last step.
    pub touches: Vec<bool>,
    records: Vec<Record>,
    /// Where the body was before the last step.
    place: [f64; 2],
    /// The last action, and the controls made of it.
    previous_action: Vec<f64>,
    pub control: Vec<f64>,
    late: Late,
    /// The action that arrives at the actuators.
    arrived: Vec<f64>,
    /// Per product of reward terms: its value.
    products: Vec<f64>,
    pub memory: Memory,
}

impl Episode {
    pub fn new(recipe: &Recipe) -> Self {
        Self {
            alive: false,
            steps: 0,
            before: vec![[0.0; 3]; recipe.rewards.len()],
            terms: vec![0.0; recipe.rewards.len()],
            touches: vec![false; recipe.measures.len()],
            previous_action: vec![0.0; recipe.spec.action_size],
            control: vec![0.0; recipe.spec.action_size],
            late: Late::new(&recipe.disturbance, recipe.spec.action_size),
            arrived: vec![0.0; recipe.spec.action_size],
            products: vec![1.0; recipe.products],
            memory: Memory::new(&recipe.followed, recipe.start.goal_numbers(), recipe.model.body_mass()),
            records: recipe.measures.iter().map(|m| m.record(recipe.spec.max_episode_steps)).collect(),
            place: [0.0; 2],
        }
    }

    /// Draws the goals of the next episode, after its start; and the controls that come before its first action.
    pub fn prepare(&mut self, recipe: &Recipe, rng: &mut NumpyRng) -> &[f64] {
        recipe.start.draw_goals(rng, &mut self.memory.goals);
        self.control.fill(0.0);
        if let Some(plan) = &recipe.action {
            plan.start(&mut self.control);
        }
        &self.control
    }

    /// Starts an episode that was prepared, and writes its first observation.
    pub fn start(
        &mut self,
        recipe: &Recipe,
        state: &impl State,
        rng: &mut NumpyRng,
        observation: &mut [f64],
    ) {
        self.alive = true;
        self.steps = 0;
        self.touches.fill(false);
        self.terms.fill(0.0);
        for (record, measure) in self.records.iter_mut().zip(&recipe.measures) {
            record.start(&measure.what, state);
        }
        self.previous_action.fill(0.0);
        self.memory.start();
        let past = Past { action: &self.previous_action, seconds: 0.0, memory: &self.memory };
        recipe.observe(state, &past, observation);
        self.late.start(&recipe.disturbance, rng);
        recipe.disturbance.blur(rng, observation);
    }

    /// Whether velocities are pushed before the next step.
    pub fn is_pushed(&self, recipe: &Recipe) -> bool {
        recipe.disturbance.pushes(self.steps)
    }

    /// The controls of an action.
    pub fn act(&mut self, recipe: &Recipe, action: Action<'_>) -> &[f64] {
        self.late.pass(action, &mut self.arrived);
        match &recipe.action {
            Some(plan) => plan.apply(Action::F64(&self.arrived), &mut self.control),
            None => self.control.copy_from_slice(&self.arrived),
        }
        &self.control
    }

    /// Keeps what the rewards need from the state before a step.
    pub fn remember(&mut self, recipe: &Recipe, state: &impl State) {
        for (before, term) in self.before.iter_mut().zip(&recipe.rewards) {
            *before = term.before(state);
        }
        self.memory.remember(&recipe.followed, state);
        if !recipe.infos.is_empty() {
            self.place = info::place(recipe, state);
        }
    }

    /// Accounts for a step: `touches` says which feet touch the floor, `bad` whether the simulator gave up.
    pub fn finish(
        &mut self,
        recipe: &Recipe,
        state: &impl State,
        action: Action<'_>,
        bad: bool,
        rng: &mut NumpyRng,
        observation: &mut [f64],
    ) -> Transition {
        self.steps += 1;
        self.memory.step(&recipe.followed, state, recipe.seconds_per_step);
        for ((record, measure), &touch) in self.records.iter_mut().zip(&recipe.measures).zip(&self.touches) {
            record.step(&measure.what, state, &self.memory, touch);
        }
        let healthy = recipe.healthy(state, &self.memory);
        let (seconds, blas) = (recipe.seconds_per_step, recipe.blas);
        let previous = std::mem::take(&mut self.previous_action);
        let memory = std::mem::take(&mut self.memory);
        let step = Step { action, healthy, seconds, blas, previous_action: &previous, memory: &memory };
        let reward = self.reward(recipe, state, &step);
        (self.previous_action, self.memory) = (previous, memory);
        (0..action.len()).for_each(|i| self.previous_action[i] = action.get(i));
        let seconds = self.steps as f64 * seconds;
        let past = Past { action: &self.previous_action, seconds, memory: &self.memory };
        recipe.observe(state, &past, observation);
        let finite = reward.is_finite() && observation.iter().all(|value| value.is_finite());
        let diverged = bad || !finite;
        self.alive = !diverged;
        recipe.disturbance.blur(rng, observation);
        Transition {
            reward,
            terminated: !healthy && recipe.terminate_when_unhealthy,
            truncated: self.steps >= recipe.spec.max_episode_steps,
            diverged,
        }
    }

    /// Gains minus costs; the terms are kept with their signs.
    fn reward(&mut self, recipe: &Recipe, state: &impl State, step: &Step<'_>) -> f64 {
        let (mut gains, mut costs) = (None, None);
        let mut in_order: Option<f64> = None;
        self.products.fill(1.0);
        for (i, term) in recipe.rewards.iter().enumerate() {
            let value = term.value(state, self.before[i], step);
            let signed = if term.is_cost() { -value } else { value };
            self.terms[i] = signed;
            if let Some(product) = term.product {
                self.products[product] *= value;
                continue;
            }
            in_order = Some(in_order.map_or(signed, |sum| sum + signed));
            let total: &mut Option<f64> = if term.is_cost() { &mut costs } else { &mut gains };
            *total = Some(total.map_or(value, |sum| sum + value));
        }
        for product in &self.products {
            in_order = Some(in_order.map_or(*product, |sum| sum + product));
            gains = Some(gains.map_or(*product, |sum| sum + product));
        }
        if recipe.reward_order == RewardOrder::AsListed {
            return in_order.unwrap_or(0.0);
        }
        match (gains, costs) {
            (Some(gains), Some(costs)) => gains - costs,
            (Some(gains), None) => gains,
            (None, costs) => -costs.unwrap_or(0.0),
        }
    }

    /// Writes what the recipe tells about the state after the last step or reset.
    pub fn info(&self, recipe: &Recipe, state: &impl State, out: &mut [f64]) {
        info::write(recipe, state, self.place, out);
    }

    /// Writes the measures of the episode so far.
    pub fn measures(&self, recipe: &Recipe, out: &mut [f64]) {
        for ((value, record), measure) in out.iter_mut().zip(&self.records).zip(&recipe.measures) {
            *value = record.value(&measure.what, self.steps);
        }
    }
}
