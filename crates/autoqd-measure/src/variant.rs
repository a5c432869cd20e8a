//! Names that tell runs of the same method apart.

use std::collections::{BTreeMap, BTreeSet};

use autoqd::config::RunConfig;
use toml::{Table, Value};

use crate::run::{LoadedRun, Run};

/// Settings that do not make a run another variant.
const IGNORED: [&str; 7] = ["task", "method", "seed", "threads", "checkpoint_every", "physics", "arithmetic"];

/// Names every run after its method and those settings in which the runs of the method differ, for instance
/// `autoqd embedding.features=10`. Where several settings differ, the value that more than half of the runs have goes
/// without saying, so that variants of one default are named by what they change.
pub fn name_variants(runs: &mut [LoadedRun]) {
    let names = variants(&runs.iter().map(|run| &**run).collect::<Vec<_>>());
    runs.iter_mut().zip(names).for_each(|(run, name)| run.variant = name);
}

/// The names that [`name_variants`] gives.
pub fn variants(all: &[&Run]) -> Vec<String> {
    let settings: Vec<BTreeMap<String, String>> = all.iter().map(|run| settings_of(run)).collect();
    let mut names = vec![String::new(); all.len()];
    for method in all.iter().map(|run| &run.method).collect::<BTreeSet<_>>() {
        let runs: Vec<usize> = (0..all.len()).filter(|&i| all[i].method == *method).collect();
        let keys: BTreeSet<&String> = runs.iter().flat_map(|&i| settings[i].keys()).collect();
        let differs =
            |key: &&String| runs.iter().any(|&i| settings[i].get(*key) != settings[runs[0]].get(*key));
        let differing: Vec<&String> = keys.into_iter().filter(differs).collect();
        let share = |i: usize, key: &str| {
            let same = runs.iter().filter(|&&j| settings[j].get(key) == settings[i].get(key)).count();
            same as f64 / runs.len() as f64
        };
        for &i in &runs {
            let said = differing.iter().filter(|key| differing.len() == 1 || share(i, key) <= 0.5);
            let parts = said.filter_map(|key| Some(format!("{key}={}", settings[i].get(*key)?)));
            names[i] = std::iter::once(method.clone()).chain(parts).collect::<Vec<_>>().join(" ");
        }
    }
    names
}

fn settings_of(run: &Run) -> BTreeMap<String, String> {
    run.config.as_ref().map(settings).unwrap_or_default()
}

/// The settings of a run by dotted key, without those that do not make it another variant.
pub(crate) fn settings(config: &RunConfig) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    flatten(&config.to_toml().parse::<Table>().unwrap_or_default(), "", &mut settings);
    settings.retain(|key, _| !IGNORED.contains(&key.as_str()));
    settings
}

fn flatten(table: &Table, prefix: &str, into: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let name = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => flatten(inner, &format!("{name}."), into),
            Value::String(text) => {
                into.insert(name, text.clone());
            }
            other => {
                into.insert(name, other.to_string());
            }
        }
    }
}
