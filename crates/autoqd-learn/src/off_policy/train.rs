//! The loop as what a run folder keeps of it.
//!
//! | part | version | content |
//! |---|---|---|
//! | `off-policy` | 1 | counts, latest returns, population, and the present episode |
//! | `off-policy/agent` | 1 | networks and optimisers |
//! | `off-policy/replay` | 1 | the replay buffer, streamed |

use autoqd::Error;
use autoqd::config::RunConfig;
use autoqd::parts::{Parts, PutParts, put_value};
use autoqd::policy::PolicySpec;
use autoqd::run_folder::ArchiveTable;
use autoqd::trainer::{Iteration, Totals, Trainer};
use autoqd_env::EnvSpec;

use super::walk::Path;
use super::{Agent, OffPolicy, Progress, row_shape};
use crate::evaluated;
use crate::replay::memory_note;

const PART: &str = "off-policy";
const AGENT: &str = "off-policy/agent";
const REPLAY: &str = "off-policy/replay";

impl<A: Agent> Trainer for OffPolicy<A> {
    fn config(&self) -> &RunConfig {
        &self.config
    }

    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn policy(&self) -> &PolicySpec {
        &self.policy
    }

    fn iteration(&self) -> u64 {
        self.progress.iteration
    }

    fn totals(&self) -> Totals {
        self.progress.totals
    }

    fn candidates(&self) -> usize {
        self.agent.policies()
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn physics_note(&self) -> String {
        format!("training on the reference simulator, evaluations on: {}", self.evaluator.physics_note())
    }

    fn evaluator(&self) -> Option<&dyn autoqd::evaluator::Evaluator> {
        Some(&*self.evaluator)
    }

    fn notices(&self) -> Vec<String> {
        vec![memory_note(row_shape(&self.spec, &self.options), self.options.buffer)]
    }

    fn step(&mut self) -> Result<Iteration, Error> {
        self.advance()
    }

    /// The policies as they were evaluated last.
    fn population(&self) -> ArchiveTable {
        let rows = &self.progress.population;
        let policies = self.agent.policies() as u64;
        let ids = rows.iter().zip(0..).map(|(row, i)| (row.iteration - 1) * policies + i).collect();
        evaluated::table(rows, ids, &self.config, &self.spec)
    }

    fn save(&self, parts: &mut dyn PutParts) -> Result<(), Error> {
        put_value(parts, PART, 1, &(&self.progress, self.walk.path()))?;
        parts.bytes(AGENT, 1, &self.agent.save()?)?;
        parts.stream(REPLAY, 1, self.replay.stored_len(), &mut |out| self.replay.write(out))
    }

    fn load(&mut self, parts: &mut Parts) -> Result<(), Error> {
        let (progress, path): (Progress, Path) = parts.require(PART, 1)?.value()?;
        self.agent.load(&parts.require(AGENT, 1)?.bytes)?;
        self.replay.read(&parts.require(REPLAY, 1)?.bytes)?;
        self.progress = progress;
        self.walk.follow(path)
    }
}
