//! The numbers of the tables, from all runs at once.

use std::collections::BTreeMap;

use super::paper::{Paper, PaperTask};
use super::record::RunRecord;
use crate::evaluation::sets_scale;
use autoqd_statistics::Estimate;

/// A number of a table: its heading, digits, our value and the paper's.
pub(super) struct Score {
    pub name: &'static str,
    pub digits: usize,
    pub ours: fn(&Runs<'_>, &RunRecord) -> Option<f64>,
    pub paper: fn(&PaperTask) -> &[[f64; 2]],
}

pub(super) const QD: Score = Score {
    name: "GT QD (×10^4)",
    digits: 2,
    ours: |_, run| Some(run.evaluation.metrics.gt.first()?.qd_score / 1e4),
    paper: |task| &task.qd,
};
pub(super) const QVS: Score =
    Score { name: "qVS", digits: 2, ours: |runs, run| runs.quality_vendi(run), paper: |task| &task.qvs };
pub(super) const VS: Score = Score {
    name: "VS",
    digits: 2,
    ours: |_, run| Some(run.evaluation.metrics.vendi.value),
    paper: |task| &task.vs,
};
pub(super) const MEAN: Score = Score {
    name: "mean objective",
    digits: 1,
    ours: |_, run| run.evaluation.metrics.mean_objective,
    paper: |task| &task.mean,
};
pub(super) const COVERAGE: Score = Score {
    name: "GT coverage",
    digits: 1,
    ours: |_, run| Some(run.evaluation.metrics.gt.first()?.coverage as f64),
    paper: |task| &task.coverage,
};
/// The best policy under fresh seeds: the one of the first rollouts was chosen for being high.
pub(super) const MAX: Score = Score {
    name: "max objective",
    digits: 1,
    ours: |_, run| Some(run.evaluation.metrics.max_rechecked?.mean),
    paper: |task| &task.max,
};

/// Table 1.
pub(super) const MAIN: [Score; 3] = [QD, QVS, VS];
/// The fine-grained table.
pub(super) const FINE: [Score; 4] = [MEAN, COVERAGE, VS, MAX];

/// All runs, with what couples those of a task.
pub(super) struct Runs<'a> {
    pub all: &'a [RunRecord],
    pub paper: &'a Paper,
    best_means: BTreeMap<&'a str, f64>,
}

impl<'a> Runs<'a> {
    pub fn new(all: &'a [RunRecord], paper: &'a Paper) -> Self {
        let mut best_means: BTreeMap<&str, f64> = BTreeMap::new();
        let setting = |run: &&RunRecord| run.is_paper() && sets_scale(&run.method);
        for run in all.iter().filter(setting) {
            let Some(mean) = run.evaluation.metrics.mean_objective else { continue };
            let best = best_means.entry(run.task.as_str()).or_insert(f64::NEG_INFINITY);
            *best = best.max(mean);
        }
        Self { all, paper, best_means }
    }

    /// The runs of a method with the paper's settings.
    pub fn of(&self, task: &str, method: &str) -> Vec<&'a RunRecord> {
        self.all.iter().filter(|r| r.is_paper() && r.task == task && r.method == method).collect()
    }

    /// The values of the runs of a method with the paper's settings.
    pub fn values(&self, score: &Score, task: &str, method: &str) -> Vec<f64> {
        self.of(task, method).into_iter().filter_map(|run| (score.ours)(self, run)).collect()
    }

    pub fn estimate(&self, score: &Score, task: &str, method: &str) -> Option<Estimate> {
        Estimate::of(&self.values(score, task, method))
    }

    /// (mean − offset) / (best mean of the task − offset) × VS, with the best mean of all runs there are.
    fn quality_vendi(&self, run: &RunRecord) -> Option<f64> {
        let evaluation = &run.evaluation;
        let offset = evaluation.reference.qd_offset;
        let scale = self.best_means.get(run.task.as_str())? - offset;
        let weight = evaluation.metrics.mean_objective? - offset;
        (scale > 0.0).then(|| weight / scale * evaluation.metrics.vendi.value)
    }
}

/// A mean with its standard error, or what the page says where there is none.
pub(super) fn shown(estimate: Option<Estimate>, digits: usize) -> String {
    match estimate {
        None => "not run".to_owned(),
        Some(Estimate { mean, standard_error: Some(error), .. }) => {
            format!("{mean:.digits$} ± {error:.digits$}")
        }
        Some(Estimate { mean, .. }) => format!("{mean:.digits$}"),
    }
}
