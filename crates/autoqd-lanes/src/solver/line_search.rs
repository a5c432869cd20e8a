//! The step of a line search: to the minimum, or by libmujoco's sequence of points where it may end before.
//!
//! With the usual limit of fifty points and costs made of parabolas every search ends at the minimum, and how it got there
//! does not matter. A model that allows only a few points gets the best of them, and along an elliptic cone the search ends
//! near the minimum only; there the points must be the same. All lanes are evaluated at once, and each goes its own way.

use super::Problem;
use crate::constraint::Contacts;
use crate::extra::Part;
use crate::kernels::Kernels;
use crate::respond::lanes_of;
use crate::simd::{LANES, Lane, Mask};

/// libmujoco's least curvature.
const LEAST_CURVATURE: f64 = 1e-15;

/// A step with the cost and its first two derivatives along the direction.
#[derive(Clone, Copy, Default)]
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

/// What the next point is for.
#[derive(Clone, Copy)]
enum Wanted {
    Start,
    First,
    /// Further in the same direction.
    OneSided,
    /// Newton's step from the near end of the bracket.
    Opening,
    Middle,
    /// Newton's step from an end that moved.
    NewNear,
    NewFar,
}

/// One lane's search.
#[derive(Clone, Copy)]
struct Search {
    wanted: Wanted,
    step: f64,
    tolerance: f64,
    most: usize,
    evaluations: usize,
    start: Point,
    /// The ends of the bracket, and Newton's steps from them.
    near: Point,
    far: Point,
    near_next: Point,
    far_next: Point,
    /// What may become an end: Newton's steps and the middle.
    candidates: [Point; 3],
    /// Where the cost falls: 1 or -1.
    direction: f64,
    moved: bool,
}

impl Search {
    fn new(tolerance: f64, most: usize) -> Self {
        let nowhere = Point::default();
        Self {
            wanted: Wanted::Start,
            step: 0.0,
            tolerance,
            most,
            evaluations: 0,
            start: nowhere,
            near: nowhere,
            far: nowhere,
            near_next: nowhere,
            far_next: nowhere,
            candidates: [nowhere; 3],
            direction: 0.0,
            moved: false,
        }
    }

    fn ask(&mut self, wanted: Wanted, step: f64) -> bool {
        (self.wanted, self.step) = (wanted, step);
        true
    }

    fn end(&mut self, step: f64) -> bool {
        self.step = step;
        false
    }

    /// Takes the point asked for; whether another is wanted. At the end `step` is the result.
    fn take(&mut self, point: Point) -> bool {
        self.evaluations += 1;
        match self.wanted {
            Wanted::Start => {
                self.start = point;
                self.ask(Wanted::First, point.next())
            }
            Wanted::First | Wanted::OneSided => {
                self.near = point;
                if point.slope.abs() < self.tolerance {
                    return self.end(point.step);
                }
                self.go_on()
            }
            Wanted::Opening => {
                self.near_next = point;
                self.bisect()
            }
            Wanted::Middle => {
                self.candidates = [self.near_next, self.far_next, point];
                self.narrow()
            }
            Wanted::NewNear => {
                self.near_next = point;
                self.narrow_far()
            }
            Wanted::NewFar => {
                self.far_next = point;
                self.bisect()
            }
        }
    }

    /// Goes on as long as the cost falls in the direction of the first point.
    fn go_on(&mut self) -> bool {
        let first = matches!(self.wanted, Wanted::First);
        if first {
            self.direction = if self.near.slope < 0.0 { 1.0 } else { -1.0 };
        }
        let falling = self.near.slope * self.direction <= -self.tolerance;
        if falling && self.evaluations < self.most {
            self.far = self.near;
            return self.ask(Wanted::OneSided, self.near.next());
        }
        if first || self.evaluations >= self.most {
            return self.end(self.near.step);
        }
        self.far_next = self.near;
        self.ask(Wanted::Opening, self.near.next())
    }

    /// Looks at the middle of the bracket, unless there were enough points.
    fn bisect(&mut self) -> bool {
        if self.evaluations < self.most {
            return self.ask(Wanted::Middle, 0.5 * (self.near.step + self.far.step));
        }
        let (near, far, start) = (self.near, self.far, self.start);
        if near.cost <= far.cost && near.cost < start.cost {
            self.end(near.step)
        } else if far.cost <= near.cost && far.cost < start.cost {
            self.end(far.step)
        } else {
            self.end(0.0)
        }
    }

    /// Ends at the best of the flat points, or narrows the bracket.
    fn narrow(&mut self) -> bool {
        let flat = self.candidates.iter().filter(|p| p.slope.abs() < self.tolerance);
        if let Some(best) = flat.copied().reduce(|a, b| if b.cost < a.cost { b } else { a }) {
            return self.end(best.step);
        }
        self.moved = tighten(&mut self.near, &self.candidates);
        if self.moved {
            return self.ask(Wanted::NewNear, self.near.next());
        }
        self.narrow_far()
    }

    fn narrow_far(&mut self) -> bool {
        if tighten(&mut self.far, &self.candidates) {
            return self.ask(Wanted::NewFar, self.far.next());
        }
        // An end that cannot move any more: the numbers are as exact as they get.
        if self.moved { self.bisect() } else { self.end(self.candidates[2].step) }
    }
}

/// Moves an end of the bracket to the candidate on its side with the smallest slope.
fn tighten(end: &mut Point, candidates: &[Point; 3]) -> bool {
    let mut moved = false;
    for candidate in candidates {
        let same_side = (end.slope < 0.0 && candidate.slope < 0.0 && end.slope < candidate.slope)
            || (end.slope > 0.0 && candidate.slope > 0.0 && end.slope > candidate.slope);
        if same_side {
            *end = *candidate;
            moved = true;
        }
    }
    moved
}

impl<F: Kernels, const D: usize> Problem<'_, F, D> {
    /// The steps of the running lanes after at most `most` points each.
    #[inline(always)]
    pub(super) fn sequence_of_points(
        &mut self,
        derivatives: [F; 2],
        tolerance: F,
        running: F::Mask,
        most: usize,
    ) -> F {
        let mut searches = [Search::new(0.0, most); LANES];
        for lane in lanes_of(running.bits()) {
            searches[lane].tolerance = tolerance.get(lane);
        }
        let mut steps = [0.0; LANES];
        let mut searching = running.bits();
        while searching != 0 {
            let [cost, slope, curvature] = self.point(derivatives, F::from_array(steps));
            for lane in lanes_of(searching) {
                let point = Point {
                    step: steps[lane],
                    cost: cost.get(lane),
                    slope: slope.get(lane),
                    curvature: curvature.get(lane),
                };
                if !searches[lane].take(point) {
                    searching &= !(1 << lane);
                }
                steps[lane] = searches[lane].step;
            }
        }
        F::from_array(steps)
    }

    /// Cost, slope and curvature along the direction at a step.
    #[inline(always)]
    fn point(&mut self, [linear, quadratic]: [F; 2], step: F) -> [F; 3] {
        let (zero, half) = (F::zero(), F::splat(0.5));
        let mut cost = (step * step * half).mul_add(quadratic, step * linear);
        let mut slope = step.mul_add(quadratic, linear);
        let mut curvature = quadratic;
        for row in self.limits.rows() {
            let z = step.mul_add(row.slope, row.residual);
            let weighted = (row.weight * row.slope).keep(z.lt(zero));
            cost = super::add_cost(cost, row.weight * half, z);
            slope = weighted.mul_add(z, slope);
            curvature = weighted.mul_add(row.slope, curvature);
        }
        for slot in self.contacts.slots() {
            for i in 0..Contacts::<F, D>::ROWS {
                let weight = Contacts::<F, D>::multiplied(i, slot.weight);
                let z = step.mul_add(slot.slopes[i], slot.residuals[i]);
                let weighted = (weight * slot.slopes[i]).keep(z.lt(zero));
                cost = super::add_cost(cost, weight * half, z);
                slope = weighted.mul_add(z, slope);
                curvature = weighted.mul_add(slot.slopes[i], curvature);
            }
        }
        if self.model.has_extra() {
            let parts = F::extra(&mut self.contacts.extra, Part::Along { step });
            cost = cost + parts[0];
            slope = slope + parts[1];
            curvature = curvature + parts[2];
        }
        let least = F::splat(LEAST_CURVATURE);
        [cost, slope, F::select(zero.lt(curvature), curvature, least)]
    }

    /// The step at which the derivative along the direction vanishes: Newton's method, kept inside a bracket.
    #[inline(always)]
    pub(super) fn exact_step(
        &mut self,
        [linear, quadratic]: [F; 2],
        tolerance: F,
        running: F::Mask,
        most: usize,
    ) -> F {
        let zero = F::zero();
        let far = F::splat(1e30);
        let extra = self.model.has_extra();
        // The quadratic model at the start is exact, so its minimum is the first point.
        let (mut step, mut low, mut high) = (F::one(), zero, far);
        let mut searching = running;
        for _ in 0..most {
            let mut sums = (step.mul_add(quadratic, linear), quadratic);
            for row in self.limits.rows() {
                sums = add_row(sums, step, (row.weight, row.slope, row.residual));
            }
            for slot in self.contacts.slots() {
                for i in 0..Contacts::<F, D>::ROWS {
                    let weight = Contacts::<F, D>::multiplied(i, slot.weight);
                    sums = add_row(sums, step, (weight, slot.slopes[i], slot.residuals[i]));
                }
            }
            if extra {
                let [_, slope, curvature] = F::extra(&mut self.contacts.extra, Part::Along { step });
                sums = (sums.0 + slope, sums.1 + curvature);
            }
            let (slope, curvature) = sums;
            searching = searching.and(tolerance.le(slope.abs()));
            if !searching.any() {
                break;
            }
            let downhill = slope.lt(zero);
            low = F::select(downhill, step, low);
            high = F::select(downhill, high, step);
            let next = step - slope / curvature;
            let inside = low.lt(next).and(next.lt(high));
            searching = searching.and(inside.or(high.lt(far)));
            let next = F::select(inside, next, (low + high) * F::splat(0.5));
            step = F::select(searching, next, step);
        }
        step
    }
}

/// Adds the slope and curvature along the direction of one row at a step.
#[inline(always)]
fn add_row<F: Lane>((slope, curvature): (F, F), step: F, (weight, row_slope, residual): (F, F, F)) -> (F, F) {
    let z = step.mul_add(row_slope, residual);
    let weighted = (weight * row_slope).keep(z.lt(F::zero()));
    (weighted.mul_add(z, slope), weighted.mul_add(row_slope, curvature))
}
