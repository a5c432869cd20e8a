//! The narrow phase and what is known of the pairs that it is asked about.

use super::clearance::Clearance;
use crate::compile::{Compiled, ContactLaw, Touch};
use crate::narrow::{GeomPose, MOST_OF_PAIR, MOST_OF_WORLD, MOST_TOUCHING, Narrow, Touching};
use crate::simd::{LANES, Lane};
use crate::vector::*;

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
