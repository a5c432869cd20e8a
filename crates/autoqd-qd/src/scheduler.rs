//! The scheduler: one ask and one tell over several emitters.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::archive::{AddInfo, Archive};
use crate::batch::Batch;
use crate::emitter::{AnyEmitter, Emitter, Feedback, Restart};
use crate::error::{Error, Result, check_len, check_parameter};
use crate::rows::Rows;

/// How candidates enter the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum AddMode {
    /// All at once, each compared with the archive as it was before (pyribs).
    #[default]
    Batch,
    /// One after the other, each compared with the archive that the previous one left (the paper's pseudocode).
    Single,
}

/// The caller's evaluation of the candidates of the last `ask`.
#[derive(Debug, Clone, Copy)]
pub struct Evaluations<'a> {
    /// Objectives; larger is better.
    pub objective: &'a [f64],
    /// Measures, one row per candidate.
    pub measures: Rows<'a>,
    /// Extra fields, when the archives declare some.
    pub fields: Option<Rows<'a>>,
}

/// The outcome of a `tell`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TellReport {
    /// The main archive's answer.
    pub add: AddInfo,
    /// The result archive's answer, if there is one.
    pub result: Option<AddInfo>,
    /// Emitters that started again, by their position.
    pub restarts: Vec<(usize, Restart)>,
}

/// The state of a scheduler besides its emitters, stored with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SchedulerState {
    solutions: Vec<f64>,
    ids: Vec<u64>,
    next_id: u64,
    waiting: bool,
}

/// Several emitters that share an archive. Each works on its own thread; results do not depend on the number of
/// threads. The archives stay with the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scheduler<E = AnyEmitter> {
    emitters: Vec<E>,
    add_mode: AddMode,
    solutions: Vec<f64>,
    ids: Vec<u64>,
    next_id: u64,
    waiting: bool,
}

impl<E: Emitter> Scheduler<E> {
    /// A scheduler in batch mode.
    ///
    /// # Errors
    /// When there is no emitter or they disagree about the size of a solution.
    pub fn new(emitters: Vec<E>) -> Result<Self> {
        check_parameter(!emitters.is_empty(), "emitters", 0, "give at least one emitter")?;
        let dim = emitters[0].solution_dim();
        for emitter in &emitters {
            check_len("solution size of an emitter", dim, emitter.solution_dim(), "give all the same size")?;
        }
        let rows: usize = emitters.iter().map(Emitter::batch_size).sum();
        let solutions = vec![0.0; rows * dim];
        Ok(Self {
            emitters,
            add_mode: AddMode::Batch,
            solutions,
            ids: vec![0; rows],
            next_id: 0,
            waiting: false,
        })
    }

    /// Sets how candidates enter the archive.
    pub fn with_add_mode(mut self, add_mode: AddMode) -> Self {
        self.add_mode = add_mode;
        self
    }

    /// The emitters.
    pub fn emitters(&self) -> &[E] {
        &self.emitters
    }

    /// The emitters.
    pub fn emitters_mut(&mut self) -> &mut [E] {
        &mut self.emitters
    }

    /// The state besides the emitters.
    pub fn state(&self) -> SchedulerState {
        SchedulerState {
            solutions: self.solutions.clone(),
            ids: self.ids.clone(),
            next_id: self.next_id,
            waiting: self.waiting,
        }
    }

    /// Restores what [`Scheduler::state`] returned.
    ///
    /// # Errors
    /// When the number or size of the emitters' candidates differs.
    pub fn restore(&mut self, state: SchedulerState) -> Result<()> {
        let remedy = "restore it into a scheduler with the same emitters";
        check_len("stored candidates", self.ids.len(), state.ids.len(), remedy)?;
        check_len("parameters of stored candidates", self.solutions.len(), state.solutions.len(), remedy)?;
        (self.solutions, self.ids) = (state.solutions, state.ids);
        (self.next_id, self.waiting) = (state.next_id, state.waiting);
        Ok(())
    }

    /// Candidates per iteration.
    pub fn batch_size(&self) -> usize {
        self.ids.len()
    }

    /// Candidates of the last `ask`.
    pub fn solutions(&self) -> Rows<'_> {
        Rows::trusted(&self.solutions, self.emitters[0].solution_dim())
    }

    /// Identities of the candidates of the last `ask`; no identity is ever given twice.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Rows of each emitter in the batch.
    pub fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let mut block = |e: &E| {
            let range = start..start + e.batch_size();
            start = range.end;
            range
        };
        self.emitters.iter().map(&mut block).collect()
    }

    /// Asks every emitter; the rows of the first emitter come first.
    ///
    /// # Errors
    /// When the size of the archive's solutions differs.
    pub fn ask(&mut self, archive: &dyn Archive) -> Result<Rows<'_>> {
        let dim = self.emitters[0].solution_dim();
        check_len("solution size of the archive", dim, archive.schema().solution_dim(), "use one size")?;
        let mut rest = &mut self.solutions[..];
        let mut jobs = Vec::with_capacity(self.emitters.len());
        for emitter in &mut self.emitters {
            let (block, tail) = rest.split_at_mut(emitter.batch_size() * dim);
            jobs.push((emitter, block));
            rest = tail;
        }
        jobs.into_par_iter().map(|(emitter, block)| emitter.ask(archive, block)).collect::<Result<()>>()?;
        for id in &mut self.ids {
            (*id, self.next_id) = (self.next_id, self.next_id + 1);
        }
        self.waiting = true;
        Ok(self.solutions())
    }

    /// Inserts the evaluated candidates into the archive, then into the result archive, and tells the emitters.
    ///
    /// # Errors
    /// When sizes do not fit, in strict mode, or without a preceding `ask`.
    pub fn tell(
        &mut self,
        archive: &mut dyn Archive,
        result: Option<&mut dyn Archive>,
        evaluations: &Evaluations<'_>,
    ) -> Result<TellReport> {
        self.check_waiting()?;
        let mut batch =
            Batch::new(self.solutions(), evaluations.objective, evaluations.measures).with_ids(&self.ids);
        batch.fields = evaluations.fields;
        if archive.strict() || result.as_ref().is_some_and(|r| r.strict()) {
            batch.check_all_finite()?;
        }
        result.as_ref().map_or(Ok(()), |r| batch.check(r.schema()))?;
        let add = insert(self.add_mode, archive, &batch)?;
        let result = result.map(|result| insert(self.add_mode, result, &batch)).transpose()?;
        let restarts = self.tell_emitters(archive, evaluations, &add)?;
        Ok(TellReport { add, result, restarts })
    }

    /// Tells the emitters only, for callers that insert candidates themselves.
    ///
    /// # Errors
    /// When sizes do not fit, or without a preceding `ask`.
    pub fn tell_emitters(
        &mut self,
        archive: &dyn Archive,
        evaluations: &Evaluations<'_>,
        add: &AddInfo,
    ) -> Result<Vec<(usize, Restart)>> {
        self.check_waiting()?;
        let (n, remedy) = (self.batch_size(), "give one entry per candidate");
        check_len("objectives", n, evaluations.objective.len(), remedy)?;
        check_len("rows of measures", n, evaluations.measures.len(), remedy)?;
        check_len("statuses", n, add.status.len(), remedy)?;
        check_len("values", n, add.value.len(), remedy)?;
        let all = Feedback {
            objective: evaluations.objective,
            measures: evaluations.measures,
            status: &add.status,
            value: &add.value,
            fields: evaluations.fields,
        };
        self.waiting = false;
        let jobs: Vec<_> = self.blocks().into_iter().zip(&mut self.emitters).collect();
        let tell =
            |(rows, emitter): (std::ops::Range<usize>, &mut E)| emitter.tell(archive, &all.slice(rows));
        let restarts: Vec<Option<Restart>> = jobs.into_par_iter().map(tell).collect::<Result<_>>()?;
        Ok(restarts.into_iter().enumerate().filter_map(|(i, r)| r.map(|r| (i, r))).collect())
    }

    fn check_waiting(&self) -> Result<()> {
        let remedy = "call ask, evaluate its candidates, then tell once";
        if self.waiting { Ok(()) } else { Err(Error::Order { call: "Scheduler::tell", remedy }) }
    }
}

fn insert(mode: AddMode, archive: &mut dyn Archive, batch: &Batch<'_>) -> Result<AddInfo> {
    match mode {
        AddMode::Batch => archive.add(batch),
        AddMode::Single => archive.add_single(batch),
    }
}
