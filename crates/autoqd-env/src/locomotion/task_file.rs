//! The TOML form of a locomotion task, as written. The built-in MuJoCo tasks are such files.

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
    /// What an action means, if it is not the controls themselves.
    pub action: Option<ActionMap>,
    /// Parts of the observation, in order.
    pub observation: Vec<Observation>,
    /// Terms of the reward.
    pub reward: Vec<Reward>,
    /// In which order the terms are summed, which decides the last digit.
    #[serde(default)]
    pub reward_order: RewardOrder,
    /// Conditions that a healthy state meets, all of them.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Hand-designed behaviour measures.
    #[serde(default)]
    pub measure: Vec<Measure>,
    /// Physics that differs from the MJCF file.
    #[serde(default)]
    pub perturbation: Perturbation,
    /// What is random within an episode besides its start.
    #[serde(default)]
    pub randomisation: Randomisation,
}

/// What is random within an episode besides its start.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Randomisation {
    /// Standard deviation of normal noise on what a policy sees: one number, or one per number of the observation.
    pub observation_noise: Option<Scale>,
    /// Fewest and most steps by which actions are late; drawn for every episode.
    pub action_delay: [usize; 2],
    /// Sudden changes of velocity.
    pub push: Option<Pushes>,
}

/// Sudden changes of velocity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pushes {
    /// A free body, pushed along x and y.
    pub body: Option<String>,
    /// Or the joints that are pushed.
    pub joints: Option<Vec<String>>,
    /// Seconds between two pushes.
    pub every: f64,
    /// The largest change of a velocity.
    pub speed: f64,
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
    /// Positions get uniform noise from [-s, s]; nothing is drawn without it.
    pub position_noise: Option<f64>,
    /// Scale of the velocities' noise; nothing is drawn without it.
    pub velocity_noise: Option<f64>,
    /// Kind of the velocities' noise.
    pub velocity_noise_kind: Noise,
    /// Joints that are placed by draws of their own, at rest: goals, objects.
    pub place: Vec<Placed>,
}

/// Joints that start at rest at a point drawn from a box.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed {
    /// Hinge or slide joints, one per coordinate of the point.
    pub joints: Vec<String>,
    /// Corners of the box; a coordinate whose bounds are equal is not drawn.
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    /// The point is drawn again until its distance from the origin lies in this range.
    #[serde(default)]
    pub length: Range,
}

/// How an action, each component from -1 to 1, becomes controls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionMap {
    /// The controls of action zero: `start` for the positions that episodes start from, or the name of a keyframe,
    /// whose controls are taken; else zero.
    pub around: Option<String>,
    /// Change of the controls per unit of action: one number, or one per actuator.
    pub scale: Scale,
    /// Whether an action changes the last controls instead of those of action zero.
    #[serde(default)]
    pub delta: bool,
    /// Share of the last controls that is kept.
    #[serde(default)]
    pub filter: f64,
}

/// One number for all, or one for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scale {
    All(f64),
    Each(Vec<f64>),
}

/// How a reward falls off with the distance e from its target, in units of its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// 1 - e, at least zero.
    Linear,
    /// 1 - e^2, at least zero.
    Quadratic,
    /// exp(-e^2)
    Gaussian,
}

/// A direction of motion as a body sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Motion {
    /// Along the body's x axis, in the horizontal plane.
    Forward,
    /// To its left, in the horizontal plane.
    Sideways,
    /// Upwards.
    Up,
    /// About the vertical, in radians per second.
    Turn,
}

/// In which order the terms of the reward are summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RewardOrder {
    /// The sum of the gains minus the sum of the costs.
    #[default]
    GainsThenCosts,
    /// One after the other.
    AsListed,
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

/// A point of the world: of a body, a geom or a site, or a fixed one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Place {
    pub body: Option<String>,
    pub geom: Option<String>,
    pub site: Option<String>,
    pub point: Option<[f64; 3]>,
}

/// One number of the state: of a joint, of a place along an axis, of a sensor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Channel {
    pub joint: Option<String>,
    pub body: Option<String>,
    pub geom: Option<String>,
    pub site: Option<String>,
    pub sensor: Option<String>,
    /// Of a body, geom or site.
    pub axis: Option<Axis>,
    /// Of a ball or free joint, or of a sensor with several numbers.
    pub component: usize,
    /// The velocity of a joint instead of its position.
    pub rate: bool,
}

/// A function of an observed position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Function {
    Sin,
    Cos,
}

/// Whose squares a control cost sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effort {
    /// The action as the policy gave it, in its precision.
    #[default]
    Action,
    /// The controls that the actuators got.
    Control,
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
        /// Only those of these joints, in their order.
        joints: Option<Vec<String>>,
        function: Option<Function>,
        clip: Option<[f64; 2]>,
    },
    /// Generalised velocities, all or those of some joints.
    Velocities { joints: Option<Vec<String>>, clip: Option<[f64; 2]> },
    /// Forces of the actuators on the degrees of freedom, from index `from` on or of some joints.
    ActuatorForces {
        #[serde(default)]
        from: usize,
        joints: Option<Vec<String>>,
        clip: Option<[f64; 2]>,
    },
    /// Forces of limits and contacts on the degrees of freedom, all or of some joints.
    ConstraintForces { joints: Option<Vec<String>>, clip: Option<[f64; 2]> },
    /// Inertia about the centre of mass of the whole, for every body but the world: ten numbers each.
    BodyInertias { clip: Option<[f64; 2]> },
    /// Velocity at the centre of mass of the whole, for every body but the world: six numbers each.
    BodyVelocities { clip: Option<[f64; 2]> },
    /// Where something is in the world.
    Place { at: Place, axes: Option<Vec<Axis>>, clip: Option<[f64; 2]> },
    /// External forces and torques on every body but the world.
    ContactForces { clip: Option<[f64; 2]> },
    /// Sensors of the model, all or some.
    Sensors { names: Option<Vec<String>>, clip: Option<[f64; 2]> },
    /// The last action; zero at the start.
    PreviousAction {},
    /// The vertical in a body's frame: three numbers that say how it is tilted.
    Vertical { body: String },
    /// Linear and angular velocity of a free body in its own frame.
    LocalVelocity { body: String, clip: Option<[f64; 2]> },
    /// Sine and cosine of a clock of this period in seconds.
    Clock { period: f64 },
    /// Vector from a body to a site, or between any two places.
    Offset {
        body: Option<String>,
        site: Option<String>,
        from: Option<Place>,
        to: Option<Place>,
        axes: Option<Vec<Axis>>,
    },
}

/// A term of the reward. Gains are summed, then costs are summed, then subtracted.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Reward {
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
    /// Gain: height of a body.
    Height {
        name: Option<String>,
        body: String,
        #[serde(default = "one")]
        weight: f64,
    },
    /// Gain: one number of the state over a scale, or how near it is to a target.
    Value {
        name: Option<String>,
        of: Channel,
        target: Option<f64>,
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
        target: Option<f64>,
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
        target: Option<f64>,
        #[serde(default)]
        tolerance: f64,
        #[serde(default = "one")]
        scale: f64,
        shape: Option<Shape>,
        product: Option<String>,
        #[serde(default = "one")]
        weight: f64,
    },
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
    /// Height of a body or a site.
    Height { body: Option<String>, site: Option<String>, range: Range },
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
    /// A statistic over the episode of one number of the state, mapped from [low, high] to [0, 1].
    Statistic { name: Option<String>, of: Channel, statistic: Statistic, low: f64, high: f64 },
    /// Fraction of the steps in which a geom touches the floor.
    FootContact { name: Option<String>, geom: String },
    /// Span of joint angles over the episode as a fraction of `2 * limit`, averaged over the joints.
    JointSpan { name: Option<String>, joints: Vec<String>, limit: f64 },
    /// Correlation of two joint angles over the episode, mapped from [-1, 1] to [0, 1].
    JointCorrelation { name: Option<String>, joints: [String; 2] },
    /// Distance between start and end over the length of the path of two sliding joints.
    Straightness { name: Option<String>, joints: [String; 2] },
}

/// What is told about a number over an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Statistic {
    /// The mean after every step.
    Mean,
    /// The value after the last step.
    Last,
    /// The largest minus the smallest value.
    Range,
    /// The standard deviation.
    StandardDeviation,
    /// Crossings of the running mean, upwards, per second.
    Frequency,
}
