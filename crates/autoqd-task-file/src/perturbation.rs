//! Changes to a task's physics, for studies of how policies adapt.

use crate::EnvError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the contact margins of two geoms combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Margin {
    /// As the simulator does it: the sum.
    #[default]
    #[serde(rename = "current", alias = "model")]
    Model,
    /// As MuJoCo did until 3.4, and so in the paper's runs: the larger one. The floor's margin is set to zero, which
    /// gives that for models whose geoms all have the floor's margin: Ant stands 1 cm lower.
    PaperEra,
}

/// Changes to a task's physics. The default changes nothing.
///
/// ```
/// use autoqd_task_file::Perturbation;
///
/// let slippery = Perturbation { friction_scale: 0.5, ..Perturbation::default() };
/// assert!(!slippery.is_none() && Perturbation::default().is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Perturbation {
    /// Factor on all sliding frictions. BipedalWalker: factor on the terrain's coefficient, which Box2D
    /// combines with a leg's as a geometric mean, so friction goes with the square root.
    #[serde(alias = "friction-scale")]
    pub friction_scale: f64,
    /// Factor on all masses and inertias; joint armatures stay.
    #[serde(alias = "mass-scale")]
    pub mass_scale: f64,
    /// Factor on the forces of all actuators, and on the most that they can give; only for MuJoCo tasks.
    #[serde(alias = "motor-scale")]
    pub motor_scale: f64,
    /// Factor on the damping of all joints and tendons; only for MuJoCo tasks.
    #[serde(alias = "damping-scale")]
    pub damping_scale: f64,
    /// Factor on gravity; only for MuJoCo tasks.
    #[serde(alias = "gravity-scale")]
    pub gravity_scale: f64,
    /// Absolute friction of the terrain, where the task has one (`bipedal-walker`: 2.5). `auto` leaves the task's own.
    #[serde(with = "auto")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "auto::schema"))]
    pub friction: Option<f64>,
    /// How contact margins of two geoms combine; only for MuJoCo tasks. Matters for Ant and Hopper, which stand higher
    /// under the rule of current MuJoCo than in the paper's runs.
    pub margin: Margin,
}

impl Default for Perturbation {
    fn default() -> Self {
        Self {
            friction_scale: 1.0,
            mass_scale: 1.0,
            motor_scale: 1.0,
            damping_scale: 1.0,
            gravity_scale: 1.0,
            friction: None,
            margin: Margin::Model,
        }
    }
}

/// Written into digests, so what came later is left out where it changes nothing.
impl fmt::Debug for Perturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Perturbation");
        fields.field("friction_scale", &self.friction_scale).field("mass_scale", &self.mass_scale);
        fields.field("friction", &self.friction).field("margin", &self.margin);
        for (name, scale) in self.later_scales().into_iter().filter(|(_, scale)| *scale != 1.0) {
            fields.field(name, &scale);
        }
        fields.finish()
    }
}

impl Perturbation {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The factors that only MuJoCo tasks have, with their names.
    fn later_scales(&self) -> [(&'static str, f64); 3] {
        [
            ("motor_scale", self.motor_scale),
            ("damping_scale", self.damping_scale),
            ("gravity_scale", self.gravity_scale),
        ]
    }

    /// Both perturbations at once: the scales multiply, `self` decides in everything else that it sets.
    pub fn and(&self, base: &Self) -> Self {
        Self {
            friction_scale: base.friction_scale * self.friction_scale,
            mass_scale: base.mass_scale * self.mass_scale,
            motor_scale: base.motor_scale * self.motor_scale,
            damping_scale: base.damping_scale * self.damping_scale,
            gravity_scale: base.gravity_scale * self.gravity_scale,
            friction: self.friction.or(base.friction),
            margin: if self.margin == Margin::Model { base.margin } else { self.margin },
        }
    }

    /// Rejects scales that no simulator survives.
    pub fn check_scales(&self, task: &str) -> Result<(), EnvError> {
        range(task, "friction_scale", self.friction_scale, 0.0, 1e3)?;
        range(task, "mass_scale", self.mass_scale, 1e-3, 1e3)?;
        self.later_scales().into_iter().try_for_each(|(name, scale)| range(task, name, scale, 0.0, 1e3))
    }

    /// Rejects an absolute friction where the task has no single ground to give it to.
    pub fn refuse_friction(&self, task: &str) -> Result<(), EnvError> {
        match self.friction {
            None => Ok(()),
            Some(_) => Err(EnvError::PerturbationKnob {
                task: task.to_string(),
                knob: "friction",
                remedy: "use friction_scale, or the task bipedal-walker",
            }),
        }
    }

    /// Rejects what only MuJoCo tasks have where there is no MuJoCo.
    pub fn refuse_mujoco(&self, task: &str) -> Result<(), EnvError> {
        if let Some((knob, _)) = self.later_scales().into_iter().find(|(_, scale)| *scale != 1.0) {
            let remedy = "only MuJoCo tasks have it; use friction or mass_scale";
            return Err(EnvError::PerturbationKnob { task: task.to_string(), knob, remedy });
        }
        match self.margin {
            Margin::Model => Ok(()),
            Margin::PaperEra => Err(EnvError::PerturbationKnob {
                task: task.to_string(),
                knob: "margin",
                remedy: "only MuJoCo tasks have contact margins",
            }),
        }
    }

    /// Rejects every perturbation, for tasks without physics to change.
    pub fn refuse_all(&self, task: &str) -> Result<(), EnvError> {
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

/// Rejects a perturbation outside `low..=high`; NaN is outside.
pub fn range(task: &str, knob: &'static str, value: f64, low: f64, high: f64) -> Result<(), EnvError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(EnvError::PerturbationRange { task: task.to_string(), knob, value, low, high })
}

/// The written form of a value that may be left to the task: the number, or the word `auto`.
mod auto {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map_or_else(|| Written::Word("auto".to_owned()), Written::Number).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(value) => Ok(Some(value)),
            Written::Word(word) if word == "auto" => Ok(None),
            Written::Word(word) => {
                Err(D::Error::custom(format!("'{word}' is neither a number nor \"auto\"")))
            }
        }
    }

    #[cfg(feature = "schema")]
    pub fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"anyOf": [{"const": "auto"}, {"type": "number"}]})
    }
}
