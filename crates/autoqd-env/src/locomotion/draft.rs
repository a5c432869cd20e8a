//! A first task file for a model: what the model has, and a guess at what its robot is to do.

use crate::mujoco::{self, Data, Model, Object, Source};
use crate::{EnvError, Perturbation};
use mujoco_rs::prelude::{MjtGeomBase, MjtJoint};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// What was found in a model, and a task file that runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The bodies, joints, geoms, sites, sensors, actuators and keyframes, for people to read.
    pub inventory: String,
    /// A commented task file.
    pub task: String,
    /// What could not be guessed.
    pub notices: Vec<String>,
}

/// Seconds between two actions of a robot, if the model's time step allows.
const SECONDS_PER_ACTION: f64 = 0.02;
/// Most feet that become measures.
const MOST_FEET: usize = 4;

impl Draft {
    /// Reads an MJCF file; `written_as` is how the task file names it.
    ///
    /// # Errors
    /// If MuJoCo rejects the model, or it has nothing to move or to drive.
    pub fn new(model: impl AsRef<Path>, written_as: &str) -> Result<Self, EnvError> {
        let path = model.as_ref();
        let source = Source::File(path.to_path_buf());
        let (_, model) = mujoco::load(&source, &Perturbation::default(), None)?;
        let stem = path.file_stem().map_or("robot".into(), |stem| stem.to_string_lossy().to_lowercase());
        Guess::new(Arc::new(model), &stem)?.draft(written_as)
    }
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// Two significant digits are enough for a guess.
fn rounded(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

struct Guess {
    model: Arc<Model>,
    /// At the start of an episode.
    data: Data,
    name: String,
    keyframe: Option<String>,
}

impl Guess {
    fn new(model: Arc<Model>, name: &str) -> Result<Self, EnvError> {
        let mut data = mujoco::new_data(&model).ok_or_else(|| EnvError::World {
            task: name.to_string(),
            message: "MuJoCo could not allocate its state; free some memory".to_string(),
        })?;
        let keys: Vec<&str> = (0..model.key_time().len())
            .filter_map(|key| model.id_to_name(Object::mjOBJ_KEY, key).filter(|name| !name.is_empty()))
            .collect();
        let keyframe = keys.iter().find(|key| **key == "home").or(keys.first()).map(|key| key.to_string());
        if let Some(key) = keyframe.as_deref().and_then(|key| model.name_to_id(Object::mjOBJ_KEY, key)) {
            let nq = model.nq() as usize;
            data.qpos_mut().copy_from_slice(&model.key_qpos()[key * nq..][..nq]);
        }
        data.forward();
        Ok(Self { model, data, name: name.to_string(), keyframe })
    }

    fn named(&self, object: Object, id: usize) -> Option<&str> {
        self.model.id_to_name(object, id).filter(|name| !name.is_empty())
    }

    fn draft(&self, written_as: &str) -> Result<Draft, EnvError> {
        let mut notices = Vec::new();
        let (floor, trunk) = (self.floor(), self.trunk());
        if floor.is_none() {
            notices.push("no ground was found: a plane with a name that belongs to the world".to_string());
        }
        let feet = if floor.is_some() { self.feet() } else { Vec::new() };
        if floor.is_some() && feet.is_empty() {
            notices.push(
                "no feet were found: geoms with names that can touch the ground, at the ends of limbs".into(),
            );
        }
        let mut out = self.head(written_as, floor.as_deref());
        self.reset_and_observation(&mut out);
        match &trunk {
            Some((body, true)) => self.locomotion(&mut out, body, floor.is_some()),
            Some((body, false)) => self.reaching(&mut out, body),
            None => {
                notices.push("no body has a name, so the reward is for using little effort only".to_string());
                out.push_str("\n[[reward]]\nkind = \"control-cost\"\nweight = 1.0\n");
            }
        }
        self.measures(&mut out, &feet);
        Ok(Draft { inventory: self.inventory(), task: out, notices })
    }

    /// A plane of the world.
    fn floor(&self) -> Option<String> {
        let model = &self.model;
        let planes = (0..model.geom_bodyid().len())
            .filter(|&g| model.geom_bodyid()[g] == 0 && model.geom_type()[g] == MjtGeomBase::mjGEOM_PLANE);
        planes.filter_map(|g| self.named(Object::mjOBJ_GEOM, g)).next().map(str::to_string)
    }

    /// The body that moves freely, or else the one at the end of the longest chain; and which of the two it is.
    fn trunk(&self) -> Option<(String, bool)> {
        let model = &self.model;
        let free = model.jnt_type().iter().position(|&kind| kind == MjtJoint::mjJNT_FREE);
        let free = free.map(|joint| model.jnt_bodyid()[joint] as usize);
        if let Some(name) = free.and_then(|body| self.named(Object::mjOBJ_BODY, body)) {
            return Some((name.to_string(), true));
        }
        let depth = |mut body: usize| {
            let mut joints = 0;
            while body != 0 {
                joints += model.body_jntnum()[body];
                body = model.body_parentid()[body] as usize;
            }
            joints
        };
        let bodies = (1..model.body_mass().len()).filter(|&b| self.named(Object::mjOBJ_BODY, b).is_some());
        let tip = bodies.max_by_key(|&body| depth(body))?;
        Some((self.named(Object::mjOBJ_BODY, tip)?.to_string(), false))
    }

    /// Geoms with names on bodies at the ends of limbs, low enough to stand on.
    fn feet(&self) -> Vec<String> {
        let model = &self.model;
        let is_leaf = |body: usize| !model.body_parentid().iter().skip(1).any(|&p| p as usize == body);
        let height = |geom: usize| self.data.geom_xpos()[geom][2];
        let top = self.data.xpos().iter().skip(1).map(|x| x[2]).fold(0.0, f64::max);
        let mut feet = Vec::new();
        for body in (1..model.body_mass().len()).filter(|&body| is_leaf(body)) {
            let mut geoms: Vec<usize> = (0..model.geom_bodyid().len())
                .filter(|&g| model.geom_bodyid()[g] as usize == body)
                .filter(|&g| model.geom_contype()[g] | model.geom_conaffinity()[g] != 0)
                .filter(|&g| self.named(Object::mjOBJ_GEOM, g).is_some() && height(g) < 0.5 * top)
                .collect();
            geoms.sort_by(|&a, &b| height(a).total_cmp(&height(b)));
            feet.extend(geoms.first().and_then(|&g| self.named(Object::mjOBJ_GEOM, g)).map(str::to_string));
        }
        feet.truncate(MOST_FEET);
        feet
    }

    fn head(&self, written_as: &str, floor: Option<&str>) -> String {
        let timestep = self.model.opt().timestep;
        let frame_skip = ((SECONDS_PER_ACTION / timestep).round() as usize).clamp(1, 100);
        let mut out = String::new();
        let _ = writeln!(out, "# A first task for {}: guessed from the model, to be changed.", self.name);
        let _ = writeln!(out, "name = {}", quoted(&self.name));
        let _ = writeln!(out, "model = {}", quoted(written_as));
        let seconds = timestep * frame_skip as f64;
        let _ = writeln!(out, "# One action every {:.3} s.", seconds);
        let _ = writeln!(out, "frame_skip = {frame_skip}");
        let _ = writeln!(out, "max_episode_steps = 500");
        let _ = writeln!(out, "# The lowest return that counts in a search.");
        let _ = writeln!(out, "objective_min = -100.0");
        if let Some(floor) = floor {
            let _ = writeln!(out, "# The ground, for foot contacts.");
            let _ = writeln!(out, "floor = {}", quoted(floor));
        }
        out
    }

    fn reset_and_observation(&self, out: &mut String) {
        out.push_str("\n# Where episodes start, with a little noise so that policies do not rely on one start.\n[reset]\n");
        if let Some(keyframe) = &self.keyframe {
            let _ = writeln!(out, "keyframe = {}", quoted(keyframe));
        }
        out.push_str("position_noise = 0.01\nvelocity_noise = 0.01\n");
        let free = self.model.jnt_type().first() == Some(&MjtJoint::mjJNT_FREE);
        if free {
            out.push_str("\n# What a policy sees: all but where it is on the ground.\n");
            out.push_str("[[observation]]\nkind = \"positions\"\nfrom = 2\n");
        } else {
            out.push_str("\n# What a policy sees.\n[[observation]]\nkind = \"positions\"\n");
        }
        out.push_str("\n[[observation]]\nkind = \"velocities\"\nclip = [-20.0, 20.0]\n");
    }

    fn locomotion(&self, out: &mut String, trunk: &str, stands: bool) {
        let body = quoted(trunk);
        let _ = write!(
            out,
            "\n# What it is rewarded for: going along x, staying up, using little effort.\n\
             [[reward]]\nkind = \"forward-velocity\"\nbody = {body}\nweight = 1.0\n\
             \n[[reward]]\nkind = \"healthy\"\nweight = 0.5\n\
             \n[[reward]]\nkind = \"control-cost\"\nweight = {}\n",
            0.01
        );
        let id = self.model.name_to_id(Object::mjOBJ_BODY, trunk).unwrap_or(0);
        let height = self.data.xpos()[id][2];
        if stands && height > 0.05 {
            let (low, high) = (rounded(0.5 * height), rounded(2.0 * height));
            let _ = write!(
                out,
                "\n# The episode is lost when it is too low, flies off or tips over. It starts at {height:.2} m.\n\
                 [[health]]\nkind = \"height\"\nbody = {body}\nrange = {{ above = {low:?}, below = {high:?} }}\n\
                 \n[[health]]\nkind = \"tilt\"\nbody = {body}\nrange = {{ max = 1.0 }}\n"
            );
        }
        out.push_str("\n[[health]]\nkind = \"finite\"\n");
    }

    fn reaching(&self, out: &mut String, tip: &str) {
        let id = self.model.name_to_id(Object::mjOBJ_BODY, tip).unwrap_or(0);
        let [x, y, z] = self.data.xpos()[id];
        let (x, y, z) = (rounded(x + 0.1), rounded(y), rounded(z));
        let _ = write!(
            out,
            "\n# What it is rewarded for: bringing the end of the longest chain to a point, with little effort.\n\
             [[reward]]\nkind = \"distance\"\nfrom = {{ body = {} }}\nto = {{ point = [{x:?}, {y:?}, {z:?}] }}\n\
             \n[[reward]]\nkind = \"control-cost\"\nweight = 0.01\n",
            quoted(tip)
        );
    }

    fn measures(&self, out: &mut String, feet: &[String]) {
        if !feet.is_empty() {
            out.push_str("\n# Hand-designed measures: how long each foot is on the ground.\n");
            for foot in feet {
                let _ = write!(out, "[[measure]]\nkind = \"foot-contact\"\ngeom = {}\n\n", quoted(foot));
            }
            out.pop();
            return;
        }
        let model = &self.model;
        let scalar =
            |&j: &usize| matches!(model.jnt_type()[j], MjtJoint::mjJNT_HINGE | MjtJoint::mjJNT_SLIDE);
        let joints = (0..model.jnt_type().len()).filter(scalar);
        let mut said = false;
        for (j, name) in joints.filter_map(|j| Some((j, self.named(Object::mjOBJ_JOINT, j)?))).take(2) {
            let [low, high] = if model.jnt_limited()[j] { model.jnt_range()[j] } else { [-1.0, 1.0] };
            if low >= high {
                continue;
            }
            if !said {
                out.push_str("\n# Hand-designed measures: where joints are on average.\n");
                said = true;
            }
            let (label, joint) = (quoted(&format!("mean {name}")), quoted(name));
            let _ = write!(
                out,
                "[[measure]]\nkind = \"statistic\"\nname = {label}\nof = {{ joint = {joint} }}\n\
                 statistic = \"mean\"\nlow = {low:?}\nhigh = {high:?}\n\n"
            );
        }
        if said {
            out.pop();
        }
    }

    fn inventory(&self) -> String {
        let model = &self.model;
        let list = |object: Object, count: usize| {
            let name = |id: usize| self.named(object, id).map_or(format!("#{id}"), str::to_string);
            (0..count).map(name).collect::<Vec<_>>().join(", ")
        };
        let mut out = String::new();
        for (kind, object, count) in [
            ("bodies", Object::mjOBJ_BODY, model.body_mass().len()),
            ("joints", Object::mjOBJ_JOINT, model.jnt_type().len()),
            ("geoms", Object::mjOBJ_GEOM, model.geom_bodyid().len()),
            ("sites", Object::mjOBJ_SITE, model.site_bodyid().len()),
            ("sensors", Object::mjOBJ_SENSOR, model.sensor_adr().len()),
            ("actuators", Object::mjOBJ_ACTUATOR, model.nu() as usize),
            ("keyframes", Object::mjOBJ_KEY, model.key_time().len()),
        ] {
            let names = if count == 0 { "none".to_string() } else { list(object, count) };
            let _ = writeln!(out, "{kind:<10} {count:>3}  {names}");
        }
        out
    }
}
