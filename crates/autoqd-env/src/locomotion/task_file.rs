//! The TOML form of a locomotion task, as written. The five built-in tasks are such files.

use crate::Perturbation;
use serde::Deserialize;
use std::path::PathBuf;

/// A task file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskFile {
    /// Short name, shown in tables and stored in run folders.
    pub name: String,
    /// MJCF file, relative to the task file.
    pub model: PathBuf,
    /// Simulator steps per step of the task.
    pub frame_skip: usize,
    /// Steps after which an episode is truncated.
    pub max_episode_steps: usize,
    /// Lowest objective that counts in a search: threshold_min and QD offset.
    #[serde(default)]
    pub objective_min: f64,
    /// Geom that is the ground, for foot contacts.
    pub floor: Option<String>,
    /// Whether an unhealthy state ends the episode.
    #[serde(default = "yes")]
    pub terminate_when_unhealthy: bool,
    /// How an episode starts.
    #[serde(default)]
    pub reset: Reset,
    /// Parts of the observation, in order.
    pub observation: Vec<Observation>,
    /// Terms of the reward.
    pub reward: Vec<Reward>,
    /// Conditions that a healthy state meets, all of them.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Hand-designed behaviour measures.
    #[serde(default)]
    pub measure: Vec<Measure>,
    /// Physics that differs from the MJCF file.
    #[serde(default)]
    pub perturbation: Perturbation,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

/// How an episode starts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reset {
    /// Keyframe of the model to start from instead of its initial pose at rest.
    pub keyframe: Option<String>,
    /// Positions get uniform noise from [-s, s].
    pub position_noise: f64,
    /// Scale of the velocities' noise.
    pub velocity_noise: f64,
    /// Kind of the velocities' noise.
    pub velocity_noise_kind: Noise,
}

/// Distribution of start noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Noise {
    /// Uniform from [-s, s].
    #[default]
    Uniform,
    /// Normal with standard deviation s.
    Normal,
}

/// An interval; `min`/`max` belong to it, `above`/`below` do not.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Range {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub above: Option<f64>,
    pub below: Option<f64>,
}

/// A part of the observation.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Observation {
    /// Generalised positions from index `from` on.
    Positions {
        #[serde(default)]
        from: usize,
        clip: Option<[f64; 2]>,
    },
    /// All generalised velocities.
    Velocities { clip: Option<[f64; 2]> },
    /// External forces and torques on every body but the world.
    ContactForces { clip: Option<[f64; 2]> },
    /// All sensors of the model.
    Sensors { clip: Option<[f64; 2]> },
    /// Vector from a body to a site.
    Offset { body: String, site: String },
}

/// A term of the reward. Gains are summed, then costs are summed, then subtracted.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Reward {
    /// Gain: velocity of a body along a direction, or of a sliding joint.
    ForwardVelocity {
        name: Option<String>,
        body: Option<String>,
        joint: Option<String>,
        #[serde(default = "along_x")]
        direction: [f64; 3],
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: `weight` while healthy.
    Healthy {
        name: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: height of a body.
    Height {
        name: Option<String>,
        body: String,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Cost: sum of squared controls.
    ControlCost { name: Option<String>, weight: f64 },
    /// Cost: sum of squared external forces, each clipped.
    ContactCost { name: Option<String>, weight: f64, clip: Option<[f64; 2]> },
    /// Cost: distance from a body to a site.
    SiteDistance {
        name: Option<String>,
        body: String,
        site: String,
        #[serde(default = "one")]
        weight: f64,
    },
}

fn along_x() -> [f64; 3] {
    [1.0, 0.0, 0.0]
}

/// A condition of health.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Health {
    /// A joint's position: an angle in radians or a length; `component` picks one of a ball or free joint's.
    Joint {
        joint: String,
        #[serde(default)]
        component: usize,
        range: Range,
    },
    /// Height of a body.
    Height { body: String, range: Range },
    /// Angle in radians between a body's z axis and the vertical.
    Tilt { body: String, range: Range },
    /// All positions from index `positions_from` on and all velocities.
    State {
        #[serde(default)]
        positions_from: usize,
        range: Range,
    },
    /// All positions and velocities are finite.
    Finite {},
}

/// A hand-designed measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Measure {
    /// Fraction of the steps in which a geom touches the floor.
    FootContact { name: Option<String>, geom: String },
    /// Span of joint angles over the episode as a fraction of `2 * limit`, averaged over the joints.
    JointSpan { name: Option<String>, joints: Vec<String>, limit: f64 },
    /// Correlation of two joint angles over the episode, mapped from [-1, 1] to [0, 1].
    JointCorrelation { name: Option<String>, joints: [String; 2] },
    /// Distance between start and end over the length of the path of two sliding joints.
    Straightness { name: Option<String>, joints: [String; 2] },
}
