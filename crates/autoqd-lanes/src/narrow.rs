//! What finds the contacts of shapes that the engine has no formulas for.

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
}

/// The most contacts that two geoms have.
pub const MOST_TOUCHING: usize = 50;

/// Contacts that are kept of a pair, and of all pairs of a world; what a narrow phase finds beyond is left out.
pub(crate) const MOST_OF_PAIR: usize = 8;
pub(crate) const MOST_OF_WORLD: usize = 96;

/// The narrow phase with its buffer, and where the geoms of its pairs are.
pub(crate) struct Outside<F> {
    pub(crate) narrow: Option<Box<dyn Narrow>>,
    pub(crate) found: Vec<Touching>,
    pub(crate) centers: Vec<V3<F>>,
    pub(crate) kept: [usize; LANES],
}

impl<F: Lane> Outside<F> {
    /// For the bounds of a number of geoms.
    pub(crate) fn new(geoms: usize) -> Self {
        Self {
            narrow: None,
            found: vec![Touching::default(); MOST_TOUCHING],
            centers: vec![zero3(); geoms],
            kept: [0; LANES],
        }
    }

    pub(crate) fn set(&mut self, narrow: Box<dyn Narrow>) {
        self.narrow = Some(narrow);
    }
}
