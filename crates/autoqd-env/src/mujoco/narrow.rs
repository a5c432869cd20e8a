//! libmujoco's collision functions as the narrow phase of the lanes engine.

use super::{Data, Model, new_data};
use autoqd_lanes::{GeomPose, MOST_TOUCHING, Narrow, Touching};
use mujoco_rs::mujoco_c::{mjCOLLISIONFUNC, mjModel, mjPreContact, mjfCollision};
use mujoco_rs::prelude::MjtGeomBase;
use std::sync::Arc;

/// Two geoms in the order of their types, and the function for these.
struct Pair {
    geoms: [usize; 2],
    function: mjfCollision,
    /// Whether the function finds the distance of geoms that are apart: that of convex shapes, and planes.
    measures: bool,
}

/// The collision functions of a model's pairs, with a world of their own to put the geoms into.
pub(crate) struct CollisionFunctions {
    data: Data,
    pairs: Vec<Pair>,
    found: Vec<mjPreContact>,
}

impl CollisionFunctions {
    /// Functions for pairs of geoms; `None` if memory is short.
    pub(crate) fn new(model: &Arc<Model>, pairs: &[[usize; 2]]) -> Option<Self> {
        let function = |kinds: [usize; 2]| {
            // SAFETY: libmujoco fills the table before any model is compiled, and nobody writes to it.
            let table = unsafe { &*std::ptr::addr_of!(mjCOLLISIONFUNC) };
            table.get(kinds[0]).and_then(|row| row.get(kinds[1])).copied().flatten()
        };
        let address = |function: mjfCollision| function.map(|f| f as usize);
        let of_convex_shapes = address(function([MjtGeomBase::mjGEOM_MESH as usize; 2]));
        let pair = |&geoms: &[usize; 2]| {
            let kinds = geoms.map(|g| model.geom_type()[g] as usize);
            let function = function(kinds);
            let plane = kinds[0] == MjtGeomBase::mjGEOM_PLANE as usize;
            let measures = plane || address(function) == of_convex_shapes;
            Pair { geoms, function, measures }
        };
        let pairs = pairs.iter().map(pair).collect();
        // SAFETY: plain numbers, for which zeros are a value.
        let empty: mjPreContact = unsafe { std::mem::zeroed() };
        Some(Self { data: new_data(model)?, pairs, found: vec![empty; MOST_TOUCHING] })
    }
}

impl CollisionFunctions {
    /// Writes the contacts of a pair into [`Self::found`], and returns how many there are.
    fn find(&mut self, pair: usize, poses: [GeomPose; 2], margin: f64) -> usize {
        let Pair { geoms, function, .. } = &self.pairs[pair];
        let Some(function) = function else { return 0 };
        let model: *const mjModel = self.data.model().ffi();
        for (&geom, (position, rotation)) in geoms.iter().zip(&poses) {
            // SAFETY: the world has as many geoms as the model, and no other reference to them is alive.
            unsafe {
                let data = self.data.ffi_mut();
                data.geom_xpos.add(3 * geom).copy_from_nonoverlapping(position.as_ptr(), 3);
                data.geom_xmat.add(9 * geom).copy_from_nonoverlapping(rotation.as_ptr(), 9);
            }
        }
        // SAFETY: model and world belong together, the geoms exist and are ordered by type as the table asks, and there
        // is room for as many contacts as libmujoco finds for a pair.
        let count = unsafe {
            let data = self.data.ffi_mut();
            function(model, data, self.found.as_mut_ptr(), geoms[0] as i32, geoms[1] as i32, margin)
        };
        (count.max(0) as usize).min(self.found.len())
    }
}

impl Narrow for CollisionFunctions {
    fn touch(&mut self, pair: usize, poses: [GeomPose; 2], margin: f64, found: &mut [Touching]) -> usize {
        let count = self.find(pair, poses, margin).min(found.len());
        for (to, from) in found.iter_mut().zip(&self.found[..count]) {
            *to =
                Touching { distance: from.dist, point: from.pos, normal: from.normal, tangent: from.tangent };
        }
        count
    }

    fn knows_distance(&self, pair: usize) -> bool {
        self.pairs[pair].measures
    }

    fn distance(&mut self, pair: usize, poses: [GeomPose; 2], most: f64) -> f64 {
        let count = self.find(pair, poses, most);
        self.found[..count].iter().fold(most, |least, found| least.min(found.dist))
    }
}
