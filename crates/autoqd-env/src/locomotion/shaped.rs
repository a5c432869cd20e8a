//! Rewards that are largest at a target.

use super::memory::Memory;
use super::names::Names;
use super::task_file::{Shape, Target};
use crate::EnvError;

/// What a value is worth: itself over a scale, or how near it is to a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    target: Aim,
    tolerance: f64,
    scale: f64,
    shape: Option<Shape>,
}

/// A number, or that of a goal.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Fixed(f64),
    Goal(usize),
}

impl Worth {
    pub fn resolve(
        target: Option<&Target>,
        tolerance: f64,
        scale: f64,
        shape: Option<Shape>,
        names: &Names<'_>,
    ) -> Result<Self, EnvError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(names.invalid(format!("scale = {scale}; give a positive number")));
        }
        let aim = match target {
            None => Aim::Fixed(0.0),
            Some(Target::Fixed(target)) => Aim::Fixed(*target),
            Some(Target::Drawn(drawn)) => Aim::Goal(names.goal_number(&drawn.goal, drawn.component)?),
        };
        let finite = !matches!(aim, Aim::Fixed(target) if !target.is_finite());
        if !(tolerance.is_finite() && tolerance >= 0.0 && finite) {
            return Err(names.invalid("target and tolerance must be finite, and tolerance not negative"));
        }
        if shape.is_none() && (target.is_some() || tolerance > 0.0) {
            return Err(names.invalid("a target needs a shape: \"linear\", \"quadratic\" or \"gaussian\""));
        }
        Ok(Self { target: aim, tolerance, scale, shape })
    }

    pub fn of(&self, value: f64, memory: &Memory) -> f64 {
        let Some(shape) = self.shape else { return value / self.scale };
        let target = match self.target {
            Aim::Fixed(target) => target,
            Aim::Goal(index) => memory.goals[index],
        };
        let error = ((value - target).abs() - self.tolerance).max(0.0) / self.scale;
        match shape {
            Shape::Linear => (1.0 - error).max(0.0),
            Shape::Quadratic => (1.0 - error * error).max(0.0),
            Shape::Gaussian => (-error * error).exp(),
        }
    }
}
