//! An emitter whose first iterations are random networks.

use std::io::Write;

use autoqd::Error;
use autoqd::emitter::{SearchEmitter, Seen};
use autoqd::evaluator::Probe;
use autoqd::policy::PolicySpec;
use autoqd_qd::{Archive, Emitter, Feedback, Restart, Rng};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;

/// Writes a random policy: weights uniform within sqrt(6 / (inputs + outputs)) (Xavier), biases 0.
pub fn random_policy(policy: &PolicySpec, random: &mut Rng, row: &mut [f64]) {
    let mut rest = row;
    for shape in policy.shapes() {
        let (own, after) = rest.split_at_mut(shape.parameter_count());
        let (weights, biases) = own.split_at_mut(shape.weight_count());
        let bound = (6.0 / (shape.inputs + shape.outputs()) as f64).sqrt();
        weights.iter_mut().for_each(|w| *w = bound * (2.0 * random.uniform() - 1.0));
        biases.fill(0.0);
        rest = after;
    }
}

/// Another emitter that comes into play after some iterations of random networks, of which it is not told.
pub struct RandomStart {
    inner: Box<dyn SearchEmitter>,
    policy: PolicySpec,
    iterations: u64,
    progress: Progress,
}

#[derive(Clone, Serialize, Deserialize)]
struct Progress {
    random: Rng,
    asked: u64,
}

impl RandomStart {
    /// `inner` after so many iterations.
    pub fn new(inner: Box<dyn SearchEmitter>, policy: PolicySpec, iterations: u64, seed: u64) -> Self {
        // Another stream than that of `inner`, which has the same seed.
        let progress = Progress { random: Rng::new(seed, 1), asked: 0 };
        Self { inner, policy, iterations, progress }
    }

    fn starting(&self) -> bool {
        self.progress.asked <= self.iterations
    }
}

impl Emitter for RandomStart {
    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }

    fn solution_dim(&self) -> usize {
        self.inner.solution_dim()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> autoqd_qd::Result<()> {
        self.progress.asked += 1;
        if !self.starting() {
            return self.inner.ask(archive, out);
        }
        let Progress { random, .. } = &mut self.progress;
        out.chunks_exact_mut(self.policy.parameter_count())
            .for_each(|row| random_policy(&self.policy, random, row));
        Ok(())
    }

    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> autoqd_qd::Result<Option<Restart>> {
        if self.starting() { Ok(None) } else { self.inner.tell(archive, feedback) }
    }
}

impl SearchEmitter for RandomStart {
    fn probes(&self) -> Result<Vec<Probe>, Error> {
        self.inner.probes()
    }

    fn absorb(&mut self, seen: &Seen<'_>) -> Result<(), Error> {
        self.inner.absorb(seen)
    }

    fn sigma(&self) -> Option<f64> {
        self.inner.sigma()
    }

    fn figures(&mut self) -> Vec<(String, f64)> {
        self.inner.figures()
    }

    fn notices(&self) -> Vec<String> {
        self.inner.notices()
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(&(&self.progress, self.inner.save()?))
            .map_err(|e| LearnError::Stored { what: "emitter", reason: e.to_string() }.into())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let (progress, inner): (Progress, Vec<u8>) = postcard::from_bytes(state)
            .map_err(|e| LearnError::Stored { what: "emitter", reason: e.to_string() })?;
        self.progress = progress;
        self.inner.load(&inner)
    }

    fn memory_len(&self) -> Option<usize> {
        self.inner.memory_len()
    }

    fn write_memory(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.inner.write_memory(out)
    }

    fn load_memory(&mut self, memory: &[u8]) -> Result<(), Error> {
        self.inner.load_memory(memory)
    }
}
