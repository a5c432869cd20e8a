//! The TOML form of how an episode starts.

use crate::form::{Noise, Range};
use serde::Deserialize;

/// How an episode starts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reset {
    /// Keyframe of the model to start from instead of its initial pose at rest.
    pub keyframe: Option<String>,
    /// Keyframes, one of which is drawn for every episode; what refers to the start means the first.
    pub keyframes: Option<Vec<String>>,
    /// Positions get uniform noise from [-s, s]; nothing is drawn without it.
    pub position_noise: Option<f64>,
    /// Scale of the velocities' noise; nothing is drawn without it.
    pub velocity_noise: Option<f64>,
    /// Kind of the velocities' noise.
    pub velocity_noise_kind: Noise,
    /// Noise of some joints, instead of that of all.
    pub noise: Vec<JointNoise>,
    /// A free body that starts turned about the vertical.
    pub heading: Option<Heading>,
    /// Numbers that are drawn for every episode.
    pub goal: Vec<Goal>,
    /// Simulator steps with the controls of action zero before an episode starts.
    pub settle_steps: usize,
    /// Joints that are placed by draws of their own, at rest: goals, objects.
    pub place: Vec<Placed>,
}

/// Joints that start at rest at a point drawn from a box.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// Hinge or slide joints, one per coordinate of the point.
    pub joints: Vec<String>,
    /// Corners of the box; a coordinate whose bounds are equal is not drawn.
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// The point is drawn again until its distance from the origin lies in this range.
    #[serde(default)]
    pub length: Range,
}

/// Noise of some joints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointNoise {
    /// Hinge or slide joints.
    pub joints: Vec<String>,
    /// Positions get uniform noise from [-s, s].
    #[serde(default)]
    pub position: f64,
    /// Velocities too.
    #[serde(default)]
    pub velocity: f64,
}

/// A free body that starts turned about the vertical.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heading {
    pub body: String,
    /// Smallest and largest angle in radians, added to that of the start.
    pub range: [f64; 2],
}

/// Numbers that are drawn for every episode from a box.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub name: String,
    /// Corners of the box; a number whose bounds are equal is not drawn.
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// The numbers are drawn again until the length of their vector lies in this range.
    #[serde(default)]
    pub length: Range,
    /// A mocap body that is put there.
    pub mocap: Option<String>,
    /// Joints that the numbers are positions for, one each.
    pub joints: Option<Vec<String>>,
}
