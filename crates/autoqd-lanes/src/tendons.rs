//! Lengths of tendons, how they change with the coordinates, and the forces of their springs and dampers.

use crate::compile::{BodyPoint, Compiled, PathPlan, Piece};
use crate::pattern::bits;
use crate::points::Points;
use crate::simd::Lane;
use crate::vector::*;

/// Shorter pieces have no direction.
const TINY: f64 = 1e-15;

/// The tendons of one evaluation.
pub(crate) struct Tendons<F> {
    pub(crate) lengths: Vec<F>,
    pub(crate) velocities: Vec<F>,
    /// Tendon by tendon, one entry per degree of freedom.
    jacobian: Vec<F>,
    freedoms: usize,
}

impl<F: Lane> Tendons<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let (tendons, freedoms) = (model.tendons.len(), model.freedoms());
        let mut jacobian = vec![F::zero(); tendons * freedoms];
        for (t, tendon) in model.tendons.iter().enumerate() {
            if let PathPlan::Fixed(terms) = &tendon.path {
                for &(_, k, factor) in terms {
                    let entry = &mut jacobian[t * freedoms + k];
                    *entry = *entry + F::splat(factor);
                }
            }
        }
        let column = || vec![F::zero(); tendons];
        Self { lengths: column(), velocities: column(), jacobian, freedoms }
    }

    /// How the length of a tendon changes with every degree of freedom.
    #[inline(always)]
    pub(crate) fn jacobian(&self, tendon: usize) -> &[F] {
        &self.jacobian[tendon * self.freedoms..(tendon + 1) * self.freedoms]
    }

    /// Lengths and velocities at the present state.
    #[inline(always)]
    pub(crate) fn update<S: Points<F>>(&mut self, model: &Compiled, space: &S, qpos: &[F], qvel: &[F]) {
        for (t, tendon) in model.tendons.iter().enumerate() {
            let jacobian = &mut self.jacobian[t * self.freedoms..(t + 1) * self.freedoms];
            let mut length = F::zero();
            match &tendon.path {
                PathPlan::Fixed(terms) => {
                    for &(q, _, factor) in terms {
                        length = qpos[q].mul_add(F::splat(factor), length);
                    }
                }
                PathPlan::Spatial(pieces) => {
                    jacobian.fill(F::zero());
                    for piece in pieces {
                        length = add_piece(model, space, piece, jacobian, length);
                    }
                }
                PathPlan::Wrench { at, force, torque } => {
                    let rotation = space.rotation(at.body);
                    add_wrench(model, space, at, [turn(&rotation, force), turn(&rotation, torque)], jacobian);
                }
            }
            let mut velocity = F::zero();
            for (j, v) in jacobian.iter().zip(qvel) {
                velocity = j.mul_add(*v, velocity);
            }
            self.lengths[t] = length;
            self.velocities[t] = velocity;
        }
    }

    /// Adds the forces of springs and dampers.
    #[inline(always)]
    pub(crate) fn add_forces(&self, model: &Compiled, force: &mut [F]) {
        for (t, tendon) in model.tendons.iter().enumerate() {
            if tendon.stiffness == 0.0 && tendon.damping == 0.0 {
                continue;
            }
            let (zero, length) = (F::zero(), self.lengths[t]);
            let short = (F::splat(tendon.relaxed[0]) - length).max(zero);
            let long = (F::splat(tendon.relaxed[1]) - length).min(zero);
            let spring = (short + long) * F::splat(tendon.stiffness);
            let pull = self.velocities[t].neg_mul_add(F::splat(tendon.damping), spring);
            self.add_pull(t, pull, force);
        }
    }

    /// Adds what a force along a tendon does to every degree of freedom.
    #[inline(always)]
    pub(crate) fn add_pull(&self, tendon: usize, pull: F, force: &mut [F]) {
        for (j, f) in self.jacobian(tendon).iter().zip(force) {
            *f = j.mul_add(pull, *f);
        }
    }
}

/// Writes what a force and a torque at a point do to every degree of freedom.
#[inline(always)]
fn add_wrench<F: Lane, S: Points<F>>(
    model: &Compiled,
    space: &S,
    at: &BodyPoint,
    [force, torque]: [V3<F>; 2],
    jacobian: &mut [F],
) {
    let point = space.point(at);
    for k in bits(at.chain) {
        let (motion, spin) = space.motion(model, k, point);
        jacobian[k] = dot3(force, motion) + dot3(torque, spin);
    }
}

/// Adds a straight piece to the length and to its derivatives.
#[inline(always)]
fn add_piece<F: Lane, S: Points<F>>(
    model: &Compiled,
    space: &S,
    piece: &Piece,
    jacobian: &mut [F],
    length: F,
) -> F {
    let factor = F::splat(piece.factor);
    let ends = [space.point(&piece.ends[0]), space.point(&piece.ends[1])];
    let along = sub3(ends[1], ends[0]);
    let distance = dot3(along, along).sqrt();
    let long = F::splat(TINY).lt(distance);
    let scale = (factor / distance).keep(long);
    // Without a direction it is the first axis, as libmujoco has it.
    let direction = select3(long, scale3(along, scale), [factor, F::zero(), F::zero()]);
    let chains = [piece.ends[0].chain, piece.ends[1].chain];
    for (k, entry) in jacobian.iter_mut().enumerate() {
        let moves = [chains[0] >> k & 1 == 1, chains[1] >> k & 1 == 1];
        if moves[0] == moves[1] {
            // Both ends move alike but for the distance between them, which a rotation does not change.
            continue;
        }
        let end = usize::from(moves[1]);
        let (motion, _) = space.motion(model, k, ends[end]);
        let rate = dot3(direction, motion);
        *entry = if end == 1 { *entry + rate } else { *entry - rate };
    }
    distance.mul_add(factor, length)
}
