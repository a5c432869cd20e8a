//! Multilayer perceptrons with explicit forward and backward passes over a batch.
//!
//! The parameters of a network are one flat buffer, weights (a row per input) and bias of each layer in turn, and scale
//! and shift of a normalised one, so that optimisers and averages are single loops. What a pass computes on the way is
//! kept in a [`Pass`], which is used again for every batch.

use crate::dense;
use crate::layer_norm::Normalized;
use crate::random::Stream;
use crate::real::Real;
use crate::wide::wide;

/// What is applied to the outputs of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// Nothing.
    Linear,
    /// max(x, 0), with the derivative 1 at 0.
    Relu,
    /// Hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// A unit that is off becomes -0, which tells it from one at exactly 0 in the backward pass.
    fn forward<T: Real>(self, y: &mut [T]) {
        let off = T::ZERO * T::of(-1.0);
        match self {
            Self::Linear => (),
            Self::Relu => wide(
                #[inline(always)]
                || y.iter_mut().for_each(|y| *y = if *y < T::ZERO { off } else { *y }),
            ),
            Self::Tanh => wide(
                #[inline(always)]
                || y.iter_mut().for_each(|y| *y = T::tanh(*y)),
            ),
        }
    }

    /// Turns the gradient of the activated outputs `y` into that of the sums.
    fn backward<T: Real>(self, y: &[T], gradient: &mut [T]) {
        let pairs = gradient.iter_mut().zip(y);
        match self {
            Self::Linear => (),
            Self::Relu => wide(
                #[inline(always)]
                || pairs.for_each(|(g, y)| *g = if y.is_negative() { T::ZERO } else { *g }),
            ),
            Self::Tanh => wide(
                #[inline(always)]
                || pairs.for_each(|(g, y)| *g *= T::ONE - *y * *y),
            ),
        }
    }
}

/// The shape of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Numbers that come in.
    pub inputs: usize,
    /// Numbers that go out.
    pub outputs: usize,
    /// What is applied to them.
    pub activation: Activation,
    /// Whether they are normalised before that.
    pub normalized: bool,
}

impl Layer {
    /// Weights and biases, and scale and shift of a normalised layer.
    fn parameters(&self) -> usize {
        self.weights() + self.outputs * if self.normalized { 3 } else { 1 }
    }

    fn weights(&self) -> usize {
        self.inputs * self.outputs
    }

    /// Weights, bias, scale and shift; the last two are empty where nothing is normalised.
    fn split<'p, T>(&self, own: &'p [T]) -> [&'p [T]; 4] {
        let (weights, rest) = own.split_at(self.weights());
        let (bias, rest) = rest.split_at(self.outputs);
        let (scale, shift) = rest.split_at(rest.len() / 2);
        [weights, bias, scale, shift]
    }

    fn split_mut<'p, T>(&self, own: &'p mut [T]) -> [&'p mut [T]; 4] {
        let (weights, rest) = own.split_at_mut(self.weights());
        let (bias, rest) = rest.split_at_mut(self.outputs);
        let (scale, shift) = rest.split_at_mut(rest.len() / 2);
        [weights, bias, scale, shift]
    }
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    /// First to last.
    pub layers: Vec<Layer>,
}

/// Buffers of a forward and a backward pass.
#[derive(Clone, Debug)]
pub struct Pass<T> {
    /// Outputs of each layer.
    outputs: Vec<Vec<T>>,
    /// Of each layer that is normalised.
    normalized: Vec<Normalized<T>>,
    /// Gradient of the outputs of the network, before a backward pass; after it that of the inputs.
    pub gradient: Vec<T>,
    spare: Vec<T>,
}

impl<T> Default for Pass<T> {
    fn default() -> Self {
        Self { outputs: Vec::new(), normalized: Vec::new(), gradient: Vec::new(), spare: Vec::new() }
    }
}

impl<T> Pass<T> {
    /// What the network made of the last batch.
    pub fn output(&self) -> &[T] {
        self.outputs.last().map_or(&[], Vec::as_slice)
    }
}

impl Mlp {
    /// Layers of these sizes: the first entry is the number of inputs.
    pub fn new(sizes: &[usize], hidden: Activation, last: Activation) -> Self {
        let count = sizes.len() - 1;
        let layer = |i: usize| {
            let activation = if i + 1 == count { last } else { hidden };
            Layer { inputs: sizes[i], outputs: sizes[i + 1], activation, normalized: false }
        };
        Self { layers: (0..count).map(layer).collect() }
    }

    /// The same with all layers but the last normalised, or none.
    pub fn normalized(mut self, yes: bool) -> Self {
        let hidden = self.layers.len() - 1;
        self.layers[..hidden].iter_mut().for_each(|layer| layer.normalized = yes);
        self
    }

    /// Parameters of all layers.
    pub fn parameters(&self) -> usize {
        self.layers.iter().map(Layer::parameters).sum()
    }

    /// Random parameters as PyTorch's layers start: weights and biases uniform within 1/sqrt(inputs), scales 1, shifts 0.
    pub fn initial(&self, random: &mut Stream) -> Vec<f32> {
        let mut parameters = Vec::with_capacity(self.parameters());
        for layer in &self.layers {
            let limit = 1.0 / (layer.inputs as f32).sqrt();
            parameters.extend((0..layer.weights() + layer.outputs).map(|_| random.symmetric(limit)));
            if layer.normalized {
                parameters.extend(std::iter::repeat_n(1.0, layer.outputs));
                parameters.extend(std::iter::repeat_n(0.0, layer.outputs));
            }
        }
        parameters
    }

    /// The outputs for a batch of inputs; they stay in `pass`.
    pub fn forward<T: Real>(&self, parameters: &[T], x: &[T], pass: &mut Pass<T>) {
        pass.outputs.resize(self.layers.len(), Vec::new());
        pass.normalized.resize(self.layers.len(), Normalized::default());
        let mut rest = parameters;
        for (i, layer) in self.layers.iter().enumerate() {
            let (own, after) = rest.split_at(layer.parameters());
            let [weights, bias, scale, shift] = layer.split(own);
            let (before, outputs) = pass.outputs.split_at_mut(i);
            dense::forward(before.last().map_or(x, Vec::as_slice), weights, bias, &mut outputs[0]);
            if layer.normalized {
                pass.normalized[i].forward(scale, shift, &mut outputs[0]);
            }
            layer.activation.forward(&mut outputs[0]);
            rest = after;
        }
    }

    /// Adds the gradients of the parameters to `sum`, from `pass.gradient`. With `to_inputs` that becomes the gradient
    /// of the inputs; without, which saves a product, it is used up.
    pub fn backward<T: Real>(
        &self,
        parameters: &[T],
        x: &[T],
        pass: &mut Pass<T>,
        sum: &mut [T],
        to_inputs: bool,
    ) {
        let mut end = parameters.len();
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let own = end - layer.parameters()..end;
            let [weights, _, scale, _] = layer.split(&parameters[own.clone()]);
            let [of_weights, of_bias, of_scale, of_shift] = layer.split_mut(&mut sum[own.clone()]);
            layer.activation.backward(&pass.outputs[i], &mut pass.gradient);
            if layer.normalized {
                pass.normalized[i].backward(&pass.gradient, of_scale, of_shift);
                pass.normalized[i].backward_to_sums(scale, &mut pass.gradient);
            }
            let inputs = if i == 0 { x } else { &pass.outputs[i - 1] };
            if i > 0 || to_inputs {
                let of_layer = (of_weights, of_bias);
                dense::backward_to_all((inputs, weights), &pass.gradient, of_layer, &mut pass.spare);
                std::mem::swap(&mut pass.gradient, &mut pass.spare);
            } else {
                dense::backward(inputs, &pass.gradient, of_weights, of_bias);
            }
            end = own.start;
        }
    }
}

impl Mlp {
    /// Turns `pass.gradient` into that of the last `columns` inputs of each sample, without those of the parameters.
    pub fn backward_to_last_inputs<T: Real>(&self, parameters: &[T], pass: &mut Pass<T>, columns: usize) {
        let mut end = parameters.len();
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let start = end - layer.parameters();
            let skipped = if i == 0 { layer.inputs - columns } else { 0 };
            let [weights, _, scale, _] = layer.split(&parameters[start..end]);
            layer.activation.backward(&pass.outputs[i], &mut pass.gradient);
            if layer.normalized {
                pass.normalized[i].backward_to_sums(scale, &mut pass.gradient);
            }
            let weights = &weights[skipped * layer.outputs..];
            dense::backward_to_inputs(&pass.gradient, weights, layer.outputs, &mut pass.spare);
            std::mem::swap(&mut pass.gradient, &mut pass.spare);
            end = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::random::Stream;

    fn network() -> Mlp {
        let layer = |inputs, outputs, activation| Layer { inputs, outputs, activation, normalized: false };
        Mlp { layers: vec![layer(3, 5, Activation::Relu), layer(5, 2, Activation::Linear)] }
    }

    fn random(count: usize, stream: &mut Stream) -> Vec<f64> {
        (0..count).map(|_| f64::from(stream.symmetric(1.0))).collect()
    }

    #[test]
    fn outputs_are_those_of_the_formula() {
        let mut stream = Stream::new(1);
        let (network, parameters) = (network(), random(20 + 12, &mut stream));
        let x = random(3 * 7, &mut stream);
        let mut pass = Pass::default();
        network.forward(&parameters, &x, &mut pass);
        for (x, y) in x.chunks_exact(3).zip(pass.output().chunks_exact(2)) {
            let unit =
                |j: usize| parameters[15 + j] + (0..3).map(|i| x[i] * parameters[5 * i + j]).sum::<f64>();
            for k in 0..2 {
                let sum: f64 = (0..5).map(|j| unit(j).max(0.0) * parameters[20 + 2 * j + k]).sum();
                assert!((y[k] - sum - parameters[30 + k]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn gradients_of_parameters_and_inputs_are_those_of_finite_differences() {
        check_gradients(&network());
        check_gradients(&Mlp::new(&[3, 5, 2], Activation::Tanh, Activation::Tanh));
        check_gradients(&Mlp::new(&[3, 5, 2], Activation::Relu, Activation::Linear).normalized(true));
        // A single output has loops of its own.
        check_gradients(&Mlp::new(&[3, 40, 1], Activation::Tanh, Activation::Linear));
        check_gradients(&Mlp::new(&[3, 6, 5, 1], Activation::Tanh, Activation::Linear).normalized(true));
    }

    fn check_gradients(network: &Mlp) {
        let mut stream = Stream::new(2);
        let parameters = random(network.parameters(), &mut stream);
        let outputs = network.layers.last().unwrap().outputs;
        let (x, weights) = (random(3 * 7, &mut stream), random(outputs * 7, &mut stream));
        // A sum of the outputs with random weights, so that every output has its own gradient.
        let value = |parameters: &[f64], x: &[f64]| {
            let mut pass = Pass::default();
            network.forward(parameters, x, &mut pass);
            pass.output().iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>()
        };
        let (mut pass, mut gradient) = (Pass::default(), vec![0.0; parameters.len()]);
        network.forward(&parameters, &x, &mut pass);
        pass.gradient.clone_from(&weights);
        network.backward(&parameters, &x, &mut pass, &mut gradient, true);
        assert_gradient(&parameters, &gradient, |moved| value(moved, &x));
        assert_gradient(&x, &pass.gradient, |moved| value(&parameters, moved));
        let whole = pass.gradient.clone();
        pass.gradient.clone_from(&weights);
        network.backward_to_last_inputs(&parameters, &mut pass, 2);
        for (whole, last) in whole.chunks_exact(3).zip(pass.gradient.chunks_exact(2)) {
            assert!(whole[1..].iter().zip(last).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }

    #[test]
    fn a_unit_at_exactly_zero_is_on_and_a_negative_one_is_off() {
        let (mut y, mut gradient) = ([-2.0f32, 0.0, 3.0, f32::NAN], [1.0; 4]);
        Activation::Relu.forward(&mut y);
        assert_eq!(y[..3], [0.0, 0.0, 3.0]);
        assert!(y[3].is_nan(), "a diverged network is not hidden");
        Activation::Relu.backward(&y[..3], &mut gradient[..3]);
        assert_eq!(gradient[..3], [0.0, 1.0, 1.0]);
    }
}
