//! The shared recipe of a task.

use crate::{EnvError, EnvSpec, Environment, Perturbation, SingleWorld, Worlds};
use std::path::PathBuf;
use std::sync::Arc;

/// Which simulator runs the worlds of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Physics {
    /// The batched simulator where it supports the model and agrees with the reference, else the reference.
    #[default]
    Auto,
    /// The batched simulator; an error where it does not support the model.
    Lanes,
    /// libmujoco or Box2D.
    Reference,
}

/// A task that any number of threads can build worlds from.
pub trait Task: Send + Sync {
    /// Sizes, bounds and names.
    fn spec(&self) -> &EnvSpec;

    /// Builds one world on the reference simulator.
    fn make(&self) -> Result<Box<dyn Environment>, EnvError>;

    /// Builds one world that draws itself, for a task whose worlds have no scene; `None` where nothing can be drawn.
    fn make_pictured(&self) -> Result<Option<Box<dyn Environment>>, EnvError> {
        Ok(None)
    }

    /// Builds a batch of worlds for a rollout loop.
    fn make_worlds(&self, _physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
        Ok(Box::new(SingleWorld::new(self.make()?)))
    }

    /// Builds one world that repeats Gymnasium's to the bit over any number of episodes. Usually [`Task::make`] does,
    /// but where the simulator remembers earlier episodes this world does as well.
    fn make_gymnasium(&self) -> Result<Box<dyn Environment>, EnvError> {
        self.make()
    }

    /// Builds a batch of such worlds.
    fn make_gymnasium_worlds(&self) -> Result<Box<dyn Worlds>, EnvError> {
        self.make_worlds(Physics::Reference)
    }

    /// What a user should know about how the task was loaded; usually nothing.
    fn notices(&self) -> &[String] {
        &[]
    }

    /// Digests of what the task is made of, so that a run can tell when it has become another task. None by default:
    /// the name is all there is to compare then.
    fn digests(&self) -> Vec<TaskDigest> {
        Vec::new()
    }

    /// Which simulator [`Task::make_worlds`] uses and why, for people to read.
    fn physics_note(&self, _physics: Physics) -> String {
        "reference simulator".to_owned()
    }

    /// The physics that this one means where the task has settled it ([`KeptSimulator`]).
    fn meant(&self, physics: Physics) -> Physics {
        physics
    }

    /// What the task can be loaded from again, here or on another machine; none for one that was made in code.
    fn origin(&self) -> Option<&TaskOrigin> {
        None
    }
}

/// What a task is loaded from.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TaskOrigin {
    /// Its name, or the path of its file.
    pub name: String,
    /// How its physics is changed.
    pub perturbation: Perturbation,
}

/// What wraps a task passes the same calls on to it.
macro_rules! passed_on {
    () => {
        fn spec(&self) -> &EnvSpec {
            self.task.spec()
        }

        fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
            self.task.make()
        }

        fn make_pictured(&self) -> Result<Option<Box<dyn Environment>>, EnvError> {
            self.task.make_pictured()
        }

        fn make_gymnasium(&self) -> Result<Box<dyn Environment>, EnvError> {
            self.task.make_gymnasium()
        }

        fn make_gymnasium_worlds(&self) -> Result<Box<dyn Worlds>, EnvError> {
            self.task.make_gymnasium_worlds()
        }

        fn notices(&self) -> &[String] {
            self.task.notices()
        }

        fn digests(&self) -> Vec<TaskDigest> {
            self.task.digests()
        }
    };
}

/// A task for which `auto` means one kind of physics, whatever the program would choose: that of a run that goes on.
pub struct KeptSimulator {
    /// The task inside.
    pub task: Arc<dyn Task>,
    /// What `auto` means.
    pub auto: Physics,
}

impl Task for KeptSimulator {
    passed_on!();

    fn make_worlds(&self, physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
        self.task.make_worlds(self.meant(physics))
    }

    fn physics_note(&self, physics: Physics) -> String {
        self.task.physics_note(self.meant(physics))
    }

    fn meant(&self, physics: Physics) -> Physics {
        if physics == Physics::Auto { self.auto } else { physics }
    }

    fn origin(&self) -> Option<&TaskOrigin> {
        self.task.origin()
    }
}

/// A task that knows what it was loaded from, and is otherwise the task inside.
pub struct LoadedTask {
    /// The task inside.
    pub task: Arc<dyn Task>,
    /// What it was loaded from.
    pub origin: TaskOrigin,
}

impl Task for LoadedTask {
    passed_on!();

    fn make_worlds(&self, physics: Physics) -> Result<Box<dyn Worlds>, EnvError> {
        self.task.make_worlds(physics)
    }

    fn physics_note(&self, physics: Physics) -> String {
        self.task.physics_note(physics)
    }

    fn meant(&self, physics: Physics) -> Physics {
        self.task.meant(physics)
    }

    fn origin(&self) -> Option<&TaskOrigin> {
        Some(&self.origin)
    }
}

/// The digest of one thing that a task is made of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TaskDigest {
    /// What it is of.
    pub of: String,
    /// Its BLAKE3 hash, in hexadecimal.
    pub blake3: String,
}

impl TaskDigest {
    /// The digest of a thing, with the words for it in messages.
    pub fn new(of: impl Into<String>, hash: blake3::Hash) -> Self {
        Self { of: of.into(), blake3: hash.to_hex().to_string() }
    }
}

/// The files that a task from a file is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFiles {
    /// The task file.
    pub task: PathBuf,
    /// All files, the task file among them, by absolute path in alphabetical order.
    pub files: Vec<PathBuf>,
    /// Files that a model names by their absolute path, which a copy of the model would still read where they are.
    pub fixed: Vec<PathBuf>,
}
