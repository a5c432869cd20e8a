//! The best elites once more: what the search found is the best of many tries, and a few fresh episodes say what is left.

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::protocol::{Protocol, Round, round_seeds};
use crate::rollouts::Rollouts;
use crate::run::LoadedRun;
use autoqd_statistics::Estimate;
use autoqd_statistics::top_fraction;

/// An elite that was rolled out again.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// Its id.
    pub id: u64,
    /// Return that the search found.
    pub found: f64,
    /// Return with fresh seeds; `None` if every episode diverged.
    pub fresh: Option<Estimate>,
}

/// Rolls out the `count` best elites of a run with `episodes` seeds that no search uses, the best first. The seeds are
/// always the same, so that asking again gives the same numbers.
pub fn best_again(
    run: &LoadedRun,
    count: usize,
    episodes: usize,
    bench: &Bench,
) -> Result<Vec<Again>, MeasureError> {
    let mut best = top_fraction(&run.table.objective, 1.0);
    best.truncate(count);
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let seeds = round_seeds(Protocol::default().seed, Round::Recheck, episodes.max(1));
    let rollouts = Rollouts::new(run, run.task(bench.registry())?, "", bench)?;
    let results = rollouts.run(&best, &seeds, None, None, &mut ())?;
    let again = |(row, result): (&usize, &crate::rollouts::PolicyResult)| Again {
        id: run.table.id[*row],
        found: run.table.objective[*row],
        fresh: Estimate::of(&result.returns),
    };
    Ok(best.iter().zip(&results).map(again).collect())
}
