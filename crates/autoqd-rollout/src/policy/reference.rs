//! The network in plain loops, to compare the fast one with.

use super::network::Scaling;
use super::{Activation, Parameters, PolicySpec};
use crate::Error;
use crate::kernels::{NARROW, PARTIAL_SUMS, STRIDE};

/// The action in single precision, with the operations of [`Policy`](super::Policy) in the same order: the bits
/// are the same.
pub fn act(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Result<Vec<f32>, Error> {
    let parts = spec.split(parameters)?;
    let mut x: Vec<f32> = filtered(spec, &parts, observation).iter().map(|o| *o as f32).collect();
    for layer in parts.layers {
        let output = |i: usize| {
            let product = |j: usize| x[j] * layer.weight(i, j) as f32;
            let bias = layer.bias(i) as f32;
            layer.shape.layer.activation.apply(if layer.shape.outputs() <= NARROW {
                let mut sums = [bias, 0.0, 0.0, 0.0];
                (0..x.len()).for_each(|j| sums[j % PARTIAL_SUMS] += product(j));
                (sums[0] + sums[1]) + (sums[2] + sums[3])
            } else {
                let order = (0..STRIDE).flat_map(|first| (first..x.len()).step_by(STRIDE));
                order.fold(bias, |sum, j| sum + product(j))
            })
        };
        x = (0..layer.shape.outputs()).map(output).collect();
    }
    Ok(Scaling::of(spec).iter().zip(x).map(|(scaling, x)| scaling.apply(x)).collect())
}

/// The action in double precision from start to end, to tell how much single precision costs.
pub fn act_f64(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Result<Vec<f64>, Error> {
    let parts = spec.split(parameters)?;
    let mut x = filtered(spec, &parts, observation);
    for layer in parts.layers {
        let output = |i: usize| {
            let products = x.iter().enumerate().map(|(j, x)| x * layer.weight(i, j));
            let sum = products.fold(layer.bias(i), |sum, product| sum + product);
            match layer.shape.layer.activation {
                Activation::Tanh => libm::tanh(sum),
                Activation::Relu => sum.max(0.0),
                Activation::None => sum,
            }
        };
        x = (0..layer.shape.outputs()).map(output).collect();
    }
    let bounds = spec.action_low.iter().zip(&spec.action_high);
    let action = |((low, high), x): ((&f64, &f64), f64)| match spec.squash {
        super::Squash::Tanh => (low + high) / 2.0 + (high - low) / 2.0 * x,
        super::Squash::Clip => x.clamp(*low, *high),
    };
    Ok(bounds.zip(x).map(action).collect())
}

/// The observation as the first layer sees it.
fn filtered(spec: &PolicySpec, parts: &Parameters<'_>, observation: &[f64]) -> Vec<f64> {
    let Some(filter) = parts.filter else { return observation.to_vec() };
    let clip = spec.filter.and_then(|filter| filter.clip).unwrap_or(f64::INFINITY);
    let numbers = filter.mean.iter().zip(filter.scale);
    observation
        .iter()
        .zip(numbers)
        .map(|(o, (mean, scale))| ((o - mean) * scale).clamp(-clip, clip))
        .collect()
}
