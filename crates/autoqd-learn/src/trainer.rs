//! The training loop: epochs, validation, early stopping, and the weights of the best epoch.

use autoqd::descriptor::EpochLosses;
use candle_core::backprop::GradStore;
use candle_core::{Result, Tensor, Var};
use rayon::prelude::*;

use crate::adam::Adam;
use crate::error::LearnError;
use crate::section::AutoencoderSection;
use crate::weights::values;

/// Validation batches computed side by side; not all at once, which would unpack all data.
const SIDE_BY_SIDE: usize = 2;

/// The mean loss of a batch and how many numbers it is the mean of.
pub struct Loss {
    /// Mean squared error, a scalar with gradients.
    pub mean: Tensor,
    /// Its weight among the batches of an epoch.
    pub weight: f64,
}

/// What the loop needs to know about a network and its data.
pub trait Trainee: Sync {
    /// The data of a batch, ready for the network.
    type Batch: Send + Sync;

    /// Name for error messages.
    const NAME: &'static str;

    /// Largest norm of the gradients.
    const CLIP: Option<f32>;

    /// Parts of a batch whose gradients are computed side by side. Their number is fixed, and so is the order in which
    /// they are summed: the weights do not depend on the number of threads.
    const PARTS: usize;

    /// The variables to train.
    fn variables(&self) -> &[Var];

    /// The batches of an epoch, each a list of places in the data.
    fn training_batches(&mut self, epoch: usize) -> Vec<Vec<usize>>;

    /// The batches of the validation, the same at every epoch.
    fn validation_batches(&self) -> Vec<Vec<usize>>;

    /// The data in some places.
    fn batch(&mut self, places: &[usize], validation: bool) -> Result<Self::Batch>;

    /// The loss of a batch.
    fn loss(&self, batch: &Self::Batch) -> Result<Loss>;
}

/// What a training did.
pub struct Trained {
    /// Loss curve.
    pub losses: Vec<EpochLosses>,
    /// Weights of the epoch with the lowest validation loss.
    pub best: Vec<Vec<f32>>,
}

/// Trains until the validation loss has not fallen for `patience` epochs, or `epochs` are over.
pub fn train<T: Trainee>(
    trainee: &mut T,
    options: &AutoencoderSection,
) -> std::result::Result<Trained, LearnError> {
    let tensor = |source| LearnError::Tensor { what: T::NAME, source };
    let mut adam = Adam::new(trainee.variables(), options.learning_rate, T::CLIP);
    let mut trained = Trained { losses: Vec::new(), best: values(trainee.variables()).map_err(tensor)? };
    let (mut lowest, mut waited) = (f64::INFINITY, 0);
    for epoch in 1..=options.epochs {
        let training = train_epoch(trainee, &mut adam, epoch).map_err(tensor)?;
        let validation = validate(trainee).map_err(tensor)?;
        if !training.is_finite() || !validation.is_finite() {
            return Err(LearnError::Diverged { what: T::NAME, epoch });
        }
        trained.losses.push(EpochLosses { training, validation });
        waited += 1;
        if validation < lowest {
            (lowest, waited) = (validation, 0);
            trained.best = values(trainee.variables()).map_err(tensor)?;
        }
        if waited >= options.patience {
            break;
        }
    }
    Ok(trained)
}

fn train_epoch<T: Trainee>(trainee: &mut T, adam: &mut Adam, epoch: usize) -> Result<f64> {
    let mut mean = WeightedMean::default();
    for places in trainee.training_batches(epoch) {
        let parts: Vec<&[usize]> = places.chunks(places.len().div_ceil(T::PARTS)).collect();
        let found = side_by_side(trainee, &parts, false, |trainee, batch| {
            let loss = trainee.loss(batch)?;
            let gradients = flat_gradients(trainee.variables(), &loss.mean.backward()?)?;
            Ok((loss, gradients))
        })?;
        adam.step(trainee.variables(), &mean_gradients(&found))?;
        found.iter().try_for_each(|(loss, _)| mean.add(loss))?;
    }
    Ok(mean.value())
}

/// Mean loss over the validation batches.
pub fn validate<T: Trainee>(trainee: &mut T) -> Result<f64> {
    let mut mean = WeightedMean::default();
    let batches = trainee.validation_batches();
    let batches: Vec<&[usize]> = batches.iter().map(Vec::as_slice).collect();
    for few in batches.chunks(SIDE_BY_SIDE) {
        let losses = side_by_side(trainee, few, true, |trainee, batch| trainee.loss(batch))?;
        losses.iter().try_for_each(|loss| mean.add(loss))?;
    }
    Ok(mean.value())
}

/// Applies a function to batches on all threads; the results are in order.
fn side_by_side<T: Trainee, R: Send>(
    trainee: &mut T,
    places: &[&[usize]],
    validation: bool,
    function: impl Fn(&T, &T::Batch) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let batches: Vec<T::Batch> =
        places.iter().map(|places| trainee.batch(places, validation)).collect::<Result<_>>()?;
    let trainee = &*trainee;
    batches.par_iter().map(|batch| function(trainee, batch)).collect()
}

/// Gradient of each variable; none where the loss does not depend on it.
type Gradients = Vec<Option<Vec<f32>>>;

fn flat_gradients(variables: &[Var], gradients: &GradStore) -> Result<Gradients> {
    let flat = |variable| gradients.get(variable).map(|g: &Tensor| g.flatten_all()?.to_vec1()).transpose();
    variables.iter().map(|variable| flat(variable.as_tensor())).collect()
}

/// The gradients of the mean loss of all parts together.
fn mean_gradients(parts: &[(Loss, Gradients)]) -> Gradients {
    let total: f64 = parts.iter().map(|(loss, _)| loss.weight).sum();
    let share = |loss: &Loss| (loss.weight / total) as f32;
    let mut sum: Gradients = vec![None; parts.first().map_or(0, |(_, gradients)| gradients.len())];
    for (loss, gradients) in parts {
        for (sum, gradient) in sum.iter_mut().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            let sum = sum.get_or_insert_with(|| vec![0.0; gradient.len()]);
            sum.iter_mut().zip(gradient).for_each(|(s, g)| *s += share(loss) * g);
        }
    }
    sum
}

#[derive(Default)]
struct WeightedMean {
    sum: f64,
    weight: f64,
}

impl WeightedMean {
    fn add(&mut self, loss: &Loss) -> Result<()> {
        self.sum += loss.weight * f64::from(loss.mean.to_scalar::<f32>()?);
        self.weight += loss.weight;
        Ok(())
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
