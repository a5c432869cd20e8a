//! Actions without a policy, to look at a task before anything is searched.

use std::f64::consts::TAU;

use autoqd::run_folder::{ArchiveTable, Block};
use autoqd_env::{Action, EnvSpec, NumpyRng, Seed, Task};

use crate::ViewError;

/// A way to act that does not look at the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// As near to zero as the bounds allow.
    Zero,
    /// Every component swings from bound to bound once in two seconds, each a little later than the one before.
    Sine,
    /// Every action is drawn anew between the bounds.
    Random,
}

impl Hand {
    /// All of them, in the order of their ids, which begin with 1.
    pub const ALL: [Hand; 3] = [Hand::Zero, Hand::Sine, Hand::Random];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Hand::Zero => "zero",
            Hand::Sine => "sine",
            Hand::Random => "random",
        }
    }
}

/// Seconds of one swing.
const PERIOD: f64 = 2.0;

/// A hand in one episode.
pub(crate) struct HandAtWork {
    hand: Hand,
    rng: NumpyRng,
    low: Vec<f64>,
    high: Vec<f64>,
    seconds_per_step: f64,
    steps: usize,
}

impl HandAtWork {
    pub fn new(hand: Hand, spec: &EnvSpec, seed: u64, seconds_per_step: f64) -> Self {
        let rng = NumpyRng::from_seed(&Seed::from(seed));
        let (low, high) = (spec.action_low.clone(), spec.action_high.clone());
        Self { hand, rng, low, high, seconds_per_step, steps: 0 }
    }

    pub fn act(&mut self, action: &mut [f32]) {
        let seconds = self.steps as f64 * self.seconds_per_step;
        let count = action.len() as f64;
        for (i, component) in action.iter_mut().enumerate() {
            let (low, high) = (self.low[i], self.high[i]);
            let value = match self.hand {
                Hand::Zero => 0.0_f64.max(low).min(high),
                Hand::Sine => {
                    let phase = TAU * (seconds / PERIOD - i as f64 / count);
                    0.5 * (low + high) + 0.5 * (high - low) * libm::sin(phase)
                }
                Hand::Random => self.rng.uniform(low, high),
            };
            *component = value as f32;
        }
        self.steps += 1;
    }
}

/// Names of what stands in the table where a task has no measures of its own.
pub(crate) const USUAL_MEASURES: [&str; 2] = ["steps", "return"];

/// What the hands do in one episode each, as a table of their ids, with the measures of the task.
pub(crate) fn table_of_hands(task: &dyn Task) -> Result<ArchiveTable, ViewError> {
    let spec = task.spec();
    let mut table = ArchiveTable::default();
    let mut steps_of = Vec::new();
    for (i, hand) in Hand::ALL.into_iter().enumerate() {
        let mut world = task.make()?;
        let mut observation = vec![0.0; spec.observation_size];
        let mut action = vec![0.0; spec.action_size];
        world.reset(Some(&Seed::from(0_u64)), &mut observation)?;
        let seconds = world.scene().ok_or(ViewError::NothingToDraw)?.seconds_per_step;
        let mut at_work = HandAtWork::new(hand, spec, 0, seconds);
        let (mut total, mut steps) = (0.0, 0);
        loop {
            at_work.act(&mut action);
            let step = world.step(Action::F32(&action), &mut observation)?;
            if step.diverged || !step.reward.is_finite() {
                break;
            }
            (total, steps) = (total + step.reward, steps + 1);
            if step.done() {
                break;
            }
        }
        let mut measures = vec![0.0; spec.measures.len()];
        world.measures(&mut measures);
        if measures.len() < 2 {
            measures = vec![f64::from(steps), total];
        }
        table.id.push(i as u64 + 1);
        table.cell.push(i as u64);
        table.iteration.push(0);
        table.objective.push(total);
        table.measures.width = measures.len();
        table.measures.values.extend(measures);
        steps_of.push(f64::from(steps));
    }
    table.statistics.push(("steps".to_owned(), steps_of));
    table.seeds = Block { width: 1, values: vec![0; Hand::ALL.len()] };
    table.parameters = Block { width: 1, values: (0..Hand::ALL.len()).map(|i| i as f64).collect() };
    Ok(table)
}
