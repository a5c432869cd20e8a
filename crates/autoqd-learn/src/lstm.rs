//! A long short-term memory layer over whole sequences, with explicit forward and backward passes.
//!
//! With x in R^d, H units and gates in the order i, f, g, o: a = W_x x + W_h h + b, i = sig(a_i), f = sig(a_f),
//! g = tanh(a_g), o = sig(a_o), c' = f c + i g, h' = o tanh(c'). The first c is 0.
//!
//! Buffers over time are (steps, batch, numbers). A sequence that has ended keeps its h and c.

use crate::dense;
use crate::product::{add_product, matrix};
use crate::real::{Real, zeros};

fn sigmoid<T: Real>(x: T) -> T {
    let half = T::of(0.5);
    half * T::tanh(half * x) + half
}

/// One step of one sequence: `gates` are the sums a; state `h` and memory `c` are replaced.
pub fn step<T: Real>(gates: &[T], h: &mut [T], c: &mut [T]) {
    let units = h.len();
    let (i, rest) = gates.split_at(units);
    let (f, rest) = rest.split_at(units);
    let (g, o) = rest.split_at(units);
    for j in 0..units {
        c[j] = sigmoid(f[j]) * c[j] + sigmoid(i[j]) * T::tanh(g[j]);
        h[j] = sigmoid(o[j]) * T::tanh(c[j]);
    }
}

/// The parameters of a layer.
#[derive(Clone, Copy)]
pub struct Lstm<'a, T> {
    /// W_x, a row per input.
    pub input: &'a [T],
    /// W_h, a row per unit.
    pub recurrent: &'a [T],
    /// b.
    pub bias: &'a [T],
}

/// Where the gradients of a layer's parameters are summed.
pub struct LstmGradient<'a, T> {
    /// Of W_x.
    pub input: &'a mut [T],
    /// Of W_h.
    pub recurrent: &'a mut [T],
    /// Of b.
    pub bias: &'a mut [T],
}

/// Buffers of a forward and a backward pass.
#[derive(Clone, Debug)]
pub struct LstmPass<T> {
    /// W_x x + b of all steps; after a backward pass the gradients of the sums a.
    sums: Vec<T>,
    /// Sums a of one step.
    gates: Vec<T>,
    /// First h and h after every step.
    h: Vec<T>,
    /// First c and c after every step.
    c: Vec<T>,
    /// Gradient of h as the backward pass goes; after it that of the first h.
    pub of_h: Vec<T>,
    of_c: Vec<T>,
}

impl<T> Default for LstmPass<T> {
    fn default() -> Self {
        let none = Vec::new;
        Self { sums: none(), gates: none(), h: none(), c: none(), of_h: none(), of_c: none() }
    }
}

impl<T> LstmPass<T> {
    /// h after the last steps, as many as have `len` numbers.
    pub fn last_h(&self, len: usize) -> &[T] {
        &self.h[self.h.len() - len..]
    }
}

impl<T: Real> Lstm<'_, T> {
    fn units(&self) -> usize {
        self.bias.len() / 4
    }

    /// Computes h after every step for inputs x, the first h of each sequence and their lengths.
    pub fn forward(&self, x: &[T], first: &[T], lengths: &[usize], pass: &mut LstmPass<T>) {
        let (batch, units, state) = (lengths.len(), self.units(), first.len());
        dense::forward(x, self.input, self.bias, &mut pass.sums);
        pass.h.clear();
        pass.h.extend_from_slice(first);
        zeros(&mut pass.c, state);
        let gates = &mut pass.gates;
        for (t, sums) in pass.sums.chunks_exact(4 * state).enumerate() {
            gates.clear();
            gates.extend_from_slice(sums);
            pass.h.extend_from_within(t * state..);
            pass.c.extend_from_within(t * state..);
            let (before, h) = pass.h[t * state..].split_at_mut(state);
            let c = &mut pass.c[(t + 1) * state..];
            add_product(gates, matrix(before, batch, units), matrix(self.recurrent, units, 4 * units));
            for row in (0..batch).filter(|row| t < lengths[*row]) {
                let own = row * units..(row + 1) * units;
                step(&gates[row * 4 * units..][..4 * units], &mut h[own.clone()], &mut c[own]);
            }
        }
    }

    /// Backpropagation through time: adds the gradients of the parameters, from `of_last`, the gradients of h after
    /// the last steps, as many as it holds; those of earlier ones are zero. Leaves the gradient of the first h.
    pub fn backward(
        &self,
        x: &[T],
        of_last: &[T],
        lengths: &[usize],
        pass: &mut LstmPass<T>,
        sum: &mut LstmGradient<'_, T>,
    ) {
        let (units, rows) = (self.units(), pass.sums.len() / self.bias.len());
        let before = matrix(&pass.h[..rows * units], rows, units);
        // Again, as one product, in place of a second large buffer.
        add_product(&mut pass.sums, before, matrix(self.recurrent, units, 4 * units));
        self.backward_through_time(of_last, lengths, pass);
        let before = matrix(&pass.h[..rows * units], rows, units);
        add_product(sum.recurrent, before.transpose(), matrix(&pass.sums, rows, 4 * units));
        dense::backward(x, &pass.sums, sum.input, sum.bias);
    }

    /// Replaces the sums a by their gradients, last step first.
    fn backward_through_time(&self, of_last: &[T], lengths: &[usize], pass: &mut LstmPass<T>) {
        let (batch, units) = (lengths.len(), self.units());
        let (state, steps) = (batch * units, pass.sums.len() / (4 * batch * units));
        let silent = steps - of_last.len() / state;
        let LstmPass { sums, c, of_h, of_c, .. } = pass;
        zeros(of_h, state);
        zeros(of_c, state);
        for t in (0..steps).rev() {
            if let Some(t) = t.checked_sub(silent) {
                of_h.iter_mut().zip(&of_last[t * state..]).for_each(|(sum, g)| *sum += *g);
            }
            let gates = &mut sums[t * 4 * state..][..4 * state];
            for row in 0..batch {
                let own = row * units..(row + 1) * units;
                let gates = &mut gates[row * 4 * units..][..4 * units];
                if t < lengths[row] {
                    let c_before = &c[t * state..][own.clone()];
                    step_backward(gates, c_before, &mut of_h[own.clone()], &mut of_c[own]);
                } else {
                    gates.fill(T::ZERO);
                }
            }
            let weights = matrix(self.recurrent, units, 4 * units);
            add_product(of_h, matrix(gates, batch, 4 * units), weights.transpose());
        }
    }
}

/// The derivative of [`step`]: sums a are replaced by their gradients, `of_c` by that of the c before; `of_h` is used
/// up, because h before reaches h after only through the sums.
#[inline(never)] // Inlined it took more than twice the time.
fn step_backward<T: Real>(gates: &mut [T], c_before: &[T], of_h: &mut [T], of_c: &mut [T]) {
    let (units, one) = (of_h.len(), T::ONE);
    let (gate_i, rest) = gates.split_at_mut(units);
    let (gate_f, rest) = rest.split_at_mut(units);
    let (gate_g, gate_o) = rest.split_at_mut(units);
    for j in 0..units {
        let (i, f) = (sigmoid(gate_i[j]), sigmoid(gate_f[j]));
        let (g, o) = (T::tanh(gate_g[j]), sigmoid(gate_o[j]));
        let tanh_c = T::tanh(f * c_before[j] + i * g);
        let d = of_c[j] + of_h[j] * o * (one - tanh_c * tanh_c);
        gate_i[j] = d * g * i * (one - i);
        gate_f[j] = d * c_before[j] * f * (one - f);
        gate_g[j] = d * i * (one - g * g);
        gate_o[j] = of_h[j] * tanh_c * o * (one - o);
        of_c[j] = d * f;
        of_h[j] = T::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::random::Stream;

    const INPUTS: usize = 3;
    const UNITS: usize = 2;
    const BATCH: usize = 3;
    const STATE: usize = BATCH * UNITS;

    fn random(count: usize, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed);
        (0..count).map(|_| f64::from(stream.symmetric(1.0))).collect()
    }

    /// W_x, W_h and b in one buffer.
    fn split(parameters: &[f64]) -> Lstm<'_, f64> {
        let (input, rest) = parameters.split_at(INPUTS * 4 * UNITS);
        let (recurrent, bias) = rest.split_at(UNITS * 4 * UNITS);
        Lstm { input, recurrent, bias }
    }

    fn split_mut(sums: &mut [f64]) -> LstmGradient<'_, f64> {
        let (input, rest) = sums.split_at_mut(INPUTS * 4 * UNITS);
        let (recurrent, bias) = rest.split_at_mut(UNITS * 4 * UNITS);
        LstmGradient { input, recurrent, bias }
    }

    /// Checks the gradients of a sum of the last `counted` h with random weights.
    fn check_gradients(steps: usize, counted: usize, lengths: &[usize]) {
        let parameters = random((INPUTS + UNITS + 1) * 4 * UNITS, 1);
        let (x, first) = (random(steps * BATCH * INPUTS, 2), random(STATE, 3));
        let weights = random(counted * STATE, 4);
        let value = |parameters: &[f64], first: &[f64]| {
            let mut pass = LstmPass::default();
            split(parameters).forward(&x, first, lengths, &mut pass);
            pass.last_h(weights.len()).iter().zip(&weights).map(|(h, w)| h * w).sum::<f64>()
        };
        let (mut pass, mut sums) = (LstmPass::default(), vec![0.0; parameters.len()]);
        let layer = split(&parameters);
        layer.forward(&x, &first, lengths, &mut pass);
        layer.backward(&x, &weights, lengths, &mut pass, &mut split_mut(&mut sums));
        assert_gradient(&parameters, &sums, |moved| value(moved, &first));
        assert_gradient(&first, &pass.of_h, |moved| value(&parameters, moved));
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        check_gradients(4, 4, &[4, 1, 3]);
    }

    #[test]
    fn gradients_are_right_where_only_the_last_state_counts() {
        check_gradients(4, 1, &[4, 1, 3]);
    }

    #[test]
    fn gradients_are_right_where_every_sequence_has_a_single_step() {
        check_gradients(1, 1, &[1, 1, 1]);
    }

    #[test]
    fn an_ended_sequence_keeps_its_state_whatever_stands_in_the_padding() {
        let parameters = random((INPUTS + UNITS + 1) * 4 * UNITS, 1);
        let (mut x, first) = (random(4 * BATCH * INPUTS, 2), random(STATE, 3));
        let run = |x: &[f64]| {
            let mut pass = LstmPass::default();
            split(&parameters).forward(x, &first, &[4, 1, 3], &mut pass);
            pass.last_h(4 * STATE).to_vec()
        };
        let h = run(&x);
        x[(3 * BATCH + 1) * INPUTS] = 1e6;
        x[(3 * BATCH + 2) * INPUTS + 2] = f64::NAN;
        assert_eq!(h, run(&x));
        assert_eq!(h[2..4], h[3 * STATE + 2..3 * STATE + 4], "the second sequence has one step");
    }
}
