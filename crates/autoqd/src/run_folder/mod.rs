//! The run folder: what a search leaves behind, and what every later command reads.
//!
//! ```text
//! run/
//!   config.toml                     the complete configuration, enough to run it again
//!   task/                           the task itself: its files with their checksums, and what it was loaded as
//!   metrics.csv                     one row per iteration; the same bytes for any number of threads
//!   timing.csv                      times of each iteration
//!   events.out.tfevents.autoqd      the same for TensorBoard
//!   archive.parquet                 the result archive
//!   descriptor.safetensors          what maps a policy to measures
//!   checkpoint.aqd                  everything needed to continue exactly
//!   checkpoint.prev.aqd             the checkpoint before, until the next one is safe
//!   logs.json                       checksums of the logs up to the latest checkpoint
//!   machine.json                    the kinds of CPU and the simulator that the run was computed with
//!   notices.log                     what happened on the way, where something did: workers that were lost, for instance
//!   manifest.json                   checksums of the result files of a run that has ended
//!   run.lock                        held while a process works in the folder
//! ```
//! Every file is written under another name, flushed to disk and renamed, or (the logs) only appended to and cut back
//! to the checkpoint when a run is resumed.

mod archive_parquet;
mod archive_table;
mod atomic;
mod checkpoint;
mod columns;
mod csv_log;
mod error;
mod events;
mod folder;
mod kept_task;
mod lock;
mod log_sums;
mod logs;
mod machine;
mod manifest;
mod sealed;
mod shown_path;
mod status;
mod tensors;
mod verify;

pub use archive_table::{ArchiveTable, Block, Column, ColumnData};
pub use atomic::{AtomicFile, FillError, write_atomic};
pub use checkpoint::{Checkpoint, CheckpointHeader};
pub use columns::{EpochLosses, FigureRow, IterationRow, Row, TimingRow, TrainingRow};
pub use error::RunFolderError;
pub use folder::{LoadedCheckpoint, RunFolder, read_config};
pub use kept_task::{KeptTask, LoadDigests};
pub use logs::{RunLogs, read_figures, read_metrics, read_timing, read_training, unix_time};
pub use machine::{Machine, read_machines};
pub use manifest::{FileSum, Manifest};
pub use shown_path::serialize_path;
pub use status::{RunState, Status, status};
pub use tensors::{Tensor, TensorFile, TensorType};
pub use verify::{FileCheck, Verification, verify};

/// The complete configuration.
pub const CONFIG_FILE: &str = "config.toml";
/// The task itself.
pub const TASK_FOLDER: &str = "task";
/// One row per iteration.
pub const METRICS_FILE: &str = "metrics.csv";
/// One row per epoch of every training, for methods that train.
pub const TRAINING_FILE: &str = "training.csv";
/// Numbers of one method alone, where it has some.
pub const FIGURES_FILE: &str = "figures.csv";
/// Times of each iteration.
pub const TIMING_FILE: &str = "timing.csv";
/// Events for TensorBoard.
pub const EVENTS_FILE: &str = "events.out.tfevents.autoqd";
/// The result archive.
pub const ARCHIVE_FILE: &str = "archive.parquet";
/// What maps a policy to measures.
pub const DESCRIPTOR_FILE: &str = "descriptor.safetensors";
/// The latest checkpoint.
pub const CHECKPOINT_FILE: &str = "checkpoint.aqd";
/// The checkpoint before the latest.
pub const PREVIOUS_CHECKPOINT_FILE: &str = "checkpoint.prev.aqd";
/// A checkpoint that could not be used.
pub const REJECTED_CHECKPOINT_FILE: &str = "checkpoint.rejected.aqd";
/// What the run was computed with.
pub const MACHINE_FILE: &str = "machine.json";
/// What happened to a run on its way and a user should know, one line each: workers that were lost, for instance.
pub const NOTICES_FILE: &str = "notices.log";
/// Checksums of the logs up to the latest checkpoint.
pub const LOGS_FILE: &str = "logs.json";
/// Checksums of a run that has ended.
pub const MANIFEST_FILE: &str = "manifest.json";
