//! Looking up the names of a task file in a compiled model.

use super::memory::{Followed, Spot, Track};
use super::task_file::TaskFile;
use crate::EnvError;
use crate::mujoco::{Model, Object};
use std::cell::RefCell;

/// Finds named elements, and lists the existing names when one is missing.
pub(super) struct Names<'a> {
    pub model: &'a Model,
    pub task: &'a str,
    /// Geom of the ground.
    pub floor: Option<usize>,
    goals: Vec<KnownGoal>,
    /// What episodes follow for the parts that were resolved so far.
    followed: RefCell<Followed>,
}

/// A goal of the task.
#[derive(Clone, Debug)]
pub(super) struct KnownGoal {
    name: String,
    /// Its first number among those of all goals.
    pub first: usize,
    pub count: usize,
    joints: Vec<String>,
}

impl<'a> Names<'a> {
    /// Names of a model, and of the ground and the goals of a task.
    pub fn new(model: &'a Model, file: &'a TaskFile) -> Result<Self, EnvError> {
        let (followed, task) = (RefCell::default(), file.name.as_str());
        let mut names = Self { model, task, floor: None, goals: Vec::new(), followed };
        names.floor = file.floor.as_deref().map(|name| names.geom(name)).transpose()?;
        let mut first = 0;
        for goal in &file.reset.goal {
            let (name, count) = (goal.name.clone(), goal.low.len());
            let joints = goal.joints.clone().unwrap_or_default();
            if names.goals.iter().any(|known| known.name == name) {
                return Err(names.invalid(format!("two goals are called '{name}'")));
            }
            if !joints.is_empty() && joints.len() != count {
                return Err(names.invalid(format!(
                    "[[reset.goal]] '{name}' has {count} numbers for {} joints",
                    joints.len()
                )));
            }
            joints.iter().try_for_each(|joint| names.single(joint).map(drop))?;
            names.goals.push(KnownGoal { name, first, count, joints });
            first += count;
        }
        Ok(names)
    }

    /// What episodes follow for everything that was resolved.
    pub fn into_followed(self) -> Followed {
        self.followed.into_inner()
    }

    /// Number of the contact of a geom with another, or with the ground.
    pub fn contact(&self, geom: &str, with: Option<&str>) -> Result<usize, EnvError> {
        let (geom, other) = (self.geom(geom)?, with.map(|name| self.geom(name)).transpose()?);
        let other = other.or(self.floor).ok_or_else(|| {
            self.invalid("a contact needs `floor`, the name of the ground geom, in the task file, or `with`, another geom")
        })?;
        Ok(Followed::number_of(&mut self.followed.borrow_mut().contacts, [geom, other]))
    }

    /// Number of the track of a place.
    pub fn track(&self, at: Spot) -> usize {
        let body = match at {
            Spot::Body(body) => body,
            Spot::Geom(geom) => self.model.geom_bodyid()[geom] as usize,
            Spot::Site(site) => self.model.site_bodyid()[site] as usize,
            Spot::Center | Spot::Goal(_) | Spot::Fixed(_) => 0,
        };
        Followed::number_of(&mut self.followed.borrow_mut().tracks, Track { at, body })
    }

    pub fn goal(&self, name: &str) -> Result<&KnownGoal, EnvError> {
        self.goals.iter().find(|goal| goal.name == name).ok_or_else(|| {
            let known: Vec<_> = self.goals.iter().map(|goal| goal.name.as_str()).collect();
            let known =
                if known.is_empty() { "none; add a [[reset.goal]]".to_string() } else { known.join(", ") };
            EnvError::UnknownName { task: self.task.to_string(), kind: "goal", name: name.to_string(), known }
        })
    }

    /// Index of a goal's number.
    pub fn goal_number(&self, name: &str, component: usize) -> Result<usize, EnvError> {
        match self.goal(name)? {
            goal if component < goal.count => Ok(goal.first + component),
            goal => Err(self.invalid(format!(
                "goal '{name}' has {} numbers, there is no component {component}",
                goal.count
            ))),
        }
    }

    /// Index of the number that a goal asks a joint to be at.
    pub fn goal_of_joint(&self, joint: &str) -> Result<usize, EnvError> {
        let goals = self.goals.iter();
        let mut found =
            goals.filter_map(|goal| Some(goal.first + goal.joints.iter().position(|name| name == joint)?));
        found
            .next()
            .ok_or_else(|| self.invalid(format!("no [[reset.goal]] has joint '{joint}' among its `joints`")))
    }
    pub fn body(&self, name: &str) -> Result<usize, EnvError> {
        self.find(Object::mjOBJ_BODY, "body", name, self.model.body_mass().len())
    }

    pub fn geom(&self, name: &str) -> Result<usize, EnvError> {
        self.find(Object::mjOBJ_GEOM, "geom", name, self.model.geom_bodyid().len())
    }

    pub fn site(&self, name: &str) -> Result<usize, EnvError> {
        self.find(Object::mjOBJ_SITE, "site", name, self.model.site_bodyid().len())
    }

    pub fn keyframe(&self, name: &str) -> Result<usize, EnvError> {
        self.find(Object::mjOBJ_KEY, "keyframe", name, self.model.key_time().len())
    }

    /// The first number of a sensor and how many it has.
    pub fn sensor(&self, name: &str) -> Result<(usize, usize), EnvError> {
        let id = self.find(Object::mjOBJ_SENSOR, "sensor", name, self.model.sensor_adr().len())?;
        Ok((self.model.sensor_adr()[id] as usize, self.model.sensor_dim()[id] as usize))
    }

    /// Indices into the positions of some joints, in their order.
    pub fn coordinates(&self, joints: &[String]) -> Result<Vec<usize>, EnvError> {
        let all = joints.iter().map(|name| self.joint(name).map(|(at, width)| at..at + width));
        Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Indices into the velocities of some joints, in their order.
    pub fn freedoms(&self, joints: &[String]) -> Result<Vec<usize>, EnvError> {
        let all = joints.iter().map(|name| {
            let width = match self.joint(name)?.1 {
                7 => 6,
                4 => 3,
                _ => 1,
            };
            let id = self.joint_id(name)?;
            let at = self.model.jnt_dofadr()[id] as usize;
            Ok(at..at + width)
        });
        Ok(all.collect::<Result<Vec<_>, EnvError>>()?.into_iter().flatten().collect())
    }

    /// Index into the positions of a joint's component.
    pub fn coordinate(&self, name: &str, component: usize) -> Result<usize, EnvError> {
        let (address, width) = self.joint(name)?;
        if component < width {
            return Ok(address + component);
        }
        let message = format!("joint '{name}' has {width} positions, there is no component {component}");
        Err(self.invalid(message))
    }

    /// Index into the positions of a joint that has just one.
    pub fn single(&self, name: &str) -> Result<usize, EnvError> {
        match self.joint(name)? {
            (address, 1) => Ok(address),
            _ => {
                Err(self
                    .invalid(format!("joint '{name}' is a ball or free joint; name a hinge or slide joint")))
            }
        }
    }

    /// The first velocity of a body that moves freely.
    pub fn free_body(&self, name: &str) -> Result<usize, EnvError> {
        Ok(self.model.jnt_dofadr()[self.free_joint(name)?] as usize)
    }

    /// The first position of a body that moves freely.
    pub fn free_coordinate(&self, name: &str) -> Result<usize, EnvError> {
        Ok(self.model.jnt_qposadr()[self.free_joint(name)?] as usize)
    }

    fn free_joint(&self, name: &str) -> Result<usize, EnvError> {
        let body = self.body(name)?;
        let first = self.model.body_jntadr()[body];
        let joint = usize::try_from(first).ok();
        match joint.filter(|&j| self.model.jnt_type()[j] == mujoco_rs::prelude::MjtJoint::mjJNT_FREE) {
            Some(joint) => Ok(joint),
            None => Err(self.invalid(format!("body '{name}' has no free joint; name one that moves freely"))),
        }
    }

    fn joint_id(&self, name: &str) -> Result<usize, EnvError> {
        self.find(Object::mjOBJ_JOINT, "joint", name, self.model.jnt_type().len())
    }

    fn joint(&self, name: &str) -> Result<(usize, usize), EnvError> {
        use mujoco_rs::prelude::MjtJoint;
        let id = self.joint_id(name)?;
        let width = match self.model.jnt_type()[id] {
            MjtJoint::mjJNT_FREE => 7,
            MjtJoint::mjJNT_BALL => 4,
            _ => 1,
        };
        Ok((self.model.jnt_qposadr()[id] as usize, width))
    }

    fn find(&self, object: Object, kind: &'static str, name: &str, count: usize) -> Result<usize, EnvError> {
        // A zero byte cannot be part of a name in MuJoCo, and the lookup panics on it.
        let found = (!name.contains('\0')).then(|| self.model.name_to_id(object, name)).flatten();
        found.ok_or_else(|| {
            let known: Vec<_> = (0..count).filter_map(|id| self.model.id_to_name(object, id)).collect();
            let known = if known.is_empty() { "none with a name".to_string() } else { known.join(", ") };
            EnvError::UnknownName { task: self.task.to_string(), kind, name: name.to_string(), known }
        })
    }

    pub fn invalid(&self, message: impl Into<String>) -> EnvError {
        EnvError::TaskValue { task: self.task.to_string(), message: message.into() }
    }
}
