//! The network that tells skills apart by the states they visit.

use serde::{Deserialize, Serialize};

use crate::adam::Adam;
use crate::mlp::{Activation, Mlp, Pass};
use crate::random::Stream;
use crate::real::Real;

/// What is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    parameters: Vec<f32>,
    adam: Adam,
}

/// The discriminator.
pub struct Discriminator {
    network: Mlp,
    weights: Weights,
    pass: Pass<f32>,
    gradient: Vec<f32>,
}

/// Replaces rows of outputs by the logarithms of their softmax.
fn log_softmax<T: Real>(rows: &mut [T], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let highest = row.iter().copied().fold(row[0], |a, b| if b > a { b } else { a });
        let sum = row.iter().fold(T::ZERO, |sum, x| sum + T::exp(*x - highest));
        let total = highest + T::ln(sum);
        row.iter_mut().for_each(|x| *x -= total);
    }
}

impl Discriminator {
    /// A random network.
    pub fn new(states: usize, hidden: &[usize], skills: usize, rate: f64, random: &mut Stream) -> Self {
        let sizes: Vec<usize> = [&[states], hidden, &[skills]].concat();
        let network = Mlp::new(&sizes, Activation::Relu, Activation::Linear);
        let parameters = network.initial(random);
        let adam = Adam::new(parameters.len(), rate, None);
        let gradient = vec![0.0; parameters.len()];
        Self { network, weights: Weights { parameters, adam }, pass: Pass::default(), gradient }
    }

    fn skills(&self) -> usize {
        self.network.layers.last().map_or(0, |layer| layer.outputs)
    }

    /// The logarithm of the probability of each state's skill.
    pub fn log_probabilities(&mut self, states: &[f32], skills: &[usize], out: &mut Vec<f32>) {
        let width = self.skills();
        self.network.forward(&self.weights.parameters, states, &mut self.pass);
        let mut rows = self.pass.output().to_vec();
        log_softmax(&mut rows, width);
        out.clear();
        out.extend(skills.iter().enumerate().map(|(i, skill)| rows[i * width + skill]));
    }

    /// One step down the cross entropy; returns it.
    pub fn learn(&mut self, states: &[f32], skills: &[usize]) -> f64 {
        let width = self.skills();
        let Weights { parameters, adam } = &mut self.weights;
        self.network.forward(parameters, states, &mut self.pass);
        let mut rows = self.pass.output().to_vec();
        log_softmax(&mut rows, width);
        let share = 1.0 / skills.len() as f32;
        let mut loss = 0.0;
        for (row, skill) in rows.chunks_exact_mut(width).zip(skills) {
            loss -= f64::from(row[*skill]);
            row.iter_mut().for_each(|l| *l = share * libm::expf(*l));
            row[*skill] -= share;
        }
        self.pass.gradient = rows;
        self.gradient.fill(0.0);
        self.network.backward(parameters, states, &mut self.pass, &mut self.gradient, false);
        adam.step(parameters, &self.gradient);
        loss / skills.len() as f64
    }

    /// What is to be stored.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Takes stored weights; false if they have another size.
    pub fn restore(&mut self, weights: Weights) -> bool {
        let len = self.weights.parameters.len();
        let fits = weights.parameters.len() == len && weights.adam.len() == len;
        if fits {
            self.weights = weights;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_that_live_apart_are_told_apart() {
        let mut random = Stream::new(3);
        let mut discriminator = Discriminator::new(2, &[16], 3, 3e-3, &mut random);
        let skills: Vec<usize> = (0..90).map(|i| i % 3).collect();
        let states: Vec<f32> =
            skills.iter().flat_map(|z| [*z as f32 + random.symmetric(0.2), random.symmetric(1.0)]).collect();
        let first = discriminator.learn(&states, &skills);
        assert!((first - 3f64.ln()).abs() < 0.4, "{first}");
        let last = (0..1500).map(|_| discriminator.learn(&states, &skills)).fold(0.0, |_, loss| loss);
        assert!(last < 0.2, "{last}");
        let mut logs = Vec::new();
        discriminator.log_probabilities(&states, &skills, &mut logs);
        assert!(logs.iter().all(|l| *l <= 0.0) && logs.iter().filter(|l| **l > -0.5).count() > 80);
        let wrong: Vec<usize> = skills.iter().map(|z| (z + 1) % 3).collect();
        discriminator.log_probabilities(&states, &wrong, &mut logs);
        assert!(logs.iter().filter(|l| **l < -1.0).count() > 80);
    }

    #[test]
    fn probabilities_of_a_row_add_up_to_1() {
        let mut rows = vec![700.0, -3.0, 699.0, 0.5, 0.5, 0.5];
        log_softmax::<f64>(&mut rows, 3);
        for row in rows.chunks_exact(3) {
            assert!((row.iter().map(|l| l.exp()).sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
        }
    }
}
