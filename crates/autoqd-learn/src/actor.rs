//! A deterministic policy that learns: the network of a policy of any shape, trained to act as critics like it.
//!
//! In training a network has every entry of its matrices. Where policies have fewer numbers, such as the diagonals of
//! Toeplitz matrices, entries that share a number share its gradient, the sum of theirs.

use autoqd::policy::{Activation as PolicyActivation, LayerShape, PolicySpec};
use serde::{Deserialize, Serialize};

use crate::adam::Adam;
use crate::critics::{Critics, beside, follow};
use crate::mlp::{Activation, Layer, Mlp, Pass};

/// An entry without a number of its own: the bias of a layer that has none.
const FIXED: u32 = u32::MAX;

/// The network of a policy, and which number of the policy each of its entries is.
#[derive(Clone, Debug)]
pub struct PolicyNetwork {
    /// The network; the outputs are actions within ±1.
    pub network: Mlp,
    /// Per entry of the network the place in the policy's parameters, or [`FIXED`].
    places: Vec<u32>,
    numbers: usize,
    /// Whether every entry is a number of its own.
    free: bool,
}

impl PolicyNetwork {
    /// The network of policies of a shape without a filter.
    pub fn new(spec: &PolicySpec) -> Self {
        let (mut layers, mut places, mut start) = (Vec::new(), Vec::new(), 0);
        for shape in spec.shapes() {
            let (inputs, outputs) = (shape.inputs, shape.outputs());
            layers.push(Layer { inputs, outputs, activation: activation(&shape), normalized: false });
            let weight = |j: usize, i: usize| (start + shape.weight_index(i, j)) as u32;
            places.extend((0..inputs).flat_map(|j| (0..outputs).map(move |i| weight(j, i))));
            let bias = |i: usize| (start + shape.weight_count() + i) as u32;
            let biased = shape.bias_count() > 0;
            places.extend((0..outputs).map(|i| if biased { bias(i) } else { FIXED }));
            start += shape.parameter_count();
        }
        let free = start == places.len();
        Self { network: Mlp { layers }, places, numbers: start, free }
    }

    /// The numbers that are trained from a policy's: the network's own entries where all are free.
    fn trained(&self, policy: &[f64]) -> Vec<f32> {
        if !self.free {
            return policy.iter().map(|p| *p as f32).collect();
        }
        self.places.iter().map(|place| policy[*place as usize] as f32).collect()
    }

    /// The policy of trained numbers.
    fn policy(&self, trained: &[f32], policy: &mut [f64]) {
        if self.free {
            self.places.iter().zip(trained).for_each(|(place, t)| policy[*place as usize] = f64::from(*t));
        } else {
            policy.iter_mut().zip(trained).for_each(|(p, t)| *p = f64::from(*t));
        }
    }

    /// All entries of the network; `space` holds them where they are not the trained numbers themselves.
    fn entries<'a>(&self, trained: &'a [f32], space: &'a mut Vec<f32>) -> &'a [f32] {
        if self.free {
            return trained;
        }
        let entry = |place: &u32| trained.get(*place as usize).copied().unwrap_or(0.0);
        space.clear();
        space.extend(self.places.iter().map(entry));
        space
    }

    /// From the gradient by all entries to that by the trained numbers.
    fn collect<'a>(&self, by_entries: &'a [f32], space: &'a mut Vec<f32>) -> &'a [f32] {
        if self.free {
            return by_entries;
        }
        space.clear();
        space.resize(self.numbers, 0.0);
        for (place, g) in self.places.iter().zip(by_entries).filter(|(place, _)| **place != FIXED) {
            space[*place as usize] += g;
        }
        space
    }

    fn sizes(&self) -> (usize, usize) {
        let layers = &self.network.layers;
        (layers.first().map_or(0, |l| l.inputs), layers.last().map_or(0, |l| l.outputs))
    }
}

fn activation(shape: &LayerShape) -> Activation {
    match shape.layer.activation {
        PolicyActivation::Tanh => Activation::Tanh,
        PolicyActivation::Relu => Activation::Relu,
        PolicyActivation::None => Activation::Linear,
    }
}

/// Buffers of a step up the value.
#[derive(Clone, Debug, Default)]
struct Climb {
    pass: Pass<f32>,
    of_critic: Pass<f32>,
    x: Vec<f32>,
    gradient: Vec<f32>,
}

/// Numbers by place, for shapes whose entries share numbers.
#[derive(Clone, Debug, Default)]
struct Shared {
    entries: Vec<f32>,
    gradient: Vec<f32>,
}

impl Climb {
    /// Leaves the gradient of minus the mean value that the first critic sees in the actions on some observations, as
    /// their share of a batch of `size`; returns the sum of their values.
    fn descend(
        &mut self,
        shape: &PolicyNetwork,
        entries: &[f32],
        critics: &Critics,
        observations: &[f32],
        size: usize,
    ) -> f64 {
        let Self { pass, of_critic, x, gradient } = self;
        let rows = observations.len() / shape.sizes().0;
        gradient.clear();
        gradient.resize(shape.places.len(), 0.0);
        if rows == 0 {
            return 0.0;
        }
        shape.network.forward(entries, observations, pass);
        beside(observations, pass.output(), rows, x);
        let (value, by_action) = critics.first_by_action(x, of_critic);
        let share = -1.0 / size as f32;
        pass.gradient.clear();
        pass.gradient.extend(by_action.iter().map(|g| g * share));
        shape.network.backward(entries, observations, pass, gradient, false);
        value * rows as f64
    }
}

/// What is stored of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActorState {
    /// The trained numbers.
    pub parameters: Vec<f32>,
    /// The slow copy.
    pub target: Vec<f32>,
    adam: Adam,
}

/// A policy that learns, with its slow copy.
pub struct Actor {
    shape: PolicyNetwork,
    state: ActorState,
    /// A batch is worked on in two halves, whatever the number of threads.
    climbs: [Climb; 2],
    shared: Shared,
}

impl Actor {
    /// An actor whose parameters are 0.
    pub fn new(spec: &PolicySpec, learning_rate: f64) -> Self {
        let shape = PolicyNetwork::new(spec);
        let parameters = vec![0.0; if shape.free { shape.places.len() } else { shape.numbers }];
        let adam = Adam::new(parameters.len(), learning_rate, None);
        let state = ActorState { target: parameters.clone(), parameters, adam };
        Self { shape, state, climbs: Default::default(), shared: Shared::default() }
    }

    /// Lengths of observation and action.
    pub fn sizes(&self) -> (usize, usize) {
        self.shape.sizes()
    }

    /// The shape.
    pub fn shape(&self) -> &PolicyNetwork {
        &self.shape
    }

    /// Starts from a policy.
    pub fn start(&mut self, policy: &[f64]) {
        self.state.parameters = self.shape.trained(policy);
        self.state.target.clone_from(&self.state.parameters);
        self.state.adam.restart();
    }

    /// Starts from random weights and biases, uniform within 1/sqrt(inputs) as PyTorch's layers.
    pub fn start_uniform(&mut self, random: &mut crate::random::Stream) {
        let entries = self.shape.network.initial(random);
        self.state.parameters.iter_mut().zip(entries).for_each(|(p, entry)| *p = entry);
        self.state.target.clone_from(&self.state.parameters);
    }

    /// Writes the parameters of its policy.
    pub fn policy(&self, policy: &mut [f64]) {
        self.shape.policy(&self.state.parameters, policy);
    }

    /// Numbers of its policy.
    pub fn numbers(&self) -> usize {
        self.shape.numbers
    }

    /// What is to be stored.
    pub fn state(&self) -> ActorState {
        self.state.clone()
    }

    /// Takes a stored state; false if it has another size.
    pub fn restore(&mut self, state: ActorState) -> bool {
        let len = self.state.parameters.len();
        let fits = state.parameters.len() == len && state.target.len() == len && state.adam.len() == len;
        if fits {
            self.state = state;
        }
        fits
    }

    /// The actions on some observations, within ±1.
    pub fn actions<'p>(&mut self, observations: &[f32], pass: &'p mut Pass<f32>) -> &'p [f32] {
        let entries = self.shape.entries(&self.state.parameters, &mut self.shared.entries);
        self.shape.network.forward(entries, observations, pass);
        pass.output()
    }

    /// The actions of the slow copy, for each half of the observations.
    pub fn target_actions(&mut self, observations: &[f32]) -> [&[f32]; 2] {
        let (entries, network) =
            (self.shape.entries(&self.state.target, &mut self.shared.entries), &self.shape.network);
        let [first, second] = &mut self.climbs;
        let halves = halves(observations, self.shape.sizes().0);
        rayon::join(
            || network.forward(entries, halves[0], &mut first.pass),
            || network.forward(entries, halves[1], &mut second.pass),
        );
        [first.pass.output(), second.pass.output()]
    }

    /// One step towards actions that the first critic values more; returns the mean value before it.
    pub fn climb(&mut self, critics: &Critics, observations: &[f32]) -> f64 {
        let Self { shape, state: ActorState { parameters, adam, .. }, climbs: [first, second], shared } =
            self;
        let (width, entries) = (shape.sizes().0, shape.entries(parameters, &mut shared.entries));
        let (halves, size) = (halves(observations, width), observations.len() / width);
        let values = rayon::join(
            || first.descend(shape, entries, critics, halves[0], size),
            || second.descend(shape, entries, critics, halves[1], size),
        );
        first.gradient.iter_mut().zip(&second.gradient).for_each(|(sum, g)| *sum += g);
        adam.step(parameters, shape.collect(&first.gradient, &mut shared.gradient));
        (values.0 + values.1) / size as f64
    }

    /// The slow copy follows.
    pub fn follow(&mut self, tau: f32) {
        follow(&mut self.state.target, &self.state.parameters, tau);
    }
}

/// Improves policies by steps up the first critic's value; its buffers are used again for every policy.
#[derive(Clone, Debug)]
pub struct Improver {
    adam: Adam,
    climb: Climb,
    shared: Shared,
}

impl Improver {
    /// For policies of a shape.
    pub fn new(shape: &PolicyNetwork, learning_rate: f64) -> Self {
        let numbers = if shape.free { shape.places.len() } else { shape.numbers };
        let adam = Adam::new(numbers, learning_rate, None);
        Self { adam, climb: Climb::default(), shared: Shared::default() }
    }

    /// Improves a policy in place, one step per batch of observations, with an optimiser that remembers nothing of
    /// other policies.
    pub fn improve(
        &mut self,
        shape: &PolicyNetwork,
        policy: &mut [f64],
        critics: &Critics,
        batches: &[Vec<f32>],
    ) {
        let Self { adam, climb, shared } = self;
        let mut trained = shape.trained(policy);
        adam.restart();
        for observations in batches {
            let size = observations.len() / shape.sizes().0;
            let entries = shape.entries(&trained, &mut shared.entries);
            climb.descend(shape, entries, critics, observations, size);
            adam.step(&mut trained, shape.collect(&climb.gradient, &mut shared.gradient));
        }
        shape.policy(&trained, policy);
    }
}

/// The first and the second half of the rows of a matrix; the first may be shorter, or empty.
fn halves(rows: &[f32], width: usize) -> [&[f32]; 2] {
    let (first, second) = rows.split_at(rows.len() / width / 2 * width);
    [first, second]
}

#[cfg(test)]
mod tests {
    use autoqd::policy::{Biases, Policy, Weights, uniform};

    use super::*;
    use crate::random::Stream;

    fn spec(weights: Weights, biases: Biases) -> PolicySpec {
        PolicySpec::new(weights, vec![6, 5], 4, vec![-1.0; 2], vec![1.0; 2]).unwrap().with_biases(biases)
    }

    fn shapes() -> impl Iterator<Item = PolicySpec> {
        let kinds = [Weights::Dense, Weights::Toeplitz];
        kinds.into_iter().flat_map(|w| [Biases::All, Biases::Hidden, Biases::None].map(|b| spec(w, b)))
    }

    #[test]
    fn the_network_acts_as_the_policy_does() {
        for spec in shapes() {
            let policy = uniform(&spec, 3);
            let mut actor = Actor::new(&spec, 1e-3);
            actor.start(&policy);
            let mut back = vec![0.0; policy.len()];
            actor.policy(&mut back);
            assert!(back.iter().zip(&policy).all(|(a, b)| *a == f64::from(*b as f32)));
            let mut acting = Policy::new(&spec, &policy).unwrap();
            let observation = [0.3, -1.0, 0.7, 0.1];
            let mut action = [0.0; 2];
            acting.act(&observation, &mut action);
            let mut pass = Pass::default();
            let got = actor.actions(&observation.map(|x| x as f32), &mut pass);
            assert!(got.iter().zip(action).all(|(a, b)| (a - b).abs() < 1e-6), "{got:?}, {action:?}");
        }
    }

    #[test]
    fn a_first_step_of_adam_goes_against_the_sign_of_the_finite_difference() {
        let critics = Critics::new(4, 2, &[7], false, 1e-3, &mut Stream::new(8));
        let mut stream = Stream::new(2);
        let observations: Vec<f32> = (0..4 * 30).map(|_| stream.symmetric(1.0)).collect();
        for spec in shapes() {
            let shape = PolicyNetwork::new(&spec);
            let policy = uniform(&spec, 5);
            let value = |policy: &[f64]| {
                let (mut pass, mut x, mut space) = (Pass::default(), Vec::new(), Vec::new());
                let trained = shape.trained(policy);
                shape.network.forward(shape.entries(&trained, &mut space), &observations, &mut pass);
                beside(&observations, pass.output(), 30, &mut x);
                critics.first_by_action(&x, &mut Pass::default()).0
            };
            let mut moved = policy.clone();
            let mut improver = Improver::new(&shape, 1e-3);
            improver.improve(&shape, &mut moved, &critics, std::slice::from_ref(&observations));
            let mut told = 0;
            for i in 0..policy.len() {
                let at = |delta: f64| {
                    let mut other = policy.clone();
                    other[i] += delta;
                    value(&other)
                };
                let difference = (at(5e-3) - at(-5e-3)) / 1e-2;
                if difference.abs() > 2e-4 {
                    let step = moved[i] - f64::from(policy[i] as f32);
                    assert!(step.signum() == difference.signum(), "{i}: {step}, {difference}");
                    told += 1;
                }
            }
            assert!(2 * told > policy.len(), "{told} of {}", policy.len());
            let many = vec![observations.clone(); 50];
            improver.improve(&shape, &mut moved, &critics, &many);
            assert!(value(&moved) > value(&policy));
        }
    }
}
