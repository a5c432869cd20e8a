//! Sixteen walkers that make their steps together, without Box2D and with its bits.
//!
//! What Box2D does for any scene is done here for this one: five bodies on four joints above a line of edges. Solving the
//! constraints is work for all lanes at once (`constraints.rs`); finding contacts and impacts goes lane by lane, because
//! there every lane does something else. Every sum and product is Box2D's, in its order; what is left out is what cannot
//! change a result.

mod constraints;
mod continuous;
mod geometry;
mod impact;
mod lane;
mod manifold;
mod robot;
mod terrain;

use self::constraints::{Aftermath, Constraints};
use self::continuous::Impact;
use self::lane::Lane;
use self::robot::{Robot, parent};
use super::wide::LANES;
use super::world::{Motors, State};
use super::{ACTION_SIZE, BipedalWalker, BipedalWalkerTask, OBSERVATION_SIZE, WorldReuse, motors, refused};
use crate::{Action, EnvError, EnvSpec, Seed, Transition, Worlds, checks};

/// As many walkers as there are lanes.
pub struct Crowd {
    spec: EnvSpec,
    robot: Robot,
    members: Vec<Member>,
    constraints: Box<Constraints>,
    aftermath: Box<Aftermath>,
}

struct Member {
    /// Rewards and observations. Its Box2D world is never built.
    walker: BipedalWalker,
    lane: Lane,
    impact: Impact,
    /// Whether it has been stopped by an impact.
    stopped: bool,
}

impl Crowd {
    pub fn new(task: &BipedalWalkerTask) -> Result<Self, EnvError> {
        let mut sample = task.walker(WorldReuse::Never)?;
        sample.draw(None);
        sample.world.build(&sample.definition, false).map_err(refused)?;
        let robot = Robot::new(&sample.world.describe().map_err(refused)?);
        let members = (0..LANES).map(|_| Member::new(task)).collect::<Result<_, _>>()?;
        let constraints = Box::new(Constraints::new(&robot));
        Ok(Self {
            spec: task.spec.clone(),
            robot,
            members,
            constraints,
            aftermath: Box::new(Aftermath::new()),
        })
    }

    /// Makes a step of the lanes for which there are motors.
    fn advance(&mut self, motors: &[Option<Motors>; LANES]) {
        let robot = &self.robot;
        self.constraints.clear();
        for (i, motors) in motors.iter().enumerate() {
            if let Some(motors) = motors {
                let lane = &mut self.members[i].lane;
                lane.begin(robot);
                self.constraints.load(i, lane, motors.speed, motors.torque);
            }
        }
        self.constraints.solve(robot);
        for i in (0..LANES).filter(|i| motors[*i].is_some()) {
            let lane = &mut self.members[i].lane;
            self.constraints.store(i, lane, robot);
            lane.forget_impacts();
        }
        self.finish_impacts(motors);
        for i in (0..LANES).filter(|i| motors[*i].is_some()) {
            self.members[i].read(&self.robot);
        }
    }

    /// Impact after impact, until no lane has one.
    fn finish_impacts(&mut self, motors: &[Option<Motors>; LANES]) {
        let robot = &self.robot;
        let mut moving: [bool; LANES] = std::array::from_fn(|i| motors[i].is_some());
        loop {
            self.aftermath.clear();
            for i in (0..LANES).filter(|i| moving[*i]) {
                let member = &mut self.members[i];
                member.stopped = member.lane.next_impact(robot, &mut member.impact);
                if member.stopped {
                    let part = &robot.parts[member.impact.body];
                    self.aftermath.load(i, &member.lane, &member.impact, part);
                }
            }
            if self.aftermath.is_empty() {
                return;
            }
            self.aftermath.solve();
            for i in (0..LANES).filter(|i| moving[*i]) {
                let member = &mut self.members[i];
                if member.stopped {
                    let part = &robot.parts[member.impact.body];
                    self.aftermath.store(i, &mut member.lane, &member.impact, part);
                }
            }
            for i in 0..LANES {
                moving[i] &= self.members[i].stopped;
            }
        }
    }
}

impl Member {
    fn new(task: &BipedalWalkerTask) -> Result<Self, EnvError> {
        let impact = Impact { body: 0, time: 0.0, contacts: Vec::with_capacity(16) };
        let walker = task.walker(WorldReuse::Never)?;
        Ok(Self { walker, lane: Lane::default(), impact, stopped: false })
    }

    /// Hands the state of the lane to the walker.
    fn read(&mut self, robot: &Robot) {
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
            lidar: lane.terrain.ranges(eye, &self.walker.definition.rays),
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
        LANES
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
        let mut motors = [None; LANES];
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
        let stepping = || (0..LANES).filter(|lane| active[*lane]);
        // Nothing moves unless all can.
        stepping().try_for_each(|lane| self.members[lane].walker.check(action(lane)))?;
        let mut orders = [None; LANES];
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
