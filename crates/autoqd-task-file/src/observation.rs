//! The TOML form of what a policy sees.

use crate::form::{Axis, Channel, Function, Place};
use serde::Deserialize;

/// A part of the observation.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Observation {
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
    Place {
        at: Place,
        axes: Option<Vec<Axis>>,
        /// As this body sees it: relative to it, along its axes.
        frame: Option<String>,
        clip: Option<[f64; 2]>,
    },
    /// Mean velocity of a place during the last step; zero at the start.
    Velocity {
        of: Place,
        axes: Option<Vec<Axis>>,
        /// Along this body's axes.
        frame: Option<String>,
        clip: Option<[f64; 2]>,
    },
    /// How a body turned during the last step, in radians per second; zero at the start.
    AngularVelocity { body: String, frame: Option<String>, clip: Option<[f64; 2]> },
    /// How a body is turned.
    Orientation {
        body: String,
        #[serde(default)]
        r#as: Rotation,
    },
    /// For each geom 1 while it touches the ground, or the geom `with`, else 0.
    Contacts { geoms: Vec<String>, with: Option<String> },
    /// The numbers of a goal.
    Goal { name: String },
    /// Any number of the state.
    Value { of: Box<Channel>, clip: Option<[f64; 2]> },
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
        /// Along this body's axes.
        frame: Option<String>,
    },
}

/// How an orientation is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rotation {
    /// Four numbers, the first of which is not negative.
    #[default]
    Quaternion,
    /// Nine numbers, row by row.
    Matrix,
    /// Roll, pitch and yaw in radians.
    Angles,
}
