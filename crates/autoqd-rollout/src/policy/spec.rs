//! Shape of a policy.

use serde::{Deserialize, Serialize};

use autoqd_env::EnvSpec;
use schemars::JsonSchema;

use super::LayerShape;
use super::stored::Stored;
use crate::Error;
use crate::kernels::{Activation, Weights};

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
    fn on(self, is_last: bool) -> bool {
        match self {
            Self::Hidden => !is_last,
            Self::All => true,
            Self::None => false,
        }
    }
}

/// One layer: `activation(W x + b)`. It has as many inputs as the layer before it has outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerSpec {
    /// Rows of the matrix.
    pub outputs: usize,
    /// Structure of the matrix.
    pub weights: Weights,
    /// What is done to each sum.
    pub activation: Activation,
    /// Whether every output has a bias.
    pub bias: bool,
}

/// Observations are centred and scaled before the first layer: `(observation - mean) * scale`, limited to ±clip.
///
/// The numbers belong to each policy: `mean` and `scale` come first in its parameters. The scale is one over the
/// standard deviation, and 0 for an observation that never changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterSpec {
    /// The largest magnitude that passes; no limit without it.
    pub clip: Option<f64>,
}

/// How the last layer's outputs become an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Squash {
    /// tanh, scaled to the action bounds.
    #[default]
    Tanh,
    /// Limited to the action bounds.
    Clip,
}

/// Shape of a policy: perhaps a filter of the observations, layers, and the squashing of the last layer's outputs into
/// the action bounds. All policies of a population have the same shape, which is stored with them.
///
/// # Layout of the flat parameter vector
/// With a filter first the mean and then the scale of each observation. Then layer after layer from the input on; in
/// each layer the weights, then one bias per output if it has biases. With `n` inputs, the weight in row `i` (output)
/// and column `j` (input) is
/// * Toeplitz: number `i - j + n - 1`, so the top right corner comes first and the bottom left last;
/// * dense: number `i * n + j`, row-major as in PyTorch.
///
/// ```
/// use autoqd_rollout::policy::{Activation, Biases, PolicySpec, Weights};
/// // The actor of SAC and TD3.
/// let spec = PolicySpec::new(Weights::Dense, vec![256, 256], 17, vec![-1.0; 6], vec![1.0; 6])?
///     .with_activation(Activation::Relu)
///     .with_biases(Biases::All);
/// assert_eq!(spec.parameter_count(), 17 * 256 + 256 + 256 * 256 + 256 + 256 * 6 + 6);
/// assert_eq!(PolicySpec::from_json(&spec.to_json().to_string())?, spec);
/// # Ok::<(), autoqd_rollout::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct PolicySpec {
    /// Length of an observation.
    pub observation_size: usize,
    /// What is done to observations first.
    pub filter: Option<FilterSpec>,
    /// The layers in order.
    pub layers: Vec<LayerSpec>,
    /// How the last layer's outputs become an action.
    pub squash: Squash,
    /// Lower bound of each action component.
    pub action_low: Vec<f64>,
    /// Upper bound of each action component.
    pub action_high: Vec<f64>,
}

/// Sizes beyond this are a mistake, and their products stay far from overflow.
const LARGEST_SIZE: usize = 1 << 24;

impl PolicySpec {
    /// The policy of the paper with the given sizes and action bounds, checked: tanh after every layer, the last one
    /// scaled to the bounds; biases on the hidden layers.
    pub fn new(
        weights: Weights,
        hidden: Vec<usize>,
        observation_size: usize,
        action_low: Vec<f64>,
        action_high: Vec<f64>,
    ) -> Result<Self, Error> {
        let layer = |outputs, activation, bias| LayerSpec { outputs, weights, activation, bias };
        let mut layers: Vec<LayerSpec> =
            hidden.into_iter().map(|units| layer(units, Activation::Tanh, true)).collect();
        layers.push(layer(action_low.len(), Activation::None, false));
        let (filter, squash) = (None, Squash::Tanh);
        let spec = Self { observation_size, filter, layers, squash, action_low, action_high };
        spec.validate()?;
        Ok(spec)
    }

    /// The same policy with biases on other layers.
    pub fn with_biases(mut self, biases: Biases) -> Self {
        let last = self.layers.len().saturating_sub(1);
        self.layers.iter_mut().enumerate().for_each(|(i, layer)| layer.bias = biases.on(i == last));
        self
    }

    /// The same policy with another activation of the hidden layers.
    pub fn with_activation(mut self, activation: Activation) -> Self {
        let hidden = self.layers.len().saturating_sub(1);
        self.layers.iter_mut().take(hidden).for_each(|layer| layer.activation = activation);
        self
    }

    /// The same policy with a filter of the observations.
    pub fn with_filter(mut self, filter: FilterSpec) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The same policy with another squashing.
    pub fn with_squash(mut self, squash: Squash) -> Self {
        self.squash = squash;
        self
    }

    /// Checks sizes, bounds and functions; every part of a valid policy can be built without a further check.
    pub fn validate(&self) -> Result<(), Error> {
        let sizes = self.sizes();
        if sizes.len() < 2 || sizes.iter().any(|size| !(1..=LARGEST_SIZE).contains(size)) {
            let expected = "at least one layer, and positive numbers up to 16777216";
            return Err(Error::invalid("policy sizes", format!("{sizes:?}"), expected));
        }
        self.validate_bounds()?;
        let clip = self.filter.and_then(|filter| filter.clip);
        if let Some(clip) = clip.filter(|clip| !(clip.is_finite() && *clip > 0.0)) {
            return Err(Error::invalid(
                "clip of the observation filter",
                clip.to_string(),
                "a positive number",
            ));
        }
        let last = self.layers.last().map(|layer| layer.activation);
        match (self.squash, last) {
            (Squash::Tanh, Some(Activation::Tanh | Activation::Relu)) => Err(Error::invalid(
                "activation of the last layer",
                format!("{last:?}"),
                "none, because the tanh of the squashing follows",
            )),
            _ => Ok(()),
        }
    }

    fn validate_bounds(&self) -> Result<(), Error> {
        let expected = "one lower and one upper bound per action";
        if self.sizes().last() != Some(&self.action_low.len())
            || self.action_low.len() != self.action_high.len()
        {
            let got = format!("{} and {}", self.action_low.len(), self.action_high.len());
            return Err(Error::invalid("action bounds", got, expected));
        }
        for (low, high) in self.action_low.iter().zip(&self.action_high) {
            if !(low.is_finite() && high.is_finite() && low < high) {
                let got = format!("[{low}, {high}]");
                return Err(Error::invalid("action bounds", got, "finite, low < high"));
            }
        }
        Ok(())
    }

    /// Checks that the policy can act in a task: that it sees as many numbers and has the same action bounds.
    pub fn check_task(&self, task: &EnvSpec) -> Result<(), Error> {
        let facts = |observations: usize, low: &[f64], high: &[f64]| {
            format!("{observations} observations and actions from {low:?} to {high:?}")
        };
        let own = facts(self.observation_size, &self.action_low, &self.action_high);
        let expected = facts(task.observation_size, &task.action_low, &task.action_high);
        if own == expected {
            return Ok(());
        }
        let got = format!("{own}, but task {} has {expected}", task.name);
        Err(Error::invalid("the stored shape of the policies", got, "policies of this task"))
    }

    /// Length of an action.
    pub fn action_size(&self) -> usize {
        self.action_low.len()
    }

    /// Sizes from observation to action.
    pub fn sizes(&self) -> Vec<usize> {
        std::iter::once(self.observation_size).chain(self.layers.iter().map(|layer| layer.outputs)).collect()
    }

    /// The layers with their inputs and with the activation that ends each of them: where the squashing is a tanh, that
    /// is the last one's.
    pub fn shapes(&self) -> Vec<LayerShape> {
        let sizes = self.sizes();
        let shape = |(i, layer): (usize, &LayerSpec)| {
            let squashed = self.squash == Squash::Tanh && i + 1 == self.layers.len();
            let activation = if squashed { Activation::Tanh } else { layer.activation };
            LayerShape { inputs: sizes[i], layer: LayerSpec { activation, ..*layer } }
        };
        self.layers.iter().enumerate().map(shape).collect()
    }
}
