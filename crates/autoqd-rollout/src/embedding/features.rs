//! Random Fourier features of state-action pairs.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::kernels::FourierLayout;
use crate::random::NormalStream;

/// Bandwidth factors of the multi-scale option: a mixture of five Gaussian kernels, from which the weighted PCA
/// picks the scales that matter.
pub const MULTI_SCALE: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// How the directions of the features are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Independent normal vectors, as in the paper.
    #[default]
    Independent,
    /// Orthogonal within blocks of as many features as there are inputs, each with the length of a normal
    /// vector: the same kernel in expectation, approximated with less variance.
    Orthogonal,
}

/// What the random features look like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureOptions {
    /// Number of features D.
    pub dimension: usize,
    /// Kernel width sigma; if absent, the square root of observation size plus action size, as in the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
    /// How directions are drawn.
    pub sampling: Sampling,
    /// Factors of the bandwidth, each for an equal share of the features: `[1.0]` as in the paper, or
    /// [`MULTI_SCALE`].
    pub scales: Vec<f64>,
}

impl Default for FeatureOptions {
    fn default() -> Self {
        Self { dimension: 100, bandwidth: None, sampling: Sampling::Independent, scales: vec![1.0] }
    }
}

impl FeatureOptions {
    /// The kernel width for state-action pairs of `inputs` numbers.
    pub fn bandwidth_for(&self, inputs: usize) -> f64 {
        self.bandwidth.unwrap_or_else(|| (inputs as f64).sqrt())
    }

    fn validate(&self, inputs: usize) -> Result<(), Error> {
        if self.dimension == 0 || inputs == 0 {
            return Err(Error::invalid(
                "embedding dimension",
                self.dimension,
                "at least 1 feature and 1 input",
            ));
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !positive(self.bandwidth_for(inputs)) {
            return Err(Error::invalid("bandwidth", self.bandwidth_for(inputs), "a positive number"));
        }
        if self.scales.is_empty() || !self.scales.iter().all(|s| positive(*s)) {
            return Err(Error::invalid(
                "scales",
                format!("{:?}", self.scales),
                "one or more positive numbers",
            ));
        }
        Ok(())
    }
}

/// The feature map phi(s, a) = sqrt(2/D) [cos(w_1 . [s; a] + b_1), .., cos(w_D . [s; a] + b_D)] (Eq. 3 of the paper).
///
/// # What the step loop computes
/// Weights and phases are rounded to single precision once. Feature d of an input x in single precision:
/// `angle = b_d`, then `angle += x[i] * w_d[i]` for i = 0, 1, .., each operation rounded by itself, then
/// [`cosine`](crate::kernels::cosine). The factor sqrt(2/D) is applied to psi in double precision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct FeatureMap {
    inputs: usize,
    weights: Vec<f64>,
    phases: Vec<f64>,
    pub(super) layout: FourierLayout,
}

/// The stored form of a feature map; the rest is derived from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    inputs: usize,
    weights: Vec<f64>,
    phases: Vec<f64>,
}

impl FeatureMap {
    /// Draws a feature map for state-action pairs of `inputs` numbers.
    pub fn sample(options: &FeatureOptions, inputs: usize, seed: u64) -> Result<Self, Error> {
        options.validate(inputs)?;
        let mut stream = NormalStream::new(seed, b"features");
        let mut weights: Vec<f64> = (0..options.dimension * inputs).map(|_| stream.normal()).collect();
        if options.sampling == Sampling::Orthogonal {
            weights.chunks_mut(inputs * inputs).for_each(|block| orthogonalize(block, inputs));
        }
        let bandwidth = options.bandwidth_for(inputs);
        for (d, row) in weights.chunks_exact_mut(inputs).enumerate() {
            let scale = options.scales[d * options.scales.len() / options.dimension];
            row.iter_mut().for_each(|w| *w /= bandwidth * scale);
        }
        let phases = (0..options.dimension).map(|_| std::f64::consts::TAU * stream.uniform()).collect();
        Self::from_parts(inputs, weights, phases)
    }

    /// A feature map from its weights (row-major, one row of `inputs` numbers per feature) and phases.
    pub fn from_parts(inputs: usize, weights: Vec<f64>, phases: Vec<f64>) -> Result<Self, Error> {
        if inputs == 0 || phases.is_empty() || weights.len() != inputs * phases.len() {
            let got = format!("{} weights, {} phases, {inputs} inputs", weights.len(), phases.len());
            return Err(Error::invalid("feature map", got, "one row of inputs per phase"));
        }
        let layout = FourierLayout::new(inputs, &weights, &phases);
        Ok(Self { inputs, weights, phases, layout })
    }

    /// Length of a state-action pair.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of features D.
    pub fn dimension(&self) -> usize {
        self.phases.len()
    }

    /// Weights, row-major, one row per feature.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Phases, one per feature.
    pub fn phases(&self) -> &[f64] {
        &self.phases
    }

    /// sqrt(2/D).
    pub fn amplitude(&self) -> f64 {
        (2.0 / self.dimension() as f64).sqrt()
    }

    /// phi of one (normalised) state-action pair in double precision.
    pub fn phi(&self, input: &[f64]) -> Vec<f64> {
        let feature = |(row, phase): (&[f64], &f64)| {
            let angle = row.iter().zip(input).fold(*phase, |sum, (w, x)| sum + x * w);
            self.amplitude() * libm::cos(angle)
        };
        self.weights.chunks_exact(self.inputs).zip(&self.phases).map(feature).collect()
    }
}

impl PartialEq for FeatureMap {
    fn eq(&self, other: &Self) -> bool {
        (self.inputs, &self.weights, &self.phases) == (other.inputs, &other.weights, &other.phases)
    }
}

impl TryFrom<Stored> for FeatureMap {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        Self::from_parts(stored.inputs, stored.weights, stored.phases)
    }
}

impl From<FeatureMap> for Stored {
    fn from(map: FeatureMap) -> Self {
        Self { inputs: map.inputs, weights: map.weights, phases: map.phases }
    }
}

/// Makes the rows of a block orthogonal and keeps their lengths. Length and direction of a normal vector are
/// independent, so each row keeps its distribution.
fn orthogonalize(block: &mut [f64], n: usize) {
    for r in 0..block.len() / n {
        let (before, rest) = block.split_at_mut(r * n);
        let row = &mut rest[..n];
        let length = dot(row, row).sqrt();
        // The second pass removes what rounding left of the first.
        for _ in 0..2 {
            for other in before.chunks_exact(n) {
                let factor = dot(row, other) / dot(other, other);
                row.iter_mut().zip(other).for_each(|(x, o)| *x -= factor * o);
            }
        }
        let factor = length / dot(row, row).sqrt();
        row.iter_mut().for_each(|x| *x *= factor);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
