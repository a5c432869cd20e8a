//! Rewards that are largest at a target.

use super::names::Names;
use super::task_file::Shape;
use crate::EnvError;

/// What a value is worth: itself over a scale, or how near it is to a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    target: f64,
    tolerance: f64,
    scale: f64,
    shape: Option<Shape>,
}

impl Worth {
    pub fn resolve(
        target: Option<f64>,
        tolerance: f64,
        scale: f64,
        shape: Option<Shape>,
        names: &Names<'_>,
    ) -> Result<Self, EnvError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(names.invalid(format!("scale = {scale}; give a positive number")));
        }
        if !(tolerance.is_finite() && tolerance >= 0.0 && target.is_none_or(f64::is_finite)) {
            return Err(names.invalid("target and tolerance must be finite, and tolerance not negative"));
        }
        if shape.is_none() && (target.is_some() || tolerance > 0.0) {
            return Err(names.invalid("a target needs a shape: \"linear\", \"quadratic\" or \"gaussian\""));
        }
        Ok(Self { target: target.unwrap_or(0.0), tolerance, scale, shape })
    }

    pub fn of(&self, value: f64) -> f64 {
        let Some(shape) = self.shape else { return value / self.scale };
        let error = ((value - self.target).abs() - self.tolerance).max(0.0) / self.scale;
        match shape {
            Shape::Linear => (1.0 - error).max(0.0),
            Shape::Quadratic => (1.0 - error * error).max(0.0),
            Shape::Gaussian => (-error * error).exp(),
        }
    }
}
