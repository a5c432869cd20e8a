//! What each number of a flat parameter vector is.

use super::{LayerSpec, PolicySpec};
use crate::Error;
use crate::kernels::Weights;

/// A layer and its number of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Columns of the matrix.
    pub inputs: usize,
    /// The rest of the layer.
    pub layer: LayerSpec,
}

impl LayerShape {
    /// Rows of the matrix.
    pub fn outputs(&self) -> usize {
        self.layer.outputs
    }

    /// Parameters of the matrix.
    pub fn weight_count(&self) -> usize {
        match self.layer.weights {
            Weights::Toeplitz => (self.inputs + self.outputs()).saturating_sub(1),
            Weights::Dense => self.inputs * self.outputs(),
        }
    }

    /// Number of biases: one per output, or none.
    pub fn bias_count(&self) -> usize {
        if self.layer.bias { self.outputs() } else { 0 }
    }

    /// Parameters of the matrix and the biases.
    pub fn parameter_count(&self) -> usize {
        self.weight_count() + self.bias_count()
    }

    /// Place of the weight in row `i` and column `j` among the layer's parameters.
    pub fn weight_index(&self, i: usize, j: usize) -> usize {
        match self.layer.weights {
            Weights::Toeplitz => i + self.inputs - 1 - j,
            Weights::Dense => i * self.inputs + j,
        }
    }
}

/// A flat parameter vector in its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters<'a> {
    /// The numbers of the filter, where the policy has one.
    pub filter: Option<FilterParameters<'a>>,
    /// The layers in order.
    pub layers: Vec<LayerParameters<'a>>,
}

/// The filter's part of a flat parameter vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterParameters<'a> {
    /// What is subtracted from each observation.
    pub mean: &'a [f64],
    /// What the difference is multiplied with: one over the standard deviation.
    pub scale: &'a [f64],
}

/// One layer's part of a flat parameter vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerParameters<'a> {
    /// The layer.
    pub shape: LayerShape,
    /// The numbers that define the matrix.
    pub weights: &'a [f64],
    /// One bias per output, or none at all.
    pub biases: &'a [f64],
}

impl LayerParameters<'_> {
    /// The bias of output `i`; 0 in a layer without biases.
    pub fn bias(&self, i: usize) -> f64 {
        self.biases.get(i).copied().unwrap_or(0.0)
    }

    /// The weight in row `i` (output) and column `j` (input).
    pub fn weight(&self, i: usize, j: usize) -> f64 {
        self.weights[self.shape.weight_index(i, j)]
    }

    /// The matrix in full, row after row.
    pub fn matrix(&self) -> impl Iterator<Item = f64> + '_ {
        let (rows, columns) = (self.shape.outputs(), self.shape.inputs);
        (0..rows).flat_map(move |i| (0..columns).map(move |j| self.weight(i, j)))
    }
}

/// What one number of a flat parameter vector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The filter's mean of this observation.
    Mean(usize),
    /// The filter's scale of this observation.
    Scale(usize),
    /// One weight of a dense layer.
    Weight {
        /// Number of the layer.
        layer: usize,
        /// Output.
        row: usize,
        /// Input.
        column: usize,
    },
    /// All weights of a Toeplitz layer with this `row - column`.
    Diagonal {
        /// Number of the layer.
        layer: usize,
        /// Row minus column.
        offset: isize,
    },
    /// A bias.
    Bias {
        /// Number of the layer.
        layer: usize,
        /// Output.
        output: usize,
    },
}

/// The gradient of one layer as backpropagation gives it.
#[derive(Clone, Copy, Debug)]
pub struct LayerGradient<'a, T = f64> {
    /// By each entry of the full matrix, row after row, whatever the structure of the matrix.
    pub weights: &'a [T],
    /// By the sum of each output; a layer without biases does not use it.
    pub biases: &'a [T],
}

impl PolicySpec {
    /// Length of the flat parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.filter_count() + self.shapes().iter().map(LayerShape::parameter_count).sum::<usize>()
    }

    fn filter_count(&self) -> usize {
        if self.filter.is_some() { 2 * self.observation_size } else { 0 }
    }

    /// Checks the length of a parameter vector.
    pub fn check_parameters(&self, parameters: &[f64]) -> Result<(), Error> {
        let (expected, got) = (self.parameter_count(), parameters.len());
        if expected == got { Ok(()) } else { Err(Error::ParameterCount { expected, got }) }
    }

    /// The parts of a parameter vector.
    pub fn split<'a>(&self, parameters: &'a [f64]) -> Result<Parameters<'a>, Error> {
        self.check_parameters(parameters)?;
        let (filter, mut rest) = parameters.split_at(self.filter_count());
        let (mean, scale) = filter.split_at(filter.len() / 2);
        let split = |shape: LayerShape| {
            let (own, after) = rest.split_at(shape.parameter_count());
            rest = after;
            let (weights, biases) = own.split_at(shape.weight_count());
            LayerParameters { shape, weights, biases }
        };
        let layers = self.shapes().into_iter().map(split).collect();
        Ok(Parameters { filter: self.filter.map(|_| FilterParameters { mean, scale }), layers })
    }

    /// The parameter vector of these parts: the inverse of [`split`](Self::split).
    pub fn join(&self, parts: &Parameters<'_>) -> Result<Vec<f64>, Error> {
        let filter = parts.filter.map_or([&[][..]; 2], |filter| [filter.mean, filter.scale]);
        let layers = parts.layers.iter().flat_map(|layer| [layer.weights, layer.biases]);
        let pieces: Vec<&[f64]> = filter.into_iter().chain(layers).collect();
        let got: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
        let shapes = self.shapes();
        let counts = shapes.iter().flat_map(|shape| [shape.weight_count(), shape.bias_count()]);
        let expected: Vec<usize> = [self.filter_count() / 2; 2].into_iter().chain(counts).collect();
        if got != expected {
            let got = format!("lengths {got:?} instead of {expected:?}");
            return Err(Error::invalid(
                "parts of a policy",
                got,
                "the filter, the weights and the biases it has",
            ));
        }
        Ok(pieces.concat())
    }

    /// What number `index` of a parameter vector is; nothing beyond its end.
    pub fn place(&self, index: usize) -> Option<Place> {
        let n = self.observation_size;
        let Some(mut rest) = index.checked_sub(self.filter_count()) else {
            return Some(if index < n { Place::Mean(index) } else { Place::Scale(index - n) });
        };
        for (layer, shape) in self.shapes().into_iter().enumerate() {
            let (weights, inputs) = (shape.weight_count(), shape.inputs);
            if rest < shape.parameter_count() {
                return Some(match shape.layer.weights {
                    _ if rest >= weights => Place::Bias { layer, output: rest - weights },
                    Weights::Dense => Place::Weight { layer, row: rest / inputs, column: rest % inputs },
                    Weights::Toeplitz => {
                        Place::Diagonal { layer, offset: rest as isize - (inputs as isize - 1) }
                    }
                });
            }
            rest -= shape.parameter_count();
        }
        None
    }

    /// Adds the gradient of every layer to the gradient by the flat parameter vector. The derivative by a diagonal of a
    /// Toeplitz matrix is the sum along it; the numbers of the filter are not trained and get nothing.
    pub fn accumulate_gradient<T: Copy + Into<f64>>(
        &self,
        layers: &[LayerGradient<'_, T>],
        gradient: &mut [f64],
    ) -> Result<(), Error> {
        self.check_parameters(gradient)?;
        let shapes = self.shapes();
        let fits = |(shape, layer): (&LayerShape, &LayerGradient<'_, T>)| {
            layer.weights.len() == shape.inputs * shape.outputs() && layer.biases.len() >= shape.bias_count()
        };
        if layers.len() != shapes.len() || !shapes.iter().zip(layers).all(fits) {
            let got =
                format!("{:?}", layers.iter().map(|l| (l.weights.len(), l.biases.len())).collect::<Vec<_>>());
            return Err(Error::invalid(
                "gradient of a policy",
                got,
                "a full matrix and the biases of every layer",
            ));
        }
        let mut rest = &mut gradient[self.filter_count()..];
        for (shape, layer) in shapes.iter().zip(layers) {
            let (own, after) = rest.split_at_mut(shape.parameter_count());
            for (k, derivative) in layer.weights.iter().enumerate() {
                own[shape.weight_index(k / shape.inputs, k % shape.inputs)] += (*derivative).into();
            }
            let biases = own[shape.weight_count()..].iter_mut();
            biases.zip(layer.biases).for_each(|(sum, derivative)| *sum += (*derivative).into());
            rest = after;
        }
        Ok(())
    }
}
