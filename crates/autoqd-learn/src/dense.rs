//! A layer y = x W + b over a batch: forward pass and the three parts of its backward pass.
//!
//! All matrices are row-major: x and y have a row per sample, W has a row per input, b is one row.

use faer::MatRef;

use crate::product::{add_product, matrix};
use crate::real::{Real, zeros};

/// The outputs y for the inputs x.
pub fn forward<T: Real>(x: &[T], weights: &[T], bias: &[T], y: &mut Vec<T>) {
    let (inputs, outputs) = (weights.len() / bias.len(), bias.len());
    let rows = x.len() / inputs;
    y.clear();
    (0..rows).for_each(|_| y.extend_from_slice(bias));
    add_product(y, matrix(x, rows, inputs), matrix(weights, inputs, outputs));
}

/// Adds the gradients of weights and bias, from the inputs and the gradient of the outputs.
pub fn backward<T: Real>(x: &[T], of_y: &[T], of_weights: &mut [T], of_bias: &mut [T]) {
    let (inputs, outputs) = (of_weights.len() / of_bias.len(), of_bias.len());
    let rows = x.len() / inputs;
    let of_y = matrix(of_y, rows, outputs);
    add_product(of_weights, matrix(x, rows, inputs).transpose(), of_y);
    add_product(of_bias, MatRef::from_repeated_ref(&T::ONE, 1, rows), of_y);
}

/// The gradient of the inputs, from that of the outputs.
pub fn backward_to_inputs<T: Real>(of_y: &[T], weights: &[T], outputs: usize, of_x: &mut Vec<T>) {
    let (rows, inputs) = (of_y.len() / outputs, weights.len() / outputs);
    zeros(of_x, rows * inputs);
    add_product(of_x, matrix(of_y, rows, outputs), matrix(weights, inputs, outputs).transpose());
}
