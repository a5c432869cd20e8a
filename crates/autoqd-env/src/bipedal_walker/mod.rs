//! BipedalWalker-v3: a hull on two legs walks over uneven ground, on Box2D.

mod body;
mod crowd;
mod kernels;
mod look;
#[cfg(test)]
mod rehearsal;
mod solver;
mod vector;
mod walkers;
mod wide;
mod world;

use crate::{
    Action, EnvError, EnvSpec, Environment, MeasureSpec, NumpyRng, Physics, Pose, Scene, Seed, Task,
    Transition, Worlds, checks,
};
use body::{MOTOR_TORQUE, TERRAIN_STEP};
use crowd::Crowd;
use walkers::Walkers;
use wide::LANES;
use world::{Definition, Motors, State, TERRAIN_POINTS, World};

const NAME: &str = "bipedal-walker";
const OBSERVATION_SIZE: usize = 24;
const ACTION_SIZE: usize = 4;
const MAX_EPISODE_STEPS: usize = 1600;
/// Friction of the ground in the unperturbed task.
const FRICTION: f64 = 2.5;
/// Speeds of hips and knees.
const MOTOR_SPEED: [f64; 4] = [4.0, 6.0, 4.0, 6.0];
/// Cost of a step at full torque, per motor.
const TORQUE_COST: f64 = 0.00035 * MOTOR_TORQUE;
const FALL_REWARD: f64 = -100.0;
/// Where the course ends.
const GOAL: f64 = 190.0 * TERRAIN_STEP;

/// Reward terms, in the order of the spec.
const PROGRESS: usize = 0;
const TORQUE: usize = 1;
const FALL: usize = 2;

/// numpy's sign: 0 for both zeros.
fn sign(x: f64) -> f64 {
    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
}

/// What happens to the Box2D world when an episode ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorldReuse {
    /// A new world for every episode: what happens depends on seed and actions alone.
    #[default]
    Never,
    /// As in Gymnasium: the bodies are replaced in one world, whose broad phase remembers earlier episodes, so the
    /// order of contacts and with it the last digits depend on the environment's history.
    Always,
}

/// The recipe of BipedalWalker with a ground friction and a mass scale.
///
/// ```
/// use autoqd_env::{Action, BipedalWalkerTask, Seed, Task};
///
/// let task = BipedalWalkerTask::new(2.5, 1.0)?;
/// let mut walker = task.make()?;
/// let mut observation = [0.0; 24];
/// walker.reset(Some(&Seed::from(0_u64)), &mut observation)?;
/// let transition = walker.step(Action::F32(&[0.5, -0.5, 0.5, -0.5]), &mut observation)?;
/// assert!(!transition.done());
/// # Ok::<(), autoqd_env::EnvError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BipedalWalkerTask {
    friction: f64,
    mass_scale: f64,
    spec: EnvSpec,
}

impl BipedalWalkerTask {
    /// The task on ground with this friction coefficient (2.5 unperturbed; a leg on the ground sees the geometric
    /// mean with its own 0.2) and with all densities of the robot multiplied by `mass_scale`.
    pub fn new(friction: f64, mass_scale: f64) -> Result<Self, EnvError> {
        checks::range(NAME, "friction", friction, 0.0, 1e6)?;
        checks::range(NAME, "mass-scale", mass_scale, 1e-3, 1e3)?;
        Ok(Self { friction, mass_scale, spec: spec() })
    }

    /// Friction coefficient of the ground in the unperturbed task.
    pub const FRICTION: f64 = FRICTION;

    /// The environment itself, for what the trait does not show.
    pub fn walker(&self, reuse: WorldReuse) -> Result<BipedalWalker, EnvError> {
        let world = World::new().map_err(refused)?;
        Ok(BipedalWalker {
            spec: self.spec.clone(),
            world,
            definition: body::definition(self.friction, self.mass_scale),
            reuse,
            rng: NumpyRng::from_seed(&Seed::from(0_u64)),
            heights: [0.0; TERRAIN_POINTS],
            state: State::default(),
            shaping: 0.0,
            terms: [0.0; 3],
            steps: 0,
            contacts: [0; 2],
            alive: false,
        })
    }
}

impl Default for BipedalWalkerTask {
    fn default() -> Self {
        Self { friction: FRICTION, mass_scale: 1.0, spec: spec() }
    }
}

impl Task for BipedalWalkerTask {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(self.walker(WorldReuse::Never)?))
    }

    fn make_worlds(&self, _physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
        Ok(Box::new(Crowd::new(self)?))
    }

    fn make_gymnasium(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(self.walker(WorldReuse::Always)?))
    }

    fn make_gymnasium_worlds(&self) -> Result<Box<dyn Worlds>, EnvError> {
        Ok(Box::new(Walkers::new(self, WorldReuse::Always)?))
    }

    fn physics_note(&self, _physics: Physics) -> String {
        format!("Box2D, {LANES} worlds at a time")
    }
}

fn spec() -> EnvSpec {
    let foot = |name: &str| MeasureSpec { name: name.into(), low: 0.0, high: 1.0 };
    EnvSpec {
        name: NAME.into(),
        observation_size: OBSERVATION_SIZE,
        action_size: ACTION_SIZE,
        action_low: vec![-1.0; ACTION_SIZE],
        action_high: vec![1.0; ACTION_SIZE],
        max_episode_steps: MAX_EPISODE_STEPS,
        reward_terms: ["progress", "torque", "fall"].map(String::from).to_vec(),
        measures: vec![foot("leg 1 contact"), foot("leg 2 contact")],
        objective_min: -200.0,
    }
}

fn refused(failure: world::Failure) -> EnvError {
    EnvError::World { task: NAME.into(), message: failure.0 }
}

/// One walker. Made by [`BipedalWalkerTask`].
///
/// Observations are single-precision values. Without any seed so far, `reset(None)` starts from seed 0.
#[derive(Debug)]
pub struct BipedalWalker {
    spec: EnvSpec,
    world: World,
    definition: Definition,
    reuse: WorldReuse,
    rng: NumpyRng,
    heights: [f64; TERRAIN_POINTS],
    state: State,
    /// Potential of the last state, whose difference is the reward for progress.
    shaping: f64,
    terms: [f64; 3],
    steps: usize,
    contacts: [usize; 2],
    /// Whether there is a world to step.
    alive: bool,
}

impl BipedalWalker {
    /// The random generator in its present state.
    pub fn rng(&self) -> &NumpyRng {
        &self.rng
    }

    /// Heights of the terrain's corners, 14/30 apart.
    pub fn terrain_heights(&self) -> &[f64] {
        &self.heights
    }

    /// Position of the hull.
    pub fn hull(&self) -> [f32; 2] {
        [self.state.pose[0][0], self.state.pose[0][1]]
    }

    /// Whether each lower leg touches the ground.
    pub fn feet(&self) -> [bool; 2] {
        self.state.contact.map(|c| c != 0)
    }

    /// Box2D's part of a step alone, without lidar, observation and reward: what a benchmark compares a step with.
    pub fn advance_physics(&mut self, action: Action<'_>) -> Result<(), EnvError> {
        self.check(action)?;
        self.alive = self.world.advance(&motors(action));
        Ok(())
    }

    fn check(&self, action: Action<'_>) -> Result<(), EnvError> {
        checks::action(&self.spec, action)?;
        if self.alive { Ok(()) } else { Err(EnvError::NotReset { task: NAME.into() }) }
    }

    fn simulate(&mut self, motors: &Motors) {
        let mut state = State::default();
        let state = self.world.step(motors, &mut state).then_some(state);
        self.arrive(state);
    }

    /// Draws what is random about an episode.
    fn draw(&mut self, seed: Option<&Seed>) {
        if let Some(seed) = seed {
            self.rng = NumpyRng::from_seed(seed);
        }
        body::draw(&mut self.rng, &mut self.heights, &mut self.definition);
        self.alive = false;
        self.steps = 0;
        self.contacts = [0; 2];
        self.terms = [0.0; 3];
    }

    /// Records the state that an episode begins with.
    fn begin(&mut self, observation: &mut [f64]) -> Result<(), EnvError> {
        if !self.alive {
            return Err(refused(world::Failure("its first step diverged".into())));
        }
        self.shaping = self.potential();
        self.observe(observation);
        Ok(())
    }

    /// Stores the state after a step; none if Box2D gave up.
    fn arrive(&mut self, state: Option<State>) {
        self.state = state.unwrap_or(self.state);
        self.alive = state.is_some() && self.finite();
    }

    /// Records the step that led to the current state.
    fn conclude(&mut self, action: Action<'_>, observation: &mut [f64]) -> Transition {
        self.steps += 1;
        let truncated = self.steps >= MAX_EPISODE_STEPS;
        if !self.alive {
            return Transition { truncated, diverged: true, ..Transition::default() };
        }
        for (count, contact) in self.contacts.iter_mut().zip(self.state.contact) {
            *count += usize::from(contact);
        }
        self.observe(observation);
        let (reward, terminated) = self.judge(action);
        Transition { reward, terminated, truncated, diverged: false }
    }

    fn finite(&self) -> bool {
        let s = &self.state;
        let numbers = s.pose[0].iter().chain(&s.velocity).chain(&s.joint_angle).chain(&s.joint_speed);
        numbers.chain(&s.lidar).all(|x| x.is_finite())
    }

    fn observe(&self, out: &mut [f64]) {
        let s = &self.state;
        let [vx, vy, spin] = s.velocity.map(f64::from);
        let hull = [
            f64::from(s.pose[0][2]),
            2.0 * spin / 50.0,
            0.3 * vx * (600.0 / 30.0) / 50.0,
            0.3 * vy * (400.0 / 30.0) / 50.0,
        ];
        let lidar = s.lidar.iter().copied().map(f64::from);
        let all = hull.into_iter().chain(self.observe_leg(0)).chain(self.observe_leg(1)).chain(lidar);
        for (to, from) in out.iter_mut().zip(all) {
            *to = f64::from(from as f32);
        }
    }

    fn observe_leg(&self, leg: usize) -> [f64; 5] {
        let (hip, knee) = (2 * leg, 2 * leg + 1);
        let angle = |k: usize| f64::from(self.state.joint_angle[k]);
        let speed = |k: usize| f64::from(self.state.joint_speed[k]) / MOTOR_SPEED[k];
        [angle(hip), speed(hip), angle(knee) + 1.0, speed(knee), f64::from(self.state.contact[leg])]
    }

    fn potential(&self) -> f64 {
        let [x, _, angle] = self.state.pose[0].map(f64::from);
        130.0 * x / 30.0 - 5.0 * angle.abs()
    }

    /// The reward of the step that led to the current state, and whether the episode is over.
    fn judge(&mut self, action: Action<'_>) -> (f64, bool) {
        let shaping = self.potential();
        let progress = shaping - self.shaping;
        self.shaping = shaping;
        let x = f64::from(self.state.pose[0][0]);
        if self.state.fallen != 0 || x < 0.0 {
            self.terms = [0.0, 0.0, FALL_REWARD];
            return (FALL_REWARD, true);
        }
        let reward = pay_for_torque(progress, action);
        self.terms[PROGRESS] = progress;
        self.terms[TORQUE] = reward - progress;
        self.terms[FALL] = 0.0;
        (reward, x > GOAL)
    }
}

/// Subtracts the cost of each motor in turn, in the precision of the action as numpy does.
fn pay_for_torque(progress: f64, action: Action<'_>) -> f64 {
    match action {
        Action::F64(a) => a.iter().fold(progress, |reward, a| reward - TORQUE_COST * a.abs().min(1.0)),
        Action::F32(a) => {
            let cost = TORQUE_COST as f32;
            f64::from(a.iter().fold(progress as f32, |reward, a| reward - cost * a.abs().min(1.0)))
        }
    }
}

fn motors(action: Action<'_>) -> Motors {
    let a: [f64; 4] = std::array::from_fn(|k| action.get(k));
    Motors {
        speed: std::array::from_fn(|k| (MOTOR_SPEED[k] * sign(a[k])) as f32),
        torque: a.map(|a| (MOTOR_TORQUE * a.abs().min(1.0)) as f32),
    }
}

impl Environment for BipedalWalker {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.spec, observation)?;
        // A world that diverged is never reused.
        let keep_world = self.reuse == WorldReuse::Always && self.alive;
        self.draw(seed);
        self.world.build(&self.definition, keep_world).map_err(refused)?;
        // The first observation is the one after a step with all motors off.
        self.simulate(&Motors::default());
        self.begin(observation)
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        checks::observation(&self.spec, observation)?;
        self.check(action)?;
        self.simulate(&motors(action));
        Ok(self.conclude(action, observation))
    }

    /// The share of steps with ground contact, per lower leg; 0 before the first step.
    fn measures(&self, out: &mut [f64]) {
        for (measure, count) in out.iter_mut().zip(self.contacts) {
            *measure = count as f64 / self.steps.max(1) as f64;
        }
    }

    fn reward_terms(&self) -> &[f64] {
        &self.terms
    }

    fn scene(&self) -> Option<Scene> {
        Some(look::scene(&self.definition))
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        look::poses(&self.state, out);
    }
}

#[cfg(test)]
mod tests;
