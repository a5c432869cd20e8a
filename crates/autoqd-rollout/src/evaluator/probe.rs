//! What to collect from rollouts, as data, and the watchers that collect it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::Error;

/// What to collect during rollouts: a kind of probe by name, and its constants in bytes.
///
/// Being data, a probe can be sent to wherever the rollouts happen. The evaluator there makes [`Watcher`]s from it, for
/// which its kind must be among the evaluator's [`ProbeKinds`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    kind: String,
    constants: Vec<u8>,
}

impl Probe {
    /// The probe of a kind with the given constants.
    ///
    /// ```
    /// use autoqd_rollout::evaluator::{Probe, Transitions};
    /// assert_eq!(Probe::new(&Transitions)?.kind(), "transitions");
    /// # Ok::<(), autoqd_rollout::Error>(())
    /// ```
    pub fn new<K: ProbeKind>(constants: &K) -> Result<Self, Error> {
        let bytes = postcard::to_allocvec(constants).map_err(|e| bad_constants(K::NAME, &e))?;
        Ok(Self { kind: K::NAME.to_owned(), constants: bytes })
    }

    /// Name of its kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

fn bad_constants(kind: &str, error: &postcard::Error) -> Error {
    Error::Probe { kind: kind.to_owned(), reason: format!("its constants cannot be read ({error})") }
}

/// A kind of probe; the value holds the constants of one.
///
/// Everything a watcher does may depend on the constants, the episode's seed and the steps alone: an evaluation is a
/// pure function, wherever it runs.
pub trait ProbeKind: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name under which it is registered.
    const NAME: &'static str;

    /// Makes a watcher for one world; it is used for one episode after the other.
    fn watcher(self: &Arc<Self>) -> Box<dyn Watcher>;
}

/// One step of an episode.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// What the policy saw.
    pub observation: &'a [f64],
    /// What it did, as sent to the task.
    pub action: &'a [f32],
    /// The reward; 0 if the step diverged.
    pub reward: f64,
    /// The next observation; numbers that are not finite are 0.
    pub next_observation: &'a [f64],
    /// The task ended the episode (a fall, a goal).
    pub terminated: bool,
    /// The step limit ended the episode.
    pub truncated: bool,
    /// The simulation diverged: the episode is over, and this step's outcome is meaningless.
    pub diverged: bool,
}

/// Watches the episodes of one world.
pub trait Watcher: Send {
    /// An episode starts. `seed` is the episode's own, for whatever is drawn at random.
    fn begin(&mut self, seed: u64);

    /// A step was taken.
    fn step(&mut self, step: &Step<'_>);

    /// The episode ended in `last`, the observation that the last step returned.
    fn finish(&mut self, last: &[f64]) -> Record;

    /// The watcher runs beside a simulator that is scalar code, where wide vector kernels cost more than they save.
    fn beside_scalar(&mut self) {}
}

/// Makes watchers of one probe.
pub(super) type MakeWatcher = Box<dyn Fn() -> Box<dyn Watcher> + Send + Sync>;
type Decode = fn(&[u8]) -> Result<MakeWatcher, postcard::Error>;

/// The kinds of probes that an evaluator can make watchers for.
#[derive(Clone)]
pub struct ProbeKinds(BTreeMap<&'static str, Decode>);

impl ProbeKinds {
    /// No kind but [`Transitions`](super::Transitions). [`ProbeKinds::default`] also has those of the embedding.
    pub fn plain() -> Self {
        let mut kinds = Self(BTreeMap::new());
        kinds.register::<super::Transitions>();
        kinds
    }

    /// Adds a kind.
    pub fn register<K: ProbeKind>(&mut self) {
        self.0.insert(K::NAME, |bytes| {
            let constants: Arc<K> = Arc::new(postcard::from_bytes(bytes)?);
            Ok(Box::new(move || constants.watcher()))
        });
    }

    /// What makes the watchers of a probe.
    pub(super) fn decode(&self, probe: &Probe) -> Result<MakeWatcher, Error> {
        let decode = self.0.get(probe.kind()).ok_or_else(|| Error::Probe {
            kind: probe.kind.clone(),
            reason: format!(
                "this evaluator knows {}; register its kind where the evaluator is made",
                self.0.keys().copied().collect::<Vec<_>>().join(", ")
            ),
        })?;
        decode(&probe.constants).map_err(|e| bad_constants(&probe.kind, &e))
    }
}
