//! The network in plain loops, to compare the fast one with.

use super::PolicySpec;
use super::network::Scaling;
use crate::Error;
use crate::kernels::{NARROW, PARTIAL_SUMS, tanh};

/// The action in single precision, with the operations of [`Policy`](super::Policy) in the same order: the bits
/// are the same.
pub fn act(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Result<Vec<f32>, Error> {
    let mut x: Vec<f32> = observation.iter().map(|o| *o as f32).collect();
    for layer in spec.split(parameters)? {
        let partial_sums = if layer.shape.outputs <= NARROW { PARTIAL_SUMS } else { 1 };
        let output = |i: usize| {
            let mut sums = [0.0; PARTIAL_SUMS];
            sums[0] = layer.biases[i] as f32;
            for (j, x) in x.iter().enumerate() {
                sums[j % partial_sums] += x * layer.weight(i, j) as f32;
            }
            let [s0, s1, s2, s3] = sums;
            tanh(if partial_sums == 1 { s0 } else { (s0 + s1) + (s2 + s3) })
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
            libm::tanh(products.fold(layer.biases[i], |sum, product| sum + product))
        };
        x = (0..layer.shape.outputs).map(output).collect();
    }
    let bounds = spec.action_low.iter().zip(&spec.action_high);
    Ok(bounds.zip(x).map(|((low, high), x)| (low + high) / 2.0 + (high - low) / 2.0 * x).collect())
}
