//! The description of a mechanism: plain numbers, in MuJoCo's conventions.

/// How a step is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Semi-implicit Euler.
    Euler {
        /// Whether joint damping is integrated implicitly.
        implicit_damping: bool,
    },
    /// Euler, implicit in the velocities: damping of joints and the velocity terms of actuators.
    ImplicitFast,
    /// Runge-Kutta of fourth order.
    RungeKutta4,
}

/// The shape of the set of contact forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cone {
    /// A pyramid with two edges per direction of friction.
    Pyramidal,
    /// An ellipse around the normal.
    Elliptic,
}

/// Global options.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The friction cone.
    pub cone: Cone,
    /// Seconds per step.
    pub timestep: f64,
    /// Scheme of integration.
    pub integrator: Integrator,
    /// Acceleration of free fall.
    pub gravity: [f64; 3],
    /// Density of the medium, for drag.
    pub density: f64,
    /// Viscosity of the medium, for drag.
    pub viscosity: f64,
    /// Ratio of friction to normal impedance of contacts.
    pub impedance_ratio: f64,
    /// Stopping tolerance of the constraint solver.
    pub tolerance: f64,
    /// Stopping tolerance of the line search, relative to the solver's.
    pub line_search_tolerance: f64,
    /// Most Newton iterations.
    pub iterations: usize,
    /// Most evaluations of one line search.
    pub line_search_iterations: usize,
    /// Whether trees that no constraint couples are solved apart, each with its own stopping test.
    pub islands: bool,
}

/// A rigid body. The first of a model is the world, and parents come before their children.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Index of its parent body.
    pub parent: usize,
    /// Position in the parent's frame.
    pub position: [f64; 3],
    /// Orientation in the parent's frame, a unit quaternion (w, x, y, z).
    pub orientation: [f64; 4],
    /// Centre of mass in the body's frame.
    pub center: [f64; 3],
    /// Orientation of the principal axes in the body's frame.
    pub principal_axes: [f64; 4],
    /// Mass.
    pub mass: f64,
    /// Principal moments of inertia.
    pub inertia: [f64; 3],
    /// Mean inverse weight of a push at the centre of mass, in the reference pose.
    pub inverse_weight: f64,
    /// The same of a torque.
    pub inverse_weight_of_rotation: f64,
    /// Share of its weight that is taken away: 1 for a body that floats.
    pub gravity_compensation: f64,
}

/// The motion a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Everything: three translations and a rotation (7 coordinates, 6 velocities).
    Free,
    /// A rotation about a point (4 coordinates, 3 velocities).
    Ball,
    /// A translation along an axis.
    Slide,
    /// A rotation about an axis.
    Hinge,
}

impl JointKind {
    /// Number of coordinates.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Free => 7,
            Self::Ball => 4,
            Self::Slide | Self::Hinge => 1,
        }
    }

    /// Number of degrees of freedom.
    pub fn freedoms(self) -> usize {
        match self {
            Self::Free => 6,
            Self::Ball => 3,
            Self::Slide | Self::Hinge => 1,
        }
    }
}

/// How stiffly a constraint is held: MuJoCo's `solref` and `solimp`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softness {
    /// Time constant and damping ratio, or, if both are not positive, minus stiffness and minus damping.
    pub reference: [f64; 2],
    /// Impedance at zero, at full width, width, midpoint and power.
    pub impedance: [f64; 5],
}

/// The range of a hinge or a slide, or the largest angle of a ball joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Lowest and highest coordinate; a ball joint uses the larger of the two as its largest angle.
    pub range: [f64; 2],
    /// Distance from the limit at which it starts to act.
    pub margin: f64,
    /// Stiffness of the limit.
    pub softness: Softness,
}

/// A joint. Joints are listed in the order of their bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The body it moves.
    pub body: usize,
    /// The motion it allows.
    pub kind: JointKind,
    /// Anchor in the body's frame.
    pub position: [f64; 3],
    /// Unit axis in the body's frame (hinge and slide).
    pub axis: [f64; 3],
    /// Coordinate of the pose in which the bodies are described (hinge and slide).
    pub reference: f64,
    /// Stiffness of the joint's spring.
    pub stiffness: f64,
    /// Coordinates at which the spring is relaxed: as many as the joint has.
    pub spring_reference: Vec<f64>,
    /// Its limit.
    pub limit: Option<Limit>,
    /// Bounds of the sum of actuator forces on it (hinge and slide).
    pub actuator_force_range: Option<[f64; 2]>,
}

/// One degree of freedom, in the order of the joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freedom {
    /// Linear damping.
    pub damping: f64,
    /// Inertia added to the diagonal.
    pub armature: f64,
    /// Inverse weight in the reference pose.
    pub inverse_weight: f64,
    /// Largest force of dry friction.
    pub friction_loss: f64,
    /// Stiffness of dry friction.
    pub friction_softness: Softness,
}

/// What an actuator pulls at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// A hinge or a slide.
    Joint(usize),
    /// A tendon.
    Tendon(usize),
}

/// How an actuator's activation follows its control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// There is none: the control acts at once.
    Immediate,
    /// The sum of the control over time.
    Integrator,
    /// Follows the control with a time constant, by Euler steps.
    Filter(f64),
    /// Follows the control with a time constant, exactly for a control that stays the same.
    ExactFilter(f64),
}

/// An actuator: force = gain input + bias (1, length, velocity), length = gear times that of what it pulls at. The input is
/// the control, or the activation if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// What it acts on.
    pub transmission: Transmission,
    /// How the control becomes a force.
    pub activation: Activation,
    /// Bounds of the activation.
    pub activation_range: Option<[f64; 2]>,
    /// Whether the force comes from the activation at the end of the step.
    pub early: bool,
    /// Transmission ratio.
    pub gear: f64,
    /// Force per unit of control.
    pub gain: f64,
    /// Constant force, force per length and force per velocity.
    pub bias: [f64; 3],
    /// Bounds of the control.
    pub control_range: Option<[f64; 2]>,
    /// Bounds of the force before the gear.
    pub force_range: Option<[f64; 2]>,
}

/// The shape of a geom. Axes are along the geom's z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The half space below z = 0. Only on bodies that cannot move.
    Plane,
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length of the axis.
        half_length: f64,
    },
    /// A box.
    Box {
        /// Half the edges.
        half_size: [f64; 3],
    },
    /// A cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the height.
        half_length: f64,
    },
    /// A shape that only the caller knows: an ellipsoid, a mesh, a height field.
    Other,
}

/// A box around a geom, in the geom's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around {
    /// Its centre.
    pub center: [f64; 3],
    /// Half its edges.
    pub half_size: [f64; 3],
    /// Radius of a ball about that centre that holds the geom.
    pub radius: f64,
}

/// Something that can touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Geom {
    /// Name, for messages.
    pub name: String,
    /// The body it belongs to.
    pub body: usize,
    /// Its shape.
    pub shape: Shape,
    /// Position in the body's frame.
    pub position: [f64; 3],
    /// Orientation in the body's frame.
    pub orientation: [f64; 4],
    /// The box around it; pairs without a formula of the engine's need it.
    pub around: Around,
}

/// Two geoms that can touch, with the parameters of their contact already mixed.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPair {
    /// The geoms; a plane comes first.
    pub geoms: [usize; 2],
    /// 1 without friction, 3 with, 4 with torsional and 6 with rolling friction too.
    pub dimension: usize,
    /// Coefficients of friction: sliding (2), torsional, rolling (2).
    pub friction: [f64; 5],
    /// `solref` of the friction of elliptic cones, if it has one of its own.
    pub friction_reference: Option<[f64; 2]>,
    /// Distance at which the contact starts to act.
    pub margin: f64,
    /// Stiffness of the contact.
    pub softness: Softness,
}

/// A place on the way of a tendon through space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waypoint {
    /// A point of a body, in its frame.
    Point {
        /// The body.
        body: usize,
        /// Where on it.
        position: [f64; 3],
    },
    /// What follows counts divided by this number.
    Pulley(f64),
}

/// What the length of a tendon is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Path {
    /// Hinges and slides with their factors.
    Fixed(Vec<(usize, f64)>),
    /// The way through points of bodies.
    Spatial(Vec<Waypoint>),
    /// It has no length, and pulls with a force and a torque at a frame of a body: what an actuator on a site does.
    Wrench {
        /// The body.
        body: usize,
        /// Origin of the frame on the body.
        position: [f64; 3],
        /// Orientation of the frame.
        orientation: [f64; 4],
        /// Force per unit of pull, in the frame.
        force: [f64; 3],
        /// Torque per unit of pull, in the frame.
        torque: [f64; 3],
    },
}

/// A tendon.
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// What its length is.
    pub path: Path,
    /// Stiffness of its spring.
    pub stiffness: f64,
    /// Lengths between which the spring is relaxed.
    pub relaxed: [f64; 2],
    /// Linear damping.
    pub damping: f64,
    /// Bounds of its length.
    pub limit: Option<Limit>,
    /// Largest force of dry friction.
    pub friction_loss: f64,
    /// Stiffness of dry friction.
    pub friction_softness: Softness,
    /// Inverse weight in the reference pose.
    pub inverse_weight: f64,
    /// Length in the reference pose.
    pub reference_length: f64,
}

/// What an equality constraint ties together.
#[derive(Clone, Debug, PartialEq)]
pub enum Coupling {
    /// A coordinate is a polynomial of another's, or constant; both relative to their reference.
    Joints {
        /// The joint.
        first: usize,
        /// The joint it depends on.
        second: Option<usize>,
        /// Coefficients, the constant first.
        polynomial: [f64; 5],
    },
    /// The same with lengths of tendons.
    Tendons {
        /// The tendon.
        first: usize,
        /// The tendon it depends on.
        second: Option<usize>,
        /// Coefficients, the constant first.
        polynomial: [f64; 5],
    },
    /// Two points of bodies are at the same place.
    Points {
        /// The bodies.
        bodies: [usize; 2],
        /// The points in their frames.
        points: [[f64; 3]; 2],
    },
    /// Two frames on bodies are at the same place with the same orientation.
    Frames {
        /// The bodies.
        bodies: [usize; 2],
        /// The origins in the frames of the bodies.
        points: [[f64; 3]; 2],
        /// The orientations in the frames of the bodies.
        orientations: [[f64; 4]; 2],
        /// Weight of the orientation relative to the position.
        torque_scale: f64,
    },
}

/// An equality constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Equality {
    /// What it ties together.
    pub coupling: Coupling,
    /// Stiffness.
    pub softness: Softness,
}

/// A mechanism: everything the engine reads. Compile it with [`crate::Compiled::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Global options.
    pub options: Options,
    /// Bodies, the world first.
    pub bodies: Vec<Body>,
    /// Joints.
    pub joints: Vec<Joint>,
    /// Degrees of freedom.
    pub freedoms: Vec<Freedom>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Equality constraints.
    pub equalities: Vec<Equality>,
    /// Actuators.
    pub actuators: Vec<Actuator>,
    /// Geoms that can touch.
    pub geoms: Vec<Geom>,
    /// Pairs of geoms that can touch.
    pub pairs: Vec<ContactPair>,
}
