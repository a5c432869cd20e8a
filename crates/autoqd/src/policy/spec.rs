//! Shape of a policy and the layout of its parameters.

use autoqd_env::EnvSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::config::PolicySection;

/// How the weight matrices are parameterised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum PolicyKind {
    /// One weight per diagonal: a few hundred parameters instead of tens of thousands.
    #[default]
    Toeplitz,
    /// One weight per connection.
    Dense,
}

/// Which layers have biases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Biases {
    /// The hidden layers, as in the public Toeplitz policies. With a bias on the output too, holding one pose is a
    /// single parameter away, and searches settle for it.
    #[default]
    Hidden,
    /// Every layer.
    All,
    /// No layer.
    None,
}

impl Biases {
    /// The word as written in a configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

impl PolicyKind {
    /// The word as written in a configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toeplitz => "toeplitz",
            Self::Dense => "dense",
        }
    }
}

/// One layer: `tanh(W x + b)` with a matrix of `outputs` rows and `inputs` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Columns.
    pub inputs: usize,
    /// Rows.
    pub outputs: usize,
    kind: PolicyKind,
    biased: bool,
}

impl LayerShape {
    /// Parameters of the matrix.
    pub fn weight_count(&self) -> usize {
        match self.kind {
            PolicyKind::Toeplitz => (self.inputs + self.outputs).saturating_sub(1),
            PolicyKind::Dense => self.inputs * self.outputs,
        }
    }

    /// Number of biases: one per output, or none.
    pub fn bias_count(&self) -> usize {
        if self.biased { self.outputs } else { 0 }
    }

    /// Parameters of the matrix and the biases.
    pub fn parameter_count(&self) -> usize {
        self.weight_count() + self.bias_count()
    }

    /// Place of the weight in row `i` and column `j` among the layer's parameters.
    pub fn weight_index(&self, i: usize, j: usize) -> usize {
        match self.kind {
            PolicyKind::Toeplitz => i + self.inputs - 1 - j,
            PolicyKind::Dense => i * self.inputs + j,
        }
    }
}

/// Shape of a policy: layers from observation over the hidden sizes to action, tanh after each of them, the last
/// one scaled to the action bounds.
///
/// # Layout of the flat parameter vector
/// Layer after layer from the input on; in each layer the weights, then one bias per output if it has biases. With `n` inputs,
/// the weight in row `i` (output) and column `j` (input) is
/// * Toeplitz: number `i - j + n - 1`, so the top right corner comes first and the bottom left last;
/// * dense: number `i * n + j`, row-major as in PyTorch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySpec {
    /// How the matrices are parameterised.
    pub kind: PolicyKind,
    /// Which layers have biases.
    pub biases: Biases,
    /// Outputs of each hidden layer.
    pub hidden: Vec<usize>,
    /// Length of an observation.
    pub observation_size: usize,
    /// Length of an action.
    pub action_size: usize,
    /// Lower bound of each action component.
    pub action_low: Vec<f64>,
    /// Upper bound of each action component.
    pub action_high: Vec<f64>,
}

impl PolicySpec {
    /// A policy of the given sizes and action bounds with biases on the hidden layers, checked.
    pub fn new(
        kind: PolicyKind,
        hidden: Vec<usize>,
        observation_size: usize,
        action_low: Vec<f64>,
        action_high: Vec<f64>,
    ) -> Result<Self, Error> {
        let (biases, action_size) = (Biases::default(), action_low.len());
        let spec = Self { kind, biases, hidden, observation_size, action_size, action_low, action_high };
        spec.validate()?;
        Ok(spec)
    }

    /// The same policy with biases on other layers.
    pub fn with_biases(mut self, biases: Biases) -> Self {
        self.biases = biases;
        self
    }

    /// The policy that a configuration describes for a task.
    pub fn for_task(policy: &PolicySection, task: &EnvSpec) -> Result<Self, Error> {
        let (low, high) = (task.action_low.clone(), task.action_high.clone());
        let spec = Self::new(policy.kind, policy.hidden.clone(), task.observation_size, low, high)?;
        Ok(spec.with_biases(policy.bias))
    }

    /// Checks sizes and bounds; every part of a valid policy can be built without a further check.
    pub fn validate(&self) -> Result<(), Error> {
        if self.observation_size == 0 || self.action_size == 0 || self.hidden.contains(&0) {
            return Err(Error::invalid("policy sizes", format!("{:?}", self.sizes()), "positive numbers"));
        }
        if self.action_low.len() != self.action_size || self.action_high.len() != self.action_size {
            let got = format!("{} and {}", self.action_low.len(), self.action_high.len());
            return Err(Error::invalid("action bounds", got, "one lower and one upper bound per action"));
        }
        for (low, high) in self.action_low.iter().zip(&self.action_high) {
            if !(low.is_finite() && high.is_finite() && low < high) {
                return Err(Error::invalid(
                    "action bounds",
                    format!("[{low}, {high}]"),
                    "finite, low < high",
                ));
            }
        }
        Ok(())
    }

    /// Sizes from observation to action.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![self.observation_size];
        sizes.extend(&self.hidden);
        sizes.push(self.action_size);
        sizes
    }

    /// The layers in order.
    pub fn layers(&self) -> Vec<LayerShape> {
        let sizes = self.sizes();
        let layer = |(i, pair): (usize, &[usize])| {
            let biased = match self.biases {
                Biases::All => true,
                Biases::Hidden => i < self.hidden.len(),
                Biases::None => false,
            };
            LayerShape { inputs: pair[0], outputs: pair[1], kind: self.kind, biased }
        };
        sizes.windows(2).enumerate().map(layer).collect()
    }

    /// Length of the flat parameter vector.
    pub fn parameter_count(&self) -> usize {
        self.layers().iter().map(LayerShape::parameter_count).sum()
    }

    /// Checks the length of a parameter vector.
    pub fn check_parameters(&self, parameters: &[f64]) -> Result<(), Error> {
        let (expected, got) = (self.parameter_count(), parameters.len());
        if expected == got { Ok(()) } else { Err(Error::ParameterCount { expected, got }) }
    }

    /// Each layer with its part of a parameter vector.
    pub fn split<'a>(&self, parameters: &'a [f64]) -> Result<Vec<LayerParameters<'a>>, Error> {
        self.check_parameters(parameters)?;
        let mut rest = parameters;
        let split = |shape: LayerShape| {
            let (own, after) = rest.split_at(shape.parameter_count());
            rest = after;
            let (weights, biases) = own.split_at(shape.weight_count());
            LayerParameters { shape, weights, biases }
        };
        Ok(self.layers().into_iter().map(split).collect())
    }
}

/// One layer's part of a flat parameter vector.
#[derive(Clone, Copy, Debug)]
pub struct LayerParameters<'a> {
    /// Sizes of the layer.
    pub shape: LayerShape,
    /// What the matrix is made of.
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
}
