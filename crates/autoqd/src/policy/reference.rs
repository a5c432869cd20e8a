//! The network in plain loops, to compare the fast one with.

use super::PolicySpec;
use super::network::Scaling;
use crate::Error;
use crate::kernels::{NARROW, PARTIAL_SUMS, STRIDE, tanh};

/// The action in single precision, with the operations of [`Policy`](super::Policy) in the same order: the bits
/// are the same.
pub fn act(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Result<Vec<f32>, Error> {
    let mut x: Vec<f32> = observation.iter().map(|o| *o as f32).collect();
    for layer in spec.split(parameters)? {
        let output = |i: usize| {
            let product = |j: usize| x[j] * layer.weight(i, j) as f32;
            let bias = layer.bias(i) as f32;
            tanh(if layer.shape.outputs <= NARROW {
                let mut sums = [bias, 0.0, 0.0, 0.0];
                (0..x.len()).for_each(|j| sums[j % PARTIAL_SUMS] += product(j));
                (sums[0] + sums[1]) + (sums[2] + sums[3])
            } else {
                let order = (0..STRIDE).flat_map(|first| (first..x.len()).step_by(STRIDE));
                order.fold(bias, |sum, j| sum + product(j))
            })
        };
        x = (0..layer.shape.outputs).map(output).collect();
    }
    Ok(Scaling::of(spec).iter().zip(x).map(|(scaling, x)| scaling.apply(x)).collect())
}

/// The action in double precision from start to end, to tell how much single precision costs.
pub fn act_f64(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Result<Vec<f64>, Error> {
    let mut x = observation.to_vec();
    for layer in spec.split(parameters)? {
        let output = |i: usize| {
            let products = x.iter().enumerate().map(|(j, x)| x * layer.weight(i, j));
            libm::tanh(products.fold(layer.bias(i), |sum, product| sum + product))
        };
        x = (0..layer.shape.outputs).map(output).collect();
    }
    let bounds = spec.action_low.iter().zip(&spec.action_high);
    Ok(bounds.zip(x).map(|((low, high), x)| (low + high) / 2.0 + (high - low) / 2.0 * x).collect())
}
