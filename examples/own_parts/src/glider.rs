//! A task in plain Rust: a glider that should stay in the air and travel far in gusty wind.

use std::sync::{Arc, LazyLock};

use autoqd::registry::Registry;
use autoqd_env::{
    Action, EnvError, EnvSpec, Environment, MeasureSpec, NumpyRng, Pose, Scene, Seed, Shape, ShapeKind, Task,
    Transition,
};

/// Seconds between two steps.
const TIME_STEP: f64 = 0.1;
const GRAVITY: f64 = 9.81;

static SPEC: LazyLock<EnvSpec> = LazyLock::new(|| EnvSpec {
    name: "glider".into(),
    observation_size: 5,
    action_size: 1,
    action_low: vec![-1.0],
    action_high: vec![1.0],
    max_episode_steps: 200,
    reward_terms: vec!["distance".into()],
    measures: vec![
        MeasureSpec { name: "mean_height".into(), low: 0.0, high: 60.0 },
        MeasureSpec { name: "time_climbing".into(), low: 0.0, high: 1.0 },
    ],
    objective_min: 0.0,
});

/// Registers the task under its name.
pub fn register(registry: &mut Registry) {
    registry
        .register_task("glider", |perturbation| Ok(Arc::new(GliderTask { mass: perturbation.mass_scale })));
}

struct GliderTask {
    mass: f64,
}

impl Task for GliderTask {
    fn spec(&self) -> &EnvSpec {
        &SPEC
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(Glider::new(self.mass)))
    }
}

struct Glider {
    mass: f64,
    position: [f64; 2],
    velocity: [f64; 2],
    pitch: f64,
    gusts: NumpyRng,
    steps: usize,
    height_sum: f64,
    climbing: usize,
}

impl Glider {
    fn new(mass: f64) -> Self {
        let gusts = NumpyRng::from_seed(&Seed::from(0_u64));
        let (position, velocity) = ([0.0, 50.0], [12.0, 0.0]);
        Self { mass, position, velocity, pitch: 0.0, gusts, steps: 0, height_sum: 0.0, climbing: 0 }
    }

    /// Numbers of about the same size, as suits a policy.
    fn observe(&self, observation: &mut [f64]) {
        let ([_, y], [vx, vy]) = (self.position, self.velocity);
        observation.copy_from_slice(&[
            y / 50.0 - 1.0,
            vx / 12.0 - 1.0,
            vy / 5.0,
            self.pitch,
            self.steps as f64 / 100.0 - 1.0,
        ]);
    }

    /// A thin wing: lift grows with the angle of attack until it stalls, drag with its square.
    fn acceleration(&self, wind: f64) -> [f64; 2] {
        let air = [self.velocity[0] - wind, self.velocity[1]];
        let speed = (air[0] * air[0] + air[1] * air[1]).sqrt().max(1e-3);
        let attack = (self.pitch - (air[1] / speed).clamp(-1.0, 1.0)).clamp(-0.6, 0.6);
        let lift = if attack.abs() < 0.3 { 4.0 * attack } else { 0.6 * attack.signum() };
        let drag = 0.02 + 0.6 * attack * attack;
        let pressure = 0.11 * speed / self.mass;
        [-pressure * (drag * air[0] + lift * air[1]), pressure * (lift * air[0] - drag * air[1]) - GRAVITY]
    }
}

impl Environment for Glider {
    fn spec(&self) -> &EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        let gusts = seed.map_or_else(|| self.gusts.clone(), NumpyRng::from_seed);
        *self = Self { gusts, ..Self::new(self.mass) };
        self.velocity[0] += self.gusts.uniform(-1.0, 1.0);
        self.observe(observation);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        self.pitch = (self.pitch + 0.1 * action.get(0)).clamp(-0.7, 0.7);
        let wind = self.gusts.uniform(-2.0, 2.0);
        let acceleration = self.acceleration(wind);
        let before = self.position[0];
        for axis in 0..2 {
            self.velocity[axis] += TIME_STEP * acceleration[axis];
            self.position[axis] += TIME_STEP * self.velocity[axis];
        }
        self.steps += 1;
        self.height_sum += self.position[1].max(0.0);
        self.climbing += usize::from(self.velocity[1] > 0.0);
        self.observe(observation);
        Ok(Transition {
            reward: self.position[0] - before,
            terminated: self.position[1] <= 0.0,
            truncated: self.steps == SPEC.max_episode_steps,
            diverged: false,
        })
    }

    fn measures(&self, out: &mut [f64]) {
        let steps = self.steps.max(1) as f64;
        out.copy_from_slice(&[self.height_sum / steps, self.climbing as f64 / steps]);
    }

    fn scene(&self) -> Option<Scene> {
        let shape = |kind, points: &[[f64; 2]], rgba, name: &str| Shape {
            kind,
            size: [0.0; 3],
            points: points.to_vec(),
            mesh: None,
            rgba,
            name: name.into(),
            body: name.into(),
        };
        let wing = [[-2.0, -0.3], [2.0, 0.0], [-2.0, 0.3]];
        let shapes = vec![
            shape(ShapeKind::Polygon, &wing, [0.80, 0.25, 0.20, 1.0], "glider"),
            shape(ShapeKind::Polyline, &[[-50.0, 0.0], [600.0, 0.0]], [0.35, 0.35, 0.40, 1.0], "ground"),
        ];
        Some(Scene { shapes, flat: true, follow: 0, seconds_per_step: TIME_STEP })
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend([Pose::planar(self.position[0], self.position[1], self.pitch), Pose::IDENTITY]);
    }
}
