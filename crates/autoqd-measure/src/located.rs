//! The policies of a population as points of a space in which they can be compared.

use crate::bench::Bench;
use crate::error::MeasureError;
use crate::evaluation::Study;
use crate::protocol::Protocol;
use crate::reference::Reference;
use crate::rollouts::{PolicyResult, Progress};
use crate::run::LoadedRun;
use autoqd_statistics::Points;

/// Policies with their places in a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The policies that have a place.
    pub policies: Vec<usize>,
    /// What the reader should know.
    pub notices: Vec<String>,
    dimension: usize,
    values: Vec<f64>,
}

impl Located {
    /// One row per entry of `policies`.
    pub fn points(&self) -> Points<'_> {
        Points::new(&self.values, self.dimension)
    }

    /// Keeps the policies that have a row, and says how many have none.
    fn new(rows: impl Iterator<Item = Option<Vec<f64>>>, dimension: usize, why_not: &str) -> Self {
        let (mut policies, mut values, mut left_out) = (Vec::new(), Vec::new(), 0);
        for (i, row) in rows.enumerate() {
            match row {
                Some(row) => {
                    policies.push(i);
                    values.extend(row);
                }
                None => left_out += 1,
            }
        }
        let notice = format!("{left_out} policies left out, {why_not}");
        let notices = (left_out > 0).then_some(notice).into_iter().collect();
        Self { policies, notices, dimension, values }
    }
}

/// The policies by the measures that their run stored.
pub fn locate_by_measures(population: &LoadedRun) -> Result<Located, MeasureError> {
    let measures = &population.table.measures;
    if measures.width == 0 {
        let reason = "stores no measures of its policies; compare them by embedding";
        return Err(MeasureError::run(&population.path, reason));
    }
    let finite = |row: &[f64]| row.iter().all(|x| x.is_finite()).then(|| row.to_vec());
    let rows = (0..population.len()).map(|i| finite(measures.row(i)));
    Ok(Located::new(rows, measures.width, "their measures are not finite"))
}

/// The policies by evaluation embeddings, from rollouts as those of [`evaluate`](crate::evaluate).
///
/// These do not depend on what the method itself observed, so that populations of every method are compared in the
/// same space. The rollouts are shared with an evaluation of this population alone, or under the same reference.
pub fn locate_by_embedding(
    population: &LoadedRun,
    protocol: &Protocol,
    reference: Option<&Reference>,
    bench: &Bench,
    progress: &mut dyn Progress,
) -> Result<Located, MeasureError> {
    let protocol = reference.map_or(protocol, |reference| &reference.protocol);
    let study = Study::new(std::slice::from_ref(population), protocol, bench)?;
    let results = study.roll_out(study.normalizer(reference, progress)?, progress)?.concat();
    let psi = |result: &PolicyResult| result.psi.iter().map(|&x| f64::from(x)).collect();
    let rows = results.iter().map(|result| result.is_finite().then(|| psi(result)));
    let mut located = Located::new(rows, protocol.features, "a rollout of theirs diverged");
    located.notices.extend(study.physics_notice());
    Ok(located)
}
