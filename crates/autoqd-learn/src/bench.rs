//! What `benches/updates.rs` measures: the updates of SAC and TD3 beside the matrix products that they consist of.

use std::time::Instant;

use autoqd::Error;
use autoqd::policy::{Activation, Biases, PolicySpec, Weights};
use autoqd_qd::Rng;

use crate::actor::{Actor, improve};
use crate::product::{add_product, matrix};
use crate::random::Stream;
use crate::replay::{Batch, Replay, RowShape, Transition};
use crate::sac::{self, Sac, SacSection, normals};
use crate::td3::{Options, Td3, Td3Section};

/// The problem that is learned.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Length of an observation.
    pub observation: usize,
    /// Length of an action.
    pub action: usize,
    /// Units of the hidden layers.
    pub hidden: Vec<usize>,
    /// Transitions per update.
    pub batch: usize,
}

/// The least seconds of some repetitions of a piece of work.
pub fn least(repetitions: usize, mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..repetitions).map(once).fold(f64::INFINITY, f64::min)
}

impl Sizes {
    fn replay(&self) -> Replay {
        let (observation, action) = (self.observation, self.action);
        let mut replay = Replay::new(RowShape { observation, action, extra: 0 }, 10_000);
        let mut random = Stream::new(1);
        let mut row = |count: usize| (0..count).map(|_| random.symmetric(1.0)).collect::<Vec<f32>>();
        for i in 0..10_000 {
            let (now, done, next) = (row(observation), row(action), row(observation));
            let reward = now[0];
            let (observation, action, next_observation) = (&now[..], &done[..], &next[..]);
            let terminated = i % 100 == 0;
            replay.push(&Transition {
                observation,
                action,
                reward,
                next_observation,
                terminated,
                extra: &[],
            });
        }
        replay
    }

    fn policy(&self) -> Result<PolicySpec, Error> {
        let (low, high) = (vec![-1.0; self.action], vec![1.0; self.action]);
        let policy = PolicySpec::new(Weights::Dense, self.hidden.clone(), self.observation, low, high)?;
        Ok(policy.with_activation(Activation::Relu).with_biases(Biases::All))
    }

    /// An update of SAC, with the drawing of its batch and noise.
    pub fn sac(&self) -> impl FnMut() {
        let settings = SacSection { hidden: self.hidden.clone(), ..SacSection::default() };
        let mut sac = Sac::new(sac::options(&settings, self.observation, self.action), 1);
        let (replay, mut batch, size) = (self.replay(), Batch::default(), self.batch);
        let (mut random, mut noise) = (Rng::new(1, 0), [Vec::new(), Vec::new()]);
        move || {
            replay.sample(size, &mut random, &mut batch);
            noise.iter_mut().for_each(|noise| normals(&mut random, batch.actions.len(), noise));
            sac.update(&batch, [&noise[0], &noise[1]]);
        }
    }

    fn new_td3(&self) -> Result<Td3, Error> {
        let settings = Td3Section::default();
        let options = Options {
            hidden: self.hidden.clone(),
            learning_rate: settings.learning_rate,
            gamma: settings.gamma as f32,
            tau: settings.tau as f32,
            policy_delay: settings.policy_delay,
            target_noise: settings.target_noise as f32,
            target_noise_clip: settings.target_noise_clip as f32,
        };
        let mut random = Stream::new(2);
        let mut actor = Actor::new(&self.policy()?, settings.learning_rate);
        actor.start_uniform(&mut random);
        Ok(Td3::new(options, actor, &mut random))
    }

    /// Two updates of TD3, of which the second one trains the actor.
    pub fn td3(&self) -> Result<impl FnMut(), Error> {
        let mut td3 = self.new_td3()?;
        let (replay, mut batch, size) = (self.replay(), Batch::default(), self.batch);
        let (mut random, mut noise) = (Rng::new(1, 0), Vec::new());
        Ok(move || {
            for _ in 0..2 {
                replay.sample(size, &mut random, &mut batch);
                normals(&mut random, batch.actions.len(), &mut noise);
                td3.update(&batch, &noise);
            }
        })
    }

    /// One candidate of the policy-gradient emitter: ten steps.
    pub fn improvement(&self) -> Result<impl FnMut(), Error> {
        let td3 = self.new_td3()?;
        let mut random = Stream::new(3);
        let mut row = |count: usize| (0..count).map(|_| random.symmetric(1.0)).collect::<Vec<f32>>();
        let states: Vec<Vec<f32>> = (0..10).map(|_| row(self.batch * self.observation)).collect();
        let mut policy = vec![0.0; td3.actor().numbers()];
        td3.actor().policy(&mut policy);
        Ok(move || improve(td3.actor().shape(), &mut policy, td3.critics(), &states, 1e-3))
    }

    /// Floating-point operations of the products of a pass through a network from `inputs` to `outputs`: forward, the
    /// gradient by all weights, and that by the inputs of all layers but the first.
    fn passes(&self, inputs: usize, outputs: usize) -> [f64; 3] {
        let sizes: Vec<usize> = [&[inputs], &self.hidden[..], &[outputs]].concat();
        let product = |pair: &[usize]| 2.0 * (self.batch * pair[0] * pair[1]) as f64;
        let forward: f64 = sizes.windows(2).map(product).sum();
        [forward, forward, forward - product(&sizes[..2])]
    }

    fn of_critic(&self) -> ([f64; 3], f64) {
        let by_action = 2.0 * (self.batch * self.action * self.hidden[0]) as f64;
        (self.passes(self.observation + self.action, 1), by_action)
    }

    /// Operations of the products of an update of SAC.
    pub fn sac_operations(&self) -> f64 {
        let [forward, weights, inputs] = self.passes(self.observation, 2 * self.action);
        let ([q, by_weights, by_inputs], by_action) = self.of_critic();
        let critics = 2.0 * (q + q + by_weights + by_inputs + q + by_inputs + by_action);
        2.0 * forward + weights + inputs + critics
    }

    /// Operations of the products of two updates of TD3.
    pub fn td3_operations(&self) -> f64 {
        let [forward, ..] = self.passes(self.observation, self.action);
        let ([q, by_weights, by_inputs], _) = self.of_critic();
        2.0 * (forward + 2.0 * (q + q + by_weights + by_inputs)) + self.improvement_operations() / 10.0
    }

    /// Operations of the products of ten steps of a candidate.
    pub fn improvement_operations(&self) -> f64 {
        let [forward, weights, inputs] = self.passes(self.observation, self.action);
        let ([q, _, by_inputs], by_action) = self.of_critic();
        10.0 * (forward + weights + inputs + q + by_inputs + by_action)
    }

    /// Operations per second of this machine's product of a batch with the largest of the matrices, on one thread.
    pub fn product_rate(&self) -> f64 {
        let widest = self.hidden.iter().copied().max().unwrap_or(1);
        let (a, b) = (vec![0.5f32; self.batch * widest], vec![0.25f32; widest * widest]);
        let mut sum = vec![0.0f32; self.batch * widest];
        let work = || {
            (0..20).for_each(|_| {
                add_product(&mut sum, matrix(&a, self.batch, widest), matrix(&b, widest, widest));
            });
        };
        20.0 * 2.0 * (self.batch * widest * widest) as f64 / least(50, work)
    }
}
