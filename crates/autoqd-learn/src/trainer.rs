//! The training loop: epochs, validation, early stopping, and the weights of the best epoch.

use autoqd::descriptor::EpochLosses;
use rayon::prelude::*;

use crate::adam::Adam;
use crate::error::LearnError;
use crate::section::AutoencoderSection;

/// Validation batches computed side by side; not all at once, which would unpack all data.
const SIDE_BY_SIDE: usize = 2;

/// The mean loss of a batch and how many numbers it is the mean of.
#[derive(Clone, Copy, Default)]
pub struct Loss {
    /// Mean squared error.
    pub mean: f32,
    /// Its weight among the batches of an epoch.
    pub weight: f64,
}

/// What the loop needs to know about a network and its data.
pub trait Trainee: Sync {
    /// The data of a batch, and the buffers of a pass over it.
    type Batch: Default + Send;

    /// Name for error messages.
    const NAME: &'static str;

    /// Largest norm of the gradients.
    const CLIP: Option<f32>;

    /// Parts of a batch whose gradients are computed side by side. Their number is fixed, and so is the order in which
    /// they are summed: the weights do not depend on the number of threads.
    const PARTS: usize;

    /// The batches of an epoch, each a list of places in the data.
    fn training_batches(&mut self, epoch: usize) -> Vec<Vec<usize>>;

    /// The batches of the validation, the same at every epoch.
    fn validation_batches(&self) -> Vec<Vec<usize>>;

    /// Puts the data in some places into a batch.
    fn fill(&mut self, batch: &mut Self::Batch, places: &[usize], validation: bool);

    /// The loss of a batch: the forward pass.
    fn loss(&self, parameters: &[f32], batch: &mut Self::Batch) -> Loss;

    /// Adds the gradient of the loss just computed: the backward pass.
    fn backward(&self, parameters: &[f32], batch: &mut Self::Batch, gradient: &mut [f32]);
}

/// Trains until the validation loss has not fallen for `patience` epochs, or `epochs` are over. The parameters become
/// those of the epoch with the lowest validation loss.
pub fn train<T: Trainee>(
    trainee: &mut T,
    parameters: &mut [f32],
    options: &AutoencoderSection,
) -> Result<Vec<EpochLosses>, LearnError> {
    let mut state = Training::new(trainee, parameters, options);
    let (mut losses, mut best) = (Vec::new(), state.parameters.to_vec());
    let (mut lowest, mut waited) = (f64::INFINITY, 0);
    for epoch in 1..=options.epochs {
        let (training, validation) = (state.train_epoch(epoch), state.validate());
        if !training.is_finite() || !validation.is_finite() {
            return Err(LearnError::Diverged { what: T::NAME, epoch });
        }
        losses.push(EpochLosses { training, validation });
        waited += 1;
        if validation < lowest {
            (lowest, waited) = (validation, 0);
            best.copy_from_slice(state.parameters);
        }
        if waited >= options.patience {
            break;
        }
    }
    parameters.copy_from_slice(&best);
    Ok(losses)
}

/// A batch, or part of one, that is computed beside others.
struct Part<B> {
    batch: B,
    loss: Loss,
    gradient: Vec<f32>,
}

struct Training<'a, T: Trainee> {
    trainee: &'a mut T,
    parameters: &'a mut [f32],
    adam: Adam,
    parts: Vec<Part<T::Batch>>,
    gradient: Vec<f32>,
}

impl<'a, T: Trainee> Training<'a, T> {
    fn new(trainee: &'a mut T, parameters: &'a mut [f32], options: &AutoencoderSection) -> Self {
        let zeros = || vec![0.0; parameters.len()];
        let part = |_| Part { batch: T::Batch::default(), loss: Loss::default(), gradient: zeros() };
        let parts = (0..T::PARTS.max(SIDE_BY_SIDE)).map(part).collect();
        let adam = Adam::new(parameters.len(), options.learning_rate, T::CLIP);
        Self { trainee, adam, parts, gradient: zeros(), parameters }
    }

    /// Mean loss over the training batches, each before the step it leads to.
    fn train_epoch(&mut self, epoch: usize) -> f64 {
        let mut mean = WeightedMean::default();
        for places in self.trainee.training_batches(epoch) {
            let parts = places.chunks(places.len().div_ceil(T::PARTS));
            let count = self.side_by_side(parts, false, |trainee, parameters, part| {
                part.loss = trainee.loss(parameters, &mut part.batch);
                part.gradient.fill(0.0);
                trainee.backward(parameters, &mut part.batch, &mut part.gradient);
            });
            self.mean_gradient(count);
            self.adam.step(self.parameters, &self.gradient);
            self.parts[..count].iter().for_each(|part| mean.add(part.loss));
        }
        mean.value()
    }

    /// Mean loss over the validation batches.
    fn validate(&mut self) -> f64 {
        let mut mean = WeightedMean::default();
        for few in self.trainee.validation_batches().chunks(SIDE_BY_SIDE) {
            let few = few.iter().map(Vec::as_slice);
            let count = self.side_by_side(few, true, |trainee, parameters, part| {
                part.loss = trainee.loss(parameters, &mut part.batch);
            });
            self.parts[..count].iter().for_each(|part| mean.add(part.loss));
        }
        mean.value()
    }

    /// Applies a function to batches on all threads. Returns how many parts they fill.
    fn side_by_side<'p>(
        &mut self,
        batches: impl Iterator<Item = &'p [usize]>,
        validation: bool,
        function: impl Fn(&T, &[f32], &mut Part<T::Batch>) + Sync,
    ) -> usize {
        let mut count = 0;
        for (part, places) in self.parts.iter_mut().zip(batches) {
            self.trainee.fill(&mut part.batch, places, validation);
            count += 1;
        }
        let (trainee, parameters) = (&*self.trainee, &*self.parameters);
        self.parts[..count].par_iter_mut().for_each(|part| function(trainee, parameters, part));
        count
    }

    /// The gradient of the mean loss of some parts together.
    fn mean_gradient(&mut self, count: usize) {
        let parts = &self.parts[..count];
        let total: f64 = parts.iter().map(|part| part.loss.weight).sum();
        self.gradient.fill(0.0);
        for part in parts {
            let share = (part.loss.weight / total) as f32;
            self.gradient.iter_mut().zip(&part.gradient).for_each(|(sum, g)| *sum += share * g);
        }
    }
}

#[derive(Default)]
struct WeightedMean {
    sum: f64,
    weight: f64,
}

impl WeightedMean {
    fn add(&mut self, loss: Loss) {
        self.sum += loss.weight * f64::from(loss.mean);
        self.weight += loss.weight;
    }

    fn value(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Which policies are held back at a refit: a pure function of the policy, so that all its states are on one side.
/// With too few policies for both sides, every policy is on both.
pub struct Split {
    /// Per policy, whether it is held back.
    pub held_back: Vec<bool>,
    both: bool,
}

impl Split {
    /// Splits policies by `key(id)`, a uniform random number.
    pub fn new(ids: &[u64], share: f64, key: impl Fn(u64) -> u64) -> Self {
        let limit = (share * 2f64.powi(53)) as u64;
        let held_back: Vec<bool> = ids.iter().map(|id| key(*id) >> 11 < limit).collect();
        let both = held_back.iter().all(|h| *h) || !held_back.contains(&true);
        Self { held_back, both }
    }

    /// Places of the policies to train on.
    pub fn training(&self) -> Vec<usize> {
        self.side(false)
    }

    /// Places of the policies to validate on.
    pub fn validation(&self) -> Vec<usize> {
        self.side(true)
    }

    fn side(&self, held_back: bool) -> Vec<usize> {
        (0..self.held_back.len()).filter(|i| self.both || self.held_back[*i] == held_back).collect()
    }
}
