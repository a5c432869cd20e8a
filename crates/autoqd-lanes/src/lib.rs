//! MuJoCo's physics for several worlds at a time, in SIMD lanes.
//!
//! [`model::Model`] describes a mechanism in MuJoCo's terms, [`Compiled`] holds what is derived from it, and
//! [`Batch`] simulates eight worlds of it at once. One step agrees with libmujoco's to rounding: the same
//! formulation, the same solver with the same stopping rules, in another order of operations. Over long runs with
//! contacts trajectories diverge, as those of any two versions of a simulator do.
//!
//! Supported are trees of free, ball, slide and hinge joints; springs, damping, armature, limits, dry friction; tendons
//! over joints and through points; equality constraints; actuators on joints and tendons, with filters; spheres, capsules,
//! boxes and cylinders on planes, spheres and capsules among themselves, and any other shapes whose contacts a [`Narrow`]
//! phase of the caller finds; pyramidal and elliptic friction cones; drag; Euler and Runge-Kutta integration.
//!
//! The back end is chosen at run time: AVX-512, AVX2 or portable arrays ([`Backend`]). All give the same bits.

#![deny(missing_docs)]
// Only the lane types of an instruction set, and the functions that enable it, are unsafe.
#![deny(unsafe_code)]

mod actuators;
mod batch;
mod bias;
mod collision;
mod collision_planar;
mod compile;
mod constraint;
mod error;
mod extra;
mod forces;
mod frames;
mod inertia;
mod integrate;
#[allow(unsafe_code)]
mod kernels;
mod kinematics_planar;
mod kinematics_spatial;
pub mod model;
mod motion;
mod narrow;
mod outside;
mod packed;
mod pattern;
mod points;
mod respond;
mod rigid;
mod segments;
mod sim;
mod simd;
mod solver;
mod tendons;
mod vector;
mod wrench;

pub use batch::Batch;
pub use compile::Compiled;
pub use error::LanesError;
pub use narrow::{GeomPose, MOST_TOUCHING, Narrow, Touching};
pub use simd::{Backend, LANES};
