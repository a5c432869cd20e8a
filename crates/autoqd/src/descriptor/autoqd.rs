//! AutoQD: measures are an affine map of the policy embedding, fitted to the elites (Algorithm 1 of the paper).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Descriptor, Elites, RefitReport};
use crate::Error;
use crate::config::{FirstMap, Normalizer as Normalization};
use crate::cwpca::{self, AffineMap, CwPcaOptions};
use crate::embedding::{
    Embedding, FeatureMap, FeatureOptions, Normalizer, PsiOptions, PsiProbe, RunningStatistics,
    StatisticsProbe,
};
use crate::evaluator::{Evaluation, Probe};
use crate::run_folder::Tensor;

/// Settings of [`AutoQd`].
#[derive(Clone, Debug, PartialEq)]
pub struct AutoQdOptions {
    /// Number of measures k; `None` takes the embedding itself as measures and never fits a map.
    pub measures: Option<usize>,
    /// The random Fourier features.
    pub features: FeatureOptions,
    /// Seed of the features.
    pub feature_seed: u64,
    /// How features are summed over an episode.
    pub psi: PsiOptions,
    /// How observations are scaled.
    pub normalization: Normalization,
    /// The map before the first refit.
    pub first_map: FirstMap,
    /// Seed of a random first map.
    pub first_map_seed: u64,
    /// How the map is fitted.
    pub fit: CwPcaOptions,
}

/// What changes during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    /// Of all observations of all iterations absorbed so far.
    statistics: RunningStatistics,
    /// Once set, what every elite is embedded with.
    frozen: Option<Normalizer>,
    /// What each iteration was embedded with, so that any stored embedding can be computed again.
    history: Vec<Normalizer>,
    map: Option<AffineMap>,
}

/// The descriptor of the paper.
pub struct AutoQd {
    options: AutoQdOptions,
    features: Arc<FeatureMap>,
    observation_size: usize,
    state: State,
}

impl AutoQd {
    /// A descriptor for a task with the given sizes, before the first map.
    pub fn new(options: AutoQdOptions, observation_size: usize, action_size: usize) -> Result<Self, Error> {
        let inputs = observation_size + action_size;
        let features = Arc::new(FeatureMap::sample(&options.features, inputs, options.feature_seed)?);
        let state = State {
            statistics: RunningStatistics::new(observation_size),
            frozen: None,
            history: Vec::new(),
            map: None,
        };
        let descriptor = Self { options, features, observation_size, state };
        descriptor.embedding()?;
        Ok(descriptor)
    }

    /// The map from embedding to measures; none before the first fit, and none when psi itself is the measures.
    pub fn map(&self) -> Option<&AffineMap> {
        self.state.map.as_ref()
    }

    /// The embedding of the next rollouts.
    pub fn embedding(&self) -> Result<Embedding, Error> {
        Embedding::new(self.features.clone(), self.normalizer(), self.options.psi)
    }

    fn normalizer(&self) -> Normalizer {
        match (self.options.normalization, &self.state.frozen) {
            (Normalization::None, _) => Normalizer::identity(self.observation_size),
            (_, Some(frozen)) => frozen.clone(),
            (_, None) => self.state.statistics.normalizer(),
        }
    }

    fn collects_statistics(&self) -> bool {
        self.options.normalization != Normalization::None && self.state.frozen.is_none()
    }

    fn rows<'a>(&self, elites: Elites<'a>) -> Vec<&'a [f64]> {
        elites.features.chunks_exact(self.features.dimension()).collect()
    }
}

impl Descriptor for AutoQd {
    fn dimension(&self) -> usize {
        self.options.measures.unwrap_or(self.features.dimension())
    }

    fn feature_size(&self) -> usize {
        self.features.dimension()
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        let mut probes = vec![Probe::new(&PsiProbe(Arc::new(self.embedding()?)))?];
        if self.collects_statistics() {
            probes.push(Probe::new(&StatisticsProbe(self.observation_size))?);
        }
        Ok(probes)
    }

    fn probes_of(&self, iteration: u64) -> Result<Vec<Probe>, Error> {
        let place = usize::try_from(iteration).ok().and_then(|iteration| iteration.checked_sub(1));
        let Some(normalizer) = place.and_then(|place| self.state.history.get(place)) else {
            return self.probes();
        };
        let embedding = Embedding::new(self.features.clone(), normalizer.clone(), self.options.psi)?;
        Ok(vec![Probe::new(&PsiProbe(Arc::new(embedding)))?])
    }

    fn needs_preview(&self) -> bool {
        self.options.normalization != Normalization::None
    }

    fn absorb(&mut self, evaluations: &[Evaluation]) {
        if !self.collects_statistics() {
            return;
        }
        for episode in evaluations.iter().flat_map(|evaluation| &evaluation.episodes) {
            if !episode.diverged {
                self.state.statistics.merge(&RunningStatistics::from_row(episode.records[1].summary()));
            }
        }
    }

    fn begin_iteration(&mut self) {
        self.state.history.push(self.normalizer());
    }

    fn features(&self, evaluation: &Evaluation) -> Vec<f64> {
        evaluation.mean_summary(0)
    }

    fn first_fit(&mut self, elites: Elites<'_>) -> Result<(), Error> {
        let Some(k) = self.options.measures else { return Ok(()) };
        let rows = self.rows(elites);
        self.state.map = Some(match self.options.first_map {
            FirstMap::Cwpca => cwpca::fit(&rows, elites.objectives, k, &self.options.fit)?,
            FirstMap::Random => cwpca::random(&rows, k, &self.options.fit, self.options.first_map_seed)?,
            FirstMap::Uncalibrated => {
                cwpca::uncalibrated(self.features.dimension(), k, self.options.first_map_seed)
            }
        });
        Ok(())
    }

    fn freeze(&mut self) -> bool {
        if self.options.normalization != Normalization::Frozen || self.state.frozen.is_some() {
            return false;
        }
        let frozen = self.state.statistics.normalizer();
        // All elites are about to be embedded again with it, whatever iteration they come from.
        self.state.history.fill(frozen.clone());
        self.state.frozen = Some(frozen);
        true
    }

    fn refit(&mut self, _iteration: u64, elites: Elites<'_>) -> Result<RefitReport, Error> {
        let Some(k) = self.options.measures else { return Ok(RefitReport::default()) };
        let mut map = cwpca::fit(&self.rows(elites), elites.objectives, k, &self.options.fit)?;
        let mut report = RefitReport { explained: map.explained().iter().sum(), ..RefitReport::default() };
        if let Some(previous) = self.state.map.as_ref().filter(|map| map.is_orthonormal()) {
            let turn = map.align(previous, self.options.fit.arithmetic)?;
            report.turned_degrees = turn.principal_degrees.last().copied().unwrap_or(0.0);
        }
        self.state.map = Some(map);
        Ok(report)
    }

    fn rescale(&mut self, elites: Elites<'_>, best: &[usize]) -> Result<(), Error> {
        let rows = self.rows(elites);
        let best: Vec<&[f64]> = best.iter().map(|i| rows[*i]).collect();
        if let Some(map) = &mut self.state.map {
            map.rescale(&[&rows, &best], &self.options.fit);
        }
        Ok(())
    }

    fn rescales(&self) -> bool {
        self.options.measures.is_some()
    }

    fn refits(&self) -> bool {
        self.options.measures.is_some()
    }

    fn measures(&self, _id: u64, features: &[f64]) -> Vec<f64> {
        self.state.map.as_ref().map_or_else(|| features.to_vec(), |map| map.map(features))
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        self.measures(0, &self.features(evaluation))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        postcard::to_allocvec(&self.state)
            .map_err(|e| Error::State { what: "descriptor", reason: e.to_string() })
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        self.state = postcard::from_bytes(state)
            .map_err(|e| Error::State { what: "descriptor", reason: e.to_string() })?;
        Ok(())
    }

    fn tensors(&self) -> Vec<Tensor> {
        let (d, inputs) = (self.features.dimension(), self.features.inputs());
        let history = &self.state.history;
        let rows =
            |get: fn(&Normalizer) -> &[f64]| history.iter().flat_map(get).copied().collect::<Vec<f64>>();
        let shape = [history.len(), self.observation_size];
        let mut tensors = vec![
            Tensor::f64("feature_weights", &[d, inputs], self.features.weights()),
            Tensor::f64("feature_phases", &[d], self.features.phases()),
            Tensor::f64("normalizer_mean", &shape, &rows(Normalizer::mean)),
            Tensor::f64("normalizer_std", &shape, &rows(Normalizer::std)),
            Tensor::f64("gamma", &[1], &[self.options.psi.gamma]),
            Tensor::f64(
                "length_normalized",
                &[1],
                &[f64::from(u8::from(self.options.psi.length_normalized))],
            ),
        ];
        if let Some(map) = &self.state.map {
            tensors.push(Tensor::f64("map_a", &[map.measures, map.dimension], &map.a));
            tensors.push(Tensor::f64("map_b", &[map.measures], &map.b));
        }
        tensors
    }
}
