//! What a descriptor wants to see of a rollout.

use crate::kernels::Instructions;

/// What one probe collected over one episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Numbers that summarise the episode, for instance its embedding.
    Summary(Vec<f64>),
    /// Observations picked from the episode, row-major.
    States(Vec<f32>),
}

impl Record {
    /// The summary.
    ///
    /// # Panics
    /// If the record holds states: a descriptor reads only the records of its own probes.
    pub fn summary(&self) -> &[f64] {
        match self {
            Record::Summary(values) => values,
            Record::States(_) => panic!("a record of states where a summary was expected"),
        }
    }

    /// The picked observations.
    ///
    /// # Panics
    /// If the record holds a summary: a descriptor reads only the records of its own probes.
    pub fn states(&self) -> &[f32] {
        match self {
            Record::States(values) => values,
            Record::Summary(_) => panic!("a record of a summary where states were expected"),
        }
    }
}

/// An immutable snapshot of what a descriptor needs to watch rollouts of one iteration.
///
/// A probe is shared by all threads; each world gets its own [`Watcher`] from it.
pub trait Probe: Send + Sync {
    /// Makes a watcher for one world; it is used for one episode after the other. Its kernels, if it has any, should
    /// use `instructions`, which suit the simulator they run beside and change no bits.
    fn watcher(&self, instructions: Instructions) -> Box<dyn Watcher>;
}

/// Watches the episodes of one world.
pub trait Watcher: Send {
    /// An episode starts. `seed` is the episode's own, for whatever is drawn at random.
    fn begin(&mut self, seed: u64);

    /// The state before a step and the action taken in it, as sent to the task.
    fn observe(&mut self, observation: &[f64], action: &[f32]);

    /// The episode ended in `last`, the observation that the last step returned.
    fn finish(&mut self, last: &[f64]) -> Record;
}
