//! What settings need in memory, compared with what there is before anything is allocated: a failed allocation ends the
//! process without a word about the setting behind it.

use autoqd_env::EnvSpec;

use crate::Error;
use crate::config::{ArchiveLayout, RunConfig};
use crate::policy::PolicySpec;

/// Rejects what needs more memory than the machine, the container or the limit of the process has left. `bytes` is
/// a lower bound, so that nothing that would work is rejected; `lower` names the settings to lower.
///
/// ```
/// assert!(autoqd::memory::require("a list", 1e3, "episodes").is_ok());
/// let refused = autoqd::memory::require("the candidates", 1e18, "batch_size").unwrap_err();
/// assert!(refused.to_string().contains("lower batch_size"), "{refused}");
/// ```
pub fn require(what: &str, bytes: f64, lower: &str) -> Result<(), Error> {
    let there = available().unwrap_or(ADDRESSABLE);
    if bytes <= there {
        return Ok(());
    }
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    Err(Error::Memory {
        what: what.to_owned(),
        needs: gigabytes(bytes),
        has: gigabytes(there),
        lower: lower.to_owned(),
    })
}

/// More than any process can have, for systems that do not tell.
const ADDRESSABLE: f64 = (1_u64 << 47) as f64;

/// Bytes that this process can still have, where the system tells.
fn available() -> Option<f64> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let machine = {
        let text = read("/proc/meminfo");
        let kilobytes = |name: &str| number_after(&text, name);
        kilobytes("MemAvailable:").map(|free| 1024.0 * (free + kilobytes("SwapFree:").unwrap_or(0.0)))
    };
    let container = read("/sys/fs/cgroup/memory.max").trim().parse::<f64>().ok();
    let process = number_after(&read("/proc/self/limits"), "Max address space");
    [machine, container, process].into_iter().flatten().reduce(f64::min)
}

/// The number that follows a name at the start of a line.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Rejects a search that cannot fit into memory.
pub(crate) fn check_search(config: &RunConfig, policy: &PolicySpec, spec: &EnvSpec) -> Result<(), Error> {
    const NUMBER: f64 = 8.0;
    let parameters = policy.parameter_count() as f64;
    let candidates = config.emitters as f64 * config.batch_size as f64;
    let lower = "batch_size, emitters or policy.hidden";
    require("the candidates of an iteration", NUMBER * candidates * parameters, lower)?;
    let episodes = candidates * config.episodes as f64;
    require("the episodes of an iteration", 12.0 * NUMBER * episodes, "episodes, batch_size or emitters")?;
    if config.method == "autoqd" {
        let inputs = (spec.observation_size + spec.action_size) as f64;
        let features = config.embedding.features as f64;
        let embeddings = NUMBER * features * (episodes + inputs);
        require("the embeddings of an iteration", embeddings, "embedding.features, episodes or batch_size")?;
        // The scatter matrix of the weighted PCA.
        require("the covariance of the embeddings", NUMBER * features * features, "embedding.features")?;
    }
    if config.emitter == "cma" {
        let matrices = NUMBER * config.emitters as f64 * parameters * parameters;
        let lower = "policy.hidden or emitters, or choose emitter = \"sep\"";
        require("the covariance matrices of the emitters", matrices, lower)?;
    }
    let measures = config.measures_dimension as f64;
    match config.layout() {
        ArchiveLayout::Grid { cells, .. } => {
            let cells: f64 = cells.iter().map(|&cells| cells as f64).product();
            require("the cells of the archive", 2.0 * NUMBER * cells, "cells")
        }
        ArchiveLayout::Cvt { cells, samples, .. } => {
            let points = (*cells + *samples) as f64 * measures;
            require("the cells of the archive", 2.0 * NUMBER * points, "cvt.cells or cvt.samples")
        }
        ArchiveLayout::Dns { .. } => Ok(()),
    }
}

/// Threads beyond this many per core only cost memory.
const THREADS_PER_CORE: usize = 8;

/// The most threads that make sense on this machine.
pub fn most_threads() -> usize {
    THREADS_PER_CORE * std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}
