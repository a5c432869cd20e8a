//! An emitter: hill climbing from random elites, with a step size that grows with success and shrinks without it.

use autoqd::Error;
use autoqd::config::PartFacts;
use autoqd::emitter::SearchEmitter;
use autoqd::registry::{EmitterContext, Registry};
use autoqd_qd::{AddStatus, Archive, Emitter, Feedback, NormalSource, Restart, Rng};
use serde::{Deserialize, Serialize};

/// Registers the emitter under its name.
pub fn register(registry: &mut Registry) {
    let facts = PartFacts::new("Hill climbing from random elites with the one-fifth success rule.");
    registry.register_emitter("climb", facts, |context| Ok(Box::new(Climb::new(context))));
}

#[derive(Serialize, Deserialize)]
struct Climb {
    x0: Vec<f64>,
    sigma: f64,
    batch_size: usize,
    rng: Rng,
}

impl Climb {
    fn new(context: EmitterContext<'_>) -> Self {
        let EmitterContext { x0, sigma0: sigma, batch_size, seed, .. } = context;
        Self { x0, sigma, batch_size, rng: Rng::new(seed, 0) }
    }
}

impl Emitter for Climb {
    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn solution_dim(&self) -> usize {
        self.x0.len()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> autoqd_qd::Result<()> {
        let parents = match archive.is_empty() {
            true => Vec::new(),
            false => archive.sample(self.batch_size, &mut self.rng)?,
        };
        self.rng.fill_normal(out);
        for (i, row) in out.chunks_exact_mut(self.x0.len()).enumerate() {
            let parent = parents.get(i).map_or(&self.x0[..], |&p| archive.elites().solutions().row(p));
            row.iter_mut().zip(parent).for_each(|(x, p)| *x = p + self.sigma * *x);
        }
        Ok(())
    }

    /// One success in five keeps the step size.
    fn tell(
        &mut self,
        _archive: &dyn Archive,
        feedback: &Feedback<'_>,
    ) -> autoqd_qd::Result<Option<Restart>> {
        let successes = feedback.status.iter().filter(|status| **status != AddStatus::Rejected).count();
        let share = successes as f64 / feedback.status.len() as f64;
        self.sigma = (self.sigma * if share > 0.2 { 1.1 } else { 0.97 }).clamp(1e-4, 1.0);
        Ok(None)
    }
}

impl SearchEmitter for Climb {
    fn sigma(&self) -> Option<f64> {
        Some(self.sigma)
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(self).map_err(|e| Error::State { what: "climb", reason: e.to_string() })
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        *self =
            postcard::from_bytes(state).map_err(|e| Error::State { what: "climb", reason: e.to_string() })?;
        Ok(())
    }
}
