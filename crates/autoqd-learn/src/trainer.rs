//! The training loop: epochs, validation, early stopping, and the weights of the best epoch.

use autoqd::config::AutoencoderSection;
use autoqd::descriptor::EpochLosses;
use candle_core::{Result, Tensor, Var};

use crate::adam::Adam;
use crate::error::LearnError;
use crate::weights::values;

/// The mean loss of a batch and how many numbers it is the mean of.
pub struct Loss {
    /// Mean squared error, a scalar with gradients.
    pub mean: Tensor,
    /// Its weight among the batches of an epoch.
    pub weight: f64,
}

/// What the loop needs to know about a network and its data.
pub trait Trainee {
    /// Name for error messages.
    const NAME: &'static str;

    /// Largest norm of the gradients.
    const CLIP: Option<f32>;

    /// The variables to train.
    fn variables(&self) -> &[Var];

    /// The batches of an epoch, each a list of places in the data.
    fn training_batches(&mut self, epoch: usize) -> Vec<Vec<usize>>;

    /// The batches of the validation, the same at every epoch.
    fn validation_batches(&self) -> Vec<Vec<usize>>;

    /// The loss of a batch.
    fn loss(&mut self, batch: &[usize], validation: bool) -> Result<Loss>;
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
    for batch in trainee.training_batches(epoch) {
        let loss = trainee.loss(&batch, false)?;
        let gradients = loss.mean.backward()?;
        adam.step(trainee.variables(), &gradients)?;
        mean.add(&loss)?;
    }
    Ok(mean.value())
}

/// Mean loss over the validation batches.
pub fn validate<T: Trainee>(trainee: &mut T) -> Result<f64> {
    let mut mean = WeightedMean::default();
    for batch in trainee.validation_batches() {
        mean.add(&trainee.loss(&batch, true)?)?;
    }
    Ok(mean.value())
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
