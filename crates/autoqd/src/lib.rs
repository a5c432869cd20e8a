//! AutoQD: many policies for one control task, each good and all different, without anyone defining what "different"
//! means.
//!
//! This is the method of [AutoQD: Automatic Discovery of Diverse Behaviors with Quality-Diversity
//! Optimization](https://arxiv.org/abs/2506.05634) (ICLR 2026). Policies are embedded by where they go and what they do
//! there ([`embedding`]), a fitness-weighted PCA of the embeddings gives the axes of an archive ([`cwpca`]), and
//! CMA-MAE fills it ([`search`]).
//!
//! ```
//! use autoqd::config::Layers;
//! use autoqd::registry::Registry;
//! use autoqd::search::Search;
//! use autoqd_env::load_task;
//! use autoqd_qd::Archive;
//!
//! let registry = Registry::default();
//! let task = load_task("point-maze", &Default::default())?;
//! // A preset, then whatever differs this time; all settings are in docs/config-reference.md.
//! let config = Layers::new(&registry)
//!     .preset("quick")?
//!     .set("iterations=5")?
//!     .set("batch_size=8")?
//!     .flag("task", "point-maze", "TASK")?
//!     .build()?
//!     .resolve(&task.spec().into(), &registry)?;
//! let mut search = Search::new(config, task)?;
//! while !search.finished() {
//!     search.step()?;
//! }
//! let found = search.result().stats();
//! println!("{} policies, the best with a return of {:.1}", found.num_elites, found.obj_max.unwrap_or(f64::NAN));
//! assert!(found.num_elites > 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! | you want to | see |
//! |---|---|
//! | run a search that can be stopped and continued | [`runner`], which writes the files of [`run_folder`] |
//! | bring a task, a descriptor, an emitter or an evaluator | [`registry`] |
//! | change what tells behaviours apart | [`descriptor`] |
//! | roll policies out | [`evaluator`], [`policy`] |
//! | use the policies elsewhere | [`export`] |
//! | search something that is not a policy | the crate `autoqd_qd` alone |
//! | know the tasks, or write one | the crate `autoqd_env` |
//!
//! # Features
//!
//! `mujoco` and `box2d`, both on by default, bring the simulators. Without them only tasks in plain Rust run.
//!
//! # Guarantees
//!
//! A configuration and a seed give the same bytes for any number of threads, and resuming gives the same bytes as never
//! stopping.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod config;
pub mod descriptor;
pub mod emitter;
pub mod export;
pub mod memory;
pub mod observer;
pub mod packed;
pub mod parts;
pub mod registry;
pub mod remote;
pub mod run_folder;
pub mod runner;
pub mod search;
pub mod trainer;

pub use autoqd_rollout::{Error, cwpca, embedding, evaluator, policy, random, seeds};
// For the other crates of the project; not an interface.
#[doc(hidden)]
pub use autoqd_rollout::kernels;
