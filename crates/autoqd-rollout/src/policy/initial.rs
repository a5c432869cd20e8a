//! Parameters to start a search from.

use super::PolicySpec;
use crate::random::NormalStream;

/// Parameters of a random network: weights and biases of each layer uniform within ±1/sqrt(inputs), as is usual
/// for dense layers, so that activations neither vanish nor saturate from layer to layer. A filter starts as one that
/// changes nothing.
///
/// ```
/// use autoqd_rollout::policy::{PolicySpec, Weights, uniform};
/// let spec = PolicySpec::new(Weights::Toeplitz, vec![16], 4, vec![-1.0], vec![1.0])?;
/// let parameters = uniform(&spec, 7);
/// assert_eq!(parameters.len(), spec.parameter_count());
/// let (first, second) = parameters.split_at(spec.shapes()[0].parameter_count());
/// assert!(first.iter().all(|p| p.abs() <= 0.5) && second.iter().all(|p| p.abs() <= 0.25));
/// # Ok::<(), autoqd_rollout::Error>(())
/// ```
pub fn uniform(spec: &PolicySpec, seed: u64) -> Vec<f64> {
    drawn(spec, seed, |u| 2.0 * u - 1.0)
}

/// As [`uniform`], from 0 to 1/sqrt(inputs): what public implementations of Toeplitz policies start from.
pub fn positive(spec: &PolicySpec, seed: u64) -> Vec<f64> {
    drawn(spec, seed, |u| u)
}

/// Each parameter as `shape` makes it of a number from [0, 1), in units of its layer's 1/sqrt(inputs).
fn drawn(spec: &PolicySpec, seed: u64, shape: fn(f64) -> f64) -> Vec<f64> {
    let mut stream = NormalStream::new(seed, b"initial ");
    let mut parameters = Vec::with_capacity(spec.parameter_count());
    if spec.filter.is_some() {
        parameters.resize(spec.observation_size, 0.0);
        parameters.resize(2 * spec.observation_size, 1.0);
    }
    for layer in spec.shapes() {
        let bound = 1.0 / (layer.inputs as f64).sqrt();
        let draw = || bound * shape(stream.uniform());
        parameters.extend(std::iter::repeat_with(draw).take(layer.parameter_count()));
    }
    parameters
}
