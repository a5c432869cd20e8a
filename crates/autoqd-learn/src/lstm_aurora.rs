//! LSTM-Aurora: the mean code of the trajectories of a policy's rollouts.

use std::collections::BTreeSet;
use std::io::{self, Write};

use autoqd::Error;
use autoqd::descriptor::{Descriptor, Elites, RefitReport};
use autoqd::embedding::{Normalizer, RunningStatistics};
use autoqd::evaluator::{Evaluation, Probe};
use autoqd::registry::DescriptorContext;
use autoqd::run_folder::Tensor;
use autoqd::seeds::{Purpose, derive};
use half::f16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::aurora::{map_tensors, stored};
use crate::calibration::Calibration;
use crate::probes::EveryNth;
use crate::section::AutoencoderSection;
use crate::sequence_autoencoder::SequenceAutoencoder;
use crate::sequence_training::SequenceData;
use crate::states::{States, to_half};
use crate::trainer::Split;

/// What maps trajectories to measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Map {
    normalizer: Normalizer,
    network: SequenceAutoencoder,
    calibration: Calibration,
}

/// Describes a policy by the code of its trajectories, averaged over the episodes.
///
/// Trajectories are too large for features, so every elite's are remembered in half precision, and forgotten with it.
pub struct LstmAurora {
    options: AutoencoderSection,
    seed: u64,
    size: usize,
    dimension: usize,
    map: Map,
    trajectories: States,
}

/// Counters that keep the random streams of a run's training apart.
mod stream {
    pub const WEIGHTS: u64 = 11;
    pub const SPLIT: u64 = 12;
    pub const BATCHES: u64 = 13;
}

impl LstmAurora {
    /// The descriptor of a run at its start.
    pub fn new(context: DescriptorContext<'_>) -> Result<Self, Error> {
        let DescriptorContext { config, spec } = context;
        let (options, size) = (config.section::<AutoencoderSection>()?, spec.observation_size);
        let dimension = config.measures_dimension;
        let seed = derive(config.seed, Purpose::Training, [stream::WEIGHTS, 0, 0]);
        let map = Map {
            normalizer: Normalizer::identity(size),
            network: SequenceAutoencoder::new(size, options.lstm_units, dimension, seed),
            calibration: Calibration::identity(dimension),
        };
        let trajectories = States::default();
        Ok(Self { options, seed: config.seed, size, dimension, map, trajectories })
    }

    /// The mean code of the trajectories of a policy: encoded first, then averaged.
    fn code<'a>(&self, episodes: impl ExactSizeIterator<Item = &'a [f16]>) -> Vec<f64> {
        let count = episodes.len().max(1) as f64;
        let mut mean = vec![0.0; self.dimension];
        for states in episodes {
            let code = self.map.network.encode(&SequenceData::normalized(&self.map.normalizer, states));
            mean.iter_mut().zip(code).for_each(|(m, z)| *m += f64::from(z));
        }
        mean.iter_mut().for_each(|m| *m /= count);
        mean
    }

    fn remembered_code(&self, id: u64) -> Vec<f64> {
        self.code(self.trajectories.get(id).iter().map(|states| &**states))
    }

    /// Codes of several policies, row after row, on all threads; each depends on its policy alone.
    fn codes(&self, ids: &[u64]) -> Vec<f64> {
        let codes: Vec<Vec<f64>> = ids.par_iter().map(|id| self.remembered_code(*id)).collect();
        codes.concat()
    }

    fn fit_normalizer(&mut self, ids: &[u64]) {
        let mut statistics = RunningStatistics::new(self.size);
        let mut state = vec![0.0; self.size];
        for episode in ids.iter().flat_map(|id| self.trajectories.get(*id)) {
            for stored in episode.chunks_exact(self.size) {
                state.iter_mut().zip(stored).for_each(|(s, x)| *s = x.to_f64());
                statistics.push(&state);
            }
        }
        self.map.normalizer = statistics.normalizer();
    }

    fn calibrate(&mut self, ids: &[u64]) {
        self.map.calibration = Calibration::fit(&self.codes(ids), self.dimension);
    }
}

impl Descriptor for LstmAurora {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn feature_size(&self) -> usize {
        0
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(vec![Probe::new(&EveryNth { period: self.options.period })?])
    }

    fn features(&self, _evaluation: &Evaluation) -> Vec<f64> {
        Vec::new()
    }

    fn remember(&mut self, id: u64, evaluation: &Evaluation) {
        let states = evaluation.episodes.iter().map(|episode| episode.records[0].states());
        self.trajectories.insert(id, states);
    }

    fn retain(&mut self, alive: &BTreeSet<u64>) {
        self.trajectories.retain(alive);
    }

    fn remembered_bytes(&self, id: u64) -> usize {
        self.trajectories.bytes_of(id)
    }

    fn reserve_bytes(&self) -> usize {
        self.options.reserve_bytes()
    }

    /// The random weights stay until the first refit; only scales are fitted.
    fn first_fit(&mut self, elites: Elites<'_>) -> Result<(), Error> {
        self.fit_normalizer(elites.ids);
        self.calibrate(elites.ids);
        Ok(())
    }

    fn refit(&mut self, iteration: u64, elites: Elites<'_>) -> Result<RefitReport, Error> {
        self.fit_normalizer(elites.ids);
        let key = |id| derive(self.seed, Purpose::Training, [stream::SPLIT, iteration, id]);
        let episodes = |id: &u64| self.trajectories.get(*id).iter().map(|states| &**states).collect();
        let data = SequenceData {
            policies: elites.ids.iter().map(episodes).collect(),
            normalizer: &self.map.normalizer,
            split: Split::new(elites.ids, self.options.validation_share, key),
        };
        let seed = derive(self.seed, Purpose::Training, [stream::BATCHES, iteration, 0]);
        let trained = self.map.network.train(&data, &self.options, seed)?;
        self.calibrate(elites.ids);
        let (losses, exchanged_codes) = (trained.losses, trained.exchanged_codes);
        // Codes of different trainings are different quantities: no angle lies between them.
        Ok(RefitReport { turned_degrees: f64::NAN, losses, exchanged_codes, ..RefitReport::default() })
    }

    fn measures(&self, id: u64, _features: &[f64]) -> Vec<f64> {
        self.map.calibration.apply(&self.remembered_code(id))
    }

    fn measures_of(&self, ids: &[u64], _features: &[f64]) -> Vec<f64> {
        let codes = self.codes(ids);
        codes.chunks_exact(self.dimension).flat_map(|code| self.map.calibration.apply(code)).collect()
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        let halved = |states: &[f32]| states.iter().map(|x| to_half(*x)).collect::<Vec<f16>>();
        let episodes: Vec<Vec<f16>> =
            evaluation.episodes.iter().map(|episode| halved(episode.records[0].states())).collect();
        self.map.calibration.apply(&self.code(episodes.iter().map(Vec::as_slice)))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        Ok(postcard::to_allocvec(&self.map).map_err(stored)?)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        self.map = postcard::from_bytes(state).map_err(stored)?;
        Ok(())
    }

    fn memory_len(&self) -> Option<usize> {
        Some(self.trajectories.written_len())
    }

    fn write_memory(&self, out: &mut dyn Write) -> io::Result<()> {
        self.trajectories.write(out)
    }

    fn load_memory(&mut self, mut memory: &[u8]) -> Result<(), Error> {
        self.trajectories = States::read(&mut memory)?;
        Ok(())
    }

    fn tensors(&self) -> Vec<Tensor> {
        let Map { normalizer, network, calibration } = &self.map;
        let mut tensors = map_tensors(normalizer, calibration);
        tensors.extend(network.matrices.iter().map(|matrix| matrix.tensor()));
        tensors
    }
}
