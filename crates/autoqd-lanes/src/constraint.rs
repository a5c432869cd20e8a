//! Constraint rows: limits of single joints, and contacts compacted per lane.

use crate::compile::{Compiled, ContactLaw, Impedance, LimitPlan, Side};
use crate::simd::{LANES, Lane, Mask};

/// MuJoCo's smallest regularisation.
const LEAST_REGULARIZATION: f64 = 1e-15;

/// Impedance at a distance from the margin.
#[inline(always)]
pub(crate) fn impedance<F: Lane>(law: &Impedance, distance: F) -> F {
    let start = F::splat(law.start);
    let Some(inverse_width) = law.inverse_width else { return start };
    let one = F::one();
    let x = distance.abs() * F::splat(inverse_width);
    let y = if law.power == 1.0 {
        x
    } else {
        let rest = one - x;
        let below = F::splat(law.below) * power(x, law.power);
        let above = one - F::splat(law.above) * power(rest, law.power);
        F::select(x.le(F::splat(law.midpoint)), below, above)
    };
    F::select(one.le(x), one, y).mul_add(F::splat(law.rise), start)
}

#[inline(always)]
fn power<F: Lane>(x: F, exponent: f64) -> F {
    if exponent == 2.0 {
        return x * x;
    }
    let mut lanes = x.to_array();
    for x in &mut lanes {
        *x = x.max(0.0).powf(exponent);
    }
    F::from_array(lanes)
}

/// The stiffness of a row, from its impedance: 1 / R with R = (1 - d)/d weight factor.
#[inline(always)]
pub(crate) fn row_weight<F: Lane>(impedance: F, weight: f64, factor: f64) -> F {
    let regularization = (F::one() - impedance) * F::splat(weight) / impedance;
    F::one() / (regularization.max(F::splat(LEAST_REGULARIZATION)) * F::splat(factor))
}

/// Rows of joint limits: each is one entry, +1 or -1, of one degree of freedom.
pub(crate) struct Limits<F> {
    pub(crate) count: usize,
    /// Lanes in which any limit acts.
    pub(crate) lanes: u8,
    pub(crate) freedoms: Vec<usize>,
    pub(crate) signs: Vec<F>,
    /// Zero in lanes where the limit does not act.
    pub(crate) weights: Vec<F>,
    pub(crate) references: Vec<F>,
    /// J a - aref at the solver's point, and J p along its direction.
    pub(crate) residuals: Vec<F>,
    pub(crate) slopes: Vec<F>,
    /// J a at the warm start and at the unconstrained acceleration.
    pub(crate) at_warm: Vec<F>,
    pub(crate) at_smooth: Vec<F>,
}

impl<F: Lane> Limits<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let column = || vec![F::zero(); model.limits.len()];
        Self {
            count: 0,
            lanes: 0,
            freedoms: vec![0; model.limits.len()],
            signs: column(),
            weights: column(),
            references: column(),
            residuals: column(),
            slopes: column(),
            at_warm: column(),
            at_smooth: column(),
        }
    }

    /// Finds the limits that act in any lane.
    #[inline(always)]
    pub(crate) fn find(&mut self, model: &Compiled, qpos: &[F], qvel: &[F]) {
        self.count = 0;
        self.lanes = 0;
        for limit in &model.limits {
            let (distance, sign) = limit_distance(limit, qpos[limit.coordinate]);
            let active = distance.lt(F::splat(limit.margin));
            if !active.any() {
                continue;
            }
            let n = self.count;
            self.count += 1;
            self.lanes |= active.bits();
            let beyond = distance - F::splat(limit.margin);
            let d = impedance(&limit.law.impedance, beyond);
            let velocity = sign * qvel[limit.freedom];
            self.freedoms[n] = limit.freedom;
            self.signs[n] = sign;
            self.weights[n] = row_weight(d, limit.weight, 1.0).keep(active);
            let restoring = d * beyond * F::splat(limit.law.stiffness);
            // Where the limit does not act nothing of it may remain, not even a NaN.
            self.references[n] = (-velocity.mul_add(F::splat(limit.law.damping), restoring)).keep(active);
        }
    }

    /// J x of every row.
    #[inline(always)]
    pub(crate) fn apply(count: usize, signs: &[F], freedoms: &[usize], x: &[F], out: &mut [F]) {
        for ((out, &sign), &k) in out[..count].iter_mut().zip(signs).zip(freedoms) {
            *out = sign * x[k];
        }
    }
}

/// Distance from the limit, and the sense in which the coordinate leaves it.
#[inline(always)]
fn limit_distance<F: Lane>(limit: &LimitPlan, q: F) -> (F, F) {
    let one = F::one();
    let (above, below) = (q - F::splat(limit.range[0]), F::splat(limit.range[1]) - q);
    match limit.side {
        Side::Lower => (above, one),
        Side::Upper => (below, -one),
        Side::Nearer => (above.min(below), F::select(above.lt(below), one, -one)),
    }
}

/// Contacts in a space of `D` dimensions. Slot `s` is the `s`-th contact of each lane, of whatever geoms, so that
/// the cost follows the lane with most contacts and not the union of all.
///
/// The basis of a contact is its normal and `D - 1` tangents. Its rows are normal plus and minus friction times
/// each tangent; in the plane the second tangent does nothing, and its two rows coincide in one of double weight.
pub(crate) struct Contacts<F, const D: usize> {
    pub(crate) count: usize,
    pub(crate) used: [usize; LANES],
    pub(crate) points: Vec<[F; D]>,
    pub(crate) normals: Vec<[F; D]>,
    pub(crate) tangents: Vec<[F; D]>,
    pub(crate) frictions: Vec<F>,
    /// Stiffness of each row; zero in lanes that do not use the slot.
    pub(crate) weights: Vec<F>,
    /// The part of the reference acceleration that does not depend on the velocity, and the damping.
    pub(crate) restoring: Vec<F>,
    pub(crate) damping: Vec<F>,
    /// Per lane: degrees of freedom that move only the second body, only the first, and the contact's number.
    pub(crate) forward: Vec<[u64; LANES]>,
    pub(crate) backward: Vec<[u64; LANES]>,
    pub(crate) ids: Vec<[u32; LANES]>,
    /// Degrees of freedom that act in any lane.
    pub(crate) touched: Vec<u64>,
    /// Whether a contact of any lane couples two branches of the tree.
    pub(crate) couples_branches: bool,
    /// Whether every normal is along the first axis (the floor's, in planar models).
    pub(crate) upright: bool,
    /// Jacobian of the basis: slot by slot, one entry per degree of freedom.
    pub(crate) jacobian: Vec<[F; D]>,
    pub(crate) references: Vec<[F; 4]>,
    pub(crate) residuals: Vec<[F; 4]>,
    pub(crate) slopes: Vec<[F; 4]>,
    pub(crate) at_warm: Vec<[F; 4]>,
    pub(crate) at_smooth: Vec<[F; 4]>,
    /// The Hessian of a contact's cost in its basis: nn, n1, 11, n2, 22.
    pub(crate) curvature: Vec<[F; 5]>,
    freedoms: usize,
}

/// What a collision found.
pub(crate) struct Found<F, const D: usize> {
    pub(crate) distance: F,
    pub(crate) point: [F; D],
    pub(crate) normal: [F; D],
    pub(crate) tangent: [F; D],
}

/// The id of a slot's lane that holds no contact.
pub(crate) const NO_CONTACT: u32 = u32::MAX;

impl<F: Lane, const D: usize> Contacts<F, D> {
    /// Rows per contact that are stored.
    pub(crate) const ROWS: usize = if D == 2 { 3 } else { 4 };

    pub(crate) fn new(model: &Compiled) -> Self {
        let slots = model.most_contacts();
        let (basis, rows) = ([F::zero(); D], [F::zero(); 4]);
        Self {
            count: 0,
            used: [0; LANES],
            points: vec![basis; slots],
            normals: vec![basis; slots],
            tangents: vec![basis; slots],
            frictions: vec![F::zero(); slots],
            weights: vec![F::zero(); slots],
            restoring: vec![F::zero(); slots],
            damping: vec![F::zero(); slots],
            forward: vec![[0; LANES]; slots],
            backward: vec![[0; LANES]; slots],
            ids: vec![[NO_CONTACT; LANES]; slots],
            touched: vec![0; slots],
            couples_branches: false,
            upright: true,
            jacobian: vec![basis; slots * model.freedoms()],
            references: vec![rows; slots],
            residuals: vec![rows; slots],
            slopes: vec![rows; slots],
            at_warm: vec![rows; slots],
            at_smooth: vec![rows; slots],
            curvature: vec![[F::zero(); 5]; slots],
            freedoms: model.freedoms(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.used = [0; LANES];
        self.couples_branches = false;
        self.upright = true;
    }

    /// Lanes that have a contact.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> u8 {
        (0..LANES).fold(0, |bits, lane| bits | (u8::from(self.used[lane] > 0) << lane))
    }

    /// The Jacobian of slot `s`.
    #[inline(always)]
    pub(crate) fn rows_of(&self, s: usize) -> &[[F; D]] {
        &self.jacobian[s * self.freedoms..(s + 1) * self.freedoms]
    }

    /// Adds contact `id` in the lanes of `active`.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: usize, law: &ContactLaw, active: F::Mask, found: Found<F, D>) {
        let beyond = found.distance - F::splat(law.margin);
        let d = impedance(&law.law.impedance, beyond);
        let weight = row_weight(d, law.weight, law.pyramid);
        let restoring = d * beyond * F::splat(-law.law.stiffness);
        self.couples_branches |= law.couples_branches();
        let mut pending = active.bits();
        while pending != 0 {
            let (s, group) = self.take_slot(&mut pending);
            let mask = F::Mask::from_bits(group);
            for i in 0..D {
                put(mask, found.point[i], &mut self.points[s][i]);
                put(mask, found.normal[i], &mut self.normals[s][i]);
                put(mask, found.tangent[i], &mut self.tangents[s][i]);
            }
            put(mask, F::splat(law.friction), &mut self.frictions[s]);
            put(mask, weight, &mut self.weights[s]);
            put(mask, restoring, &mut self.restoring[s]);
            put(mask, F::splat(law.law.damping), &mut self.damping[s]);
            self.touched[s] |= law.forward | law.backward;
            for lane in lanes_of(group) {
                self.forward[s][lane] = law.forward;
                self.backward[s][lane] = law.backward;
                self.ids[s][lane] = id as u32;
            }
        }
    }

    /// The next free slot of the first pending lane, and all pending lanes for which it is the next.
    #[inline(always)]
    pub(crate) fn take_slot(&mut self, pending: &mut u8) -> (usize, u8) {
        let s = self.used[pending.trailing_zeros() as usize];
        let mut group = 0;
        for lane in lanes_of(*pending) {
            if self.used[lane] == s {
                group |= 1 << lane;
                self.used[lane] = s + 1;
            }
        }
        *pending &= !group;
        if s == self.count {
            self.open(s);
        }
        (s, group)
    }

    /// Clears a slot: lanes that do not use it must add exact zeros, whatever an earlier evaluation left there.
    #[inline(always)]
    fn open(&mut self, s: usize) {
        self.count = s + 1;
        let zero = F::zero();
        self.points[s] = [zero; D];
        self.normals[s] = [zero; D];
        self.normals[s][0] = F::one();
        self.tangents[s] = [zero; D];
        self.frictions[s] = zero;
        self.weights[s] = zero;
        self.restoring[s] = zero;
        self.damping[s] = zero;
        self.forward[s] = [0; LANES];
        self.backward[s] = [0; LANES];
        self.ids[s] = [NO_CONTACT; LANES];
        self.touched[s] = 0;
    }

    /// The Jacobian of slot `s`, to write the motion of its basis per degree of freedom, where `touched` has a bit.
    #[inline(always)]
    pub(crate) fn basis_of(&mut self, s: usize) -> &mut [[F; D]] {
        &mut self.jacobian[s * self.freedoms..(s + 1) * self.freedoms]
    }

    /// Makes the Jacobian of slot `s` from the motion of its basis: each lane keeps the degrees of freedom that move
    /// its own two bodies. Writes the reference accelerations.
    #[inline(always)]
    pub(crate) fn finish_slot(&mut self, s: usize, qvel: &[F]) {
        let (forward, backward) = (&self.forward[s], &self.backward[s]);
        let mut pushes_back = 0;
        for word in backward {
            pushes_back |= word;
        }
        let touched = self.touched[s];
        let jacobian = &mut self.jacobian[s * self.freedoms..(s + 1) * self.freedoms];
        let mut velocity = [F::zero(); D];
        for (k, (entry, &v)) in jacobian.iter_mut().zip(qvel).enumerate() {
            if touched >> k & 1 == 0 {
                *entry = [F::zero(); D];
                continue;
            }
            let ahead = F::lanes_with_bit(forward, k);
            for i in 0..D {
                let basis = entry[i];
                entry[i] = basis.keep(ahead);
                if pushes_back != 0 {
                    entry[i] = entry[i] - basis.keep(F::lanes_with_bit(backward, k));
                }
                velocity[i] = entry[i].mul_add(v, velocity[i]);
            }
        }
        let damping = self.damping[s];
        let rows = pyramid(self.frictions[s], velocity);
        for i in 0..4 {
            self.references[s][i] = damping.neg_mul_add(rows[i], self.restoring[s]);
        }
    }

    /// J x of every row.
    #[inline(always)]
    pub(crate) fn apply(count: usize, jacobian: &[[F; D]], frictions: &[F], x: &[F], out: &mut [[F; 4]]) {
        let n = x.len();
        for s in 0..count {
            let mut v = [F::zero(); D];
            for (j, &x) in jacobian[s * n..(s + 1) * n].iter().zip(x) {
                for i in 0..D {
                    v[i] = j[i].mul_add(x, v[i]);
                }
            }
            out[s] = pyramid(frictions[s], v);
        }
    }

    /// How often row `i` counts.
    #[inline(always)]
    pub(crate) fn multiplied(i: usize, weight: F) -> F {
        if D == 2 && i == 2 { weight + weight } else { weight }
    }
}

/// Writes the lanes of a mask.
#[inline(always)]
fn put<F: Lane>(mask: F::Mask, new: F, old: &mut F) {
    *old = F::select(mask, new, *old);
}

/// The lanes of a set.
#[inline(always)]
pub(crate) fn lanes_of(bits: u8) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| bits >> lane & 1 == 1)
}

/// Normal plus and minus friction times each tangent.
#[inline(always)]
fn pyramid<F: Lane, const D: usize>(friction: F, v: [F; D]) -> [F; 4] {
    let first = [friction.mul_add(v[1], v[0]), friction.neg_mul_add(v[1], v[0])];
    if D == 2 {
        [first[0], first[1], v[0], v[0]]
    } else {
        [first[0], first[1], friction.mul_add(v[2], v[0]), friction.neg_mul_add(v[2], v[0])]
    }
}
