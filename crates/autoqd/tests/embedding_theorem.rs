//! The paper's theorem at work: distances between embeddings approach the exact MMD of occupancy measures.
//!
//! The task is a Markov chain with six states, so small that occupancy measures, and with them the MMD, can be
//! computed exactly.

use std::sync::Arc;

use autoqd::embedding::{
    Embedding, FeatureMap, FeatureOptions, Normalizer, PsiAccumulator, PsiOptions, Sampling,
};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

const STATES: usize = 6;
const GAMMA: f64 = 0.9;
/// gamma^150 is 1e-7: what an episode leaves out does not matter.
const STEPS: usize = 150;

/// A policy of the chain: the probability of action 1 in each state.
type ChainPolicy = [f64; STATES];
const FIRST: ChainPolicy = [0.9, 0.8, 0.9, 0.2, 0.1, 0.3];
const SECOND: ChainPolicy = [0.1, 0.3, 0.5, 0.6, 0.9, 0.8];

/// Where a state lies in the plane.
fn place(state: usize) -> [f64; 2] {
    let angle = state as f64 * 1.1;
    [1.5 * angle.cos(), 0.8 * state as f64 - 2.0]
}

fn action(choice: usize) -> f32 {
    [-0.5, 0.5][choice]
}

/// Action 1 goes up and action 0 down, but one move in five goes anywhere.
fn moves(state: usize, choice: usize) -> [f64; STATES] {
    let mut to = [0.2 / STATES as f64; STATES];
    to[(state + [STATES - 1, 1][choice]) % STATES] += 0.8;
    to
}

/// The exact occupancy measure over (state, choice), from state 0.
fn occupancy(policy: &ChainPolicy) -> [[f64; 2]; STATES] {
    let mut measure = [[0.0; 2]; STATES];
    let mut state = [0.0; STATES];
    state[0] = 1.0;
    let mut weight = 1.0 - GAMMA;
    for _ in 0..400 {
        let mut next = [0.0; STATES];
        for s in 0..STATES {
            for (choice, p) in [1.0 - policy[s], policy[s]].into_iter().enumerate() {
                measure[s][choice] += weight * state[s] * p;
                let to = moves(s, choice);
                (0..STATES).for_each(|n| next[n] += state[s] * p * to[n]);
            }
        }
        state = next;
        weight *= GAMMA;
    }
    measure
}

/// The exact MMD of two policies with the Gaussian kernel of the given width.
fn mmd(a: &ChainPolicy, b: &ChainPolicy, bandwidth: f64) -> f64 {
    let (a, b) = (occupancy(a), occupancy(b));
    let mut points = Vec::new();
    for s in 0..STATES {
        for c in 0..2 {
            let [x, y] = place(s);
            points.push(([x, y, f64::from(action(c))], a[s][c] - b[s][c]));
        }
    }
    let mut square = 0.0;
    for (x, p) in &points {
        for (y, q) in &points {
            let distance: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            square += p * q * (-distance / (2.0 * bandwidth * bandwidth)).exp();
        }
    }
    square.sqrt()
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// One trajectory of (state, choice).
fn trajectory(policy: &ChainPolicy, random: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let mut state = 0;
    let mut step = || {
        let now = state;
        let choice = usize::from(uniform(random) < policy[now]);
        let mut rest = uniform(random);
        let to = moves(now, choice);
        state = to
            .iter()
            .position(|p| {
                rest -= p;
                rest < 0.0
            })
            .unwrap_or(STATES - 1);
        (now, choice)
    };
    (0..STEPS).map(|_| step()).collect()
}

fn embedding(dimension: usize, sampling: Sampling, seed: u64) -> Arc<Embedding> {
    let options = FeatureOptions { dimension, sampling, ..Default::default() };
    let map = FeatureMap::sample(&options, 3, seed).unwrap();
    let options = PsiOptions { gamma: GAMMA, ..Default::default() };
    Arc::new(Embedding::new(Arc::new(map), Normalizer::identity(2), options).unwrap())
}

/// psi of one trajectory.
fn psi(accumulator: &mut PsiAccumulator, trajectory: &[(usize, usize)]) -> Vec<f64> {
    for (state, choice) in trajectory {
        accumulator.push(&place(*state), &[action(*choice)]);
    }
    accumulator.finish()
}

fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    let column = |d: usize| rows.iter().map(|row| row[d]).sum::<f64>() / rows.len() as f64;
    (0..rows[0].len()).map(column).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Root mean square of | ||psi1 - psi2|| - MMD | over independent features and trajectories.
fn error(dimension: usize, trajectories: usize, sampling: Sampling) -> f64 {
    let exact = mmd(&FIRST, &SECOND, 3.0_f64.sqrt());
    let repeats = 30;
    let square = |seed: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut accumulator = PsiAccumulator::new(embedding(dimension, sampling, seed));
        let [a, b] = [FIRST, SECOND].map(|policy| {
            let rows: Vec<_> =
                (0..trajectories).map(|_| psi(&mut accumulator, &trajectory(&policy, &mut random))).collect();
            mean(&rows)
        });
        (distance(&a, &b) - exact).powi(2)
    };
    ((0..repeats).map(square).sum::<f64>() / repeats as f64).sqrt()
}

#[test]
fn the_distance_of_embeddings_approaches_the_mmd() {
    let exact = mmd(&FIRST, &SECOND, 3.0_f64.sqrt());
    assert!(exact > 0.1, "the policies differ: {exact}");
    for sampling in [Sampling::Independent, Sampling::Orthogonal] {
        let coarse = error(10, 4, sampling);
        let middle = error(60, 24, sampling);
        let fine = error(360, 144, sampling);
        assert!(middle < 0.7 * coarse, "{sampling:?}: {coarse} {middle} {fine}");
        assert!(fine < 0.7 * middle, "{sampling:?}: {coarse} {middle} {fine}");
        assert!(fine < 0.05 * exact, "{sampling:?}: {fine} of {exact}");
    }
}

#[test]
fn more_features_alone_and_more_trajectories_alone_help() {
    let sampling = Sampling::Independent;
    assert!(error(300, 100, sampling) < 0.7 * error(6, 100, sampling));
    assert!(error(300, 100, sampling) < 0.7 * error(300, 2, sampling));
}

#[test]
fn psi_has_the_mean_of_the_geometric_sample_and_less_variance() {
    let embedding = embedding(50, Sampling::Independent, 1);
    let mut accumulator = PsiAccumulator::new(embedding.clone());
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut whole, mut sampled) = (Vec::new(), Vec::new());
    for _ in 0..4000 {
        let trajectory = trajectory(&FIRST, &mut random);
        let time = (uniform(&mut random).max(1e-12).ln() / GAMMA.ln()) as usize;
        let (state, choice) = trajectory[time.min(STEPS - 1)];
        let [x, y] = place(state);
        sampled.push(embedding.features().phi(&[x, y, f64::from(action(choice))]));
        whole.push(psi(&mut accumulator, &trajectory));
    }
    let variance = |rows: &[Vec<f64>]| {
        let mean = mean(rows);
        rows.iter().map(|row| distance(row, &mean).powi(2)).sum::<f64>() / rows.len() as f64
    };
    let (psi, phi) = (variance(&whole), variance(&sampled));
    let standard_error = (phi / sampled.len() as f64).sqrt();
    assert!(distance(&mean(&whole), &mean(&sampled)) < 3.0 * standard_error);
    assert!(psi < 0.5 * phi, "variance {psi} of psi, {phi} of the geometric sample");
}
