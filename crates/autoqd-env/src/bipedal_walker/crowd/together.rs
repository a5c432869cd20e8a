//! What the lanes do together, whatever their type.

use super::super::kernels::Kernels;
use super::super::world::{Motors, RAYS};
use super::aftermath::Aftermath;
use super::constraints::Constraints;
use super::continuous::Impact;
use super::geometry::Point;
use super::lane::Lane;
use super::robot::Robot;
use super::terrain::Terrain;

/// Steps, and what is left of them after impacts: clear, load, solve, store.
pub trait Together: Send {
    fn clear(&mut self);
    fn load(&mut self, i: usize, lane: &Lane, motors: &Motors);
    fn solve(&mut self, robot: &Robot);
    fn store(&mut self, i: usize, lane: &mut Lane, robot: &Robot);
    fn clear_impacts(&mut self);
    fn load_impact(&mut self, i: usize, lane: &Lane, impact: &Impact, robot: &Robot);
    fn finish_impacts(&mut self);
    fn store_impact(&mut self, i: usize, lane: &mut Lane, impact: &Impact, robot: &Robot);
    fn ranges(&self, terrain: &Terrain, eye: Point, rays: &[[f64; 2]; RAYS]) -> [f32; RAYS];
}

/// Both parts for one lane type.
struct Parts<F: Kernels> {
    constraints: Constraints<F>,
    aftermath: Aftermath<F>,
}

/// For the lanes of `F`, which the CPU must have.
pub fn make<F: Kernels>(robot: &Robot) -> Box<dyn Together> {
    Box::new(Parts::<F> { constraints: Constraints::new(robot), aftermath: Aftermath::new() })
}

impl<F: Kernels> Together for Parts<F> {
    fn clear(&mut self) {
        self.constraints.clear();
    }

    fn load(&mut self, i: usize, lane: &Lane, motors: &Motors) {
        self.constraints.load(i, lane, motors.speed, motors.torque);
    }

    fn solve(&mut self, robot: &Robot) {
        self.constraints.solve(robot);
    }

    fn store(&mut self, i: usize, lane: &mut Lane, robot: &Robot) {
        self.constraints.store(i, lane, robot);
    }

    fn clear_impacts(&mut self) {
        self.aftermath.clear();
    }

    fn load_impact(&mut self, i: usize, lane: &Lane, impact: &Impact, robot: &Robot) {
        self.aftermath.load(i, lane, impact, &robot.parts[impact.body]);
    }

    fn finish_impacts(&mut self) {
        self.aftermath.solve();
    }

    fn store_impact(&mut self, i: usize, lane: &mut Lane, impact: &Impact, robot: &Robot) {
        self.aftermath.store(i, lane, impact, &robot.parts[impact.body]);
    }

    fn ranges(&self, terrain: &Terrain, eye: Point, rays: &[[f64; 2]; RAYS]) -> [f32; RAYS] {
        terrain.ranges::<F>(eye, rays)
    }
}
