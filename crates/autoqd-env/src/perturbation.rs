//! Changes to a task's physics, for studies of how policies adapt.

use crate::EnvError;
#[cfg(any(feature = "mujoco", feature = "box2d"))]
use crate::checks;
use serde::{Deserialize, Serialize};

/// How the contact margins of two geoms combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Margin {
    /// As the model and the linked MuJoCo have it: the sum of both margins.
    #[default]
    Model,
    /// The floor's margin is zero, which gives back the rule of MuJoCo up to 3.4 (the larger of both margins) for
    /// models whose geoms all have the floor's margin: Ant stands 1 cm lower.
    PaperEra,
}

/// What is changed about a task's physics. The default changes nothing.
///
/// ```
/// use autoqd_env::Perturbation;
///
/// let slippery = Perturbation { friction_scale: 0.5, ..Perturbation::default() };
/// assert!(!slippery.is_none() && Perturbation::default().is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Perturbation {
    /// Factor on every sliding friction of the model. BipedalWalker: factor on the terrain's coefficient, which Box2D
    /// combines with a leg's as a geometric mean, so friction goes with the square root.
    #[serde(alias = "friction-scale")]
    pub friction_scale: f64,
    /// Factor on every mass and inertia of the model; joint armatures stay.
    #[serde(alias = "mass-scale")]
    pub mass_scale: f64,
    /// Friction coefficient of the ground; only `bipedal-walker` has one for all of it (2.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// How contact margins combine; only for MuJoCo tasks.
    pub margin: Margin,
}

impl Default for Perturbation {
    fn default() -> Self {
        Self { friction_scale: 1.0, mass_scale: 1.0, friction: None, margin: Margin::Model }
    }
}

impl Perturbation {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Both perturbations at once: the scales multiply, `self` decides where it says anything else.
    #[cfg(feature = "mujoco")]
    pub(crate) fn and(&self, base: &Self) -> Self {
        Self {
            friction_scale: base.friction_scale * self.friction_scale,
            mass_scale: base.mass_scale * self.mass_scale,
            friction: self.friction.or(base.friction),
            margin: if self.margin == Margin::Model { base.margin } else { self.margin },
        }
    }

    /// Refuses scales that no simulator survives.
    #[cfg(any(feature = "mujoco", feature = "box2d"))]
    pub(crate) fn check_scales(&self, task: &str) -> Result<(), EnvError> {
        checks::range(task, "friction_scale", self.friction_scale, 0.0, 1e3)?;
        checks::range(task, "mass_scale", self.mass_scale, 1e-3, 1e3)
    }

    /// Refuses an absolute friction where the task has no single ground to give it to.
    #[cfg(feature = "mujoco")]
    pub(crate) fn refuse_friction(&self, task: &str) -> Result<(), EnvError> {
        match self.friction {
            None => Ok(()),
            Some(_) => Err(EnvError::PerturbationKnob {
                task: task.to_string(),
                knob: "friction",
                remedy: "use friction_scale, or the task bipedal-walker",
            }),
        }
    }

    /// Refuses the MuJoCo margin switch where there is no MuJoCo.
    #[cfg(feature = "box2d")]
    pub(crate) fn refuse_margin(&self, task: &str) -> Result<(), EnvError> {
        match self.margin {
            Margin::Model => Ok(()),
            Margin::PaperEra => Err(EnvError::PerturbationKnob {
                task: task.to_string(),
                knob: "margin",
                remedy: "only MuJoCo tasks have contact margins",
            }),
        }
    }

    /// Refuses every perturbation, for tasks without physics to change.
    pub(crate) fn refuse_all(&self, task: &str) -> Result<(), EnvError> {
        if self.is_none() {
            return Ok(());
        }
        Err(EnvError::PerturbationKnob {
            task: task.to_string(),
            knob: "perturbation",
            remedy: "it has no friction or mass; choose a simulated task",
        })
    }
}
