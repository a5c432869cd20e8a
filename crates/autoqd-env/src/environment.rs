//! One world: reset, step, and the hand-designed measures of the episode.

use crate::{EnvError, Pose, Scene, Seed};

/// One hand-designed behaviour measure of a task and its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureSpec {
    /// Name as shown in tables and file columns.
    pub name: String,
    /// Smallest value the measure can take.
    pub low: f64,
    /// Largest value the measure can take.
    pub high: f64,
}

/// One number that a task tells about a world besides observation and reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoSpec {
    /// Name, the one that Gymnasium uses.
    pub name: &'static str,
    /// Whether it is known after a reset already, not only after a step.
    pub at_reset: bool,
}

/// What a task looks like from outside: sizes, bounds, limits and names.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvSpec {
    /// Short name, for instance `half-cheetah`.
    pub name: String,
    /// Length of an observation.
    pub observation_size: usize,
    /// Length of an action.
    pub action_size: usize,
    /// Lower bound of each action component.
    pub action_low: Vec<f64>,
    /// Upper bound of each action component.
    pub action_high: Vec<f64>,
    /// Steps after which an episode is truncated.
    pub max_episode_steps: usize,
    /// Names of the reward terms, in the order of [`Environment::reward_terms`].
    pub reward_terms: Vec<String>,
    /// The hand-designed measures.
    pub measures: Vec<MeasureSpec>,
    /// Lowest objective that counts: threshold_min of the search archive and offset of the QD score.
    pub objective_min: f64,
}

/// An action, or the actions of a batch row by row, in the precision in which the caller holds it.
///
/// Gymnasium computes some reward terms in the precision of the action array, so the two give different bits.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Single precision, as a policy network produces it.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

impl Action<'_> {
    /// Number of components.
    pub fn len(&self) -> usize {
        match self {
            Action::F32(a) => a.len(),
            Action::F64(a) => a.len(),
        }
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `row` of actions of `width` components, which follow each other.
    pub fn row(self, row: usize, width: usize) -> Self {
        let range = row * width..(row + 1) * width;
        match self {
            Action::F32(a) => Action::F32(&a[range]),
            Action::F64(a) => Action::F64(&a[range]),
        }
    }

    /// Component `i`, widened.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Action::F32(a) => f64::from(a[i]),
            Action::F64(a) => a[i],
        }
    }
}

/// A world as its own program draws it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes per pixel, row by row.
    pub rgb: Vec<u8>,
    /// Steps of the task in a second of the world's own time.
    pub steps_per_second: f64,
}

/// What one step returned besides the observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transition {
    /// Reward of this step.
    pub reward: f64,
    /// The task ended the episode (a fall, a goal).
    pub terminated: bool,
    /// The step limit ended the episode.
    pub truncated: bool,
    /// The simulator's state diverged or was not finite: the episode is over, and this step's reward and
    /// observation must not be used.
    pub diverged: bool,
}

impl Transition {
    /// Whether the episode is over.
    pub fn done(&self) -> bool {
        self.terminated || self.truncated || self.diverged
    }
}

/// One world of a task.
///
/// After `reset(Some(seed))` an episode is a pure function of the seed and the actions.
pub trait Environment: Send {
    /// Sizes, bounds and names.
    fn spec(&self) -> &EnvSpec;

    /// Starts an episode and writes its first observation. Without a seed the random stream continues.
    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError>;

    /// Advances one step and writes the new observation.
    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError>;

    /// Writes the hand-designed measures of the episode so far.
    fn measures(&self, out: &mut [f64]);

    /// The reward terms of the last step, in the order of [`EnvSpec::reward_terms`].
    fn reward_terms(&self) -> &[f64] {
        &[]
    }

    /// What [`Self::info`] tells, in its order.
    fn infos(&self) -> &[InfoSpec] {
        &[]
    }

    /// Writes what the task tells about the world besides observation and reward.
    fn info(&self, _out: &mut [f64]) {}

    /// What the world of the current episode looks like; `None` for a task that cannot be drawn.
    fn scene(&self) -> Option<Scene> {
        None
    }

    /// The world as it draws itself now, for one without a scene that came from
    /// [`Task::make_pictured`](crate::Task::make_pictured).
    fn picture(&mut self) -> Result<Option<Picture>, EnvError> {
        Ok(None)
    }

    /// Brings the world's state nearer to the processor: its step comes soon. Changes nothing.
    fn prefetch(&self) {}

    /// Where the shapes of [`Self::scene`] are now, one pose per shape; reading them changes nothing.
    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
    }
}
