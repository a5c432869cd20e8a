//! What contacts do to bodies, read from one lane.

use crate::extra::cone::Cone6;
use crate::kernels::Kernels;
use crate::respond::NO_CONTACT;
use crate::rigid::{self, Vec3, cross};
use crate::sim::{Sim, Space};
use crate::simd::Lane;

/// What a contact does to its second body, in world axes.
struct ContactWrench {
    id: usize,
    point: Vec3,
    force: Vec3,
    /// About the point.
    torque: Vec3,
}

fn cone_wrench<F: Lane>(slot: &Cone6<F>, lane: usize) -> Option<ContactWrench> {
    let id = slot.ids[lane];
    let (n, t) = (slot.normal.map(|x| x.get(lane)), slot.tangent.map(|x| x.get(lane)));
    let axes = [n, t, cross(n, t)];
    let along = |first: usize| -> Vec3 {
        std::array::from_fn(|i| (0..3).map(|k| axes[k][i] * slot.forces[first + k].get(lane)).sum())
    };
    (id != NO_CONTACT).then(|| ContactWrench {
        id: id as usize,
        point: slot.point.map(|x| x.get(lane)),
        force: along(0),
        torque: along(3),
    })
}

impl<F: Kernels, S: Space<F, D>, const D: usize> Sim<F, S, D> {
    /// Adds up what the contacts of one lane do to every body: torque about the centre of mass of its tree, and force.
    pub(crate) fn sum_wrenches(&self, lane: usize, out: &mut [[f64; 6]]) {
        out.fill([0.0; 6]);
        let mut center: Option<(usize, Vec3)> = None;
        let extra = self.contacts.extra.cones.slots().len();
        let slots = self.contacts.slots();
        for s in 0..slots.len() + extra {
            let Some(found) = self.contact(s, lane) else { continue };
            let [first, second] = self.model.contacts[found.id].law.bodies;
            for (body, sign) in [(second, 1.0), (first, -1.0)] {
                if body == 0 {
                    continue;
                }
                let root = self.model.frames[body].root;
                let about = match center {
                    Some((known, about)) if known == root => about,
                    _ => self.space.tree_center(&self.model, root, lane),
                };
                center = Some((root, about));
                let torque = cross(rigid::add(found.point, rigid::scale(about, -1.0)), found.force);
                for i in 0..3 {
                    out[body][i] += sign * (torque[i] + found.torque[i]);
                    out[body][3 + i] += sign * found.force[i];
                }
            }
        }
    }

    /// Contact `s` of one lane: those with a pyramid of three rows first, then the others.
    fn contact(&self, s: usize, lane: usize) -> Option<ContactWrench> {
        let slots = self.contacts.slots();
        if s >= slots.len() {
            return cone_wrench(&self.contacts.extra.cones.slots()[s - slots.len()], lane);
        }
        let slot = &slots[s];
        let id = slot.ids[lane];
        (id != NO_CONTACT).then(|| ContactWrench {
            id: id as usize,
            point: S::embed(&self.model, slot.point.map(|x| x.get(lane))),
            force: self.slot_force(s, lane),
            torque: [0.0; 3],
        })
    }

    /// Force of slot `s` in one lane on the second body, in world axes.
    fn slot_force(&self, s: usize, lane: usize) -> Vec3 {
        let slot = &self.contacts.slots()[s];
        let (weight, mu) = (slot.weight.get(lane), slot.friction.get(lane));
        let row = |i: usize| {
            let i = if D == 2 && i == 3 { 2 } else { i };
            -weight * slot.residuals[i].get(lane).min(0.0)
        };
        let f = [row(0), row(1), row(2), row(3)];
        let normal = slot.normal.map(|x| x.get(lane));
        let tangent = slot.tangent.map(|x| x.get(lane));
        let [t1, t2] = S::tangents(&self.model, normal, tangent);
        let n = S::embed(&self.model, normal);
        let along = [f[0] + f[1] + f[2] + f[3], mu * (f[0] - f[1]), mu * (f[2] - f[3])];
        std::array::from_fn(|i| n[i] * along[0] + t1[i] * along[1] + t2[i] * along[2])
    }
}
