//! psi in plain loops, to compare the accumulator with.

use super::Embedding;
use crate::kernels::cosine;

/// psi of an episode with the operations of [`PsiAccumulator`](super::PsiAccumulator) in the same order: the
/// bits are the same.
///
/// Observations and actions are row-major, one row per step.
pub fn psi(embedding: &Embedding, observations: &[f64], actions: &[f32]) -> Vec<f64> {
    let features = embedding.features();
    let feature = |d: usize, input: &[f64]| {
        let row = &features.weights()[d * features.inputs()..][..features.inputs()];
        let start = features.phases()[d] as f32;
        let angle = row.iter().zip(input).fold(start, |sum, (w, x)| sum + *x as f32 * *w as f32);
        f64::from(cosine(angle))
    };
    discounted(embedding, observations, actions, feature)
}

/// psi of an episode in double precision throughout.
pub fn psi_f64(embedding: &Embedding, observations: &[f64], actions: &[f32]) -> Vec<f64> {
    let features = embedding.features();
    let feature = |d: usize, input: &[f64]| {
        let row = &features.weights()[d * features.inputs()..][..features.inputs()];
        libm::cos(row.iter().zip(input).fold(features.phases()[d], |sum, (w, x)| sum + x * w))
    };
    discounted(embedding, observations, actions, feature)
}

fn discounted(
    embedding: &Embedding,
    observations: &[f64],
    actions: &[f32],
    feature: impl Fn(usize, &[f64]) -> f64,
) -> Vec<f64> {
    let size = embedding.normalizer().size();
    let action_size = embedding.features().inputs() - size;
    let mut sums = vec![0.0; embedding.dimension()];
    let mut discount = 1.0;
    let mut steps = 0;
    for (t, observation) in observations.chunks_exact(size).enumerate() {
        let mut input: Vec<f64> = embedding.normalizer().apply(observation).collect();
        input.extend(actions[t * action_size..][..action_size].iter().map(|a| f64::from(*a)));
        sums.iter_mut().enumerate().for_each(|(d, sum)| *sum += discount * feature(d, &input));
        discount *= embedding.options().gamma;
        steps += 1;
    }
    let scale = if steps > 0 { embedding.scale(discount) } else { 0.0 };
    sums.iter().map(|sum| scale * sum).collect()
}
