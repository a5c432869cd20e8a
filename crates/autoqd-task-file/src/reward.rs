//! The TOML form of what a step is worth.

use crate::form::{Channel, Effort, Motion, Place, Shape, Target};
use serde::Deserialize;

/// A term of the reward. Gains are summed, then costs are summed, then subtracted.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reward {
    /// Gain: velocity of a body along a direction, of a sliding joint, or of the centre of mass of everything.
    ForwardVelocity {
        name: Option<String>,
        body: Option<String>,
        joint: Option<String>,
        #[serde(default)]
        center_of_mass: bool,
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
    /// Gain: height of a body, geom or site.
    Height {
        name: Option<String>,
        body: Option<String>,
        geom: Option<String>,
        site: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: one number of the state over a scale, or how near it is to a target.
    Value {
        name: Option<String>,
        of: Box<Channel>,
        target: Option<Target>,
        #[serde(default)]
        tolerance: f64,
        #[serde(default = "one")]
        scale: f64,
        shape: Option<Shape>,
        product: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: mean velocity of a body during a step as the body sees it, or how near it is to a target.
    Velocity {
        name: Option<String>,
        body: String,
        motion: Motion,
        target: Option<Target>,
        #[serde(default)]
        tolerance: f64,
        #[serde(default = "one")]
        scale: f64,
        shape: Option<Shape>,
        product: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: cosine of the angle between a body's z axis and the vertical, or how near it is to a target.
    Upright {
        name: Option<String>,
        body: String,
        target: Option<Target>,
        #[serde(default)]
        tolerance: f64,
        #[serde(default = "one")]
        scale: f64,
        shape: Option<Shape>,
        product: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: root mean square of an effort over the actuators or degrees of freedom, or how near it is to a target.
    Effort {
        name: Option<String>,
        of: EffortKind,
        target: Option<Target>,
        #[serde(default)]
        tolerance: f64,
        #[serde(default = "one")]
        scale: f64,
        shape: Option<Shape>,
        product: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: for every geom that touches the ground again, the seconds since it last did beyond `target`.
    AirTime {
        name: Option<String>,
        geoms: Vec<String>,
        #[serde(default)]
        target: f64,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Cost: squared difference of every geom's height from `height`, times its horizontal speed.
    FootClearanceCost { name: Option<String>, geoms: Vec<String>, height: f64, weight: f64 },
    /// Cost: sum of squared horizontal speeds of geoms that touch the ground.
    SlipCost { name: Option<String>, geoms: Vec<String>, weight: f64 },
    /// Cost: sum of squared differences of joints from where episodes start.
    PostureCost { name: Option<String>, joints: Vec<String>, weight: f64 },
    /// Cost: sum of squared forces of the actuators on the degrees of freedom.
    TorqueCost { name: Option<String>, weight: f64 },
    /// Cost: sum of the sizes of the actuators' power on the degrees of freedom.
    PowerCost { name: Option<String>, weight: f64 },
    /// Cost: sum of squared changes of the action.
    ActionRateCost { name: Option<String>, weight: f64 },
    /// Cost: sum of squared controls.
    ControlCost {
        name: Option<String>,
        weight: f64,
        #[serde(default)]
        of: Effort,
    },
    /// Cost: sum of squared external forces, each clipped; the cost is at most `max`.
    ContactCost { name: Option<String>, weight: f64, clip: Option<[f64; 2]>, max: Option<f64> },
    /// Cost: sum of squared joint velocities, each with a weight of its own.
    VelocityCost { name: Option<String>, joints: Vec<String>, weights: Vec<f64> },
    /// Cost: distance between two places.
    Distance {
        name: Option<String>,
        from: Place,
        to: Place,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Cost: squared distance between two places, with a weight per axis.
    SquaredDistance {
        name: Option<String>,
        from: Place,
        to: Place,
        #[serde(default = "all_axes")]
        weights: [f64; 3],
    },
    /// Cost: distance from a body to a site.
    SiteDistance {
        name: Option<String>,
        body: String,
        site: String,
        #[serde(default = "one")]
        weight: f64,
    },
}

fn all_axes() -> [f64; 3] {
    [1.0; 3]
}

fn along_x() -> [f64; 3] {
    [1.0, 0.0, 0.0]
}

fn one() -> f64 {
    1.0
}

/// What an effort is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffortKind {
    /// The action of the policy.
    Action,
    /// The change of the action.
    ActionRate,
    /// The controls that the actuators got.
    Control,
    /// Forces of the actuators on the degrees of freedom.
    Torque,
    /// Power of the actuators on the degrees of freedom.
    Power,
}
