//! Racing: candidates whose first episodes say that they can enter no cell are not rolled out any further.

use autoqd_qd::{AnyArchive, Grid, GridArchive, Tessellation};

use super::Search;
use crate::Error;
use crate::evaluator::{Candidates, Evaluation, Probe};

/// More cells than this around a candidate, and one of them is taken to be empty.
const MOST_CELLS: usize = 4096;

impl Search {
    /// Evaluates the candidates of an iteration: all episodes of each at once, or in two stages where racing is on and there
    /// is an archive to compare with.
    ///
    /// An episode depends on its parameters, its seed and the probes alone, so a candidate that is not stopped has the same
    /// evaluation either way.
    pub(super) fn evaluate_in_stages(
        &mut self,
        iteration: u64,
        solutions: &[f64],
        seeds: &[u64],
        probes: &[Probe],
    ) -> Result<Vec<Evaluation>, Error> {
        let (first, all) = (self.config.racing.after, self.config.episodes);
        if first == 0 || iteration == 1 {
            return self.evaluate(solutions, seeds, probes);
        }
        let early: Vec<u64> = seeds.chunks_exact(all).flat_map(|row| &row[..first]).copied().collect();
        let mut evaluations = self.evaluate_episodes(solutions, &early, first, probes)?;
        // Whoever tells episodes that happened elsewhere tells all of them.
        if evaluations.iter().any(|evaluation| evaluation.episodes.len() != first) {
            return Ok(evaluations);
        }
        let running = self.running(&evaluations);
        self.stopped = (evaluations.len() - running.len()) as u64;
        if running.is_empty() {
            return Ok(evaluations);
        }
        let width = self.policy.parameter_count();
        let parameters: Vec<f64> =
            running.iter().flat_map(|i| &solutions[i * width..][..width]).copied().collect();
        let late: Vec<u64> =
            running.iter().flat_map(|i| &seeds[i * all + first..(i + 1) * all]).copied().collect();
        let rest = self.evaluate_episodes(&parameters, &late, all - first, probes)?;
        for (i, more) in running.into_iter().zip(rest) {
            evaluations[i].episodes.extend(more.episodes);
        }
        Ok(evaluations)
    }

    /// Evaluates candidates in so many episodes each, and counts the steps.
    pub(super) fn evaluate_episodes(
        &mut self,
        parameters: &[f64],
        seeds: &[u64],
        episodes: usize,
        probes: &[Probe],
    ) -> Result<Vec<Evaluation>, Error> {
        let dimension = self.policy.parameter_count();
        let evaluations =
            self.evaluator.evaluate(Candidates { parameters, dimension, seeds, episodes }, probes)?;
        self.totals.env_steps += evaluations.iter().map(Evaluation::steps).sum::<u64>();
        Ok(evaluations)
    }

    /// The candidates whose mean return over all episodes may exceed the threshold of a cell that they may fall into.
    fn running(&self, evaluations: &[Evaluation]) -> Vec<usize> {
        let AnyArchive::Grid(archive) = &self.archive else { return (0..evaluations.len()).collect() };
        let racing = &self.config.racing;
        let errors = standard_errors(evaluations, self.config.episodes);
        let may_enter = |i: &usize| {
            let objective = evaluations[*i].objective();
            if !objective.is_finite() {
                return false;
            }
            let measures = self.descriptor.describe(&evaluations[*i]);
            measures.iter().any(|m| !m.is_finite())
                || objective + racing.margin * errors[*i] > lowest_threshold(archive, &measures, racing.reach)
        };
        (0..evaluations.len()).filter(may_enter).collect()
    }
}

/// How far the mean return over all episodes is expected to be from that over the first ones, for every candidate: from the
/// spread of its own returns, or of all candidates' where that is wider, since few episodes may agree by chance.
fn standard_errors(evaluations: &[Evaluation], all: usize) -> Vec<f64> {
    let variance = |evaluation: &Evaluation| {
        let n = evaluation.episodes.len() as f64;
        evaluation.return_std().powi(2) * n / (n - 1.0)
    };
    let usable: Vec<f64> = evaluations.iter().filter(|e| e.diverged() == 0).map(variance).collect();
    let pooled = usable.iter().sum::<f64>() / usable.len().max(1) as f64;
    let error = |evaluation: &Evaluation| {
        let part = 1.0 / evaluation.episodes.len() as f64 - 1.0 / all as f64;
        (variance(evaluation).max(pooled) * part).sqrt()
    };
    evaluations.iter().map(error).collect()
}

/// The lowest threshold of the cells that are at most `reach` cells away in every measure.
fn lowest_threshold(archive: &GridArchive, measures: &[f64], reach: usize) -> f64 {
    let grid = archive.tessellation();
    let ranges: Vec<(usize, usize)> = grid
        .grid_index(measures)
        .iter()
        .zip(grid.dims())
        .map(|(at, cells)| (at.saturating_sub(reach), (at + reach).min(cells - 1)))
        .collect();
    let count = ranges.iter().try_fold(1_usize, |n, (low, high)| n.checked_mul(high - low + 1));
    match count {
        Some(count) if count <= MOST_CELLS => {
            (0..count).map(|i| archive.threshold_in(cell(grid, &ranges, i))).fold(f64::INFINITY, f64::min)
        }
        _ => f64::NEG_INFINITY,
    }
}

/// The cell at a place of a box of cells.
fn cell(grid: &Grid, ranges: &[(usize, usize)], mut place: usize) -> usize {
    let mut index = vec![0; grid.measure_dim()];
    for (index, (low, high)) in index.iter_mut().zip(ranges) {
        let width = high - low + 1;
        (*index, place) = (low + place % width, place / width);
    }
    grid.flatten(&index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Episode;
    use autoqd_qd::{Archive, Batch, CellConfig, GridConfig, Rows};

    fn evaluation(returns: &[f64]) -> Evaluation {
        let episode = |total: &f64| Episode {
            total_reward: *total,
            length: 1,
            diverged: !total.is_finite(),
            measures: vec![],
            records: vec![],
        };
        Evaluation { episodes: returns.iter().map(episode).collect() }
    }

    #[test]
    fn an_error_comes_from_the_wider_of_the_own_spread_and_that_of_all() {
        // Variances 2 and 0, 1 in the mean; a third one diverged and does not count.
        let errors = standard_errors(
            &[evaluation(&[1.0, 3.0]), evaluation(&[5.0, 5.0]), evaluation(&[f64::NAN, 1.0])],
            4,
        );
        assert!((errors[0] - (2.0_f64 * (0.5 - 0.25)).sqrt()).abs() < 1e-12, "{errors:?}");
        assert!((errors[1] - (1.0_f64 * (0.5 - 0.25)).sqrt()).abs() < 1e-12, "{errors:?}");
    }

    #[test]
    fn the_lowest_threshold_around_is_that_of_an_empty_cell_if_there_is_one() {
        let config =
            GridConfig::new(1, &[3, 3], &[(0.0, 3.0), (0.0, 3.0)]).cell(CellConfig::annealing(1.0, -10.0));
        let mut archive = config.build().unwrap();
        let mut add = |x: f64, y: f64, objective: f64| {
            let (objective, measures) = ([objective], [x, y]);
            let rows = Rows::new(&measures, 2).unwrap();
            archive.add(&Batch::new(Rows::new(&[0.0], 1).unwrap(), &objective, rows)).unwrap();
        };
        for i in 0..9 {
            // All cells but the one in the far corner.
            if i < 8 {
                add(f64::from(i / 3) + 0.5, f64::from(i % 3) + 0.5, f64::from(i) + 1.0);
            }
        }
        let lowest = |x, y, reach| lowest_threshold(&archive, &[x, y], reach);
        assert_eq!(lowest(0.5, 0.5, 0), 1.0);
        assert_eq!(lowest(1.5, 0.5, 0), 4.0);
        assert_eq!(lowest(1.5, 0.5, 1), 1.0);
        assert_eq!(lowest(1.5, 1.5, 1), -10.0, "the corner is empty");
        assert_eq!(lowest(-7.0, 0.5, 0), 1.0, "what lies outside falls into the border cell");
    }
}
