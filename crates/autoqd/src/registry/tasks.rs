//! Tasks by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use autoqd_env::{EnvError, Perturbation, Task, load_task, task_names};

use crate::Error;

pub(super) type BuildTask = Arc<dyn Fn(&Perturbation) -> Result<Arc<dyn Task>, Error> + Send + Sync>;

/// Builds any task whose name starts with a prefix, from the whole name.
pub(super) type BuildTaskOf = Arc<dyn Fn(&str, &Perturbation) -> Result<Arc<dyn Task>, Error> + Send + Sync>;

pub(super) fn names(registered: &BTreeMap<String, BuildTask>) -> Vec<&str> {
    let own = registered.keys().map(String::as_str);
    own.chain(task_names().into_iter().filter(|name| !registered.contains_key(*name))).collect()
}

pub(super) fn find(
    registered: &BTreeMap<String, BuildTask>,
    prefixes: &BTreeMap<String, BuildTaskOf>,
    name: &str,
    perturbation: &Perturbation,
) -> Result<Arc<dyn Task>, Error> {
    let of_prefix = || prefixes.iter().find(|(prefix, _)| name.starts_with(*prefix));
    match (registered.get(name), of_prefix()) {
        (Some(build), _) => build(perturbation),
        (None, Some((_, build))) => build(name, perturbation),
        (None, None) => load_task(name, perturbation).map_err(|error| with_names(error, registered).into()),
    }
}

/// Adds the registered tasks to the error of a name that is not known.
fn with_names(error: EnvError, registered: &BTreeMap<String, BuildTask>) -> EnvError {
    let EnvError::UnknownTask { name, suggestion, .. } = error else { return error };
    let score = |known: &str| strsim::normalized_damerau_levenshtein(known, &name);
    let nearest = registered.keys().max_by(|a, b| score(a).total_cmp(&score(b)));
    let suggestion = match nearest {
        Some(near) if score(near) > 0.4 => format!("; did you mean '{near}'?"),
        _ => suggestion,
    };
    EnvError::UnknownTask { name, suggestion, known: names(registered).join(", ") }
}
