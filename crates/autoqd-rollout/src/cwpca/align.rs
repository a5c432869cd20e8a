//! A new map brought into line with the one before it.

use autoqd_qd::Arithmetic;
use serde::{Deserialize, Serialize};

use super::affine::{AffineMap, dot};
use super::{decompose, portable};
use crate::Error;

/// How far the axes of a map turned against those of an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Principal angles between the spaces spanned by the axes that are not flat, in degrees, smallest first. They
    /// do not depend on signs, order or rotations within the space.
    pub principal_degrees: Vec<f64>,
    /// Angle between each aligned axis and the earlier axis of the same number, in degrees, at most 90; 90 if one
    /// of the two is flat.
    pub axis_degrees: Vec<f64>,
    /// Which of the fitted axes is now at each place.
    pub order: Vec<usize>,
    /// Which axes, by new place, changed their sign.
    pub flipped: Vec<bool>,
}

impl AffineMap {
    /// Reorders the axes, and changes their signs, to follow an earlier map: a policy's measures then move as
    /// little as the new directions allow.
    ///
    /// Pairs of an old and a new axis are matched by falling |cosine|; axes that match nothing, because one of
    /// them is flat, fill the places left in their order. The arithmetic is that of the angles.
    pub fn align(&mut self, previous: &AffineMap, arithmetic: Arithmetic) -> Result<Turn, Error> {
        if (self.measures, self.dimension) != (previous.measures, previous.dimension) {
            let got = format!("{} measures of {} features", previous.measures, previous.dimension);
            return Err(Error::invalid("map to align with", got, "the same sizes as the new map"));
        }
        let cosines = cosines(self, previous);
        let order = matching(&cosines);
        let flipped: Vec<bool> =
            order.iter().enumerate().map(|(old, new)| cosines[old][*new] < 0.0).collect();
        let degrees = |(old, new): (usize, &usize)| to_degrees(cosines[old][*new].abs());
        let axis_degrees = order.iter().enumerate().map(degrees).collect();
        self.permute(&order);
        flipped.iter().enumerate().filter(|(_, f)| **f).for_each(|(axis, _)| self.flip(axis));
        let principal_degrees = principal_degrees(self, previous, arithmetic)?;
        Ok(Turn { principal_degrees, axis_degrees, order, flipped })
    }

    fn permute(&mut self, order: &[usize]) {
        let d = self.dimension;
        let rows = |m: &[f64]| order.iter().flat_map(|new| m[new * d..][..d].to_vec()).collect::<Vec<f64>>();
        (self.a, self.components) = (rows(&self.a), rows(&self.components));
        let pick = |v: &[f64]| order.iter().map(|new| v[*new]).collect::<Vec<f64>>();
        (self.b, self.scale) = (pick(&self.b), pick(&self.scale));
        (self.offset, self.variance) = (pick(&self.offset), pick(&self.variance));
    }

    /// measure -> -measure: A, b, component and offset change sign, the scale stays.
    fn flip(&mut self, axis: usize) {
        let row = axis * self.dimension..(axis + 1) * self.dimension;
        let numbers = self.a[row.clone()].iter_mut().chain(&mut self.components[row]);
        for x in numbers.chain([&mut self.b[axis], &mut self.offset[axis]]) {
            *x = -*x;
        }
    }
}

/// Cosines between old axes (rows) and new ones (columns); 0 with a flat axis.
fn cosines(new: &AffineMap, old: &AffineMap) -> Vec<Vec<f64>> {
    let row = |i: usize| (0..new.measures).map(|j| dot(old.component(i), new.component(j))).collect();
    (0..old.measures).map(row).collect()
}

/// For each old axis the new axis that takes its place.
fn matching(cosines: &[Vec<f64>]) -> Vec<usize> {
    let k = cosines.len();
    let mut pairs: Vec<(usize, usize)> = (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).collect();
    // A stable sort: of equal pairs the one with the smaller numbers comes first.
    pairs.sort_by(|a, b| cosines[b.0][b.1].abs().total_cmp(&cosines[a.0][a.1].abs()));
    let mut order = vec![None; k];
    let mut taken = vec![false; k];
    for (old, new) in pairs {
        if order[old].is_none() && !taken[new] {
            order[old] = Some(new);
            taken[new] = true;
        }
    }
    order.into_iter().flatten().collect()
}

fn principal_degrees(new: &AffineMap, old: &AffineMap, arithmetic: Arithmetic) -> Result<Vec<f64>, Error> {
    let real = |map: &AffineMap| (0..map.measures).filter(|axis| !map.is_flat(*axis)).collect::<Vec<_>>();
    let (rows, columns) = (real(old), real(new));
    if rows.is_empty() || columns.is_empty() {
        return Ok(Vec::new());
    }
    let column = |j: &usize| rows.iter().map(|i| dot(old.component(*i), new.component(*j))).collect();
    let product: Vec<Vec<f64>> = columns.iter().map(column).collect();
    let values = match arithmetic {
        Arithmetic::Portable => portable::singular_values(product),
        Arithmetic::Native => decompose::singular_values(&product)?,
    };
    Ok(values.into_iter().map(to_degrees).collect())
}

fn to_degrees(cosine: f64) -> f64 {
    libm::acos(cosine.clamp(-1.0, 1.0)).to_degrees()
}
