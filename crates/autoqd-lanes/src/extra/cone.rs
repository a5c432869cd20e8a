//! One contact with a cone: its cost, force and curvature as functions of its motion u = J a - aref in its basis: along the
//! normal, along two tangents, about the normal, about the tangents.

use crate::model::Cone;
use crate::respond::NO_CONTACT;
use crate::simd::{LANES, Lane, Mask};
use crate::vector::*;

/// Directions of a contact: three of motion, three of rotation.
pub(crate) const DIRECTIONS: usize = 6;
/// Entries of a symmetric matrix over them, row by row of its lower triangle.
const ENTRIES: usize = DIRECTIONS * (DIRECTIONS + 1) / 2;

/// A motion in the basis of a contact.
pub(crate) type Basis<F> = [F; DIRECTIONS];

/// The `s`-th contact of this kind of each lane, of whatever geoms.
#[derive(Clone)]
pub(crate) struct Cone6<F> {
    pub(crate) point: V3<F>,
    pub(crate) normal: V3<F>,
    pub(crate) tangent: V3<F>,
    /// The most directions that the contact of any lane has.
    pub(crate) directions: usize,
    /// Coefficient of friction of every direction; of the normal that of the regularised cone.
    pub(crate) friction: Basis<F>,
    /// Weight of every direction (of a pyramid: of its two edges); zero where a lane does not use it.
    pub(crate) weights: Basis<F>,
    /// Curvature across the middle zone of an elliptic cone.
    pub(crate) middle: F,
    pub(super) restoring: F,
    pub(super) damping: [F; 2],
    pub(crate) references: Basis<F>,
    /// J a - aref at the solver's point, and J p along its direction.
    pub(crate) residuals: Basis<F>,
    pub(crate) slopes: Basis<F>,
    /// J a - aref at the warm start and at the unconstrained acceleration.
    pub(crate) at_warm: Basis<F>,
    pub(crate) at_smooth: Basis<F>,
    pub(crate) forces: Basis<F>,
    pub(super) curvature: [F; ENTRIES],
    pub(super) forward: [u64; LANES],
    pub(super) backward: [u64; LANES],
    pub(crate) ids: [u32; LANES],
    pub(crate) touched: u64,
    /// Lanes that have it and solve for it now; nothing is computed where there are none.
    pub(crate) acting: u8,
}

impl<F: Lane> Cone6<F> {
    /// A contact that no lane has: it adds exact zeros.
    #[inline(always)]
    pub(super) fn empty() -> Self {
        let (zero, one, zeros) = (F::zero(), F::one(), [F::zero(); DIRECTIONS]);
        Self {
            point: zero3(),
            normal: [one, zero, zero],
            tangent: zero3(),
            directions: 3,
            friction: zeros,
            weights: zeros,
            middle: zero,
            restoring: zero,
            damping: [zero; 2],
            references: zeros,
            residuals: zeros,
            slopes: zeros,
            at_warm: zeros,
            at_smooth: zeros,
            forces: zeros,
            curvature: [zero; ENTRIES],
            forward: [0; LANES],
            backward: [0; LANES],
            ids: [NO_CONTACT; LANES],
            touched: 0,
            acting: 0,
        }
    }

    /// Forgets all that is not written before it is read, so that nothing of an earlier evaluation remains, not even a NaN.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        let (zero, zeros) = (F::zero(), [F::zero(); DIRECTIONS]);
        self.directions = 3;
        (self.friction, self.weights) = (zeros, zeros);
        (self.middle, self.restoring, self.damping) = (zero, zero, [zero; 2]);
        (self.forward, self.backward, self.ids) = ([0; LANES], [0; LANES], [NO_CONTACT; LANES]);
        (self.touched, self.acting) = (0, 0);
        // Of directions that only other contacts of the slot have.
        (self.references, self.residuals, self.slopes) = (zeros, zeros, zeros);
    }

    /// The degrees of freedom that the contact of one lane acts on.
    pub(crate) fn touched_by(&self, lane: usize) -> u64 {
        self.forward[lane] | self.backward[lane]
    }

    /// The zone of an elliptic cone: its motion along and across the cone, and the lanes below and beside it.
    #[inline(always)]
    fn zone(&self, u: &Basis<F>) -> Zone<F> {
        let mu = self.friction[0];
        let along = u[0] * mu;
        let mut scaled = [F::zero(); DIRECTIONS];
        let mut squared = F::zero();
        for i in 1..self.directions {
            scaled[i] = u[i] * self.friction[i];
            squared = scaled[i].mul_add(scaled[i], squared);
        }
        let across = squared.sqrt();
        let top = (mu * across).le(along);
        let bottom = mu.mul_add(along, across).le(F::zero()).and(top.not());
        let middle = top.or(bottom).not();
        Zone { excess: mu.neg_mul_add(across, along), along, across, scaled, bottom, middle }
    }

    /// The cost at a motion.
    #[inline(always)]
    pub(super) fn cost(&self, cone: Cone, u: &Basis<F>) -> F {
        let (zero, half) = (F::zero(), F::splat(0.5));
        let mut sum = zero;
        if cone == Cone::Pyramidal {
            for i in 1..self.directions {
                let [z, w] = self.edges(i, u);
                let (z, w) = (z.min(zero), w.min(zero));
                sum = (z.mul_add(z, w * w)).mul_add(self.weights[i], sum);
            }
            return sum * half;
        }
        let zone = self.zone(u);
        for i in 0..self.directions {
            sum = (self.weights[i] * u[i]).mul_add(u[i], sum);
        }
        let beside = (self.middle * zone.excess * zone.excess).keep(zone.middle);
        (sum.keep(zone.bottom) + beside) * half
    }

    /// The two edges of a pyramid in one direction.
    #[inline(always)]
    fn edges(&self, i: usize, u: &Basis<F>) -> [F; 2] {
        let mu = self.friction[i];
        [mu.mul_add(u[i], u[0]), mu.neg_mul_add(u[i], u[0])]
    }

    /// Writes the forces and the curvature at the solver's point.
    #[inline(always)]
    pub(super) fn respond(&mut self, cone: Cone) {
        self.curvature = [F::zero(); ENTRIES];
        self.forces = [F::zero(); DIRECTIONS];
        match cone {
            Cone::Pyramidal => self.respond_as_pyramid(),
            Cone::Elliptic => self.respond_as_ellipse(),
        }
    }

    #[inline(always)]
    fn respond_as_pyramid(&mut self) {
        let zero = F::zero();
        for i in 1..self.directions {
            let (weight, mu) = (self.weights[i], self.friction[i]);
            let edges = self.edges(i, &self.residuals);
            let f = [-(weight * edges[0].min(zero)), -(weight * edges[1].min(zero))];
            let active = [weight.keep(edges[0].lt(zero)), weight.keep(edges[1].lt(zero))];
            self.forces[0] = self.forces[0] + (f[0] + f[1]);
            self.forces[i] = mu * (f[0] - f[1]);
            let sum = active[0] + active[1];
            self.curvature[0] = self.curvature[0] + sum;
            self.curvature[entry(i, 0)] = mu * (active[0] - active[1]);
            self.curvature[entry(i, i)] = mu * mu * sum;
        }
    }

    #[inline(always)]
    fn respond_as_ellipse(&mut self) {
        let zone = self.zone(&self.residuals);
        let mu = self.friction[0];
        for i in 0..self.directions {
            self.forces[i] = -(self.weights[i] * self.residuals[i]).keep(zone.bottom);
            self.curvature[entry(i, i)] = self.weights[i].keep(zone.bottom);
        }
        if !zone.middle.any() {
            return;
        }
        let inverse = (F::one() / zone.across).keep(zone.middle);
        let pull = (self.middle * zone.excess * mu).keep(zone.middle);
        self.forces[0] = self.forces[0] - pull;
        for i in 1..self.directions {
            let push = pull * inverse * zone.scaled[i] * self.friction[i];
            self.forces[i] = self.forces[i] + push;
        }
        // The curvature of 1/2 (N - mu T)^2 over the scaled motion, with T the length of its part across.
        let middle = self.middle.keep(zone.middle);
        let bend = mu * zone.along * inverse;
        let straight = mu.mul_add(mu, -bend);
        let outer = bend * inverse * inverse;
        self.curvature[0] = (middle * mu).mul_add(mu, self.curvature[0]);
        for i in 1..self.directions {
            let scale = middle * self.friction[i];
            let cross = -(mu * inverse * zone.scaled[i]);
            self.curvature[entry(i, 0)] = scale * mu * cross;
            for j in 1..=i {
                let mut bent = outer * zone.scaled[i] * zone.scaled[j];
                if i == j {
                    bent = bent + straight;
                }
                let old = self.curvature[entry(i, j)];
                self.curvature[entry(i, j)] = (scale * self.friction[j]).mul_add(bent, old);
            }
        }
    }

    /// Cost, slope and curvature along the direction at a step.
    #[inline(always)]
    pub(super) fn along(&self, cone: Cone, step: F) -> [F; 3] {
        let zero = F::zero();
        let mut u = [zero; DIRECTIONS];
        for i in 0..self.directions {
            u[i] = step.mul_add(self.slopes[i], self.residuals[i]);
        }
        let cost = self.cost(cone, &u);
        let (mut slope, mut curvature) = (zero, zero);
        if cone == Cone::Pyramidal {
            for i in 1..self.directions {
                let (at, rates) = (self.edges(i, &u), self.edges(i, &self.slopes));
                for (z, rate) in [(at[0], rates[0]), (at[1], rates[1])] {
                    let weighted = (self.weights[i] * rate).keep(z.lt(zero));
                    slope = weighted.mul_add(z, slope);
                    curvature = weighted.mul_add(rate, curvature);
                }
            }
            return [cost, slope, curvature];
        }
        let zone = self.zone(&u);
        for i in 0..self.directions {
            let weighted = self.weights[i] * self.slopes[i];
            slope = weighted.mul_add(u[i], slope);
            curvature = weighted.mul_add(self.slopes[i], curvature);
        }
        (slope, curvature) = (slope.keep(zone.bottom), curvature.keep(zone.bottom));
        if zone.middle.any() {
            let mu = self.friction[0];
            let (mut mixed, mut squared) = (zero, zero);
            for i in 1..self.directions {
                let rate = self.slopes[i] * self.friction[i];
                mixed = zone.scaled[i].mul_add(rate, mixed);
                squared = rate.mul_add(rate, squared);
            }
            let inverse = F::one() / zone.across;
            let first = mixed * inverse;
            let second = squared * inverse - first * first * inverse;
            let rate = mu.neg_mul_add(first, self.slopes[0] * mu);
            let bend = (mu * second).neg_mul_add(zone.excess, rate * rate);
            slope = slope + (self.middle * zone.excess * rate).keep(zone.middle);
            curvature = curvature + (self.middle * bend).keep(zone.middle);
        }
        [cost, slope, curvature]
    }
}

/// Where a motion is relative to an elliptic cone.
struct Zone<F: Lane> {
    /// N - mu T.
    excess: F,
    along: F,
    across: F,
    scaled: Basis<F>,
    bottom: F::Mask,
    middle: F::Mask,
}

/// Where an entry of the lower triangle is.
const fn entry(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// J x
#[inline(always)]
pub(super) fn times<F: Lane>(slot: &Cone6<F>, jacobian: &[Basis<F>], x: &[F]) -> Basis<F> {
    let mut v = [F::zero(); DIRECTIONS];
    let mut touched = slot.touched;
    while touched != 0 {
        let k = touched.trailing_zeros() as usize;
        touched &= touched - 1;
        for i in 0..slot.directions {
            v[i] = jacobian[k][i].mul_add(x[k], v[i]);
        }
    }
    v
}

/// The curvature matrix times one column of the Jacobian.
#[inline(always)]
pub(super) fn curved<F: Lane>(directions: usize, curvature: &[F; ENTRIES], j: &Basis<F>) -> Basis<F> {
    let mut out = [F::zero(); DIRECTIONS];
    for r in 0..directions {
        for c in 0..r {
            let w = curvature[entry(r, c)];
            out[r] = w.mul_add(j[c], out[r]);
            out[c] = w.mul_add(j[r], out[c]);
        }
        out[r] = curvature[entry(r, r)].mul_add(j[r], out[r]);
    }
    out
}

/// Makes the Jacobian of a contact from the motion of its basis: each lane keeps the degrees of freedom that move its own
/// two bodies, and the others are not read. Writes the reference accelerations.
#[inline(always)]
pub(crate) fn finish_cone<F: Lane>(slot: &mut Cone6<F>, jacobian: &mut [Basis<F>], qvel: &[F]) {
    let mut velocity = [F::zero(); DIRECTIONS];
    let mut touched = slot.touched;
    while touched != 0 {
        let k = touched.trailing_zeros() as usize;
        touched &= touched - 1;
        let (entry, v) = (&mut jacobian[k], qvel[k]);
        let ahead = F::lanes_with_bit(&slot.forward, k);
        let back = F::lanes_with_bit(&slot.backward, k);
        for i in 0..DIRECTIONS {
            entry[i] = entry[i].keep(ahead) - entry[i].keep(back);
            velocity[i] = entry[i].mul_add(v, velocity[i]);
        }
    }
    slot.references[0] = slot.damping[0].neg_mul_add(velocity[0], slot.restoring);
    for i in 1..DIRECTIONS {
        slot.references[i] = -(slot.damping[1] * velocity[i]);
    }
}
