//! A search in bytes: everything needed to go on exactly.

use autoqd_qd::{AnyArchive, Reserve, Scheduler};
use serde::{Deserialize, Serialize};

use super::{Search, Totals};
use crate::Error;

/// What is written; borrows, so that saving copies nothing but bytes.
#[derive(Serialize)]
struct Written<'a> {
    iteration: u64,
    totals: Totals,
    archive: &'a AnyArchive,
    result: &'a Option<AnyArchive>,
    reserve: &'a Reserve,
    scheduler: &'a Scheduler,
    descriptor: Vec<u8>,
}

#[derive(Deserialize)]
struct Read {
    iteration: u64,
    totals: Totals,
    archive: AnyArchive,
    result: Option<AnyArchive>,
    reserve: Reserve,
    scheduler: Scheduler,
    descriptor: Vec<u8>,
}

impl Search {
    /// The complete state, but for what the descriptor remembers of single elites ([`Search::load_memory`]).
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let state = Written {
            iteration: self.iteration,
            totals: self.totals,
            archive: &self.archive,
            result: &self.result,
            reserve: &self.reserve,
            scheduler: &self.scheduler,
            descriptor: self.descriptor.save()?,
        };
        postcard::to_allocvec(&state).map_err(|e| Error::State { what: "search", reason: e.to_string() })
    }

    /// Puts back what the descriptor remembers of single elites ([`Descriptor::write_memory`]), which is needed to go on,
    /// but not to describe policies.
    ///
    /// [`Descriptor::write_memory`]: crate::descriptor::Descriptor::write_memory
    pub fn load_memory(&mut self, memory: &[u8]) -> Result<(), Error> {
        self.descriptor.load_memory(memory)
    }

    /// Puts back what [`Search::save`] returned. The search must have been built from the same configuration.
    pub fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        let read: Read = postcard::from_bytes(state)
            .map_err(|e| Error::State { what: "search", reason: e.to_string() })?;
        self.descriptor.load(&read.descriptor)?;
        self.iteration = read.iteration;
        self.totals = read.totals;
        self.archive = read.archive;
        self.result = read.result;
        self.reserve = read.reserve;
        self.scheduler = read.scheduler;
        Ok(())
    }
}
