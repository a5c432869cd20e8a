//! Quality-diversity optimisation: archives, evolution strategies, emitters and a scheduler, as pyribs has them.

mod archive;
mod batch;
mod emitter;
mod error;
mod es;
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
pub use scheduler::{AddMode, Evaluations, Scheduler, TellReport};
pub use schema::{Field, Schema};
