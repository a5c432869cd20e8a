//! The search as a trainer: what a run folder stores of it.

use std::collections::BTreeMap;

use autoqd_env::EnvSpec;
use autoqd_qd::{AnyArchive, Archive, Population};

use super::Search;
use super::build::{FEATURES, HAND_DESIGNED, STATISTICS};
use crate::Error;
use crate::config::RunConfig;
use crate::evaluator::Evaluator;
use crate::parts::{Parts, PutParts};
use crate::policy::PolicySpec;
use crate::run_folder::{ArchiveTable, Block, Tensor};
use crate::trainer::{Iteration, Totals, Trainer};

impl Trainer for Search {
    fn config(&self) -> &RunConfig {
        self.config()
    }

    fn spec(&self) -> &EnvSpec {
        self.spec()
    }

    fn policy(&self) -> &PolicySpec {
        self.policy()
    }

    fn iteration(&self) -> u64 {
        self.iteration()
    }

    fn totals(&self) -> Totals {
        self.totals()
    }

    fn candidates(&self) -> usize {
        self.scheduler.batch_size()
    }

    fn threads(&self) -> usize {
        self.threads()
    }

    fn physics_note(&self) -> String {
        self.physics_note()
    }

    fn notices(&self) -> Vec<String> {
        self.scheduler.emitters().iter().flat_map(|emitter| emitter.notices()).collect()
    }

    fn evaluator(&self) -> Option<&dyn Evaluator> {
        Some(&*self.evaluator)
    }

    fn next_refit(&self) -> Option<u64> {
        self.config.next_refit(self.iteration, self.descriptor.refits())
    }

    fn step(&mut self) -> Result<Iteration, Error> {
        self.step()
    }

    /// The result archive.
    fn population(&self) -> ArchiveTable {
        let elites = self.result().elites();
        let measured = self.spec().measures.iter().map(|measure| format!("hand_{}", measure.name));
        let mut statistics =
            field_columns(elites, STATISTICS, ["return_std", "length_mean"].map(str::to_owned));
        statistics.extend(field_columns(elites, HAND_DESIGNED, measured));
        ArchiveTable {
            cell: cells(self.result()),
            id: elites.ids().to_vec(),
            iteration: elites.ids().iter().map(|id| self.origin(*id).0).collect(),
            objective: elites.objectives().to_vec(),
            measures: Block {
                width: elites.measures().width(),
                values: elites.measures().as_slice().to_vec(),
            },
            statistics,
            seeds: Block {
                width: self.config().episodes,
                values: elites.ids().iter().flat_map(|id| self.evaluation_seeds(*id)).collect(),
            },
            features: field_block(elites, FEATURES),
            parameters: Block {
                width: elites.solutions().width(),
                values: elites.solutions().as_slice().to_vec(),
            },
            metadata: BTreeMap::from([
                ("task".to_owned(), self.config().task.clone()),
                ("method".to_owned(), self.config().method.to_string()),
            ]),
        }
    }

    fn tensors(&self) -> Vec<Tensor> {
        self.descriptor.tensors()
    }

    fn save(&self, parts: &mut dyn PutParts) -> Result<(), Error> {
        self.save(parts)
    }

    fn load(&mut self, parts: &mut Parts) -> Result<(), Error> {
        self.load(parts)
    }
}

/// The numbers of a field of every elite; none where no elite has the field.
fn field_block(elites: &Population, field: &str) -> Block<f64> {
    let Ok(range) = elites.schema().field_range(field) else { return Block::default() };
    let values = elites.fields().iter().flat_map(|row| row[range.clone()].iter().copied()).collect();
    Block { width: range.len(), values }
}

/// The numbers of a field, each in a column with a name.
fn field_columns(
    elites: &Population,
    field: &str,
    names: impl IntoIterator<Item = String>,
) -> Vec<(String, Vec<f64>)> {
    let range = elites.schema().field_range(field).unwrap_or_default();
    let column = |at: usize| elites.fields().iter().map(|row| row[at]).collect();
    names.into_iter().zip(range).map(|(name, at)| (name, column(at))).collect()
}

/// The cell of each elite; its place in the list where the archive has no cells.
fn cells(archive: &AnyArchive) -> Vec<u64> {
    match archive {
        AnyArchive::Grid(grid) => grid.cells().map(|cell| cell as u64).collect(),
        AnyArchive::Cvt(cvt) => cvt.cells().map(|cell| cell as u64).collect(),
        _ => (0..archive.len() as u64).collect(),
    }
}
