//! A search in parts: everything needed to continue exactly.
//!
//! | part | version | content |
//! |---|---|---|
//! | `search` | 2 | iteration and what was spent; version 1 was everything but `memory` in one piece |
//! | `archive` | 1 | the search archive |
//! | `result` | 1 | the result archive; none where one archive serves both purposes |
//! | `reserve` | 1 | elites without a cell; empty when missing |
//! | `scheduler` | 1 | the candidates of the last iteration and the next identity |
//! | `emitter/N` | 1 | each emitter: what [`SearchEmitter::save`] returns |
//! | `emitter/N/memory` | 1 | what is too large for that; only for those that have it |
//! | `descriptor` | 1 | what [`Descriptor::save`](crate::descriptor::Descriptor::save) returns |
//! | `memory` | 1 | what the descriptor remembers of single elites; only for those that do |

use autoqd_qd::{AddMode, AnyArchive, AnyEmitter, Reserve, SchedulerState};
use serde::{Deserialize, Serialize};

use super::Search;
use crate::Error;
use crate::emitter::SearchEmitter;
use crate::parts::{Part, Parts, PutParts, put_value, unusable};
use crate::trainer::Totals;

const SEARCH_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Progress {
    iteration: u64,
    totals: Totals,
}

/// The state of checkpoints of format version 1, in one piece.
#[derive(Deserialize)]
struct Whole {
    progress: Progress,
    archive: AnyArchive,
    result: Option<AnyArchive>,
    reserve: Reserve,
    emitters: Vec<AnyEmitter>,
    _add_mode: AddMode,
    scheduler: SchedulerState,
    descriptor: Vec<u8>,
}

impl Search {
    /// Puts the complete state.
    pub fn save(&self, parts: &mut dyn PutParts) -> Result<(), Error> {
        let progress = Progress { iteration: self.iteration, totals: self.totals };
        put_value(parts, "search", SEARCH_VERSION, &progress)?;
        put_value(parts, "archive", 1, &self.archive)?;
        self.result.as_ref().map_or(Ok(()), |result| put_value(parts, "result", 1, result))?;
        put_value(parts, "reserve", 1, &self.reserve)?;
        put_value(parts, "scheduler", 1, &self.scheduler.state())?;
        for (i, emitter) in self.scheduler.emitters().iter().enumerate() {
            parts.bytes(&emitter_part(i), 1, &emitter.save()?)?;
            if let Some(len) = emitter.memory_len() {
                parts.stream(&emitter_memory(i), 1, len, &mut |out| emitter.write_memory(out))?;
            }
        }
        parts.bytes("descriptor", 1, &self.descriptor.save()?)?;
        let Some(len) = self.descriptor.memory_len() else { return Ok(()) };
        parts.stream("memory", 1, len, &mut |out| self.descriptor.write_memory(out))
    }

    /// Restores what [`Search::save`] put. The search must have been built from the same configuration.
    pub fn load(&mut self, parts: &mut Parts) -> Result<(), Error> {
        self.load_without_memory(parts)?;
        for (i, emitter) in self.scheduler.emitters_mut().iter_mut().enumerate() {
            if emitter.memory_len().is_some() {
                emitter.load_memory(&parts.require(&emitter_memory(i), 1)?.bytes)?;
            }
        }
        if self.descriptor.memory_len().is_none() {
            return Ok(());
        }
        self.descriptor.load_memory(&parts.require("memory", 1)?.bytes)
    }

    /// The same without what the descriptor remembers of single elites, which is needed to continue, but not to
    /// describe policies.
    pub fn load_without_memory(&mut self, parts: &mut Parts) -> Result<(), Error> {
        let search = parts.require("search", SEARCH_VERSION)?;
        if search.version == 1 {
            return self.load_whole(&search);
        }
        let progress: Progress = search.value()?;
        (self.iteration, self.totals) = (progress.iteration, progress.totals);
        self.archive = parts.require("archive", 1)?.value()?;
        if self.result.is_some() {
            self.result = Some(parts.require("result", 1)?.value()?);
        }
        if let Some(reserve) = parts.optional("reserve", 1)? {
            self.reserve = reserve.value()?;
        }
        self.scheduler.restore(parts.require("scheduler", 1)?.value()?)?;
        for (i, emitter) in self.scheduler.emitters_mut().iter_mut().enumerate() {
            emitter.load(&parts.require(&emitter_part(i), 1)?.bytes)?;
        }
        self.descriptor.load(&parts.require("descriptor", 1)?.bytes)
    }

    fn load_whole(&mut self, part: &Part) -> Result<(), Error> {
        let whole: Whole = part.value()?;
        (self.iteration, self.totals) = (whole.progress.iteration, whole.progress.totals);
        (self.archive, self.result, self.reserve) = (whole.archive, whole.result, whole.reserve);
        self.scheduler.restore(whole.scheduler)?;
        let emitters = self.scheduler.emitters_mut();
        if emitters.len() != whole.emitters.len() {
            return Err(unusable(&part.name, "it has another number of emitters"));
        }
        for (emitter, stored) in emitters.iter_mut().zip(whole.emitters) {
            emitter.load(&stored.save()?)?;
        }
        self.descriptor.load(&whole.descriptor)
    }
}

fn emitter_part(index: usize) -> String {
    format!("emitter/{index}")
}

fn emitter_memory(index: usize) -> String {
    format!("emitter/{index}/memory")
}
