//! A layer y = x W + b over a batch: forward pass and the three parts of its backward pass.
//!
//! All matrices are row-major: x and y have a row per sample, W has a row per input, b is one row.

use faer::MatRef;

use crate::product::{add_product, matrix, set_product};
use crate::real::Real;
use crate::wide::wide;

/// Sums of a dot product kept side by side; their order is part of the result.
const LANES: usize = 16;

/// From so many multiplications on, two products are worth a second thread.
const WORTH_A_THREAD: usize = 1 << 20;

/// The outputs y for the inputs x.
pub fn forward<T: Real>(x: &[T], weights: &[T], bias: &[T], y: &mut Vec<T>) {
    let (inputs, outputs) = (weights.len() / bias.len(), bias.len());
    let rows = x.len() / inputs;
    y.clear();
    if outputs == 1 {
        return wide(
            #[inline(always)]
            || y.extend(x.chunks_exact(inputs).map(|x| bias[0] + dot(x, weights))),
        );
    }
    (0..rows).for_each(|_| y.extend_from_slice(bias));
    add_product(y, matrix(x, rows, inputs), matrix(weights, inputs, outputs));
}

/// Adds the gradients of weights and bias, from the inputs and the gradient of the outputs.
pub fn backward<T: Real>(x: &[T], of_y: &[T], of_weights: &mut [T], of_bias: &mut [T]) {
    let (inputs, outputs) = (of_weights.len() / of_bias.len(), of_bias.len());
    let rows = x.len() / inputs;
    if outputs == 1 {
        return wide(
            #[inline(always)]
            || {
                for (x, g) in x.chunks_exact(inputs).zip(of_y) {
                    of_weights.iter_mut().zip(x).for_each(|(w, x)| *w += *g * *x);
                    of_bias[0] += *g;
                }
            },
        );
    }
    let of_y = matrix(of_y, rows, outputs);
    add_product(of_weights, matrix(x, rows, inputs).transpose(), of_y);
    add_product(of_bias, MatRef::from_repeated_ref(&T::ONE, 1, rows), of_y);
}

/// The gradient of the inputs, from that of the outputs.
pub fn backward_to_inputs<T: Real>(of_y: &[T], weights: &[T], outputs: usize, of_x: &mut Vec<T>) {
    let (rows, inputs) = (of_y.len() / outputs, weights.len() / outputs);
    of_x.resize(rows * inputs, T::ZERO);
    if outputs == 1 {
        return wide(
            #[inline(always)]
            || {
                for (of_x, g) in of_x.chunks_exact_mut(inputs).zip(of_y) {
                    of_x.iter_mut().zip(weights).for_each(|(x, w)| *x = *g * *w);
                }
            },
        );
    }
    set_product(of_x, matrix(of_y, rows, outputs), matrix(weights, inputs, outputs).transpose());
}

/// Both backward passes, side by side where that is worth it; neither sees the other.
pub fn backward_to_all<T: Real>(
    (x, weights): (&[T], &[T]),
    of_y: &[T],
    (of_weights, of_bias): (&mut [T], &mut [T]),
    of_x: &mut Vec<T>,
) {
    let outputs = of_bias.len();
    let mut parameters = || backward(x, of_y, of_weights, of_bias);
    let mut inputs = || backward_to_inputs(of_y, weights, outputs, of_x);
    if x.len() * outputs < WORTH_A_THREAD {
        parameters();
        inputs();
    } else {
        rayon::join(parameters, inputs);
    }
}

/// A product with one column is too thin for the matrix product's kernels.
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (pairs, rest) = (a.chunks_exact(LANES).zip(b.chunks_exact(LANES)), a.len() / LANES * LANES);
    for (a, b) in pairs {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += *a * *b);
    }
    let sum = lanes.iter().fold(T::ZERO, |sum, lane| sum + *lane);
    a[rest..].iter().zip(&b[rest..]).fold(sum, |sum, (a, b)| sum + *a * *b)
}
