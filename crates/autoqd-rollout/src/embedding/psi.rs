//! psi of an episode, accumulated while it runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{FeatureMap, Normalizer};
use crate::Error;
use crate::kernels::{Instructions, STEPS, fourier_steps};

/// How features are summed over an episode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PsiOptions {
    /// Discount factor of the occupancy measure.
    pub gamma: f64,
    /// Divide by 1 - gamma^T, so that the embedding of a short episode does not shrink. Off in the paper, where
    /// the length of episodes is part of the behaviour.
    pub length_normalized: bool,
}

impl Default for PsiOptions {
    fn default() -> Self {
        Self { gamma: 0.999, length_normalized: false }
    }
}

/// Everything that turns an episode into psi: an immutable snapshot for one iteration.
///
/// # What it computes
/// For step t = 0..T-1 the input is the normalised observation, rounded to single precision, followed by the
/// action as sent to the task. With the features as documented at [`FeatureMap`], in double precision and step
/// order, `sum_d += discount_t * feature_d`, where `discount_0 = 1` and `discount_{t+1} = discount_t * gamma`.
/// Then `psi_d = ((1 - gamma) * sqrt(2/D)) * sum_d` (Eq. 6 of the paper for one trajectory), with
/// `(1 - gamma) / (1 - discount_T)` in place of `1 - gamma` if `length_normalized`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Embedding {
    features: Arc<FeatureMap>,
    normalizer: Normalizer,
    options: PsiOptions,
}

/// The stored form of an embedding.
#[derive(Serialize, Deserialize)]
struct Stored {
    features: FeatureMap,
    normalizer: Normalizer,
    options: PsiOptions,
}

impl TryFrom<Stored> for Embedding {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        Self::new(Arc::new(stored.features), stored.normalizer, stored.options)
    }
}

impl From<Embedding> for Stored {
    fn from(embedding: Embedding) -> Self {
        let Embedding { features, normalizer, options } = embedding;
        Self { features: Arc::unwrap_or_clone(features), normalizer, options }
    }
}

impl Embedding {
    /// An embedding whose normaliser covers the observations; the other inputs of the features are actions.
    pub fn new(
        features: Arc<FeatureMap>,
        normalizer: Normalizer,
        options: PsiOptions,
    ) -> Result<Self, Error> {
        if !(options.gamma > 0.0 && options.gamma < 1.0) {
            return Err(Error::invalid("gamma", options.gamma, "a number between 0 and 1, both excluded"));
        }
        if normalizer.size() > features.inputs() {
            let expected = "at most as many dimensions as the features have inputs";
            return Err(Error::invalid("normalizer size", normalizer.size(), expected));
        }
        Ok(Self { features, normalizer, options })
    }

    /// The feature map.
    pub fn features(&self) -> &Arc<FeatureMap> {
        &self.features
    }

    /// The normaliser of observations.
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// How features are summed.
    pub fn options(&self) -> PsiOptions {
        self.options
    }

    /// Number of features D.
    pub fn dimension(&self) -> usize {
        self.features.dimension()
    }

    /// The factor of the sum at the end of an episode, whose next step would have had the given discount.
    pub(super) fn scale(&self, next_discount: f64) -> f64 {
        let weight = 1.0 - self.options.gamma;
        let weight = if self.options.length_normalized { weight / (1.0 - next_discount) } else { weight };
        weight * self.features.amplitude()
    }
}

/// Steps kept before their features are computed together.
const BUFFER: usize = 2 * STEPS;

/// Accumulates psi over the steps of one episode after the other, without allocation in between.
#[derive(Clone, Debug)]
pub struct PsiAccumulator {
    embedding: Arc<Embedding>,
    /// Up to [`BUFFER`] steps whose features are not yet in `sums`.
    inputs: Vec<f32>,
    discounts: [f64; BUFFER],
    buffered: usize,
    /// Discount of the next step.
    discount: f64,
    sums: Vec<f64>,
    instructions: Instructions,
}

impl PsiAccumulator {
    /// An accumulator at the start of an episode.
    pub fn new(embedding: Arc<Embedding>) -> Self {
        let features = &embedding.features;
        Self {
            inputs: vec![0.0; BUFFER * features.inputs()],
            discounts: [0.0; BUFFER],
            buffered: 0,
            discount: 1.0,
            sums: vec![0.0; features.layout.padded_features()],
            instructions: Instructions::detect(),
            embedding,
        }
    }

    /// The same on a chosen instruction set; the bits are the same.
    pub fn with_instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = instructions;
        self
    }

    pub(super) fn set_instructions(&mut self, instructions: Instructions) {
        self.instructions = instructions;
    }

    /// The embedding in use.
    pub fn embedding(&self) -> &Arc<Embedding> {
        &self.embedding
    }

    /// Forgets the episode so far.
    pub fn begin(&mut self) {
        self.buffered = 0;
        self.discount = 1.0;
        self.sums.fill(0.0);
    }

    /// One step: the observation before it and the action taken, as sent to the task.
    ///
    /// # Panics
    /// If a slice does not have the length the embedding was made for.
    pub fn push(&mut self, observation: &[f64], action: &[f32]) {
        let normalizer = &self.embedding.normalizer;
        let inputs = self.embedding.features.inputs();
        assert_eq!(observation.len(), normalizer.size(), "length of the observation");
        let row = &mut self.inputs[self.buffered * inputs..][..inputs];
        let (states, actions) = row.split_at_mut(observation.len());
        for (x, normalized) in states.iter_mut().zip(normalizer.apply(observation)) {
            *x = normalized as f32;
        }
        actions.copy_from_slice(action);
        self.discounts[self.buffered] = self.discount;
        self.discount *= self.embedding.options.gamma;
        self.buffered += 1;
        if self.buffered == BUFFER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let features = &self.embedding.features;
        let inputs = &self.inputs[..self.buffered * features.inputs()];
        let discounts = &self.discounts[..self.buffered];
        fourier_steps(self.instructions, &features.layout, inputs, discounts, &mut self.sums);
        self.buffered = 0;
    }

    /// Writes psi of the episode, and starts the next one. An episode without steps has psi = 0.
    ///
    /// # Panics
    /// If `psi` does not have one number per feature.
    pub fn finish_into(&mut self, psi: &mut [f64]) {
        assert_eq!(psi.len(), self.embedding.dimension(), "length of psi");
        self.flush();
        let scale = if self.discount < 1.0 { self.embedding.scale(self.discount) } else { 0.0 };
        psi.iter_mut().zip(&self.sums).for_each(|(psi, sum)| *psi = scale * sum);
        self.begin();
    }

    /// psi of the episode; starts the next one.
    pub fn finish(&mut self) -> Vec<f64> {
        let mut psi = vec![0.0; self.embedding.dimension()];
        self.finish_into(&mut psi);
        psi
    }
}
