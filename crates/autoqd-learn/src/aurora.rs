//! Aurora: the mean code of the last states of a policy's rollouts.

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
use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::error::LearnError;
use crate::probes::LastState;
use crate::random::Stream;
use crate::section::AutoencoderSection;
use crate::state_autoencoder::{StateAutoencoder, StateData};
use crate::states::{Reservoir, States};
use crate::trainer::Split;

/// What maps states to measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Map {
    normalizer: Normalizer,
    network: StateAutoencoder,
    calibration: Calibration,
}

/// Describes a policy by the code of its last states, averaged over the episodes.
///
/// Features are the last states of all episodes. For training, every elite also keeps a few states at random times,
/// and a reservoir keeps a uniform sample of such states of all policies ever evaluated.
pub struct Aurora {
    options: AutoencoderSection,
    seed: u64,
    size: usize,
    dimension: usize,
    episodes: usize,
    map: Map,
    samples: States,
    reservoir: Reservoir,
}

/// Counters that keep the random streams of a run's training apart.
mod stream {
    pub const WEIGHTS: u64 = 1;
    pub const RESERVOIR: u64 = 2;
    pub const SPLIT: u64 = 3;
    pub const CHOICE: u64 = 4;
    pub const BATCHES: u64 = 5;
}

impl Aurora {
    /// The descriptor of a run at its start.
    pub fn new(context: DescriptorContext<'_>) -> Result<Self, Error> {
        let DescriptorContext { config, spec } = context;
        let (options, size) = (config.section::<AutoencoderSection>()?, spec.observation_size);
        let dimension = config.measures_dimension;
        let seed = derive(config.seed, Purpose::Training, [stream::WEIGHTS, 0, 0]);
        let map = Map {
            normalizer: Normalizer::identity(size),
            network: StateAutoencoder::new(size, &options.hidden, dimension, seed),
            calibration: Calibration::identity(dimension),
        };
        let reservoir = Reservoir::new(options.reservoir);
        let (seed, episodes) = (config.seed, config.episodes);
        let samples = States::default();
        Ok(Self { options, seed, size, dimension, episodes, map, samples, reservoir })
    }

    /// The code of one state.
    fn encode(&self, state: &[f64]) -> Vec<f32> {
        let normalized: Vec<f32> = self.map.normalizer.apply(state).map(|x| x as f32).collect();
        self.map.network.encode(&normalized)
    }

    /// The mean code of the last states of a policy: encoded first, then averaged.
    fn code(&self, last_states: &[f64]) -> Vec<f64> {
        let mut mean = vec![0.0; self.dimension];
        for state in last_states.chunks_exact(self.size) {
            mean.iter_mut().zip(self.encode(state)).for_each(|(m, z)| *m += f64::from(z));
        }
        let episodes = (last_states.len() / self.size).max(1) as f64;
        mean.iter_mut().for_each(|m| *m /= episodes);
        mean
    }

    fn calibrate(&mut self, elites: Elites<'_>) {
        let policies = elites.features.chunks_exact(self.episodes * self.size);
        let codes: Vec<f64> = policies.flat_map(|last_states| self.code(last_states)).collect();
        self.map.calibration = Calibration::fit(&codes, self.dimension);
    }

    /// The states to train on, each with its policy: last and random states of all elites, and the reservoir; a
    /// uniform sample where that is more than allowed.
    fn training_states(&self, iteration: u64, elites: Elites<'_>) -> (Vec<u64>, Vec<f32>) {
        let (mut ids, mut rows) = (Vec::new(), Vec::new());
        let last_states = elites.features.chunks_exact(self.episodes * self.size);
        for (id, last_states) in elites.ids.iter().zip(last_states) {
            ids.extend(std::iter::repeat_n(*id, self.episodes));
            rows.extend(last_states.iter().map(|x| *x as f32));
            for episode in self.samples.get(*id) {
                ids.extend(std::iter::repeat_n(*id, episode.len() / self.size));
                rows.extend(episode.iter().map(|x| x.to_f32()));
            }
        }
        for (id, state) in self.reservoir.iter() {
            ids.push(id);
            rows.extend(state.iter().copied().map(f16::to_f32));
        }
        self.limited(iteration, ids, rows)
    }

    fn limited(&self, iteration: u64, ids: Vec<u64>, rows: Vec<f32>) -> (Vec<u64>, Vec<f32>) {
        let most = self.options.training_states;
        if ids.len() <= most {
            return (ids, rows);
        }
        let mut chosen: Vec<usize> = (0..ids.len()).collect();
        self.stream(stream::CHOICE, iteration).shuffle(&mut chosen);
        chosen.truncate(most);
        chosen.sort_unstable();
        let row = |i: &usize| &rows[i * self.size..][..self.size];
        (chosen.iter().map(|i| ids[*i]).collect(), chosen.iter().flat_map(row).copied().collect())
    }

    fn stream(&self, purpose: u64, iteration: u64) -> Stream {
        Stream::new(derive(self.seed, Purpose::Training, [purpose, iteration, 0]))
    }

    /// Fits the normaliser to states and normalises them.
    fn normalize(&mut self, rows: &mut [f32]) {
        let mut statistics = RunningStatistics::new(self.size);
        let mut state = vec![0.0; self.size];
        for row in rows.chunks_exact(self.size) {
            state.iter_mut().zip(row).for_each(|(s, x)| *s = f64::from(*x));
            statistics.push(&state);
        }
        self.map.normalizer = statistics.normalizer();
        for row in rows.chunks_exact_mut(self.size) {
            state.iter_mut().zip(&*row).for_each(|(s, x)| *s = f64::from(*x));
            row.iter_mut().zip(self.map.normalizer.apply(&state)).for_each(|(x, n)| *x = n as f32);
        }
    }
}

impl Descriptor for Aurora {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn feature_size(&self) -> usize {
        self.episodes * self.size
    }

    fn probes(&self) -> Result<Vec<Probe>, Error> {
        let samples = self.options.states_per_episode;
        Ok(vec![Probe::new(&LastState { size: self.size, samples })?])
    }

    fn features(&self, evaluation: &Evaluation) -> Vec<f64> {
        let last = |states: &[f32]| states[..self.size].iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        evaluation.episodes.iter().flat_map(|episode| last(episode.records[0].states())).collect()
    }

    fn remember(&mut self, id: u64, evaluation: &Evaluation) {
        if evaluation.diverged() > 0 {
            return;
        }
        let size = self.size;
        let sampled = || evaluation.episodes.iter().map(|episode| &episode.records[0].states()[size..]);
        self.samples.insert(id, sampled());
        for (i, state) in sampled().flat_map(|states| states.chunks_exact(size)).enumerate() {
            let key = derive(self.seed, Purpose::Training, [stream::RESERVOIR, id, i as u64]);
            self.reservoir.offer(key, id, state);
        }
    }

    fn retain(&mut self, alive: &BTreeSet<u64>) {
        self.samples.retain(alive);
    }

    fn remembered_bytes(&self, id: u64) -> usize {
        self.samples.bytes_of(id)
    }

    fn reserve_bytes(&self) -> usize {
        self.options.reserve_bytes()
    }

    /// The random weights stay until the first refit; only scales are fitted.
    fn first_fit(&mut self, elites: Elites<'_>) -> Result<(), Error> {
        let (_, mut rows) = self.training_states(0, elites);
        self.normalize(&mut rows);
        self.calibrate(elites);
        Ok(())
    }

    fn refit(&mut self, iteration: u64, elites: Elites<'_>) -> Result<RefitReport, Error> {
        let (ids, mut rows) = self.training_states(iteration, elites);
        self.normalize(&mut rows);
        let key = |id| derive(self.seed, Purpose::Training, [stream::SPLIT, iteration, id]);
        let split = Split::new(&ids, self.options.validation_share, key);
        let data = StateData { rows, training: split.training(), validation: split.validation() };
        let seed = derive(self.seed, Purpose::Training, [stream::BATCHES, iteration, 0]);
        let losses = self.map.network.train(data, &self.options, seed)?;
        self.calibrate(elites);
        // Codes of different trainings are different quantities: no angle lies between them.
        Ok(RefitReport { turned_degrees: f64::NAN, losses, ..RefitReport::default() })
    }

    fn measures(&self, _id: u64, features: &[f64]) -> Vec<f64> {
        self.map.calibration.apply(&self.code(features))
    }

    fn describe(&self, evaluation: &Evaluation) -> Vec<f64> {
        self.measures(0, &self.features(evaluation))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        Ok(postcard::to_allocvec(&self.map).map_err(stored)?)
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        self.map = postcard::from_bytes(state).map_err(stored)?;
        Ok(())
    }

    fn memory_len(&self) -> Option<usize> {
        Some(self.samples.written_len() + self.reservoir.written_len())
    }

    fn write_memory(&self, out: &mut dyn Write) -> io::Result<()> {
        self.samples.write(out)?;
        self.reservoir.write(out)
    }

    fn load_memory(&mut self, mut memory: &[u8]) -> Result<(), Error> {
        self.samples = States::read(&mut memory)?;
        Ok(self.reservoir.read(&mut memory)?)
    }

    fn tensors(&self) -> Vec<Tensor> {
        let Map { normalizer, network, calibration } = &self.map;
        let mut tensors = map_tensors(normalizer, calibration);
        tensors.extend(network.matrices.iter().map(|matrix| matrix.tensor()));
        tensors
    }
}

pub(crate) fn stored(error: postcard::Error) -> LearnError {
    LearnError::Stored { what: "descriptor", reason: error.to_string() }
}

/// The parts that both learned descriptors have, for readers outside this program.
pub(crate) fn map_tensors(normalizer: &Normalizer, calibration: &Calibration) -> Vec<Tensor> {
    let (size, dimension) = (normalizer.size(), calibration.scale.len());
    vec![
        Tensor::f64("normalizer_mean", &[size], normalizer.mean()),
        Tensor::f64("normalizer_std", &[size], normalizer.std()),
        Tensor::f64("calibration_scale", &[dimension], &calibration.scale),
        Tensor::f64("calibration_offset", &[dimension], &calibration.offset),
    ]
}
