//! Few policies out of many: good ones that are far from each other.

use crate::points::{Points, squared_distance};

/// Indices of the best `fraction` of the policies by objective, best first; at least one if there is one.
///
/// Policies whose objective is not finite are never among them.
pub fn top_fraction(objectives: &[f64], fraction: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..objectives.len()).filter(|&i| objectives[i].is_finite()).collect();
    order.sort_by(|&a, &b| objectives[b].total_cmp(&objectives[a]).then(a.cmp(&b)));
    let count = (fraction.clamp(0.0, 1.0) * order.len() as f64).ceil() as usize;
    order.truncate(count.max(1));
    order
}

/// Starts with the best policy of the top fraction and adds, one at a time, the one farthest from all chosen.
///
/// ```
/// use autoqd_statistics::{Points, farthest_points};
/// let measures = [0.0, 0.1, 1.0, 0.5];
/// let objectives = [9.0, 8.0, 7.0, 6.0];
/// let chosen = farthest_points(Points::new(&measures, 1), &objectives, 1.0, 3);
/// assert_eq!(chosen, [0, 2, 3]); // the best, the farthest from it, then the one in between
/// ```
pub fn farthest_points(points: Points<'_>, objectives: &[f64], fraction: f64, count: usize) -> Vec<usize> {
    let pool = top_fraction(objectives, fraction);
    let mut distance = vec![f64::INFINITY; pool.len()];
    let mut chosen = Vec::new();
    let mut next = (!pool.is_empty() && count > 0).then_some(0);
    while let Some(at) = next {
        chosen.push(pool[at]);
        distance[at] = f64::NEG_INFINITY;
        for (d, &i) in distance.iter_mut().zip(&pool) {
            *d = d.min(squared_distance(points.row(i), points.row(pool[at])));
        }
        next = (chosen.len() < count).then(|| farthest(&distance)).flatten();
    }
    chosen
}

/// Position of the largest distance that is not yet taken; the better policy among equals.
fn farthest(distance: &[f64]) -> Option<usize> {
    let mut best = None;
    for (i, &d) in distance.iter().enumerate() {
        if d > best.map_or(f64::NEG_INFINITY, |b: usize| distance[b]) {
            best = Some(i);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_fifth_and_ties() {
        let objectives = [1.0, 5.0, 5.0, f64::NAN, 2.0, 0.0];
        assert_eq!(top_fraction(&objectives, 0.2), [1]);
        assert_eq!(top_fraction(&objectives, 0.5), [1, 2, 4]);
        assert!(top_fraction(&[], 0.5).is_empty());
        assert!(top_fraction(&[f64::NAN], 0.5).is_empty());
    }

    #[test]
    fn more_than_there_are_gives_all_and_twins_come_last() {
        let measures = [0.0, 0.0, 1.0];
        let chosen = farthest_points(Points::new(&measures, 1), &[3.0, 2.0, 1.0], 1.0, 10);
        assert_eq!(chosen, [0, 2, 1]);
    }

    #[test]
    fn only_the_top_fraction_is_eligible() {
        let measures: Vec<f64> = (0..100).map(f64::from).collect();
        let objectives: Vec<f64> = (0..100).map(|i| -f64::from(i)).collect();
        let chosen = farthest_points(Points::new(&measures, 1), &objectives, 0.2, 3);
        assert_eq!(chosen, [0, 19, 9]);
    }
}
