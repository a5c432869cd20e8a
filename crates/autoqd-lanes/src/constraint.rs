//! Constraint rows: limits of single joints, and contacts compacted per lane.

use crate::compile::{Compiled, ContactLaw, LimitPlan, Side};
use crate::extra::Extra;
use crate::respond::{NO_CONTACT, impedance, lanes_of, put, row_weight};
use crate::simd::{LANES, Lane, Mask};

/// A joint limit: its row of the Jacobian is one entry, +1 or -1.
#[derive(Clone)]
pub(crate) struct LimitRow<F> {
    pub(crate) freedom: usize,
    pub(crate) sign: F,
    /// Zero in lanes where the limit does not act.
    pub(crate) weight: F,
    pub(crate) reference: F,
    /// J a - aref at the solver's point, and J p along its direction.
    pub(crate) residual: F,
    pub(crate) slope: F,
    /// J a - aref at the warm start and at the unconstrained acceleration.
    pub(crate) at_warm: F,
    pub(crate) at_smooth: F,
}

/// The limits that act in any lane.
pub(crate) struct Limits<F> {
    rows: Vec<LimitRow<F>>,
    count: usize,
    /// Lanes in which any limit acts.
    pub(crate) lanes: u8,
}

impl<F: Lane> Limits<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        let zero = F::zero();
        let row = LimitRow {
            freedom: 0,
            sign: zero,
            weight: zero,
            reference: zero,
            residual: zero,
            slope: zero,
            at_warm: zero,
            at_smooth: zero,
        };
        Self { rows: vec![row; model.limits.len()], count: 0, lanes: 0 }
    }

    #[inline(always)]
    pub(crate) fn rows(&self) -> &[LimitRow<F>] {
        &self.rows[..self.count]
    }

    #[inline(always)]
    pub(crate) fn rows_mut(&mut self) -> &mut [LimitRow<F>] {
        &mut self.rows[..self.count]
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
            self.lanes |= active.bits();
            let beyond = distance - F::splat(limit.margin);
            let d = impedance(&limit.law.impedance, beyond);
            let velocity = sign * qvel[limit.freedom];
            let restoring = d * beyond * F::splat(limit.law.stiffness);
            let row = &mut self.rows[self.count];
            self.count += 1;
            row.freedom = limit.freedom;
            row.sign = sign;
            row.weight = row_weight(d, limit.weight, 1.0).keep(active);
            // Where the limit does not act nothing of it may remain, not even a NaN.
            row.reference = (-velocity.mul_add(F::splat(limit.law.damping), restoring)).keep(active);
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

/// The `s`-th contact of each lane, of whatever geoms.
#[derive(Clone)]
pub(crate) struct Slot<F, const D: usize> {
    pub(crate) point: [F; D],
    pub(crate) normal: [F; D],
    pub(crate) tangent: [F; D],
    pub(crate) friction: F,
    /// Stiffness of each row; zero in lanes that do not use the slot.
    pub(crate) weight: F,
    /// The part of the reference acceleration that does not depend on the velocity, and the damping.
    restoring: F,
    damping: F,
    pub(crate) references: [F; 4],
    /// J a - aref at the solver's point, and J p along its direction.
    pub(crate) residuals: [F; 4],
    pub(crate) slopes: [F; 4],
    /// J a - aref at the warm start and at the unconstrained acceleration.
    pub(crate) at_warm: [F; 4],
    pub(crate) at_smooth: [F; 4],
    /// The Hessian of the contact's cost in its basis: nn, n1, 11, n2, 22.
    pub(crate) curvature: [F; 5],
    /// Per lane: degrees of freedom that move only the second body, only the first, and the contact's number.
    forward: [u64; LANES],
    backward: [u64; LANES],
    pub(crate) ids: [u32; LANES],
    /// Degrees of freedom that act in any lane.
    pub(crate) touched: u64,
}

impl<F: Lane, const D: usize> Slot<F, D> {
    /// A slot that no lane uses: it adds exact zeros.
    #[inline(always)]
    fn empty() -> Self {
        let (zero, rows) = (F::zero(), [F::zero(); 4]);
        let mut normal = [zero; D];
        normal[0] = F::one();
        Self {
            point: [zero; D],
            normal,
            tangent: [zero; D],
            friction: zero,
            weight: zero,
            restoring: zero,
            damping: zero,
            references: rows,
            residuals: rows,
            slopes: rows,
            at_warm: rows,
            at_smooth: rows,
            curvature: [zero; 5],
            forward: [0; LANES],
            backward: [0; LANES],
            ids: [NO_CONTACT; LANES],
            touched: 0,
        }
    }
}

impl<F: Lane, const D: usize> Slot<F, D> {
    /// Makes a slot one that no lane uses. What every evaluation writes in all lanes stays: residuals, slopes, curvature.
    #[inline(always)]
    fn clear(&mut self) {
        let zero = F::zero();
        self.point = [zero; D];
        self.normal = [zero; D];
        self.normal[0] = F::one();
        self.tangent = [zero; D];
        (self.friction, self.weight) = (zero, zero);
        (self.restoring, self.damping) = (zero, zero);
        self.references = [zero; 4];
        (self.forward, self.backward) = ([0; LANES], [0; LANES]);
        self.ids = [NO_CONTACT; LANES];
        self.touched = 0;
    }
}

impl<F, const D: usize> Slot<F, D> {
    /// The degrees of freedom that the contact of one lane acts on.
    #[inline(always)]
    pub(crate) fn touched_by(&self, lane: usize) -> u64 {
        self.forward[lane] | self.backward[lane]
    }
}

/// Contacts in a space of `D` dimensions, compacted per lane, so that the cost follows the lane with most contacts
/// and not the union of all.
///
/// The basis of a contact is its normal and `D - 1` tangents. Its rows are normal plus and minus friction times
/// each tangent; in the plane the second tangent does nothing, and its two rows coincide in one of double weight.
pub(crate) struct Contacts<F, const D: usize> {
    slots: Vec<Slot<F, D>>,
    count: usize,
    used: [usize; LANES],
    /// Whether a contact of any lane couples two branches of the tree.
    pub(crate) couples_branches: bool,
    /// Whether every normal is along the first axis (the floor's, in planar models).
    pub(crate) upright: bool,
    /// Jacobian of the basis: slot by slot, one entry per degree of freedom.
    jacobian: Vec<[F; D]>,
    freedoms: usize,
    /// Constraints that few models have.
    pub(crate) extra: Extra<F>,
    has_cones: bool,
}

/// What a collision found.
pub(crate) struct Found<F, const D: usize> {
    pub(crate) distance: F,
    pub(crate) point: [F; D],
    pub(crate) normal: [F; D],
    pub(crate) tangent: [F; D],
}

impl<F: Lane, const D: usize> Contacts<F, D> {
    /// Rows per contact that are stored.
    pub(crate) const ROWS: usize = if D == 2 { 3 } else { 4 };

    pub(crate) fn new(model: &Compiled) -> Self {
        let slots = model.most_contacts();
        Self {
            slots: vec![Slot::empty(); slots],
            count: 0,
            used: [0; LANES],
            couples_branches: false,
            upright: true,
            jacobian: vec![[F::zero(); D]; slots * model.freedoms()],
            freedoms: model.freedoms(),
            extra: Extra::new(model),
            has_cones: model.cones,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.used = [0; LANES];
        self.couples_branches = false;
        self.upright = true;
        if self.has_cones {
            self.extra.cones.clear();
        }
    }

    /// Lanes that have a contact.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> u8 {
        (0..LANES).fold(0, |bits, lane| bits | (u8::from(self.used[lane] > 0) << lane))
    }

    /// The slots in use.
    #[inline(always)]
    pub(crate) fn slots(&self) -> &[Slot<F, D>] {
        &self.slots[..self.count]
    }

    #[inline(always)]
    pub(crate) fn slots_mut(&mut self) -> &mut [Slot<F, D>] {
        &mut self.slots[..self.count]
    }

    /// The slots in use, and the Jacobians: one after the other, an entry per degree of freedom.
    #[inline(always)]
    pub(crate) fn with_jacobians(&mut self) -> (&mut [Slot<F, D>], &mut [[F; D]]) {
        (&mut self.slots[..self.count], &mut self.jacobian[..self.count * self.freedoms])
    }

    /// Adds contact `id` in the lanes of `active`.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: usize, law: &ContactLaw, active: F::Mask, found: &Found<F, D>) {
        self.couples_branches |= law.couples_branches();
        if self.has_cones
            && let Some(cone) = &law.cone
        {
            let mut basis = [[F::zero(); 3]; 3];
            for i in 0..D {
                (basis[0][i], basis[1][i], basis[2][i]) = (found.point[i], found.normal[i], found.tangent[i]);
            }
            self.extra.cones.push(id, law, cone, active, found.distance, basis);
            return;
        }
        let beyond = found.distance - F::splat(law.margin);
        let d = impedance(&law.law.impedance, beyond);
        let weight = row_weight(d, law.weight, law.pyramid);
        let restoring = d * beyond * F::splat(-law.law.stiffness);
        let mut pending = active.bits();
        while pending != 0 {
            let (s, group) = self.take_slot(&mut pending);
            let mask = F::Mask::from_bits(group);
            let slot = &mut self.slots[s];
            for i in 0..D {
                put(mask, found.point[i], &mut slot.point[i]);
                put(mask, found.normal[i], &mut slot.normal[i]);
                put(mask, found.tangent[i], &mut slot.tangent[i]);
            }
            put(mask, F::splat(law.friction), &mut slot.friction);
            put(mask, weight, &mut slot.weight);
            put(mask, restoring, &mut slot.restoring);
            put(mask, F::splat(law.law.damping), &mut slot.damping);
            slot.touched |= law.forward | law.backward;
            for lane in lanes_of(group) {
                slot.forward[lane] = law.forward;
                slot.backward[lane] = law.backward;
                slot.ids[lane] = id as u32;
            }
        }
    }

    /// Adds a row over three degrees of freedom from `freedom` on, in the lanes of `pending`; Jacobians must be
    /// complete. Its weight is for four coinciding rows.
    #[inline(always)]
    pub(crate) fn push_row(
        &mut self,
        mut pending: u8,
        freedom: usize,
        entries: [F; 3],
        weight: F,
        reference: F,
    ) {
        while pending != 0 {
            let before = self.count;
            let (s, group) = self.take_slot(&mut pending);
            let mask = F::Mask::from_bits(group);
            let jacobian = &mut self.jacobian[s * self.freedoms..(s + 1) * self.freedoms];
            if s == before {
                jacobian.fill([F::zero(); D]);
            }
            for i in 0..3 {
                put(mask, entries[i], &mut jacobian[freedom + i][0]);
            }
            let slot = &mut self.slots[s];
            put(mask, weight, &mut slot.weight);
            for i in 0..4 {
                put(mask, reference, &mut slot.references[i]);
            }
            slot.touched |= 7 << freedom;
            lanes_of(group).for_each(|lane| slot.forward[lane] = 7 << freedom);
        }
    }

    /// The next free slot of the first pending lane, and all pending lanes for which it is the next. A slot is
    /// cleared when it is taken first: nothing of an earlier evaluation may remain, not even a NaN.
    #[inline(always)]
    fn take_slot(&mut self, pending: &mut u8) -> (usize, u8) {
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
            self.count = s + 1;
            self.slots[s].clear();
        }
        (s, group)
    }

    /// The slots in use, and the other constraints.
    #[inline(always)]
    pub(crate) fn with_extra(&mut self) -> (&[Slot<F, D>], &mut Extra<F>) {
        (&self.slots[..self.count], &mut self.extra)
    }

    /// How often row `i` counts.
    #[inline(always)]
    pub(crate) fn multiplied(i: usize, weight: F) -> F {
        if D == 2 && i == 2 { weight + weight } else { weight }
    }
}

/// Makes the Jacobian of a slot from the motion of its basis: each lane keeps the degrees of freedom that move its own
/// two bodies. Writes the reference accelerations.
#[inline(always)]
pub(crate) fn finish_slot<F: Lane, const D: usize>(
    slot: &mut Slot<F, D>,
    jacobian: &mut [[F; D]],
    qvel: &[F],
) {
    let mut pushes_back = 0;
    for word in &slot.backward {
        pushes_back |= word;
    }
    let mut velocity = [F::zero(); D];
    for (k, (entry, &v)) in jacobian.iter_mut().zip(qvel).enumerate() {
        if slot.touched >> k & 1 == 0 {
            *entry = [F::zero(); D];
            continue;
        }
        let ahead = F::lanes_with_bit(&slot.forward, k);
        for i in 0..D {
            let basis = entry[i];
            entry[i] = basis.keep(ahead);
            if pushes_back != 0 {
                entry[i] = entry[i] - basis.keep(F::lanes_with_bit(&slot.backward, k));
            }
            velocity[i] = entry[i].mul_add(v, velocity[i]);
        }
    }
    let rows = pyramid(slot.friction, velocity);
    for i in 0..4 {
        slot.references[i] = slot.damping.neg_mul_add(rows[i], slot.restoring);
    }
}

/// J x of the rows of a contact.
#[inline(always)]
pub(crate) fn times<F: Lane, const D: usize>(slot: &Slot<F, D>, jacobian: &[[F; D]], x: &[F]) -> [F; 4] {
    let x = &x[..jacobian.len()];
    let mut v = [F::zero(); D];
    let mut touched = slot.touched;
    while touched != 0 {
        let k = touched.trailing_zeros() as usize;
        touched &= touched - 1;
        let (j, x) = (&jacobian[k], x[k]);
        for i in 0..D {
            v[i] = j[i].mul_add(x, v[i]);
        }
    }
    pyramid(slot.friction, v)
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
