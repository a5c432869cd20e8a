//! Looking up the names of a task file in a compiled model.

use crate::EnvError;
use crate::mujoco::{Model, Object};

/// Finds named elements, and lists the existing names when one is missing.
pub(super) struct Names<'a> {
    pub model: &'a Model,
    pub task: &'a str,
}

impl Names<'_> {
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
        let body = self.body(name)?;
        let first = self.model.body_jntadr()[body];
        let joint = usize::try_from(first).ok();
        match joint.filter(|&j| self.model.jnt_type()[j] == mujoco_rs::prelude::MjtJoint::mjJNT_FREE) {
            Some(joint) => Ok(self.model.jnt_dofadr()[joint] as usize),
            None => Err(self.invalid(format!("body '{name}' has no free joint, so no velocity of its own"))),
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
