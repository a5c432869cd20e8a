//! What finds the contacts of shapes that the engine has no formulas for.

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
