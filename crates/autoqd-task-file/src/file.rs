//! The TOML form of a locomotion task, as written. The built-in MuJoCo tasks are such files.

use serde::Deserialize;
use std::path::PathBuf;

use crate::form::{Observation, Reset, Reward};
use crate::{EnvError, Perturbation};

/// A task file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
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

impl TaskFile {
    /// Reads the text of a file, which messages call `shown`.
    pub fn parse(text: &str, shown: &str) -> Result<Self, EnvError> {
        toml::from_str(text)
            .map_err(|error| EnvError::TaskFile { path: shown.to_string(), message: locate(text, &error) })
    }
}

/// The parser's message on one line, with the place in the file.
fn locate(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
}

/// What is random within an episode besides its start.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Randomisation {
    /// Standard deviation of normal noise on what a policy sees: one number, or one per number of the observation.
    pub observation_noise: Option<Scale>,
    /// Fewest and most steps by which actions are late; drawn for every episode.
    pub action_delay: [usize; 2],
    /// Sudden changes of velocity.
    pub push: Option<Pushes>,
    /// Smallest and largest factor on all frictions; drawn for every episode, like the four that follow.
    pub friction_scale: Option<[f64; 2]>,
    /// On all masses and inertias.
    pub mass_scale: Option<[f64; 2]>,
    /// On the forces of all actuators.
    pub motor_scale: Option<[f64; 2]>,
    /// On all damping.
    pub damping_scale: Option<[f64; 2]>,
    /// On gravity.
    pub gravity_scale: Option<[f64; 2]>,
}

/// Sudden changes of velocity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pushes {
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

/// How an action, each component from -1 to 1, becomes controls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionMap {
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
pub enum Scale {
    All(f64),
    Each(Vec<f64>),
}

/// How a reward falls off with the distance e from its target, in units of its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
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
pub enum Motion {
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
pub enum RewardOrder {
    /// The sum of the gains minus the sum of the costs.
    #[default]
    GainsThenCosts,
    /// One after the other.
    AsListed,
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// Its place among the three.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

/// A point of the world: of a body, a geom or a site, of all bodies together, drawn for the episode, or a fixed one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Place {
    pub body: Option<String>,
    pub geom: Option<String>,
    pub site: Option<String>,
    pub center_of_mass: bool,
    pub goal: Option<String>,
    pub point: Option<[f64; 3]>,
}

/// One number of the state: of a joint, of a place along an axis, of a body's orientation, of a contact, of a sensor, of
/// a goal, or the distance of two places.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Channel {
    pub joint: Option<String>,
    pub body: Option<String>,
    pub geom: Option<String>,
    pub site: Option<String>,
    pub center_of_mass: bool,
    pub sensor: Option<String>,
    /// A geom: 1 while it touches the ground or what `with` names, else 0.
    pub contact: Option<String>,
    /// A geom: seconds since it last touched the ground or what `with` names, 0 while it does.
    pub air_time: Option<String>,
    /// Geom that a contact is with, instead of the ground.
    pub with: Option<String>,
    pub distance: Option<Box<Ends>>,
    pub goal: Option<String>,
    /// Of a body, geom, site or the centre of mass.
    pub axis: Option<Axis>,
    /// Of a body.
    pub angle: Option<Angle>,
    /// Of a ball or free joint, or of a sensor or goal with several numbers.
    pub component: usize,
    /// The velocity of a joint or place instead of its position.
    pub rate: bool,
    /// The joint's position minus the one that a goal asks for.
    pub from_goal: bool,
}

/// Two places.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    pub from: Place,
    pub to: Place,
}

/// An angle of a body's orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Angle {
    /// About the body's x axis.
    Roll,
    /// Nose down is positive.
    Pitch,
    /// Heading.
    Yaw,
    /// Between the body's z axis and the vertical.
    Tilt,
}

impl Angle {
    /// The angle of an orientation, in radians.
    #[inline]
    pub fn of(self, rotation: &[f64; 9]) -> f64 {
        match self {
            Self::Roll => rotation[7].atan2(rotation[8]),
            Self::Pitch => (-rotation[6]).clamp(-1.0, 1.0).asin(),
            Self::Yaw => rotation[3].atan2(rotation[0]),
            Self::Tilt => rotation[8].clamp(-1.0, 1.0).acos(),
        }
    }
}

/// The number that a reward is largest at: fixed, or drawn for the episode.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Target {
    Fixed(f64),
    Drawn(DrawnTarget),
}

/// A number of a goal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnTarget {
    pub goal: String,
    #[serde(default)]
    pub component: usize,
}

/// A function of an observed position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Function {
    Sin,
    Cos,
}

/// Whose squares a control cost sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// The action as the policy gave it, in its precision.
    #[default]
    Action,
    /// The controls that the actuators got.
    Control,
}

/// Distribution of start noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Uniform from [-s, s].
    #[default]
    Uniform,
    /// Normal with standard deviation s.
    Normal,
}

/// An interval; `min`/`max` belong to it, `above`/`below` do not.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Range {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub above: Option<f64>,
    pub below: Option<f64>,
}

impl Range {
    /// Whether everything is in it.
    pub fn is_unbounded(&self) -> bool {
        [self.min, self.max, self.above, self.below].iter().all(Option::is_none)
    }

    /// Whether there is a value in it.
    pub fn is_possible(&self) -> bool {
        let bounds = [self.min, self.max, self.above, self.below];
        let below_open =
            |low: Option<f64>, high: Option<f64>| low.zip(high).is_none_or(|(low, high)| low < high);
        bounds.iter().flatten().all(|bound| !bound.is_nan())
            && self.min.zip(self.max).is_none_or(|(min, max)| min <= max)
            && below_open(self.min, self.below)
            && below_open(self.above, self.max)
            && below_open(self.above, self.below)
    }

    /// Whether a value is in it.
    #[inline]
    pub fn contains(&self, value: f64) -> bool {
        self.min.is_none_or(|bound| value >= bound)
            && self.max.is_none_or(|bound| value <= bound)
            && self.above.is_none_or(|bound| value > bound)
            && self.below.is_none_or(|bound| value < bound)
    }
}

/// A condition of health.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Health {
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
    /// A number of the state.
    Value { of: Box<Channel>, range: Range },
    /// All positions and velocities are finite.
    Finite {},
}

/// A hand-designed measure.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Measure {
    /// A statistic over the episode of one number of the state, mapped from [low, high] to [0, 1].
    Statistic { name: Option<String>, of: Box<Channel>, statistic: Statistic, low: f64, high: f64 },
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
pub enum Statistic {
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
