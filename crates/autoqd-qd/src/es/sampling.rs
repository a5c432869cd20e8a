//! Shared by all strategies: drawing within bounds, recombination, and checks of their arguments.

use super::SIGMA_RANGE;
use super::bounds::Bounds;
use crate::error::{Error, Result, check_finite, check_len, check_parameter};
use crate::rng::NormalSource;

/// Rounds of drawing again before the rest is clipped to the bounds.
const MAX_ROUNDS: usize = 1000;

/// Checks the arguments common to all strategies.
pub(crate) fn check_start(x0: &[f64], sigma0: f64, batch_size: usize, bounds: Option<&Bounds>) -> Result<()> {
    check_parameter(!x0.is_empty(), "x0", x0, "use at least one parameter")?;
    check_finite("x0", x0, "start from a finite point")?;
    let allowed = SIGMA_RANGE.contains(&sigma0);
    check_parameter(allowed, "sigma0", sigma0, "use a positive number between 1e-140 and 1e140")?;
    check_parameter(batch_size > 0, "batch_size", batch_size, "use at least one candidate")?;
    let dim = bounds.map_or(x0.len(), Bounds::dim);
    check_len("bounds", x0.len(), dim, "give bounds for every parameter")
}

/// Checks the point of a reset.
pub(crate) fn check_reset(dim: usize, x0: &[f64]) -> Result<()> {
    check_len("parameters of the new mean", dim, x0.len(), "use the strategy's size")?;
    check_finite("the new mean", x0, "start again from a finite point")
}

/// Checks a ranking.
pub(crate) fn check_ranking(ranking: &[usize], batch_size: usize, num_parents: usize) -> Result<()> {
    check_len("entries of the ranking", batch_size, ranking.len(), "rank every candidate of the last ask")?;
    let valid = ranking.iter().all(|&i| i < batch_size);
    check_parameter(valid, "ranking", ranking, "list positions in the last ask")?;
    check_parameter(num_parents <= batch_size, "num_parents", num_parents, "use at most the batch size")
}

/// Checks candidates given by the caller.
pub(crate) fn check_injected(expected: usize, solutions: &[f64]) -> Result<()> {
    check_len("numbers in the injected candidates", expected, solutions.len(), "give batch_size rows")?;
    check_finite("the injected candidates", solutions, "give finite candidates")
}

/// The error of strategies that learn from noise, not from candidates.
pub(crate) fn cannot_inject(by: &'static str) -> Error {
    Error::Unsupported { what: "inject", by, remedy: "replay the noise through NormalSource instead" }
}

/// Fills `noise_rows` with normal numbers and `solutions` with what `transform` makes of them. Rows outside the
/// bounds are drawn again, all of them in one block per round.
pub(crate) fn draw(
    noise: &mut dyn NormalSource,
    bounds: Option<&Bounds>,
    dim: usize,
    noise_rows: &mut [f64],
    solutions: &mut [f64],
    mut transform: impl FnMut(&mut [f64], &mut [f64]),
) {
    noise.fill_normal(noise_rows);
    transform(noise_rows, solutions);
    let Some(bounds) = bounds else { return };
    let (mut again, mut moved) = (Vec::new(), Vec::new());
    for _ in 0..MAX_ROUNDS {
        let rows = solutions.chunks_exact(dim).enumerate();
        let outside: Vec<usize> = rows.filter(|(_, x)| !bounds.contains(x)).map(|(i, _)| i).collect();
        if outside.is_empty() {
            return;
        }
        again.resize(outside.len() * dim, 0.0);
        moved.resize(outside.len() * dim, 0.0);
        noise.fill_normal(&mut again);
        transform(&mut again, &mut moved);
        for (k, &i) in outside.iter().enumerate() {
            solutions[i * dim..(i + 1) * dim].copy_from_slice(&moved[k * dim..(k + 1) * dim]);
            noise_rows[i * dim..(i + 1) * dim].copy_from_slice(&again[k * dim..(k + 1) * dim]);
        }
    }
    // A mean far outside would be redrawn for ever; the nearest points inside pull it back.
    solutions.chunks_exact_mut(dim).for_each(|x| bounds.clip(x));
}

/// out = sum of weight times row over the first ranked rows.
pub(crate) fn recombine(weights: &[f64], ranking: &[usize], rows: &[f64], out: &mut [f64]) {
    let dim = out.len();
    out.fill(0.0);
    for (w, &i) in weights.iter().zip(ranking) {
        out.iter_mut().zip(&rows[i * dim..(i + 1) * dim]).for_each(|(o, x)| *o += w * x);
    }
}

/// step = recombination of the first ranked rows, minus the mean.
pub(crate) fn step_of_mean(
    weights: &[f64],
    ranking: &[usize],
    rows: &[f64],
    mean: &[f64],
    step: &mut Vec<f64>,
) {
    step.resize(mean.len(), 0.0);
    recombine(weights, ranking, rows, step);
    step.iter_mut().zip(mean).for_each(|(y, m)| *y -= m);
}

/// Sum of squares in a fixed order.
pub(crate) fn norm2(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum()
}
