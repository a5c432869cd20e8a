//! Control tasks for quality-diversity search, bit for bit those of Gymnasium.
//!
//! * [`Environment`] is one world with `reset` and `step`: implement it to bring a task written in Rust.
//! * [`Worlds`] is a batch of worlds that a rollout loop drives in lockstep; [`SingleWorld`] makes a batch of
//!   one out of any environment.
//! * [`Task`] is the shared, thread-safe recipe from which every worker builds its own worlds; [`load_task`] finds
//!   one by name or reads it from a TOML file.
//!
//! ```
//! use autoqd_env::{Action, Perturbation, Seed, load_task};
//!
//! let task = load_task("point-maze", &Perturbation::default())?;
//! let mut world = task.make()?;
//! let mut observation = vec![0.0; task.spec().observation_size];
//! let action = vec![0.5_f32; task.spec().action_size];
//! world.reset(Some(&Seed::from(7_u64)), &mut observation)?;
//! let mut total = 0.0;
//! loop {
//!     let transition = world.step(Action::F32(&action), &mut observation)?;
//!     total += transition.reward;
//!     if transition.done() {
//!         break;
//!     }
//! }
//! assert!(total.is_finite());
//! # Ok::<(), autoqd_env::EnvError>(())
//! ```
//!
//! # Simulators
//!
//! Both are features, on by default. `mujoco` links libmujoco from the folder `MUJOCO_DYNAMIC_LINK_DIR`; `box2d`
//! compiles the sources of box2d-py 2.3.8 from the folder `AUTOQD_BOX2D_DIR`. In a checkout of the project
//! `make native` fetches both and no variable is needed. Without a simulator its tasks say so when they are asked for;
//! `point-maze` and `planar-arm` need none.

#![deny(missing_docs)]

#[cfg(feature = "box2d")]
mod bipedal_walker;
mod checks;
mod environment;
#[cfg(any(feature = "mujoco", feature = "box2d"))]
pub mod golden;
#[cfg(feature = "mujoco")]
mod locomotion;
#[cfg(feature = "mujoco")]
mod mujoco;
mod planar_arm;
mod point_maze;
mod registry;
mod rng;
mod scene;
mod seed;
mod task;
mod worlds;
mod ziggurat;

pub use autoqd_task_file::{EnvError, Margin, Perturbation};
#[cfg(feature = "box2d")]
pub use bipedal_walker::{BipedalWalker, BipedalWalkerTask, WorldReuse};
pub use environment::{Action, EnvSpec, Environment, InfoSpec, MeasureSpec, Picture, Transition};
#[cfg(feature = "mujoco")]
pub use locomotion::{Blas, Draft, Locomotion, LocomotionTask, lanes};
pub use planar_arm::PlanarArmTask;
pub use point_maze::PointMazeTask;
pub use registry::{canonical_name, gymnasium_id, load_task, task_files, task_names};
pub use rng::NumpyRng;
pub use scene::{Mesh, Pose, Scene, Shape, ShapeKind};
pub use seed::Seed;
pub use task::{KeptSimulator, LoadedTask, Physics, Task, TaskDigest, TaskFiles, TaskOrigin};
pub use worlds::{SingleWorld, Worlds};
