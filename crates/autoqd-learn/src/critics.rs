//! Twin critics: two networks that judge an action, each with a slow copy, trained towards the same targets.

use serde::{Deserialize, Serialize};

use crate::adam::Adam;
use crate::mlp::{Activation, Mlp, Pass};
use crate::random::Stream;
use crate::wide::wide;

/// Moves the slow copy of some parameters a little towards them (Polyak).
pub fn follow(slow: &mut [f32], fast: &[f32], tau: f32) {
    wide(
        #[inline(always)]
        || slow.iter_mut().zip(fast).for_each(|(s, f)| *s = (1.0 - tau) * *s + tau * *f),
    );
}

/// Puts two matrices with as many rows side by side.
pub fn beside(left: &[f32], right: &[f32], rows: usize, out: &mut Vec<f32>) {
    let (a, b) = (left.len() / rows, right.len() / rows);
    out.clear();
    for (left, right) in left.chunks_exact(a).zip(right.chunks_exact(b)) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }
}

/// What is stored of a critic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Critic {
    /// Weights and biases.
    pub parameters: Vec<f32>,
    /// The slow copy.
    pub target: Vec<f32>,
    adam: Adam,
}

/// A critic at work.
struct Worker {
    critic: Critic,
    pass: Pass<f32>,
    gradient: Vec<f32>,
    loss: f64,
}

/// Two critics.
pub struct Critics {
    network: Mlp,
    workers: [Worker; 2],
    actions: usize,
}

impl Critics {
    /// Critics of observations with `inputs` numbers and of actions, with or without layer normalisation.
    pub fn new(
        inputs: usize,
        actions: usize,
        hidden: &[usize],
        normalized: bool,
        rate: f64,
        random: &mut Stream,
    ) -> Self {
        let sizes: Vec<usize> = [&[inputs + actions], hidden, &[1]].concat();
        let network = Mlp::new(&sizes, Activation::Relu, Activation::Linear).normalized(normalized);
        let worker = |random: &mut Stream| {
            let parameters = network.initial(random);
            let adam = Adam::new(parameters.len(), rate, None);
            let critic = Critic { target: parameters.clone(), parameters, adam };
            Worker { gradient: vec![0.0; critic.target.len()], critic, pass: Pass::default(), loss: 0.0 }
        };
        let workers = [worker(random), worker(random)];
        Self { network, workers, actions }
    }

    /// The networks as they are stored.
    pub fn state(&self) -> [&Critic; 2] {
        self.workers.each_ref().map(|worker| &worker.critic)
    }

    /// Takes stored networks; false if they have another size.
    pub fn restore(&mut self, critics: [Critic; 2]) -> bool {
        let len = self.network.parameters();
        let fits = |c: &Critic| c.parameters.len() == len && c.target.len() == len && c.adam.len() == len;
        if !critics.iter().all(fits) {
            return false;
        }
        self.workers.iter_mut().zip(critics).for_each(|(worker, critic)| worker.critic = critic);
        true
    }

    /// Both networks do the same work on inputs, side by side; neither sees the other.
    fn both(&mut self, work: impl Fn(&Mlp, &mut Worker) + Sync) {
        let (network, [first, second]) = (&self.network, &mut self.workers);
        rayon::join(|| work(network, first), || work(network, second));
    }

    /// The lower of both slow copies' values for rows of observation and action.
    pub fn target_values(&mut self, x: &[f32], values: &mut Vec<f32>) {
        self.both(|network, worker| network.forward(&worker.critic.target, x, &mut worker.pass));
        self.lower(values);
    }

    fn lower(&self, values: &mut Vec<f32>) {
        let [first, second] = self.workers.each_ref().map(|worker| worker.pass.output());
        values.clear();
        values.extend(first.iter().zip(second).map(|(a, b)| if b < a { *b } else { *a }));
    }

    /// One step of both towards the targets `y`; the sum of both losses, each `weight` times the mean squared error.
    pub fn learn(&mut self, x: &[f32], y: &[f32], weight: f32) -> f64 {
        self.both(|network, worker| {
            let Worker { critic, pass, gradient, loss } = worker;
            network.forward(&critic.parameters, x, pass);
            let errors = pass.output().iter().zip(y).map(|(q, y)| q - y);
            *loss = errors.fold(0.0, |sum, e| sum + f64::from(e) * f64::from(e));
            *loss *= f64::from(weight) / y.len() as f64;
            let factor = 2.0 * weight / y.len() as f32;
            let mut of_values = std::mem::take(&mut pass.gradient);
            of_values.clear();
            of_values.extend(pass.output().iter().zip(y).map(|(q, y)| factor * (q - y)));
            pass.gradient = of_values;
            gradient.fill(0.0);
            network.backward(&critic.parameters, x, pass, gradient, false);
            critic.adam.step(&mut critic.parameters, gradient);
        });
        self.workers[0].loss + self.workers[1].loss
    }

    /// The lower of both values, and its gradient by the action.
    pub fn lower_by_action(&mut self, x: &[f32], values: &mut Vec<f32>, by_action: &mut Vec<f32>) {
        self.both(|network, worker| network.forward(&worker.critic.parameters, x, &mut worker.pass));
        self.lower(values);
        let first_is_lower: Vec<bool> =
            self.workers[0].pass.output().iter().zip(values.iter()).map(|(a, low)| a == low).collect();
        let own = [true, false];
        for (worker, own) in self.workers.iter_mut().zip(own) {
            worker.pass.gradient.clear();
            let share = first_is_lower.iter().map(|first| if *first == own { 1.0 } else { 0.0 });
            worker.pass.gradient.extend(share);
        }
        let actions = self.actions;
        self.both(|network, worker| {
            network.backward_to_last_inputs(&worker.critic.parameters, &mut worker.pass, actions);
        });
        let [first, second] = self.workers.each_ref().map(|worker| &worker.pass.gradient);
        by_action.clear();
        by_action.extend(first.iter().zip(second).map(|(a, b)| a + b));
    }

    /// The first critic's values, and their gradient by the action, with the buffers of the caller.
    pub fn first_by_action<'p>(&self, x: &[f32], pass: &'p mut Pass<f32>) -> (f64, &'p [f32]) {
        let parameters = &self.workers[0].critic.parameters;
        self.network.forward(parameters, x, pass);
        let sum = pass.output().iter().fold(0.0, |sum, q| sum + f64::from(*q));
        let rows = pass.output().len();
        pass.gradient.clear();
        pass.gradient.resize(rows, 1.0);
        self.network.backward_to_last_inputs(parameters, pass, self.actions);
        (sum / rows as f64, &pass.gradient)
    }

    /// The slow copies follow.
    pub fn follow(&mut self, tau: f32) {
        self.both(|_, worker| {
            let Critic { target, parameters, .. } = &mut worker.critic;
            follow(target, parameters, tau);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn critics(normalized: bool) -> Critics {
        Critics::new(3, 2, &[6, 5], normalized, 1e-3, &mut Stream::new(4))
    }

    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut stream = Stream::new(seed);
        (0..count).map(|_| stream.symmetric(1.0)).collect()
    }

    #[test]
    fn the_gradient_by_the_action_is_that_of_the_lower_value() {
        let mut critics = critics(false);
        let (states, actions) = (numbers(3 * 40, 1), numbers(2 * 40, 2));
        let (mut x, mut values, mut gradient) = (Vec::new(), Vec::new(), Vec::new());
        let mut low = |actions: &[f32], gradient: &mut Vec<f32>| {
            beside(&states, actions, 40, &mut x);
            critics.lower_by_action(&x, &mut values, gradient);
            values.clone()
        };
        let at = low(&actions, &mut gradient);
        let step = 1e-3;
        let mut close = 0;
        for k in 0..80 {
            let mut moved = actions.clone();
            moved[k] += step;
            let up = low(&moved, &mut Vec::new())[k / 2];
            let difference = (up - at[k / 2]) / step;
            close += usize::from((difference - gradient[k]).abs() < 2e-3);
        }
        assert!(close >= 74, "{close} of 80; a few may cross a kink");
    }

    #[test]
    fn values_approach_their_targets_and_slow_copies_lag_behind() {
        let mut critics = critics(true);
        let (x, y) = (numbers(5 * 32, 3), numbers(32, 5));
        let first = critics.learn(&x, &y, 0.5);
        let last = (0..2000).map(|_| critics.learn(&x, &y, 0.5)).fold(0.0, |_, loss| loss);
        assert!(last < 0.2 * first, "{first} to {last}");
        let before = critics.state()[0].target.clone();
        critics.follow(0.25);
        let critic = critics.state()[0];
        for i in 0..before.len() {
            let expected = 0.75 * before[i] + 0.25 * critic.parameters[i];
            assert!((critic.target[i] - expected).abs() < 1e-6);
        }
    }
}
