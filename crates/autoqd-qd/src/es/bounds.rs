//! Box bounds on parameters.

use serde::{Deserialize, Serialize};

use crate::error::{Result, check_len, check_parameter};

/// A box; a bound may be infinite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Bounds {
    /// A box between two corners.
    ///
    /// # Errors
    /// When sizes differ or a lower bound is not below its upper bound.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        check_len("upper bounds", lower.len(), upper.len(), "give both corners in full")?;
        let ordered = lower.iter().zip(&upper).all(|(lo, up)| lo < up);
        check_parameter(ordered, "bounds", (&lower, &upper), "use lower < upper in every coordinate")?;
        Ok(Self { lower, upper })
    }

    /// The same bounds for every one of `dim` coordinates.
    ///
    /// # Errors
    /// When `lower` is not below `upper`.
    pub fn uniform(dim: usize, lower: f64, upper: f64) -> Result<Self> {
        Self::new(vec![lower; dim], vec![upper; dim])
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.lower.len()
    }

    /// Whether a point lies inside (the faces included).
    pub fn contains(&self, point: &[f64]) -> bool {
        self.axes(point).all(|(x, lo, up)| lo <= x && x <= up)
    }

    /// Moves a point to the nearest point inside.
    pub fn clip(&self, point: &mut [f64]) {
        let corners = self.lower.iter().zip(&self.upper);
        point.iter_mut().zip(corners).for_each(|(x, (lo, up))| *x = x.clamp(*lo, *up));
    }

    fn axes<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        point.iter().zip(self.lower.iter().zip(&self.upper)).map(|(x, (lo, up))| (*x, *lo, *up))
    }
}
