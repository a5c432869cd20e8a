//! Training of the autoencoder of trajectories.

use autoqd::descriptor::EpochLosses;
use autoqd::embedding::Normalizer;
use half::f16;

use crate::error::LearnError;
use crate::random::Stream;
use crate::section::AutoencoderSection;
use crate::sequence_autoencoder::{Batch, SequenceAutoencoder};
use crate::trainer::{Loss, Split, Trainee, train};
use crate::weights;

/// Trajectories of elites as they are stored.
pub struct SequenceData<'a> {
    /// Episodes of each elite; each is row after row and not empty.
    pub policies: Vec<Vec<&'a [f16]>>,
    /// How states are scaled.
    pub normalizer: &'a Normalizer,
    /// Which elites are held back.
    pub split: Split,
}

impl SequenceData<'_> {
    /// A normalised trajectory.
    pub fn normalized(normalizer: &Normalizer, states: &[f16]) -> Vec<f32> {
        let mut out = Vec::with_capacity(states.len());
        let mut state = vec![0.0; normalizer.size()];
        for stored in states.chunks_exact(normalizer.size()) {
            state.iter_mut().zip(stored).for_each(|(s, x)| *s = x.to_f64());
            out.extend(normalizer.apply(&state).map(|x| x as f32));
        }
        out
    }
}

/// What a training did.
pub struct SequenceTrained {
    /// Loss curve.
    pub losses: Vec<EpochLosses>,
    /// Validation loss with codes exchanged within batches, over the loss with their own; none where no batch has two.
    pub exchanged_codes: Option<f64>,
}

impl SequenceAutoencoder {
    /// Trains on from the present weights and keeps those of the best epoch.
    pub fn train(
        &mut self,
        data: &SequenceData<'_>,
        options: &AutoencoderSection,
        seed: u64,
    ) -> Result<SequenceTrained, LearnError> {
        let (network, size, random) = (&*self, data.normalizer.size(), Stream::new(seed));
        let mut trainee = SequenceTrainee { network, data, options, size, random };
        let mut parameters = weights::parameters(&self.matrices);
        let losses = train(&mut trainee, &mut parameters, options)?;
        let exchanged_codes = trainee.exchanged_codes(&parameters);
        weights::set_parameters(&mut self.matrices, &parameters);
        Ok(SequenceTrained { losses, exchanged_codes })
    }
}

struct SequenceTrainee<'a> {
    network: &'a SequenceAutoencoder,
    data: &'a SequenceData<'a>,
    options: &'a AutoencoderSection,
    size: usize,
    random: Stream,
}

/// A trajectory's place in the data as one number.
fn place(policy: usize, episode: usize) -> usize {
    policy << 32 | episode
}

impl SequenceTrainee<'_> {
    fn trajectory(&self, place: usize) -> &[f16] {
        self.data.policies[place >> 32][place & 0xFFFF_FFFF]
    }

    /// Batches of trajectories of similar length, so that little is padded.
    fn by_length(&self, mut places: Vec<usize>) -> Vec<Vec<usize>> {
        places.truncate(self.options.training_trajectories);
        places.sort_by_key(|place| self.trajectory(*place).len());
        places.chunks(self.options.batch_size).map(<[usize]>::to_vec).collect()
    }

    /// How much worse the decoder gets when every trajectory is decoded from the code of another.
    fn exchanged_codes(&mut self, parameters: &[f32]) -> Option<f64> {
        let (mut own, mut exchanged, mut batch) = (0.0, 0.0, Batch::default());
        for places in self.validation_batches().iter().filter(|places| places.len() > 1) {
            self.fill(&mut batch, places, true);
            self.network.codes(parameters, &mut batch);
            let (steps, code) = (batch.steps() as f64, batch.codes.len() / places.len());
            own += steps * f64::from(self.network.decoding_loss(parameters, &mut batch));
            batch.codes.rotate_left(code);
            exchanged += steps * f64::from(self.network.decoding_loss(parameters, &mut batch));
        }
        (own > 0.0).then_some(exchanged / own)
    }
}

impl Trainee for SequenceTrainee<'_> {
    type Batch = Batch<f32>;

    const NAME: &'static str = "autoencoder of trajectories";
    const CLIP: Option<f32> = Some(1.0);
    const PARTS: usize = 2;

    /// One trajectory of each elite, drawn anew at each epoch.
    fn training_batches(&mut self, _epoch: usize) -> Vec<Vec<usize>> {
        let data = self.data;
        let mut policies = data.split.training();
        self.random.shuffle(&mut policies);
        let episodes = |policy: usize| data.policies[policy].len();
        let places = policies.iter().map(|p| place(*p, self.random.below(episodes(*p)))).collect();
        let mut batches = self.by_length(places);
        self.random.shuffle(&mut batches);
        batches
    }

    /// The first trajectory of each elite held back.
    fn validation_batches(&self) -> Vec<Vec<usize>> {
        self.by_length(self.data.split.validation().iter().map(|policy| place(*policy, 0)).collect())
    }

    fn fill(&mut self, batch: &mut Batch<f32>, places: &[usize], validation: bool) {
        let normalizer = self.data.normalizer;
        let trajectories: Vec<Vec<f32>> =
            places.iter().map(|p| SequenceData::normalized(normalizer, self.trajectory(*p))).collect();
        let forcing = self.options.teacher_forcing as f32;
        // The validation hides the same states at every epoch, so that its losses can be compared.
        let mut fixed = Stream::new(0);
        let random = if validation { &mut fixed } else { &mut self.random };
        batch.fill(&trajectories, self.size, || forcing < 1.0 && random.unit() >= forcing);
    }

    fn loss(&self, parameters: &[f32], batch: &mut Batch<f32>) -> Loss {
        self.network.codes(parameters, batch);
        let mean = self.network.decoding_loss(parameters, batch);
        Loss { mean, weight: batch.steps() as f64 }
    }

    fn backward(&self, parameters: &[f32], batch: &mut Batch<f32>, gradient: &mut [f32]) {
        self.network.backward(parameters, batch, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::states::to_half;

    const STEPS: usize = 20;

    /// Trajectories in the plane that all start and end at the same two points, and pass on one side or the other
    /// of the line between them, near or far.
    fn detours(count: usize) -> Vec<(f32, Vec<f16>)> {
        let mut random = Stream::new(3);
        (0..count)
            .map(|i| {
                let side = if i % 2 == 0 { 1.0 } else { -1.0 };
                let far = side * (1.0 + random.unit());
                let point = |t: usize| {
                    let share = t as f32 / (STEPS - 1) as f32;
                    let bend = if t == 0 || t == STEPS - 1 { 0.0 } else { libm::sinf(3.0 * share) };
                    [to_half(share), to_half(far * bend)]
                };
                (far, (0..STEPS).flat_map(point).collect())
            })
            .collect()
    }

    fn train_on(
        trajectories: &[(f32, Vec<f16>)],
        options: &AutoencoderSection,
    ) -> (SequenceAutoencoder, Normalizer, SequenceTrained) {
        let mut statistics = autoqd::embedding::RunningStatistics::new(2);
        for state in trajectories.iter().flat_map(|(_, t)| t.chunks_exact(2)) {
            statistics.push(&[state[0].to_f64(), state[1].to_f64()]);
        }
        let normalizer = statistics.normalizer();
        let ids: Vec<u64> = (0..trajectories.len() as u64).collect();
        let split = Split::new(&ids, 0.2, |id| if id % 5 == 0 { 0 } else { u64::MAX });
        let policies = trajectories.iter().map(|(_, t)| vec![t.as_slice()]).collect();
        let mut network = SequenceAutoencoder::new(2, 16, 2, 7);
        let data = SequenceData { policies, normalizer: &normalizer, split };
        let trained = network.train(&data, options, 11).unwrap();
        (network, normalizer, trained)
    }

    fn options() -> AutoencoderSection {
        AutoencoderSection {
            learning_rate: 5e-3,
            batch_size: 16,
            epochs: 40,
            ..AutoencoderSection::default()
        }
    }

    #[test]
    fn codes_separate_trajectories_that_the_last_state_cannot() {
        let trajectories = detours(100);
        let last = |i: usize| &trajectories[i].1[2 * STEPS - 2..];
        assert!((0..100).all(|i| last(i) == last(0)), "the last states are all the same");
        let (network, normalizer, _) = train_on(&trajectories, &options());
        let codes: Vec<Vec<f32>> = trajectories
            .iter()
            .map(|(_, t)| network.encode(&SequenceData::normalized(&normalizer, t)))
            .collect();
        // Along the line between the two groups' mean codes, no member is nearer to the other group.
        let mean =
            |side: usize, d: usize| codes.iter().skip(side).step_by(2).map(|c| c[d]).sum::<f32>() / 50.0;
        let axis: Vec<f32> = (0..2).map(|d| mean(0, d) - mean(1, d)).collect();
        let project = |c: &[f32]| c[0] * axis[0] + c[1] * axis[1];
        let middle = 0.5 * (project(&[mean(0, 0), mean(0, 1)]) + project(&[mean(1, 0), mean(1, 1)]));
        let right = codes.iter().enumerate().filter(|(i, c)| (project(c) > middle) == (i % 2 == 0)).count();
        assert!(right >= 99, "{right} of 100 on their side");
    }

    /// Trajectories of three states that do not follow from each other: what the code does not say is lost.
    fn jumps(count: usize) -> Vec<(f32, Vec<f16>)> {
        let mut random = Stream::new(4);
        let mut pair = || [random.symmetric(1.0), random.symmetric(1.0)];
        let jump = |[a, b]: [f32; 2]| (a, [a, b, -b, a, b, b].map(to_half).to_vec());
        (0..count).map(|_| jump(pair())).collect()
    }

    #[test]
    fn the_decoder_uses_the_code_where_states_do_not_follow_from_each_other() {
        let (_, _, trained) = train_on(&jumps(200), &options());
        let factor = trained.exchanged_codes.unwrap();
        assert!(factor > 3.0, "loss with the codes of others is {factor} times the loss");
        let first = trained.losses[0].validation;
        let best = trained.losses.iter().map(|l| l.validation).fold(first, f64::min);
        assert!(best < 0.3 * first, "{best} from {first}");
    }

    #[test]
    fn hiding_states_from_the_decoder_makes_it_use_the_code_on_smooth_trajectories() {
        let factor = |teacher_forcing| {
            let options = AutoencoderSection { teacher_forcing, ..options() };
            train_on(&detours(60), &options).2.exchanged_codes.unwrap()
        };
        let (seeing, hidden) = (factor(1.0), factor(0.5));
        assert!(seeing < 1.5 && hidden > 3.0, "{seeing} and {hidden}");
    }

    /// The beginnings of some trajectories.
    fn beginnings<T>(steps: &[usize], number: impl Fn(f16) -> T) -> Vec<Vec<T>> {
        let all = detours(steps.len());
        let cut =
            |((_, t), steps): (&(f32, Vec<f16>), &usize)| t[..2 * steps].iter().map(|x| number(*x)).collect();
        all.iter().zip(steps).map(cut).collect()
    }

    #[test]
    fn gradients_of_the_whole_network_are_those_of_finite_differences() {
        let network = SequenceAutoencoder::new(2, 3, 2, 5);
        let parameters: Vec<f64> =
            weights::parameters(&network.matrices).into_iter().map(f64::from).collect();
        let mut batch = Batch::default();
        batch.fill(&beginnings(&[5, 1, 3], f16::to_f64), 2, || false);
        let loss = |parameters: &[f64], batch: &mut Batch<f64>| {
            network.codes(parameters, batch);
            network.decoding_loss(parameters, batch)
        };
        let (mut passes, mut gradient) = (batch.clone(), vec![0.0; parameters.len()]);
        loss(&parameters, &mut passes);
        network.backward(&parameters, &mut passes, &mut gradient);
        assert_gradient(&parameters, &gradient, |moved| loss(moved, &mut batch.clone()));
    }

    #[test]
    fn codes_are_those_of_the_trained_network_and_padding_does_not_leak() {
        let network = SequenceAutoencoder::new(2, 32, 4, 5);
        let trajectories = beginnings(&[20, 1, 7, 13], f16::to_f32);
        let mut batch = Batch::default();
        batch.fill(&trajectories, 2, || false);
        network.codes(&weights::parameters(&network.matrices), &mut batch);
        for (trajectory, code) in trajectories.iter().zip(batch.codes.chunks_exact(4)) {
            let ours = network.encode(trajectory);
            assert!(ours.iter().zip(code).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
