//! Walkers that make their steps together, sixteen at a time, without Box2D and with its bits.
//!
//! What Box2D does for any scene is done here for this one: five bodies on four joints above a line of edges. Solving the
//! constraints is work for all lanes at once (`constraints.rs`, `aftermath.rs`); finding contacts and impacts goes lane by lane, because
//! there every lane does something else. Every sum and product is Box2D's, in its order; what is left out is what cannot
//! change a result.

mod aftermath;
mod constraints;
mod continuous;
mod geometry;
mod hinge;
mod impact;
mod lane;
mod manifold;
mod pose;
mod robot;
mod terrain;
mod together;
mod touching;

pub use self::aftermath::Aftermath;
pub use self::constraints::Constraints;
use self::continuous::Impact;
pub use self::geometry::Point;
use self::lane::Lane;
use self::robot::{Robot, parent};
pub use self::terrain::{Edge, cast};
use self::together::Together;
use super::wide::{Backend, LANES, One, with_backend};
use super::world::{Motors, State};
use super::{ACTION_SIZE, BipedalWalker, BipedalWalkerTask, OBSERVATION_SIZE, WorldReuse, motors, refused};
use crate::{Action, EnvError, EnvSpec, Seed, Transition, Worlds, checks};

/// Some groups of as many walkers as there are lanes.
pub struct Crowd {
    spec: EnvSpec,
    robot: Robot,
    members: Vec<Member>,
    /// Steps of many lanes at once, and those of one lane.
    together: Box<dyn Together>,
    alone: Box<dyn Together>,
}

/// More than there are lanes, so that those with as much to do can be put together in each step.
const WORLDS: usize = 4 * LANES;

struct Member {
    /// Rewards and observations. Its Box2D world is never built.
    walker: BipedalWalker,
    lane: Lane,
    impact: Impact,
}

impl Crowd {
    pub fn new(task: &BipedalWalkerTask) -> Result<Self, EnvError> {
        Self::on(Backend::best(&task.spec.name)?, task)
    }

    /// With an instruction set that this CPU has.
    fn on(backend: Backend, task: &BipedalWalkerTask) -> Result<Self, EnvError> {
        let mut sample = task.walker(WorldReuse::Never)?;
        sample.draw(None);
        sample.world.build(&sample.definition, false).map_err(refused)?;
        let robot = Robot::new(&sample.world.describe().map_err(refused)?);
        let members = (0..WORLDS).map(|_| Member::new(task)).collect::<Result<_, _>>()?;
        let together = with_backend!(backend, F => together::make::<F>(&robot));
        let alone = together::make::<One>(&robot);
        Ok(Self { spec: task.spec.clone(), robot, members, together, alone })
    }

    /// Makes a step of the worlds for which there are motors.
    fn advance(&mut self, motors: &[Option<Motors>; WORLDS]) {
        let mut moving = List::of(|i| motors[i].is_some());
        for &i in moving.members() {
            self.members[i].lane.begin(&self.robot);
        }
        // A group takes as long as its worst member, so each is of worlds that have about as much to do.
        moving.sort_by(|i| self.members[i].lane.work());
        for group in moving.members().chunks(LANES) {
            self.solve(group, motors);
        }
        for &i in moving.members() {
            self.members[i].lane.forget_impacts();
        }
        self.finish_impacts(&mut moving);
        for i in (0..WORLDS).filter(|i| motors[*i].is_some()) {
            self.members[i].read(&self.robot, &*self.together);
        }
    }

    /// The steps of some worlds, up to their impacts.
    fn solve(&mut self, group: &[usize], motors: &[Option<Motors>; WORLDS]) {
        let robot = &self.robot;
        let solver = if group.len() == 1 { &mut self.alone } else { &mut self.together };
        solver.clear();
        for (lane, &i) in group.iter().enumerate() {
            solver.load(lane, &self.members[i].lane, &motors[i].unwrap_or_default());
        }
        solver.solve(robot);
        for (lane, &i) in group.iter().enumerate() {
            solver.store(lane, &mut self.members[i].lane, robot);
        }
    }

    /// Impact after impact, until no world has one.
    fn finish_impacts(&mut self, moving: &mut List) {
        let robot = &self.robot;
        loop {
            moving.retain(|i| {
                let member = &mut self.members[i];
                member.lane.next_impact(robot, &mut member.impact)
            });
            let stopped = moving.members();
            if stopped.is_empty() {
                return;
            }
            for group in stopped.chunks(LANES) {
                let solver = if group.len() == 1 { &mut self.alone } else { &mut self.together };
                solver.clear_impacts();
                for (lane, &i) in group.iter().enumerate() {
                    solver.load_impact(lane, &self.members[i].lane, &self.members[i].impact, robot);
                }
                solver.finish_impacts();
                for (lane, &i) in group.iter().enumerate() {
                    let Member { lane: world, impact, .. } = &mut self.members[i];
                    solver.store_impact(lane, world, impact, robot);
                }
            }
        }
    }
}

/// Numbers of worlds.
struct List {
    all: [usize; WORLDS],
    count: usize,
}

impl List {
    fn of(condition: impl Fn(usize) -> bool) -> Self {
        let mut list = Self { all: std::array::from_fn(|i| i), count: WORLDS };
        list.retain(condition);
        list
    }

    fn members(&self) -> &[usize] {
        &self.all[..self.count]
    }

    fn retain(&mut self, mut condition: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for i in 0..self.count {
            if condition(self.all[i]) {
                self.all[kept] = self.all[i];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Sorts by a number below 2^32.
    fn sort_by(&mut self, key: impl Fn(usize) -> usize) {
        let all = &mut self.all[..self.count];
        all.iter_mut().for_each(|i| *i |= key(*i) << 32);
        all.sort_unstable();
        all.iter_mut().for_each(|i| *i &= u32::MAX as usize);
    }
}

impl Member {
    fn new(task: &BipedalWalkerTask) -> Result<Self, EnvError> {
        let impact = Impact { body: 0, time: 0.0, contacts: Vec::with_capacity(16) };
        let walker = task.walker(WorldReuse::Never)?;
        Ok(Self { walker, lane: Lane::default(), impact })
    }

    /// Hands the state of the lane to the walker.
    fn read(&mut self, robot: &Robot, together: &dyn Together) {
        let lane = &self.lane;
        let bodies = &lane.bodies;
        let pose = bodies.each_ref().map(|body| {
            let [x, y] = body.frame.position;
            [x, y, body.sweep.to_angle]
        });
        let joint_angle = std::array::from_fn(|k| {
            bodies[k + 1].sweep.to_angle - bodies[parent(k)].sweep.to_angle - robot.hinges[k].reference
        });
        let joint_speed = std::array::from_fn(|k| bodies[k + 1].spin - bodies[parent(k)].spin);
        let [vx, vy] = bodies[0].velocity;
        let eye = bodies[0].frame.position;
        self.walker.arrive(Some(State {
            pose,
            velocity: [vx, vy, bodies[0].spin],
            joint_angle,
            joint_speed,
            lidar: together.ranges(&lane.terrain, eye, &self.walker.definition.rays),
            contact: lane.feet.map(u8::from),
            fallen: u8::from(lane.fallen),
        }));
    }
}

impl Worlds for Crowd {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn lanes(&self) -> usize {
        WORLDS
    }

    fn is_scalar(&self) -> bool {
        true
    }

    fn reset(&mut self, lane: usize, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.spec, observation)?;
        let member = &mut self.members[lane];
        member.walker.draw(seed);
        member.lane.terrain.build(&member.walker.definition.terrain);
        member.lane.reset(&self.robot, member.walker.definition.push);
        // The first observation is the one after a step with all motors off.
        let mut motors = [None; WORLDS];
        motors[lane] = Some(Motors::default());
        self.advance(&motors);
        self.members[lane].walker.begin(observation)
    }

    fn step(
        &mut self,
        active: &[bool],
        actions: Action<'_>,
        observations: &mut [f64],
        transitions: &mut [Transition],
    ) -> Result<(), EnvError> {
        let action = |lane: usize| actions.row(lane, ACTION_SIZE);
        let stepping = || (0..WORLDS).filter(|lane| active[*lane]);
        // Nothing moves unless all can.
        stepping().try_for_each(|lane| self.members[lane].walker.check(action(lane)))?;
        let mut orders = [None; WORLDS];
        stepping().for_each(|lane| orders[lane] = Some(motors(action(lane))));
        self.advance(&orders);
        for lane in stepping() {
            let row = &mut observations[lane * OBSERVATION_SIZE..][..OBSERVATION_SIZE];
            transitions[lane] = self.members[lane].walker.conclude(action(lane), row);
        }
        Ok(())
    }

    fn measures(&self, lane: usize, out: &mut [f64]) {
        crate::Environment::measures(&self.members[lane].walker, out);
    }

    fn reward_terms(&self, lane: usize) -> &[f64] {
        crate::Environment::reward_terms(&self.members[lane].walker)
    }
}

#[cfg(test)]
mod tests;
