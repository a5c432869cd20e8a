//! What finds the contacts of shapes that the engine has no formulas for.

use crate::compile::{Compiled, ContactLaw, Touch};
use crate::extra::clearance::Clearance;
use crate::simd::{LANES, Lane};
use crate::vector::*;

/// A point at which two geoms touch, or nearly so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Touching {
    /// Distance between the surfaces, negative if they overlap.
    pub distance: f64,
    /// Half way between the surfaces.
    pub point: [f64; 3],
    /// Unit normal from the first geom to the second.
    pub normal: [f64; 3],
    /// Unit tangent, or zero if any will do.
    pub tangent: [f64; 3],
}

/// Position and rotation matrix (by rows) of a geom.
pub type GeomPose = ([f64; 3], [f64; 9]);

/// Finds the contacts of pairs whose shapes the engine does not know ([`crate::model::Shape::Other`], and pairs of known
/// shapes without a formula).
pub trait Narrow: Send {
    /// Writes the contacts of a pair of [`crate::model::Model::pairs`] that are nearer than its margin, and returns how
    /// many there are. `found` has room for [`MOST_TOUCHING`].
    fn touch(&mut self, pair: usize, poses: [GeomPose; 2], margin: f64, found: &mut [Touching]) -> usize;

    /// Whether [`Self::distance`] knows about a pair.
    fn knows_distance(&self, _pair: usize) -> bool {
        false
    }

    /// How far the geoms of a pair are apart at least, up to `most`.
    fn distance(&mut self, _pair: usize, _poses: [GeomPose; 2], _most: f64) -> f64 {
        0.0
    }
}

/// The most contacts that two geoms have.
pub const MOST_TOUCHING: usize = 50;

/// Contacts that are kept of a pair, and of all pairs of a world; what a narrow phase finds beyond is left out.
pub(crate) const MOST_OF_PAIR: usize = 8;
pub(crate) const MOST_OF_WORLD: usize = 96;

/// The part of a distance that is relied on, and what is taken off it: a narrow phase finds distances by an iteration.
const SURE: f64 = 0.9;
const LEAST: f64 = 1e-5;

/// The narrow phase with its buffer, and where the geoms of its pairs are.
pub(crate) struct Outside<F> {
    pub(crate) narrow: Option<Box<dyn Narrow>>,
    pub(crate) found: Vec<Touching>,
    pub(crate) centers: Vec<V3<F>>,
    pub(crate) kept: [usize; LANES],
    /// Per pair of the model: how far its geoms are apart, where that can be found.
    pub(crate) clearances: Vec<Option<Clearance<F>>>,
}

impl<F: Lane> Outside<F> {
    pub(crate) fn new(model: &Compiled) -> Self {
        Self {
            narrow: None,
            found: vec![Touching::default(); MOST_TOUCHING],
            centers: vec![zero3(); model.outside.len()],
            kept: [0; LANES],
            clearances: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, model: &Compiled, narrow: Box<dyn Narrow>) {
        let pairs = model.contacts.iter().map(|c| c.law.pair + 1).max().unwrap_or(0);
        self.clearances = (0..pairs).map(|_| None).collect();
        for contact in &model.contacts {
            let (Touch::Outside { pair }, index) = (&contact.touch, contact.law.pair) else { continue };
            if narrow.knows_distance(index) {
                self.clearances[index] = Some(Clearance::new(pair.map(|g| &model.outside[g])));
            }
        }
        self.narrow = Some(narrow);
    }

    /// Writes the contacts of a pair in a lane into [`Self::found`]: how many there are, and how far the geoms are apart
    /// beyond their margin, if that is known. Nothing if the poses are no places.
    pub(crate) fn look(
        &mut self,
        law: &ContactLaw,
        poses: [GeomPose; 2],
        lane: usize,
    ) -> Option<(usize, Option<f64>)> {
        let narrow = self.narrow.as_mut()?;
        if !poses.iter().all(|(x, r)| x.iter().chain(r).all(|v| v.is_finite())) {
            return None;
        }
        let (pair, margin) = (law.pair, law.margin);
        let count = narrow.touch(pair, poses, margin, &mut self.found);
        let room = MOST_OF_PAIR.min(MOST_OF_WORLD - self.kept[lane]);
        let mut found = 0;
        for i in 0..count {
            if self.found[i].distance < margin && found < room {
                self.found[found] = self.found[i];
                found += 1;
            }
        }
        self.kept[lane] += found;
        let wanted = count == 0 && self.clearances[pair].as_mut().is_some_and(|c| c.is_wanted(lane));
        let clear = wanted.then(|| {
            let most = margin + self.clearances[pair].as_ref().map_or(0.0, Clearance::reach);
            SURE * (narrow.distance(pair, poses, most) - margin) - LEAST
        });
        Some((found, clear))
    }
}
