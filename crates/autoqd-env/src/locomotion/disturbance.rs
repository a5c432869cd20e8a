//! What is random within an episode besides its start: noise of what a policy sees, late actions, pushes.

use super::names::Names;
use super::task_file::{Randomisation, Scale};
use crate::{Action, EnvError, NumpyRng};

/// The most steps by which actions may be late.
const MOST_DELAY: usize = 1000;

/// The disturbances of a task, with names resolved. The default disturbs nothing and draws nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disturbance {
    /// Per number of the observation: standard deviation of its noise. Empty without noise.
    noise: Vec<f64>,
    /// Fewest and most steps by which actions are late.
    delay: [usize; 2],
    push: Option<Push>,
}

#[derive(Clone, Debug)]
struct Push {
    freedoms: Vec<usize>,
    /// Steps between two pushes.
    every: usize,
    speed: f64,
}

impl Disturbance {
    pub(super) fn resolve(
        file: &Randomisation,
        observation_size: usize,
        seconds_per_step: f64,
        names: &Names<'_>,
    ) -> Result<Self, EnvError> {
        let noise = match &file.observation_noise {
            None => Vec::new(),
            Some(Scale::All(deviation)) => vec![*deviation; observation_size],
            Some(Scale::Each(deviations)) if deviations.len() == observation_size => deviations.clone(),
            Some(Scale::Each(deviations)) => {
                let given = deviations.len();
                let message = format!(
                    "[randomisation] observation_noise has {given} numbers for {observation_size} of the observation"
                );
                return Err(names.invalid(message));
            }
        };
        if !noise.iter().all(|deviation| deviation.is_finite() && *deviation >= 0.0) {
            return Err(names.invalid("[randomisation] observation_noise must be finite and not negative"));
        }
        let delay = file.action_delay;
        if delay[0] > delay[1] || delay[1] > MOST_DELAY {
            return Err(names.invalid(format!(
                "[randomisation] action_delay = {delay:?}; give the fewest and the most steps, at most {MOST_DELAY}"
            )));
        }
        let push = file.push.as_ref().map(|push| {
            let freedoms = match (&push.body, &push.joints) {
                (Some(body), None) => names.free_body(body).map(|first| vec![first, first + 1]),
                (None, Some(joints)) => names.freedoms(joints),
                _ => Err(names.invalid("[randomisation] push needs either `body` or `joints`")),
            }?;
            let numbers = [push.every, push.speed];
            if !numbers.iter().all(|number| number.is_finite()) || push.every <= 0.0 || push.speed < 0.0 {
                return Err(names.invalid(
                    "[randomisation] push needs `every` above zero (seconds) and `speed` of at least zero",
                ));
            }
            let every = (push.every / seconds_per_step).round().max(1.0) as usize;
            Ok(Push { freedoms, every, speed: push.speed })
        });
        Ok(Self { noise, delay, push: push.transpose()? })
    }

    /// Whether velocities are pushed before the step that follows `steps` others.
    pub fn pushes(&self, steps: usize) -> bool {
        self.push.as_ref().is_some_and(|push| steps > 0 && steps.is_multiple_of(push.every))
    }

    /// Changes the pushed velocities, each by as much as `speed` either way.
    pub fn push(&self, rng: &mut NumpyRng, qvel: &mut [f64]) {
        if let Some(push) = &self.push {
            push.freedoms.iter().for_each(|&k| qvel[k] += rng.uniform(-push.speed, push.speed));
        }
    }

    /// Adds noise to an observation.
    pub fn blur(&self, rng: &mut NumpyRng, observation: &mut [f64]) {
        for (value, deviation) in observation.iter_mut().zip(&self.noise) {
            *value += deviation * rng.standard_normal();
        }
    }
}

/// Actions on their way to the actuators.
pub(crate) struct Late {
    /// Steps by which the actions of this episode are late.
    delay: usize,
    /// The last actions, in a ring.
    ring: Vec<f64>,
    next: usize,
}

impl Late {
    pub fn new(disturbance: &Disturbance, action_size: usize) -> Self {
        Self { delay: 0, ring: vec![0.0; disturbance.delay[1] * action_size], next: 0 }
    }

    /// Draws the delay of an episode; what arrives first is zero.
    pub fn start(&mut self, disturbance: &Disturbance, rng: &mut NumpyRng) {
        let [low, high] = disturbance.delay;
        self.delay = low;
        if low < high {
            let among = (high - low + 1) as f64;
            self.delay += (rng.uniform(0.0, among) as usize).min(high - low);
        }
        self.ring.fill(0.0);
        self.next = 0;
    }

    /// Takes an action and gives the one that arrives now.
    pub fn pass(&mut self, action: Action<'_>, arrived: &mut [f64]) {
        let width = arrived.len();
        if self.delay == 0 {
            (0..width).for_each(|i| arrived[i] = action.get(i));
            return;
        }
        let slot = &mut self.ring[self.next * width..(self.next + 1) * width];
        arrived.copy_from_slice(slot);
        (0..width).for_each(|i| slot[i] = action.get(i));
        self.next = (self.next + 1) % self.delay;
    }
}
