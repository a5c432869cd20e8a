//! DvD-ES as what a run folder keeps of it.
//!
//! | part | version | content |
//! |---|---|---|
//! | `dvd-es` | 1 | iteration, what was spent, agents, bandit, states, population |
//! | `dvd-es/adam` | 1 | the moments of all agents' weights |

use autoqd::Error;
use autoqd::config::RunConfig;
use autoqd::evaluator::Evaluator;
use autoqd::parts::{Parts, PutParts, put_value};
use autoqd::policy::PolicySpec;
use autoqd::run_folder::ArchiveTable;
use autoqd::trainer::{Iteration, Totals, Trainer};
use autoqd_env::EnvSpec;
use serde::{Deserialize, Serialize};

use super::DvdEs;
use super::agent::Agent;
use super::bandit::Bandit;
use super::states::Reservoir;
use crate::adam::Adam;
use crate::evaluated::{self, Evaluated};

const PART: &str = "dvd-es";
const ADAM: &str = "dvd-es/adam";

#[derive(Serialize, Deserialize)]
struct State {
    iteration: u64,
    totals: Totals,
    agents: Vec<Agent>,
    bandit: Bandit,
    reservoir: Reservoir,
    population: Vec<Evaluated>,
}

impl Trainer for DvdEs {
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
        self.iteration
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    /// Two per pair, and one per agent after the update.
    fn candidates(&self) -> usize {
        2 * self.pairs_of_all() + self.agents.len()
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn physics_note(&self) -> String {
        self.evaluator.physics_note()
    }

    fn evaluator(&self) -> Option<&dyn Evaluator> {
        Some(&*self.evaluator)
    }

    fn step(&mut self) -> Result<Iteration, Error> {
        self.advance()
    }

    /// The agents as they were evaluated last (released) or at their best (fixed).
    fn population(&self) -> ArchiveTable {
        let rows = &self.population;
        let ids = rows.iter().zip(0..).map(|(row, agent)| self.id(row.iteration, agent)).collect();
        evaluated::table(rows, ids, &self.config, &self.spec)
    }

    fn save(&self, parts: &mut dyn PutParts) -> Result<(), Error> {
        let state = State {
            iteration: self.iteration,
            totals: self.totals,
            agents: self.agents.clone(),
            bandit: self.bandit.clone(),
            reservoir: self.reservoir.clone(),
            population: self.population.clone(),
        };
        put_value(parts, PART, 1, &state)?;
        put_value(parts, ADAM, 1, &self.adam.moments())
    }

    fn load(&mut self, parts: &mut Parts) -> Result<(), Error> {
        let state: State = parts.require(PART, 1)?.value()?;
        if state.agents.len() != self.agents.len()
            || state.agents.iter().any(|agent| agent.weights.len() != self.weights())
        {
            let reason = "it has other agents than the configuration".to_owned();
            return Err(Error::State { what: "agents", reason });
        }
        let adam = Adam::new(self.adam.len(), self.settings.learning_rate, None);
        let moments = parts.require(ADAM, 1)?.value()?;
        self.adam = adam
            .continued(state.iteration, moments)
            .ok_or_else(|| Error::State { what: "optimiser", reason: "it has another size".to_owned() })?;
        (self.iteration, self.totals) = (state.iteration, state.totals);
        (self.agents, self.population) = (state.agents, state.population);
        (self.bandit, self.reservoir) = (state.bandit, state.reservoir);
        Ok(())
    }
}

impl DvdEs {
    /// The number of an agent's evaluation among all candidates of the run: after the pairs of its iteration.
    fn id(&self, iteration: u64, agent: u64) -> u64 {
        (iteration - 1) * self.candidates() as u64 + 2 * self.pairs_of_all() as u64 + agent
    }
}
