//! Physics that differ from episode to episode.

use super::names::Names;
use super::task_file::Randomisation;
use crate::mujoco::{Scales, check_motors};
use crate::{EnvError, NumpyRng};

/// Smallest and largest factors on a model's physics, by name.
#[derive(Clone, Debug)]
pub(crate) struct RandomPhysics {
    friction: [f64; 2],
    mass: [f64; 2],
    motor: [f64; 2],
    damping: [f64; 2],
    gravity: [f64; 2],
}

/// Factors that MuJoCo copes with, as for perturbations.
const LARGEST: f64 = 1e3;
const SMALLEST_MASS: f64 = 1e-3;

impl RandomPhysics {
    /// `None` where nothing is drawn.
    pub(super) fn resolve(file: &Randomisation, names: &Names<'_>) -> Result<Option<Self>, EnvError> {
        let given = [
            ("friction_scale", file.friction_scale, 0.0),
            ("mass_scale", file.mass_scale, SMALLEST_MASS),
            ("motor_scale", file.motor_scale, 0.0),
            ("damping_scale", file.damping_scale, 0.0),
            ("gravity_scale", file.gravity_scale, 0.0),
        ];
        if given.iter().all(|(_, range, _)| range.is_none()) {
            return Ok(None);
        }
        for (name, range, least) in given {
            let [low, high] = range.unwrap_or([1.0; 2]);
            if !(least <= low && low <= high && high <= LARGEST) {
                return Err(names.invalid(format!(
                    "[randomisation] {name} = [{low}, {high}]; give the smallest and the largest factor, from {least} \
                     to {LARGEST}"
                )));
            }
        }
        if file.motor_scale.is_some() {
            check_motors(names.model).map_err(|message| names.invalid(message))?;
        }
        let [friction, mass, motor, damping, gravity] = given.map(|(_, range, _)| range.unwrap_or([1.0; 2]));
        Ok(Some(Self { friction, mass, motor, damping, gravity }))
    }

    /// The factors of an episode. One whose bounds are equal is not drawn.
    pub fn draw(&self, rng: &mut NumpyRng) -> Scales {
        let mut one = |[low, high]: [f64; 2]| if low == high { low } else { rng.uniform(low, high) };
        Scales {
            friction: one(self.friction),
            mass: one(self.mass),
            motor: one(self.motor),
            damping: one(self.damping),
            gravity: one(self.gravity),
        }
    }
}
