//! Lines with round ends: what holds a solid in the picture, and its shadow on the floor.

use crate::camera::Camera;
use crate::solid::Solid;

/// All places no farther than the radius from a line between two points of a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    from: (f64, f64),
    to: (f64, f64),
    radius: f64,
}

impl Outline {
    pub fn new(from: (f64, f64), to: (f64, f64), radius: f64) -> Self {
        Self { from, to, radius }
    }

    /// What holds a solid in the picture; `None` for one beside or behind the camera.
    pub fn of(solid: &Solid, camera: &Camera) -> Option<Self> {
        let (from, to, radius) = solid.ends();
        let [(ax, ay, ra), (bx, by, rb)] = [camera.circle(from, radius)?, camera.circle(to, radius)?];
        Some(Self::new((ax, ay), (bx, by), ra.max(rb)))
    }

    /// From where to where it lies in the row at height `y`, with so much around it.
    pub fn across(&self, y: f64, around: f64) -> Option<(f64, f64)> {
        let radius = self.radius + around;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut include = |from: f64, to: f64| (low, high) = (low.min(from), high.max(to));
        for (x, middle) in [self.from, self.to] {
            let square = radius * radius - (y - middle) * (y - middle);
            if square >= 0.0 {
                include(x - square.sqrt(), x + square.sqrt());
            }
        }
        let along = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let length = (along.0 * along.0 + along.1 * along.1).sqrt();
        // Both straight sides; in a row along them they end where the circles do.
        for side in [radius / length, -radius / length] {
            let start = (self.from.0 - side * along.1, self.from.1 + side * along.0);
            let part = (y - start.1) / along.1;
            if (0.0..=1.0).contains(&part) {
                let x = start.0 + part * along.0;
                include(x, x);
            }
        }
        (low <= high).then_some((low, high))
    }

    /// Whether a place lies in it or no farther from it than `around`.
    pub fn holds(&self, (x, y): (f64, f64), around: f64) -> bool {
        let along = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let square = along.0 * along.0 + along.1 * along.1;
        let to = (x - self.from.0, y - self.from.1);
        let part =
            if square > 0.0 { ((to.0 * along.0 + to.1 * along.1) / square).clamp(0.0, 1.0) } else { 0.0 };
        let off = (to.0 - part * along.0, to.1 - part * along.1);
        off.0 * off.0 + off.1 * off.1 <= (self.radius + around) * (self.radius + around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_where_the_outline_does() {
        let lines = [
            ((0.3, -0.2), (0.3, -0.2)),
            ((-1.0, 0.0), (1.0, 0.0)),
            ((0.5, -1.0), (0.5, 1.0)),
            ((-0.7, -0.4), (0.9, 0.6)),
            ((0.9, 0.6), (-0.7, -0.4)),
        ];
        for (from, to) in lines {
            let outline = Outline::new(from, to, 0.25);
            for row in -40..=40 {
                let y = f64::from(row) * 0.05 + 0.003;
                let held = |column: &i32| outline.holds((f64::from(*column) * 0.001, y), 0.05);
                let columns: Vec<i32> = (-2000..=2000).filter(held).collect();
                match outline.across(y, 0.05) {
                    None => assert!(columns.is_empty(), "{from:?} {to:?} {y}"),
                    Some((low, high)) => {
                        let ends = [columns[0], columns[columns.len() - 1]].map(|c| f64::from(c) * 0.001);
                        assert!((ends[0] - low).abs() < 0.0011 && (ends[1] - high).abs() < 0.0011);
                        assert!(low <= ends[0] && ends[1] <= high, "{from:?} {to:?} {y}");
                    }
                }
            }
        }
    }
}
