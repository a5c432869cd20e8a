//! How many of the best policies lie outside the archive's bounds.

use autoqd_qd::Population;

/// Share of the best fifth of the elites, by objective, of which a measure lies outside its bounds, so that they
/// compete for the border cells; NaN without elites.
pub(super) fn share_outside(elites: &Population, bounds: &[[f64; 2]]) -> f64 {
    let outside = |row: &usize| {
        let measures = elites.measures().row(*row).iter().zip(bounds);
        measures.into_iter().any(|(measure, [low, high])| measure < low || measure > high)
    };
    let best = best_fifth(elites);
    best.iter().filter(|row| outside(row)).count() as f64 / best.len() as f64
}

/// Rows of the best fifth of the elites by objective, in no order that matters.
pub(super) fn best_fifth(elites: &Population) -> Vec<usize> {
    let mut order: Vec<usize> = (0..elites.len()).collect();
    let count = elites.len().div_ceil(5);
    if count > 0 {
        let (objectives, ids) = (elites.objectives(), elites.ids());
        // Ties go to the smaller identity, so that the choice does not depend on the order of the elites.
        let better = |a: &usize, b: &usize| {
            objectives[*b].total_cmp(&objectives[*a]).then_with(|| ids[*a].cmp(&ids[*b]))
        };
        order.select_nth_unstable_by(count - 1, better);
    }
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::share_outside;
    use autoqd_qd::{Batch, Population, Rows, Schema};

    fn elites(objectives: &[f64], measures: &[f64]) -> Population {
        let ids: Vec<u64> = (0..objectives.len() as u64).collect();
        let solutions = vec![0.0; objectives.len()];
        let rows = |values, width| Rows::new(values, width).unwrap();
        let mut population = Population::new(Schema::new(1, 2).unwrap());
        let batch = Batch::new(rows(&solutions, 1), objectives, rows(measures, 2)).with_ids(&ids);
        population.extend_from_batch(&batch).unwrap();
        population
    }

    #[test]
    fn only_the_best_fifth_counts_and_the_border_is_inside() {
        let bounds = [[-1.0, 1.0], [0.0, 2.0]];
        let objectives = [5.0, 9.0, 1.0, 2.0, 3.0, 8.0];
        let place = |best: [f64; 2], second: [f64; 2]| {
            // The others are all outside, which does not count.
            let [out, b, s] = [[7.0, 7.0], best, second];
            share_outside(&elites(&objectives, &[out, b, out, out, out, s].concat()), &bounds)
        };
        assert_eq!(place([1.0, 0.0], [-1.0, 2.0]), 0.0);
        assert_eq!(place([1.1, 0.0], [0.0, 0.0]), 0.5);
        assert_eq!(place([1.1, 0.0], [0.0, -0.1]), 1.0);
        assert!(share_outside(&elites(&[], &[]), &bounds).is_nan());
        assert_eq!(share_outside(&elites(&[1.0, 1.0], &[0.0, 0.0, 5.0, 5.0]), &bounds), 0.0, "a tie");
    }
}
