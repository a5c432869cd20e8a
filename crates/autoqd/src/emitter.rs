//! Emitters of a search over policies: those of `autoqd-qd`, and any that also learn from rollouts.

use std::io::Write;

use autoqd_qd::{AnyEmitter, Archive, Emitter, EvolutionStrategy, Feedback, Restart, Rows, StartPoint};

use crate::Error;
use crate::evaluator::{Evaluation, Probe, Record};

/// An emitter that a search can ask, tell, save and continue.
///
/// Beyond [`Emitter`], it may ask for probes and learn from the records of *all* candidates of an iteration, for
/// instance from their transitions. Everything it does may depend on its state and what it is told alone: the same
/// search must give the same bytes for any number of threads.
pub trait SearchEmitter: Emitter + Sync {
    /// What this emitter needs to observe in the next iteration's rollouts.
    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(Vec::new())
    }

    /// Takes in what the probes collected for all candidates, before it is told the outcome of its own. Only called for
    /// emitters with probes.
    fn absorb(&mut self, _seen: &Seen<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// The present step size, for those that have one.
    fn sigma(&self) -> Option<f64> {
        None
    }

    /// Numbers of this emitter alone, such as losses, by name; asked for once after each iteration.
    fn figures(&mut self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// What a user should know before a run starts, such as the memory it will take.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// The state, for a checkpoint.
    fn save(&self) -> Result<Vec<u8>, Error>;

    /// Restores what [`SearchEmitter::save`] returned.
    fn load(&mut self, state: &[u8]) -> Result<(), Error>;

    /// Bytes that [`SearchEmitter::write_memory`] writes; none for an emitter that keeps nothing large.
    fn memory_len(&self) -> Option<usize> {
        None
    }

    /// Writes what is too large to be held twice, such as a replay buffer, for a checkpoint.
    fn write_memory(&self, _out: &mut dyn Write) -> std::io::Result<()> {
        Ok(())
    }

    /// Restores what [`SearchEmitter::write_memory`] wrote.
    fn load_memory(&mut self, _memory: &[u8]) -> Result<(), Error> {
        Ok(())
    }
}

/// What an emitter sees in an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Parameters of all candidates.
    pub solutions: Rows<'a>,
    /// Identities of all candidates.
    pub ids: &'a [u64],
    /// Evaluations of all candidates.
    pub evaluations: &'a [Evaluation],
    /// Where the records of this emitter's probes are among those of an episode.
    pub(crate) places: &'a [usize],
}

impl<'a> Seen<'a> {
    /// What this emitter's probe number `probe` collected, episode after episode of candidate after candidate.
    pub fn records(&self, probe: usize) -> impl Iterator<Item = &'a Record> {
        let place = self.places[probe];
        self.evaluations.iter().flat_map(|e| &e.episodes).map(move |episode| &episode.records[place])
    }
}

impl Emitter for Box<dyn SearchEmitter> {
    fn batch_size(&self) -> usize {
        self.as_ref().batch_size()
    }

    fn solution_dim(&self) -> usize {
        self.as_ref().solution_dim()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> autoqd_qd::Result<()> {
        self.as_mut().ask(archive, out)
    }

    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> autoqd_qd::Result<Option<Restart>> {
        self.as_mut().tell(archive, feedback)
    }

    fn restart(&mut self, archive: &dyn Archive, at: StartPoint) -> autoqd_qd::Result<Option<Restart>> {
        self.as_mut().restart(archive, at)
    }
}

impl SearchEmitter for AnyEmitter {
    fn sigma(&self) -> Option<f64> {
        Some(self.as_es()?.strategy().sigma())
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(self).map_err(|e| Error::State { what: "emitter", reason: e.to_string() })
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        // A setting of the run, not part of the state.
        let arithmetic = self.as_es().map(|es| es.strategy().arithmetic());
        *self = postcard::from_bytes(state)
            .map_err(|e| Error::State { what: "emitter", reason: e.to_string() })?;
        if let (Some(es), Some(arithmetic)) = (self.as_es_mut(), arithmetic) {
            es.strategy_mut().set_arithmetic(arithmetic);
        }
        Ok(())
    }
}

/// The probes of a descriptor and of several emitters as one list, in which what several ask for appears once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbePlan {
    /// What the evaluator is given; the descriptor's own come first, in its order.
    pub probes: Vec<Probe>,
    /// Places of each emitter's records.
    pub places: Vec<Vec<usize>>,
}

impl ProbePlan {
    pub(crate) fn new(descriptor: Vec<Probe>, emitters: &[Box<dyn SearchEmitter>]) -> Result<Self, Error> {
        let mut plan = Self { probes: descriptor, places: Vec::with_capacity(emitters.len()) };
        for emitter in emitters {
            let places = emitter.probes()?.into_iter().map(|probe| plan.place(probe)).collect();
            plan.places.push(places);
        }
        Ok(plan)
    }

    fn place(&mut self, probe: Probe) -> usize {
        self.probes.iter().position(|known| *known == probe).unwrap_or_else(|| {
            self.probes.push(probe);
            self.probes.len() - 1
        })
    }
}
