//! Groups of similar policies, each represented by one of them (k-medoids).

use rayon::prelude::*;

use crate::points::{Points, squared_distance};
use crate::sample::sample;

/// Largest population among which medoids are searched; of a larger one a sample of this size.
const MOST_CANDIDATES: usize = 3000;

/// Groups of policies with a medoid each.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Clusters {
    /// The policy in the middle of each group.
    pub medoids: Vec<usize>,
    /// The group of each policy.
    pub assignment: Vec<usize>,
    /// Mean distance of a policy to its medoid.
    pub mean_distance: f64,
    /// Mean of (b - a) / max(a, b) with a and b the distances to the nearest and second-nearest medoid: near one for
    /// groups far apart, near zero for arbitrary ones. `None` for a single group.
    pub separation: Option<f64>,
}

/// Divides the policies into at most `count` groups so that the sum of distances to the medoids is small.
///
/// Starts from points far apart and swaps medoids as long as that lowers the sum (PAM with the swap of Schubert and
/// Rousseeuw, 2021). The same points give the same groups; groups are ordered by size.
pub fn cluster(points: Points<'_>, count: usize) -> Clusters {
    let pool = candidates(points.len());
    let distances = Distances::new(points, &pool);
    let mut medoids = distances.spread(count);
    while let Some((out, new)) = distances.best_swap(&medoids) {
        medoids[out] = new;
    }
    let medoids: Vec<usize> = medoids.into_iter().map(|m| pool[m]).collect();
    assign(points, medoids)
}

fn candidates(n: usize) -> Vec<usize> {
    let mut chosen = sample(n, MOST_CANDIDATES, 0);
    chosen.sort_unstable();
    chosen
}

/// Distances between candidates, row-major.
struct Distances {
    n: usize,
    values: Vec<f32>,
}

/// The two nearest medoids of a candidate, as positions in the list of medoids, with their distances.
#[derive(Clone, Copy)]
struct Nearest {
    medoid: usize,
    distance: f64,
    second: f64,
}

impl Distances {
    fn new(points: Points<'_>, pool: &[usize]) -> Self {
        let row = |&i: &usize| -> Vec<f32> {
            pool.iter().map(|&j| squared_distance(points.row(i), points.row(j)).sqrt() as f32).collect()
        };
        let rows: Vec<Vec<f32>> = pool.par_iter().map(row).collect();
        Self { n: pool.len(), values: rows.concat() }
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.n..][..self.n]
    }

    /// The most central candidate, then the farthest from all chosen; fewer when the rest coincides with them.
    fn spread(&self, count: usize) -> Vec<usize> {
        let sums: Vec<f64> = (0..self.n).map(|i| self.row(i).iter().map(|&d| f64::from(d)).sum()).collect();
        let mut chosen = Vec::new();
        let mut next = (0..self.n).min_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        let mut distance = vec![f32::INFINITY; self.n];
        while let Some(at) = next.filter(|_| chosen.len() < count.max(1)) {
            chosen.push(at);
            distance.iter_mut().zip(self.row(at)).for_each(|(d, &new)| *d = d.min(new));
            // `max_by` keeps the last of equals, so the order is reversed to prefer the lowest index.
            next = (0..self.n)
                .rev()
                .max_by(|&a, &b| distance[a].total_cmp(&distance[b]))
                .filter(|&i| distance[i] > 0.0);
        }
        chosen
    }

    /// The exchange of a medoid for a candidate that lowers the sum of distances most, if one does.
    fn best_swap(&self, medoids: &[usize]) -> Option<(usize, usize)> {
        let nearest: Vec<Nearest> = (0..self.n).map(|i| self.nearest(i, medoids)).collect();
        let mut removal = vec![0.0; medoids.len()];
        for near in &nearest {
            removal[near.medoid] += near.second - near.distance;
        }
        let gains: Vec<(f64, usize)> = (0..self.n)
            .into_par_iter()
            .map(|candidate| self.swap_gain(candidate, &nearest, removal.clone()))
            .collect();
        let best = (0..self.n).min_by(|&a, &b| gains[a].0.total_cmp(&gains[b].0))?;
        let scale: f64 = nearest.iter().map(|near| near.distance).sum();
        // A gain within rounding could be undone by the next swap, for ever.
        (gains[best].0 < -1e-9 * scale && !medoids.contains(&best)).then_some((gains[best].1, best))
    }

    /// Change of the sum when `candidate` becomes a medoid in place of the best one to remove, and which that is.
    fn swap_gain(&self, candidate: usize, nearest: &[Nearest], mut change: Vec<f64>) -> (f64, usize) {
        let mut shared = 0.0;
        for (near, &d) in nearest.iter().zip(self.row(candidate)) {
            let d = f64::from(d);
            if d < near.distance {
                shared += d - near.distance;
                change[near.medoid] += near.distance - near.second;
            } else if d < near.second {
                change[near.medoid] += d - near.second;
            }
        }
        let out = (0..change.len()).min_by(|&a, &b| change[a].total_cmp(&change[b])).unwrap_or(0);
        (shared + change[out], out)
    }

    fn nearest(&self, i: usize, medoids: &[usize]) -> Nearest {
        nearest_of(medoids.iter().map(|&m| f64::from(self.row(i)[m])))
    }
}

fn nearest_of(distances: impl Iterator<Item = f64>) -> Nearest {
    let mut near = Nearest { medoid: 0, distance: f64::INFINITY, second: f64::INFINITY };
    for (medoid, distance) in distances.enumerate() {
        if distance < near.distance {
            near = Nearest { medoid, distance, second: near.distance };
        } else if distance < near.second {
            near.second = distance;
        }
    }
    near
}

/// Assigns every policy to its nearest medoid and orders the groups by size.
fn assign(points: Points<'_>, medoids: Vec<usize>) -> Clusters {
    let near =
        |i: usize| nearest_of(medoids.iter().map(|&m| squared_distance(points.row(i), points.row(m)).sqrt()));
    let nearest: Vec<Nearest> = (0..points.len()).into_par_iter().map(near).collect();
    let mut sizes = vec![0_usize; medoids.len()];
    nearest.iter().for_each(|n| sizes[n.medoid] += 1);
    let mut order: Vec<usize> = (0..medoids.len()).collect();
    order.sort_by_key(|&m| (std::cmp::Reverse(sizes[m]), medoids[m]));
    let mut place = vec![0; medoids.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    let n = points.len().max(1) as f64;
    let separation = |n: &Nearest| if n.second > 0.0 { (n.second - n.distance) / n.second } else { 0.0 };
    Clusters {
        medoids: order.iter().map(|&m| medoids[m]).collect(),
        assignment: nearest.iter().map(|n| place[n.medoid]).collect(),
        mean_distance: nearest.iter().map(|n| n.distance).sum::<f64>() / n,
        separation: (medoids.len() > 1).then(|| nearest.iter().map(separation).sum::<f64>() / n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blobs() -> Vec<f64> {
        let centres = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)];
        (0..60)
            .flat_map(|i| {
                let (x, y) = centres[if i < 30 { 0 } else { 1 + i % 2 }];
                [x + 0.01 * f64::from(i as u32), y - 0.02 * f64::from(i as u32)]
            })
            .collect()
    }

    #[test]
    fn separate_groups_are_found_largest_first() {
        let data = blobs();
        let clusters = cluster(Points::new(&data, 2), 3);
        assert_eq!(clusters.medoids.len(), 3);
        assert!(clusters.assignment[..30].iter().all(|&c| c == 0));
        assert!(clusters.assignment[30..].chunks(2).all(|c| c[0] != c[1] && c[0] > 0));
        assert!(clusters.separation.unwrap() > 0.9);
        for (group, &medoid) in clusters.medoids.iter().enumerate() {
            assert_eq!(clusters.assignment[medoid], group);
        }
    }

    #[test]
    fn the_sum_of_distances_is_a_local_minimum() {
        let data = blobs();
        let points = Points::new(&data, 2);
        let found = cluster(points, 4);
        for out in 0..found.medoids.len() {
            for new in 0..points.len() {
                let mut medoids = found.medoids.clone();
                medoids[out] = new;
                assert!(assign(points, medoids).mean_distance >= found.mean_distance - 1e-6);
            }
        }
    }

    #[test]
    fn none_one_and_twins() {
        assert!(cluster(Points::new(&[], 2), 3).medoids.is_empty());
        assert_eq!(cluster(Points::new(&[1.0], 1), 3).medoids, [0]);
        let twins = cluster(Points::new(&[1.0; 8], 1), 3);
        assert_eq!((twins.medoids.len(), twins.separation), (1, None));
    }
}
