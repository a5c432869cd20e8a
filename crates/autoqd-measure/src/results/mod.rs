//! Finished runs as small folders that can be committed, and the page of results made from them.
//!
//! A folder of results holds `paper.toml`, the numbers of the paper; `references/TASK.json`, the reference that all runs
//! of a task are evaluated under; and `runs/TASK/VARIANT/seed-N/`, one folder per run: configuration, origin, thinned
//! learning curve and measurements, but no policies.

mod claims;
mod page;
mod paper;
mod record;
mod scores;

pub use page::results_page;
pub use paper::{Paper, PaperAblation, PaperTask};
pub use record::{Origin, RunRecord, collect, read_records};
