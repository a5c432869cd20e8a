//! Quality-diversity optimisation: archives, evolution strategies, emitters and a scheduler, as pyribs has them.
//!
//! A quality-diversity search looks for many solutions that are each good (a large *objective*) and all different
//! (*measures* that fill a space). Three nouns suffice:
//!
//! * an [`Archive`] keeps the best solution found for each kind of behaviour, an *elite*;
//! * [`Emitter`]s propose candidates, most of them by following an [`EvolutionStrategy`];
//! * a [`Scheduler`] asks the emitters, gives the evaluated candidates to the archive, and tells the emitters the
//!   outcome.
//!
//! The crate knows nothing of what is optimised: you evaluate the candidates between `ask` and `tell`.
//!
//! # Illuminating the sphere
//!
//! CMA-MAE on the usual benchmark: the objective is 100 at x = 2.048 and falls with the squared distance; the two
//! measures are sums over halves of the parameters, folded so that extreme values cannot be reached by a few of them.
//!
//! ```
//! use autoqd_qd::{Archive, CellConfig, EsEmitterConfig, Evaluations, GridConfig, Result, Rows, Scheduler};
//!
//! const DIM: usize = 20;
//!
//! fn sphere(x: &[f64]) -> f64 {
//!     let cost: f64 = x.iter().map(|v| (v - 2.048).powi(2)).sum();
//!     100.0 * (1.0 - cost / (DIM as f64 * 7.168_f64.powi(2)))
//! }
//!
//! fn measures(x: &[f64]) -> [f64; 2] {
//!     let fold = |v: &f64| if v.abs() <= 5.12 { *v } else { 5.12 / v };
//!     [x[..DIM / 2].iter().map(fold).sum(), x[DIM / 2..].iter().map(fold).sum()]
//! }
//!
//! fn main() -> Result<()> {
//!     let grid = GridConfig::new(DIM, &[100, 100], &[(-51.2, 51.2); 2]);
//!     // The archive that drives the search forgets slowly; the one we report keeps the best of every cell.
//!     let mut archive = grid.clone().cell(CellConfig::annealing(0.01, 0.0)).build()?;
//!     let mut result = grid.build()?;
//!     let emitter = |seed| EsEmitterConfig::new(vec![0.0; DIM], 0.5, seed).batch_size(36).build();
//!     let mut scheduler = Scheduler::new((0..5).map(emitter).collect::<Result<Vec<_>>>()?)?;
//!     for _ in 0..100 {
//!         let solutions = scheduler.ask(&archive)?;
//!         let objective: Vec<f64> = solutions.iter().map(sphere).collect();
//!         let measures: Vec<f64> = solutions.iter().flat_map(measures).collect();
//!         let measures = Rows::new(&measures, 2)?;
//!         let evaluations = Evaluations { objective: &objective, measures, fields: None };
//!         scheduler.tell(&mut archive, Some(&mut result), &evaluations)?;
//!     }
//!     let stats = result.stats();
//!     println!("{} elites, QD score {:.0}", stats.num_elites, stats.qd_score);
//!     assert!(stats.coverage > 0.15);
//!     Ok(())
//! }
//! ```
//!
//! # Which to choose
//!
//! | you have | take |
//! |---|---|
//! | up to four measures with known ranges | [`GridConfig`] |
//! | more measures, a fixed number of cells | [`CvtConfig`] |
//! | many or learned measures without ranges | [`DominatedNoveltyConfig`] |
//! | up to some hundred parameters | [`StrategyConfig::CmaEs`] |
//! | a thousand parameters and short runs | [`StrategyConfig::Isotropic`]: C stays near I anyway |
//! | many thousand parameters | [`StrategyConfig::SepCmaEs`], [`StrategyConfig::LmMaEs`] |
//! | plain MAP-Elites | [`IsoLineConfig`] or [`GaussianConfig`] with an elitist archive |
//!
//! # Guarantees
//!
//! * Archive arithmetic and strategies are pyribs': recorded runs replay (cells, status and identities exactly, values
//!   to 1e-12, states to 1e-9). The page `docs/coming-from-pyribs.md` lists every deliberate difference.
//! * Equal seeds give equal bytes, for any number of threads. They are the same on every CPU, unless
//!   [`Arithmetic::Native`] is asked for. Everything implements serde's traits and continues after loading as if nothing had happened.
//! * A candidate with a non-finite number is never stored, ranks last, and is counted; strict mode makes it an error.
//!   No sequence of calls leaves a NaN in a state; a strategy that would is restarted and reports why ([`Restart`]).
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod archive;
mod batch;
mod emitter;
mod error;
mod es;
pub mod linear;
mod population;
mod rng;
mod rows;
mod scheduler;
mod schema;

pub use archive::*;
pub use batch::{Batch, OBJECTIVE_LIMIT};
pub use emitter::*;
pub use error::{Error, Result};
pub use es::*;
pub use population::{Elite, Population};
pub use rng::{NormalSource, Rng};
pub use rows::Rows;
pub use scheduler::{AddMode, Evaluations, Scheduler, SchedulerState, TellReport};
pub use schema::{Field, Schema};
