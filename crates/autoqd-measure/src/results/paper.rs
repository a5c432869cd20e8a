//! The numbers of the paper's tables, from `paper.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::MeasureError;
use autoqd_statistics::Estimate;

/// Mean and standard error as printed.
type Printed = [f64; 2];

/// All tables of the paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The methods as this program names them; all lists below are in this order.
    pub methods: Vec<String>,
    /// The methods as the paper names them.
    pub names: Vec<String>,
    /// Runs behind every number of the main tables.
    pub seeds: usize,
    /// Table 1 and the fine-grained table.
    pub tasks: Vec<PaperTask>,
    /// Table 2: area under the curve by knob, one number per method.
    pub adaptation: BTreeMap<String, Vec<f64>>,
    /// The tables of ablations.
    pub ablations: Vec<PaperAblation>,
}

/// One task of the main tables.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperTask {
    /// The task as this program names it.
    pub task: String,
    /// The task as the paper names it.
    pub name: String,
    /// Ground-truth QD score in units of 10^4.
    pub qd: Vec<Printed>,
    /// Quality-weighted Vendi score.
    pub qvs: Vec<Printed>,
    /// Vendi score.
    pub vs: Vec<Printed>,
    /// Mean objective.
    pub mean: Vec<Printed>,
    /// Max objective.
    pub max: Vec<Printed>,
    /// Ground-truth coverage.
    pub coverage: Vec<Printed>,
}

/// One variant of an ablation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperAblation {
    /// The task as this program names it.
    pub task: String,
    /// What was varied, as a key of the configuration.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// Ground-truth QD score in units of 10^4.
    pub qd: Printed,
    /// Mean objective.
    pub mean: Printed,
    /// Vendi score.
    pub vs: Printed,
}

impl Paper {
    /// Reads `paper.toml` of a folder of results.
    pub fn read(results: &Path) -> Result<Self, MeasureError> {
        let path = results.join("paper.toml");
        let wrong = |reason: String| MeasureError::Run { path: path.clone(), reason };
        let text = std::fs::read_to_string(&path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        toml::from_str(&text).map_err(|e| wrong(format!("does not hold the paper's tables: {e}")))
    }

    /// A number of the paper for a method, by its place in a list.
    pub fn estimate(&self, printed: &[Printed], method: &str) -> Option<Estimate> {
        let at = self.methods.iter().position(|name| name == method)?;
        let [mean, error] = *printed.get(at)?;
        Some(Estimate { mean, standard_error: Some(error), count: self.seeds })
    }
}
