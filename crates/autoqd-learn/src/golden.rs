//! Recordings of updates by Stable-Baselines3 (scripts/make_sb3_golden.py), for tests.

use serde::Deserialize;

use crate::replay::Batch;

/// A recording.
#[derive(Deserialize)]
pub struct Golden<S, L> {
    /// Before the first update.
    pub start: S,
    /// One after the other.
    pub updates: Vec<Update<S, L>>,
}

/// One update.
#[derive(Deserialize)]
pub struct Update<S, L> {
    observations: Vec<f32>,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    rewards: Vec<f32>,
    terminated: Vec<f32>,
    /// What was drawn.
    pub noise: Vec<Vec<f32>>,
    /// What was logged.
    pub losses: L,
    /// What it led to.
    pub after: Option<S>,
}

impl<S, L> Update<S, L> {
    /// The transitions.
    pub fn batch(&self) -> Batch {
        Batch {
            observations: self.observations.clone(),
            actions: self.actions.clone(),
            rewards: self.rewards.clone(),
            next_observations: self.next_observations.clone(),
            terminated: self.terminated.clone(),
            extra: Vec::new(),
        }
    }
}

/// Our parameters from PyTorch's weights (a row per output) and biases. `heads` layers at the end are joined into one.
pub fn parameters(layers: &[Vec<f32>], heads: usize) -> Vec<f32> {
    let pairs: Vec<&[Vec<f32>]> = layers.chunks_exact(2).collect();
    let (body, last) = pairs.split_at(pairs.len() - heads);
    let mut joined: Vec<(Vec<f32>, Vec<f32>)> = body.iter().map(|p| (p[0].clone(), p[1].clone())).collect();
    joined.push((
        last.iter().flat_map(|p| p[0].clone()).collect(),
        last.iter().flat_map(|p| p[1].clone()).collect(),
    ));
    let mut all = Vec::new();
    for (weights, biases) in joined {
        let inputs = weights.len() / biases.len();
        all.extend((0..inputs).flat_map(|j| weights.iter().skip(j).step_by(inputs).copied()));
        all.extend(biases);
    }
    all
}

/// Asserts that all numbers agree to 1e-5.
pub fn assert_close(what: &str, got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let off = got.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max);
    assert!(off < 1e-5, "{what}: off by {off}");
}
