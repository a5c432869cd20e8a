//! A point mass in a deceptive maze: the straight path to the goal ends in a trap. Needs no simulator.

use crate::{
    Action, EnvError, EnvSpec, Environment, MeasureSpec, NumpyRng, Pose, Scene, Seed, Shape, ShapeKind, Task,
    Transition, checks,
};

const NAME: &str = "point-maze";
const MAX_EPISODE_STEPS: usize = 200;
const START: [f64; 2] = [0.5, 0.1];
/// Largest distance of the start from [`START`] along each axis.
const START_NOISE: f64 = 0.02;
const GOAL: [f64; 2] = [0.5, 0.9];
/// The goal is reached within this distance.
const GOAL_RADIUS: f64 = 0.05;
const GOAL_REWARD: f64 = 1.0;
/// Share of the speed that a step keeps, and what a full action adds: at most 0.025 per step.
const DRAG: f64 = 0.8;
const ACCELERATION: f64 = 0.005;

/// A wall: left, bottom, right, top.
type Wall = [f64; 4];

/// A cup over the start that opens towards it: its bottom, its two sides.
const WALLS: [Wall; 3] = [[0.2, 0.5, 0.8, 0.55], [0.2, 0.3, 0.25, 0.55], [0.75, 0.3, 0.8, 0.55]];

/// The recipe of the maze.
///
/// The maze is the unit square. An observation holds position, velocity (per 0.025) and the free distance to the
/// right, to the left, upwards and downwards. The reward is the decrease of the straight-line distance to the goal,
/// and 1 for reaching it, which ends the episode. The measures are the final position.
///
/// ```
/// use autoqd_env::{Action, PointMazeTask, Seed, Task};
///
/// let mut maze = PointMazeTask::default().make()?;
/// let mut observation = [0.0; 8];
/// maze.reset(Some(&Seed::from(1_u64)), &mut observation)?;
/// let transition = maze.step(Action::F64(&[0.0, 1.0]), &mut observation)?;
/// assert!(transition.reward > 0.0 && !transition.done());
/// # Ok::<(), autoqd_env::EnvError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PointMazeTask {
    spec: EnvSpec,
}

impl Default for PointMazeTask {
    fn default() -> Self {
        let measure = |name: &str| MeasureSpec { name: name.into(), low: 0.0, high: 1.0 };
        let spec = EnvSpec {
            name: NAME.into(),
            observation_size: 8,
            action_size: 2,
            action_low: vec![-1.0; 2],
            action_high: vec![1.0; 2],
            max_episode_steps: MAX_EPISODE_STEPS,
            reward_terms: vec!["progress".into(), "goal".into()],
            measures: vec![measure("final x"), measure("final y")],
            objective_min: -1.0,
        };
        Self { spec }
    }
}

impl Task for PointMazeTask {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(PointMaze {
            spec: self.spec.clone(),
            rng: NumpyRng::from_seed(&Seed::from(0_u64)),
            position: START,
            velocity: [0.0; 2],
            terms: [0.0; 2],
            steps: 0,
        }))
    }
}

struct PointMaze {
    spec: EnvSpec,
    rng: NumpyRng,
    position: [f64; 2],
    velocity: [f64; 2],
    terms: [f64; 2],
    steps: usize,
}

/// The coordinate along `axis` at which a wall or the border stops a point that comes from `position`.
fn stop(position: [f64; 2], axis: usize, forward: bool) -> f64 {
    let (at, across) = (position[axis], position[1 - axis]);
    let in_the_way = WALLS.iter().filter(|wall| wall[1 - axis] < across && across < wall[3 - axis]);
    if forward {
        in_the_way.map(|wall| wall[axis]).filter(|&edge| edge >= at).fold(1.0, f64::min)
    } else {
        in_the_way.map(|wall| wall[2 + axis]).filter(|&edge| edge <= at).fold(0.0, f64::max)
    }
}

impl PointMaze {
    fn goal_distance(&self) -> f64 {
        let [dx, dy] = [0, 1].map(|i| GOAL[i] - self.position[i]);
        (dx * dx + dy * dy).sqrt()
    }

    /// Moves along one axis until a wall stops it.
    fn slide(&mut self, axis: usize) {
        let target = self.position[axis] + self.velocity[axis];
        let forward = self.velocity[axis] > 0.0;
        let stop = stop(self.position, axis, forward);
        let stopped = if forward { target > stop } else { target < stop };
        if stopped {
            self.velocity[axis] = 0.0;
        }
        self.position[axis] = if stopped { stop } else { target };
    }

    fn observe(&self, out: &mut [f64]) {
        let scale = (1.0 - DRAG) / ACCELERATION;
        out[..2].copy_from_slice(&self.position);
        out[2..4].copy_from_slice(&self.velocity.map(|v| v * scale));
        for (i, (axis, forward)) in [(0, true), (0, false), (1, true), (1, false)].into_iter().enumerate() {
            out[4 + i] = (stop(self.position, axis, forward) - self.position[axis]).abs();
        }
    }
}

impl Environment for PointMaze {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.spec, observation)?;
        if let Some(seed) = seed {
            self.rng = NumpyRng::from_seed(seed);
        }
        self.position = START.map(|x| x + self.rng.uniform(-START_NOISE, START_NOISE));
        self.velocity = [0.0; 2];
        self.terms = [0.0; 2];
        self.steps = 0;
        self.observe(observation);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        checks::observation(&self.spec, observation)?;
        checks::action(&self.spec, action)?;
        let before = self.goal_distance();
        for axis in 0..2 {
            self.velocity[axis] =
                DRAG * self.velocity[axis] + ACCELERATION * action.get(axis).clamp(-1.0, 1.0);
            self.slide(axis);
        }
        self.steps += 1;
        self.observe(observation);
        let after = self.goal_distance();
        let terminated = after < GOAL_RADIUS;
        self.terms = [before - after, if terminated { GOAL_REWARD } else { 0.0 }];
        let truncated = self.steps >= MAX_EPISODE_STEPS;
        Ok(Transition { reward: self.terms[0] + self.terms[1], terminated, truncated, diverged: false })
    }

    fn measures(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.position);
    }

    fn reward_terms(&self) -> &[f64] {
        &self.terms
    }

    fn scene(&self) -> Option<Scene> {
        let border = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let mut shapes = vec![
            disc(GOAL_RADIUS, [0.30, 0.70, 0.30, 1.0], "goal"),
            disc(0.015, [0.80, 0.20, 0.20, 1.0], "point"),
            flat(ShapeKind::Polyline, &border, "border"),
        ];
        shapes.extend(
            WALLS.map(|[l, b, r, t]| flat(ShapeKind::Polygon, &[[l, b], [r, b], [r, t], [l, t]], "wall")),
        );
        Some(Scene { shapes, flat: true, follow: 1, seconds_per_step: 0.05 })
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend([GOAL, self.position].map(|[x, y]| Pose::planar(x, y, 0.0)));
        out.resize(3 + WALLS.len(), Pose::IDENTITY);
    }
}

fn disc(radius: f64, rgba: [f32; 4], name: &str) -> Shape {
    let (kind, size) = (ShapeKind::Sphere, [radius, 0.0, 0.0]);
    Shape { kind, size, points: Vec::new(), mesh: None, rgba, name: name.into(), body: name.into() }
}

fn flat(kind: ShapeKind, points: &[[f64; 2]], name: &str) -> Shape {
    let rgba = [0.35, 0.35, 0.40, 1.0];
    Shape {
        kind,
        size: [0.0; 3],
        points: points.to_vec(),
        mesh: None,
        rgba,
        name: name.into(),
        body: "maze".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return, final position and whether the goal was reached when `policy` decides.
    fn run(seed: u64, policy: impl Fn(&[f64], usize) -> [f64; 2]) -> (f64, [f64; 2], bool) {
        let mut maze = PointMazeTask::default().make().unwrap();
        let mut observation = [0.0; 8];
        maze.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
        let mut total = 0.0;
        for t in 0.. {
            let transition = maze.step(Action::F64(&policy(&observation, t)), &mut observation).unwrap();
            total += transition.reward;
            if transition.done() {
                let mut measures = [0.0; 2];
                maze.measures(&mut measures);
                return (total, measures, transition.terminated);
            }
        }
        unreachable!()
    }

    #[test]
    fn the_straight_way_ends_in_the_trap_and_the_way_around_at_the_goal() {
        let (trapped, [x, y], reached) = run(1, |_, _| [0.0, 1.0]);
        assert!(!reached && (x - 0.5).abs() < 0.021 && y == 0.5, "{x}, {y}");
        let (around, _, reached) = run(1, |o, _| match (o[0], o[1]) {
            (x, y) if y < 0.6 && x < 0.85 => [1.0, 0.0],
            (_, y) if y < 0.6 => [0.0, 1.0],
            (x, y) => [(GOAL[0] - x).clamp(-0.3, 0.3) * 3.0, (GOAL[1] - y) * 3.0],
        });
        assert!(reached && around > trapped + 1.0, "{around} {trapped}");
    }

    #[test]
    fn walls_stop_every_wild_walk() {
        for seed in 0..50 {
            let noise = std::cell::RefCell::new(NumpyRng::from_seed(&Seed::from(seed)));
            run(seed, |o, _| {
                let (x, y) = (o[0], o[1]);
                assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y));
                let inside = |w: &Wall| w[0] < x && x < w[2] && w[1] < y && y < w[3];
                assert!(!WALLS.iter().any(inside), "({x}, {y}) lies in a wall");
                [0; 2].map(|_| noise.borrow_mut().uniform(-3.0, 3.0))
            });
        }
    }

    #[test]
    fn the_seed_decides_the_start() {
        let still = |seed| run(seed, |_, _| [0.0; 2]);
        assert_eq!(still(5), still(5));
        assert_ne!(still(5).1, still(6).1);
        assert_eq!(still(5).0, 0.0);
    }
}
