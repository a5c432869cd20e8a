//! The step of a line search that may end before its minimum: libmujoco's sequence of points, one lane at a time.
//!
//! With the usual limit of fifty points every search ends at the minimum, and how it got there does not matter. A
//! model that allows only a few points gets the best of them, so these must be the same.

use crate::constraint::{Contacts, LimitRow, Slot};
use crate::simd::{LANES, Lane, Mask};

/// A step with the cost and its first two derivatives along the direction.
#[derive(Clone, Copy)]
struct Point {
    step: f64,
    cost: f64,
    slope: f64,
    curvature: f64,
}

impl Point {
    /// Where Newton's method goes from here.
    fn next(&self) -> f64 {
        self.step - self.slope / self.curvature
    }
}

/// One lane of the problem along the direction.
struct Search<'a, F, const D: usize> {
    limits: &'a [LimitRow<F>],
    slots: &'a [Slot<F, D>],
    linear: f64,
    quadratic: f64,
    lane: usize,
    evaluations: usize,
}

impl<F: Lane, const D: usize> Search<'_, F, D> {
    fn at(&mut self, step: f64) -> Point {
        self.evaluations += 1;
        let mut point = Point {
            step,
            cost: step * self.linear + 0.5 * step * step * self.quadratic,
            slope: self.linear + step * self.quadratic,
            curvature: self.quadratic,
        };
        let lane = self.lane;
        let mut add = |weight: f64, slope: f64, residual: f64| {
            let z = residual + step * slope;
            if z < 0.0 {
                point.cost += 0.5 * weight * z * z;
                point.slope += weight * slope * z;
                point.curvature += weight * slope * slope;
            }
        };
        for row in self.limits {
            add(row.weight.get(lane), row.slope.get(lane), row.residual.get(lane));
        }
        for slot in self.slots {
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, slot.weight).get(lane);
                add(weight, slot.slopes[i].get(lane), slot.residuals[i].get(lane));
            }
        }
        point
    }

    /// The step after at most `most` points.
    fn run(&mut self, tolerance: f64, most: usize) -> f64 {
        let start = self.at(0.0);
        let mut first = self.at(start.next());
        if first.slope.abs() < tolerance {
            return first.step;
        }
        let direction = if first.slope < 0.0 { 1.0 } else { -1.0 };
        let mut second = None;
        while first.slope * direction <= -tolerance && self.evaluations < most {
            second = Some(first);
            first = self.at(first.next());
            if first.slope.abs() < tolerance {
                return first.step;
            }
        }
        let Some(mut second) = second.filter(|_| self.evaluations < most) else { return first.step };
        let mut second_next = first;
        let mut first_next = self.at(first.next());
        while self.evaluations < most {
            let middle = self.at(0.5 * (first.step + second.step));
            let candidates = [first_next, second_next, middle];
            let flat = candidates.iter().filter(|p| p.slope.abs() < tolerance);
            if let Some(best) = flat.copied().reduce(|a, b| if b.cost < a.cost { b } else { a }) {
                return best.step;
            }
            let moved = self.tighten(&mut first, &candidates, &mut first_next);
            if !(self.tighten(&mut second, &candidates, &mut second_next) | moved) {
                return middle.step;
            }
        }
        if first.cost <= second.cost && first.cost < start.cost {
            first.step
        } else if second.cost <= first.cost && second.cost < start.cost {
            second.step
        } else {
            0.0
        }
    }

    /// Moves an end of the bracket to the candidate on its side with the smallest slope.
    fn tighten(&mut self, end: &mut Point, candidates: &[Point; 3], next: &mut Point) -> bool {
        let mut moved = false;
        for candidate in candidates {
            let same_side = (end.slope < 0.0 && candidate.slope < 0.0 && end.slope < candidate.slope)
                || (end.slope > 0.0 && candidate.slope > 0.0 && end.slope > candidate.slope);
            if same_side {
                *end = *candidate;
                moved = true;
            }
        }
        if moved {
            *next = self.at(end.next());
        }
        moved
    }
}

/// The steps of the running lanes after at most `most` points each.
pub(crate) fn limited_step<F: Lane, const D: usize>(
    limits: &[LimitRow<F>],
    slots: &[Slot<F, D>],
    [linear, quadratic]: [F; 2],
    tolerance: F,
    running: F::Mask,
    most: usize,
) -> F {
    let mut steps = [0.0; LANES];
    for lane in crate::constraint::lanes_of(running.bits()) {
        let (linear, quadratic) = (linear.get(lane), quadratic.get(lane));
        let mut search = Search { limits, slots, linear, quadratic, lane, evaluations: 0 };
        steps[lane] = search.run(tolerance.get(lane), most);
    }
    F::from_array(steps)
}
