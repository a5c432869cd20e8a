//! Archives against simple models of themselves.

use autoqd_qd::{
    Archive, Batch, CellConfig, Centroids, CvtConfig, DominatedNoveltyArchive, DominatedNoveltyConfig,
    Reserve, Rng, Rows, redescribe_together,
};

use super::support::{batch, unit_grid};

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[test]
fn the_nearest_centroid_is_the_one_a_scan_finds() {
    let mut rng = Rng::new(0, 0);
    for dim in [1, 2, 5, 12] {
        // Coordinates on a coarse lattice, so that ties occur.
        let mut point = || (rng.uniform() * 8.0).floor();
        let centroids: Vec<f64> = (0..500 * dim).map(|_| point()).collect();
        let queries: Vec<f64> = (0..300 * dim).map(|_| point()).collect();
        let config = CvtConfig::new(1, &vec![(0.0, 8.0); dim], Centroids::Given(centroids.clone()));
        let archive = config.build().unwrap();
        for query in queries.chunks(dim) {
            let distances: Vec<f64> = centroids.chunks(dim).map(|c| distance2(c, query)).collect();
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let first = distances.iter().position(|d| *d == least).unwrap();
            assert_eq!(archive.cell_of(query).unwrap(), first, "{dim} measures");
        }
    }
}

#[test]
fn k_means_makes_cells_of_more_equal_size_than_chance() {
    let spread = |centroids: Centroids| {
        let archive = CvtConfig::new(1, &[(0.0, 1.0); 3], centroids).build().unwrap();
        let mut counts = vec![0.0; archive.capacity()];
        let mut rng = Rng::new(9, 0);
        for _ in 0..20_000 {
            let point = [rng.uniform(), rng.uniform(), rng.uniform()];
            counts[archive.cell_of(&point).unwrap()] += 1.0;
        }
        let mean = 20_000.0 / counts.len() as f64;
        counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>().sqrt() / mean
    };
    assert!(spread(Centroids::k_means(100, 1)) < 0.7 * spread(Centroids::Random { cells: 100, seed: 1 }));
}

/// Dominated novelty by the definition.
fn novelty(objectives: &[f64], measures: &[f64], dim: usize, k: usize) -> Vec<f64> {
    let n = objectives.len();
    let of = |i: usize| {
        let fitter = |&j: &usize| objectives[j] > objectives[i] || (objectives[j] == objectives[i] && j < i);
        let row = |i: usize| &measures[i * dim..(i + 1) * dim];
        let mut near: Vec<f64> = (0..n).filter(fitter).map(|j| distance2(row(i), row(j)).sqrt()).collect();
        near.sort_by(f64::total_cmp);
        near.truncate(k);
        if near.is_empty() { f64::INFINITY } else { near.iter().sum::<f64>() / near.len() as f64 }
    };
    (0..n).map(of).collect()
}

fn check_survivors(archive: &mut DominatedNoveltyArchive, batch: &Batch<'_>) {
    let dim = batch.measures.width();
    let (capacity, k) = (archive.config().capacity, archive.config().neighbours);
    let ids = [archive.elites().ids(), batch.ids.unwrap()].concat();
    let objectives = [archive.elites().objectives(), batch.objective].concat();
    let measures = [archive.elites().measures().as_slice(), batch.measures.as_slice()].concat();
    let scores = novelty(&objectives, &measures, dim, k);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| {
        scores[b].total_cmp(&scores[a]).then(objectives[b].total_cmp(&objectives[a])).then(a.cmp(&b))
    });
    order.truncate(capacity);
    order.sort_unstable();
    let info = archive.add(batch).unwrap();
    let expected: Vec<u64> = order.iter().map(|&i| ids[i]).collect();
    assert_eq!(archive.elites().ids(), expected);
    let first = objectives.len() - batch.len();
    for (row, value) in info.value.iter().enumerate() {
        let expected = scores[first + row].min(f64::MAX);
        assert!((value - expected).abs() <= 1e-12 * expected, "{value} {expected}");
    }
}

#[test]
fn dominated_novelty_keeps_whom_the_definition_keeps() {
    for (dim, k, capacity) in [(2, 3, 40), (10, 2, 25), (1, 15, 30)] {
        let mut config = DominatedNoveltyConfig::new(1, dim, capacity);
        config.neighbours = k;
        let mut archive = config.build().unwrap();
        let mut rng = Rng::new(dim as u64, 0);
        for round in 0..60u64 {
            let n = 1 + rng.index(12);
            let solutions = vec![0.0; n];
            // Few distinct objectives, so that ties occur.
            let objective: Vec<f64> = (0..n).map(|_| rng.index(20) as f64).collect();
            let measures: Vec<f64> = (0..n * dim).map(|_| rng.uniform()).collect();
            let ids: Vec<u64> = (0..n as u64).map(|i| round * 100 + i).collect();
            let (solutions, measures) =
                (Rows::new(&solutions, 1).unwrap(), Rows::new(&measures, dim).unwrap());
            check_survivors(&mut archive, &Batch::new(solutions, &objective, measures).with_ids(&ids));
            if round == 30 {
                // What is not stored must be derivable from what is.
                let text = serde_json::to_string(&archive).unwrap();
                archive = serde_json::from_str(&text).unwrap();
            }
        }
        assert_eq!(archive.len(), capacity);
    }
}

#[test]
fn extra_fields_travel_with_their_elite() {
    let mut archive = unit_grid(CellConfig::elitist().field("features", 2).field("length", 1));
    let fields = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let measures = [0.1, 0.1, 0.9, 0.9];
    let rows = batch(&[7.0, 8.0], &[1.0, 2.0], &measures).with_fields(Rows::new(&fields, 3).unwrap());
    archive.add(&rows).unwrap();
    let elite = archive.elite_in(24).unwrap();
    assert_eq!(elite.field("features").unwrap(), [4.0, 5.0]);
    assert_eq!(elite.field("length").unwrap(), [6.0]);
    assert!(elite.field("width").is_err());
    assert!(archive.add(&batch(&[7.0], &[9.0], &measures[..2])).is_err(), "declared fields must be given");
}

#[test]
fn the_reserve_keeps_the_best_whatever_the_order() {
    let archive = unit_grid(CellConfig::elitist());
    let mut first = Reserve::new(3, archive.schema().clone());
    let mut second = first.clone();
    let mut elites = unit_grid(CellConfig::elitist());
    let measures = [0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7, 0.9, 0.9];
    let objective = [2.0, 5.0, 2.0, 4.0, 1.0];
    elites.add(&batch(&[0.0; 5], &objective, &measures).with_ids(&[4, 3, 2, 1, 0])).unwrap();
    assert_eq!(first.extend(elites.elites()).unwrap(), 2);
    for i in [4, 2, 0, 1, 3] {
        let mut one = autoqd_qd::Population::new(archive.schema().clone());
        one.extend_selected(elites.elites(), &[i]).unwrap();
        second.extend(&one).unwrap();
        second.extend(&one).unwrap();
    }
    // Of the two with objective 2 the smaller identity stays.
    assert_eq!(first.elites().ids(), [3, 1, 2]);
    assert_eq!(first, second);
}

#[test]
fn two_archives_are_described_anew_from_their_union() {
    let (mut main, mut result) =
        (unit_grid(CellConfig::annealing(0.5, 0.0)), unit_grid(CellConfig::elitist()));
    let mut reserve = Reserve::new(100, main.schema().clone());
    let measures = [0.1, 0.1, 0.5, 0.5];
    for (objective, ids) in [([5.0, 1.0], [0, 1]), ([3.0, 2.0], [2, 3])] {
        let rows = batch(&[0.0, 1.0], &objective, &measures).with_ids(&ids);
        main.add(&rows).unwrap();
        result.add(&rows).unwrap();
    }
    // The soft archive let 3.0 replace 5.0; the elitist one did not.
    assert_eq!((main.elites().ids(), result.elites().ids()), (&[2, 3][..], &[0, 3][..]));
    let report = redescribe_together(&mut [&mut main, &mut result], &mut reserve, |pool| {
        assert_eq!(pool.ids(), [2, 3, 0], "the union, each once");
        vec![0.3; pool.len() * 2]
    })
    .unwrap();
    assert_eq!(report.survivors, [0, 1]);
    assert_eq!((report.pool, report.reserved, report.dropped), (3, 2, 0));
    assert_eq!(main.elites().ids(), [0], "the best of the pool");
    // From threshold_min = 0 by three accepted candidates: 1 - 0.5^3 of their mean.
    assert!((main.thresholds()[0] - 0.875 * 10.0 / 3.0).abs() < 1e-12);
    assert_eq!(result.elites().ids(), [0]);
    assert_eq!(reserve.elites().ids(), [2, 3]);
}

#[test]
fn an_elitist_archive_with_a_floor_keeps_the_best_above_it() {
    let mut archive = unit_grid(CellConfig::elitist_above(2.0));
    for (objectives, best) in
        [([1.0, 2.0, 0.0], None), ([3.0, 9.0, 4.0], Some(9.0)), ([8.0, 7.0, 5.5], Some(9.0))]
    {
        archive.add(&batch(&[0.0, 1.0, 2.0], &objectives, &[0.5; 6])).unwrap();
        assert_eq!(archive.elites().objectives().first().copied(), best);
    }
    assert_eq!(archive.thresholds(), [9.0]);
}
