//! Centroids of a centroidal Voronoi tessellation by Lloyd's algorithm.

use rayon::prelude::*;

use super::nearest::Nearest;
use crate::rng::Rng;

/// `count` points uniform in a box.
pub(crate) fn uniform_points(count: usize, lower: &[f64], upper: &[f64], rng: &mut Rng) -> Vec<f64> {
    let axes = lower.len();
    let coordinate = |i: usize| lower[i % axes] + (upper[i % axes] - lower[i % axes]) * rng.uniform();
    (0..count * axes).map(coordinate).collect()
}

/// Moves `centroids` to the means of the samples nearest to them, `iterations` times or until they stop moving. A
/// centroid without samples stays where it is. The sums run in the order of the samples, so threads do not matter.
pub(crate) fn lloyd(samples: &[f64], centroids: &mut [f64], dim: usize, iterations: usize) {
    for _ in 0..iterations {
        let points = Nearest::new(centroids, dim);
        let nearest: Vec<usize> = samples.par_chunks_exact(dim).map(|s| points.find(s)).collect();
        let mut sums = vec![0.0; centroids.len()];
        let mut counts = vec![0.0; centroids.len() / dim];
        for (sample, &c) in samples.chunks_exact(dim).zip(&nearest) {
            counts[c] += 1.0;
            sums[c * dim..(c + 1) * dim].iter_mut().zip(sample).for_each(|(s, x)| *s += x);
        }
        let mut moved = false;
        for (c, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            for (old, sum) in centroids[c * dim..].iter_mut().zip(&sums[c * dim..(c + 1) * dim]) {
                moved |= *old != sum / count;
                *old = sum / count;
            }
        }
        if !moved {
            return;
        }
    }
}
