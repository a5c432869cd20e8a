//! Names that tell populations of the same method apart.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::population::Population;

/// Settings that do not make a run another variant.
const IGNORED: [&str; 6] = ["task", "method", "seed", "threads", "checkpoint_every", "physics"];

/// Names every population after its method and those settings in which the runs of the method differ, for instance
/// `autoqd embedding.features=10`. Where several settings differ, the value that more than half of the runs have goes
/// without saying, so that variants of one default are named by what they change.
pub fn name_variants(populations: &mut [Population]) {
    let settings: Vec<BTreeMap<String, String>> = populations.iter().map(settings_of).collect();
    for method in populations.iter().map(|p| p.method.clone()).collect::<BTreeSet<_>>() {
        let runs: Vec<usize> = (0..populations.len()).filter(|&i| populations[i].method == method).collect();
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
            populations[i].variant =
                std::iter::once(method.clone()).chain(parts).collect::<Vec<_>>().join(" ");
        }
    }
}

fn settings_of(population: &Population) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let text = population.config.as_ref().map_or(String::new(), |config| config.to_toml());
    flatten(&text.parse::<Table>().unwrap_or_default(), "", &mut settings);
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
