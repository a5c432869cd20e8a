//! What `benches/updates.rs` measures: the updates of SAC and TD3 beside the matrix products that they consist of.

use std::time::Instant;

use autoqd::Error;
use autoqd::policy::{Activation, Biases, PolicySpec, Weights};
use autoqd_qd::Rng;

use crate::actor::{Actor, Improver};
use crate::dense;
use crate::product::{add_product, matrix, set_product};
use crate::random::Stream;
use crate::replay::{Batch, Replay, RowShape, Transition};
use crate::sac::{self, Sac, SacSection, normals};
use crate::td3::{Options, Td3, Td3Section};

/// Repetitions within one measurement.
const PRODUCTS: usize = 20;

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

/// The least seconds of each of several pieces of work, which take turns for so many rounds.
pub fn least_of<const N: usize>(rounds: usize, works: &mut [Box<dyn FnMut() + '_>; N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (least, work) in least.iter_mut().zip(works.iter_mut()) {
            let start = Instant::now();
            work();
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least
}

/// Inputs and outputs of each layer, from the sizes between layers.
fn pairs(sizes: &[usize]) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator + '_ {
    sizes.windows(2).map(|pair| (pair[0], pair[1]))
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
    pub fn sac(&self) -> impl FnMut() + use<> {
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
            critic_layer_norm: false,
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
    pub fn td3(&self) -> Result<impl FnMut() + use<>, Error> {
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
    pub fn improvement(&self) -> Result<impl FnMut() + use<>, Error> {
        let td3 = self.new_td3()?;
        let mut random = Stream::new(3);
        let mut row = |count: usize| (0..count).map(|_| random.symmetric(1.0)).collect::<Vec<f32>>();
        let states: Vec<Vec<f32>> = (0..10).map(|_| row(self.batch * self.observation)).collect();
        let mut policy = vec![0.0; td3.actor().numbers()];
        td3.actor().policy(&mut policy);
        let mut improver = Improver::new(td3.actor().shape(), 1e-3);
        Ok(move || improver.improve(td3.actor().shape(), &mut policy, td3.critics(), &states))
    }

    /// The matrix products of [`Sizes::improvement`] and nothing else, in their order and with their shapes.
    pub fn improvement_products(&self) -> impl FnMut() + use<> {
        let policy: Vec<usize> = [&[self.observation], &self.hidden[..], &[self.action]].concat();
        let critic: Vec<usize> = [&[self.observation + self.action], &self.hidden[..]].concat();
        let (rows, actions, widest) =
            (self.batch, self.action, critic.iter().chain(&policy).copied().max().unwrap_or(1));
        let numbers = |count: usize| vec![0.25f32; count];
        let (x, g, w) = (numbers(rows * widest), numbers(rows * widest), numbers(widest * widest));
        let (mut y, mut of_w) = (numbers(rows * widest), numbers(widest * widest));
        // The value of an action, one column, is a sum in both.
        let value = numbers(widest);
        move || {
            for _ in 0..10 {
                for (inputs, outputs) in pairs(&policy).chain(pairs(&critic)) {
                    let (x, w) = (&x[..rows * inputs], &w[..inputs * outputs]);
                    add_product(
                        &mut y[..rows * outputs],
                        matrix(x, rows, inputs),
                        matrix(w, inputs, outputs),
                    );
                }
                let last = *critic.last().unwrap_or(&1);
                dense::forward(&x[..rows * last], &value[..last], &[0.0], &mut y);
                y.resize(rows * widest, 0.0);
                for (layer, (inputs, outputs)) in pairs(&critic).enumerate().rev() {
                    let inputs = if layer == 0 { actions } else { inputs };
                    let (g, w) = (&g[..rows * outputs], &w[..inputs * outputs]);
                    let w = matrix(w, inputs, outputs).transpose();
                    set_product(&mut y[..rows * inputs], matrix(g, rows, outputs), w);
                }
                for (layer, (inputs, outputs)) in pairs(&policy).enumerate().rev() {
                    let (x, g) = (&x[..rows * inputs], matrix(&g[..rows * outputs], rows, outputs));
                    add_product(&mut of_w[..inputs * outputs], matrix(x, rows, inputs).transpose(), g);
                    if layer > 0 {
                        let w = matrix(&w[..inputs * outputs], inputs, outputs).transpose();
                        set_product(&mut y[..rows * inputs], g, w);
                    }
                }
            }
        }
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

    /// Products of a batch with the largest of the matrices: what this machine can do.
    pub fn products(&self) -> impl FnMut() + use<> {
        let (batch, widest) = (self.batch, self.widest());
        let (a, b) = (vec![0.5f32; batch * widest], vec![0.25f32; widest * widest]);
        let mut sum = vec![0.0f32; batch * widest];
        move || {
            for _ in 0..PRODUCTS {
                add_product(&mut sum, matrix(&a, batch, widest), matrix(&b, widest, widest));
            }
        }
    }

    /// Operations of [`Sizes::products`].
    pub fn products_operations(&self) -> f64 {
        2.0 * (PRODUCTS * self.batch * self.widest() * self.widest()) as f64
    }

    fn widest(&self) -> usize {
        self.hidden.iter().copied().max().unwrap_or(1)
    }
}
