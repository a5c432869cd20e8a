//! The paper's claims, answered by the runs there are.

use std::collections::BTreeSet;

use super::record::RunRecord;
use super::scores::{QD, QVS, Runs, Score, VS};
use autoqd_statistics::{mann_whitney, mean};

/// Runs of each side below which a claim is not judged.
const FEWEST: usize = 3;

/// A claim and what the data say.
pub(super) struct Claim {
    pub text: &'static str,
    pub test: &'static str,
    pub answer: String,
}

const RANKS: &str = "means over seeds, and a two-sided Mann-Whitney U test against the best other method";

/// Every claim of the paper that the runs can answer.
pub(super) fn claims(runs: &Runs<'_>) -> Vec<Claim> {
    let all: Vec<&str> = runs.paper.tasks.iter().map(|task| task.task.as_str()).collect();
    let four = ["ant", "hopper", "swimmer", "bipedal-walker"];
    let claim = |text, test, answer| Claim { text, test, answer };
    vec![
        claim("AutoQD has the highest GT QD score in all six tasks", RANKS, highest(runs, &QD, &all)),
        claim("AutoQD has the highest VS in four tasks", RANKS, highest(runs, &VS, &four)),
        claim("AutoQD has the highest qVS in four tasks", RANKS, highest(runs, &QVS, &four)),
        claim(
            "AutoQD has the highest friction and mass AUC",
            "means over seeds of the areas under the curves",
            areas(runs),
        ),
        claim(
            "AutoQD's descriptors vary orders of magnitude less between rollouts",
            "ratio of the median variances, at least 10 in most tasks",
            stability(runs),
        ),
        claim(
            "Weighting makes no significant difference (Walker2d)",
            "two-sided Mann-Whitney U test of GT QD, supported if p > 0.05 with at least eight seeds",
            weighting(runs),
        ),
        claim(
            "Results are robust to the number D of random features (BipedalWalker)",
            "GT QD of every D within 20 % of that of D = 100",
            spread(runs, "embedding.features", 4, 0.2),
        ),
        claim(
            "More rollouts bring little (BipedalWalker)",
            "GT QD of 2 and 10 rollouts within 10 % of that of 5",
            spread(runs, "episodes", 3, 0.1),
        ),
    ]
}

/// Whether AutoQD has the highest mean in every one of some tasks.
fn highest(runs: &Runs<'_>, score: &Score, tasks: &[&str]) -> String {
    let mut said = Vec::new();
    let (mut ahead, mut judged) = (0, 0);
    for task in tasks {
        let own = runs.values(score, task, "autoqd");
        let methods = &runs.paper.methods[1..runs.paper.tasks[0].qd.len()];
        let others: Vec<(&str, Vec<f64>)> =
            methods.iter().map(|m| (m.as_str(), runs.values(score, task, m))).collect();
        let enough: Vec<&(&str, Vec<f64>)> = others.iter().filter(|(_, v)| v.len() >= FEWEST).collect();
        let height = |values: &[f64]| mean(values).unwrap_or(f64::NEG_INFINITY);
        let best = enough.iter().max_by(|a, b| height(&a.1).total_cmp(&height(&b.1)));
        let Some((method, values)) = best.filter(|_| own.len() >= FEWEST) else { continue };
        let test = mann_whitney(&own, values);
        let (is_ahead, p) = (mean(&own) > mean(values), test.map_or(1.0, |t| t.p));
        judged += 1;
        ahead += usize::from(is_ahead);
        let word = if is_ahead { "ahead of" } else { "behind" };
        said.push(format!(
            "{task}: {word} {method} (p = {p:.3}, {} of {} others run)",
            enough.len(),
            others.len()
        ));
    }
    if judged == 0 {
        return NOT_ENOUGH.to_owned();
    }
    let verdict = match (judged == tasks.len(), ahead == judged) {
        (true, true) => "supported",
        (_, false) => "not supported",
        (false, true) => "not enough runs yet; so far as claimed",
    };
    format!("{verdict}: ahead in {ahead} of {judged} tasks judged, of {}; {}", tasks.len(), said.join("; "))
}

const NOT_ENOUGH: &str = "not enough runs yet";

/// Areas under the curves of a method along a knob.
pub(super) fn areas_of(runs: &Runs<'_>, knob: &str, method: &str) -> Vec<f64> {
    let area = |run: &RunRecord| {
        let study = &run.adaptation.as_ref()?.adaptation;
        let knob = study.knobs.iter().find(|k| k.vary.knob.to_string() == knob)?;
        Some(knob.curves.first()?.area?.auc)
    };
    runs.of("bipedal-walker", method).into_iter().filter_map(area).collect()
}

fn areas(runs: &Runs<'_>) -> String {
    let mut said = Vec::new();
    for knob in runs.paper.adaptation.keys() {
        let own = areas_of(runs, knob, "autoqd");
        let others: Vec<(&String, f64)> = runs.paper.methods[1..]
            .iter()
            .filter_map(|m| Some((m, mean(&areas_of(runs, knob, m)).filter(|_| !own.is_empty())?)))
            .collect();
        let (Some(own), Some((method, best))) =
            (mean(&own), others.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied())
        else {
            return NOT_ENOUGH.to_owned();
        };
        let verdict = if own > best { "highest" } else { "not the highest" };
        said.push(format!("{knob}: {verdict} ({own:.1}; {method} {best:.1}; {} others run)", others.len()));
    }
    said.join("; ")
}

fn stability(runs: &Runs<'_>) -> String {
    let median = |task: &str, method: &str| {
        let values: Vec<f64> = runs
            .of(task, method)
            .into_iter()
            .filter_map(|run| Some(run.stability.as_ref()?.stability.quantiles?[1]))
            .collect();
        mean(&values)
    };
    let mut said = Vec::new();
    let mut better = 0;
    for task in &runs.paper.tasks {
        let Some(own) = median(&task.task, "autoqd") else { continue };
        let others = ["regular", "aurora", "lstm-aurora"].iter().filter_map(|m| median(&task.task, m));
        let Some(least) = others.reduce(f64::min) else { continue };
        better += usize::from(least / own >= 10.0);
        said.push(format!("{}: {:.3e} against {least:.3e}", task.task, own));
    }
    if said.len() < runs.paper.tasks.len() / 2 {
        return NOT_ENOUGH.to_owned();
    }
    let verdict = if 2 * better > said.len() { "supported" } else { "not supported" };
    format!("{verdict}: in {better} of {} tasks; {}", said.len(), said.join("; "))
}

/// Runs of AutoQD that differ in nothing but one setting, with one amount of search, and its value.
pub(super) fn varied<'a>(runs: &Runs<'a>, task: &str, key: &str) -> Vec<(String, Vec<&'a RunRecord>)> {
    let alone = |run: &&RunRecord| {
        run.task == task && run.method == "autoqd" && run.differs.keys().all(|other| other == key)
    };
    let of_key: Vec<&RunRecord> = runs.all.iter().filter(alone).collect();
    let changed = |run: &&&RunRecord| run.differs.contains_key(key);
    let Some(iterations) = of_key.iter().filter(changed).map(|run| run.iterations).max() else {
        return Vec::new();
    };
    let value = |run: &RunRecord| run.differs.get(key).cloned().unwrap_or_else(|| "paper's".to_owned());
    let same: Vec<&RunRecord> = of_key.into_iter().filter(|run| run.iterations == iterations).collect();
    let values: BTreeSet<String> = same.iter().map(|run| value(run)).collect();
    let with = |v: String| {
        let of_value = same.iter().copied().filter(|run| value(run) == v).collect();
        (v, of_value)
    };
    values.into_iter().map(with).collect()
}

fn scores(runs: &Runs<'_>, of: &[&RunRecord]) -> Vec<f64> {
    of.iter().filter_map(|run| (QD.ours)(runs, run)).collect()
}

fn weighting(runs: &Runs<'_>) -> String {
    let variants = varied(runs, "walker2d", "weighting");
    let [a, b] = variants.as_slice() else { return NOT_ENOUGH.to_owned() };
    let (a, b) = (scores(runs, &a.1), scores(runs, &b.1));
    match mann_whitney(&a, &b).filter(|_| a.len().min(b.len()) >= 8) {
        None => format!("{NOT_ENOUGH}: {} and {} seeds", a.len(), b.len()),
        Some(test) if test.p > 0.05 => format!("supported: p = {:.3}", test.p),
        Some(test) => format!("not supported: p = {:.3}", test.p),
    }
}

/// Whether no value of a setting changes the GT QD score by more than a share of that of the paper's value.
fn spread(runs: &Runs<'_>, key: &str, values: usize, share: f64) -> String {
    let variants = varied(runs, "bipedal-walker", key);
    let means: Vec<(&String, Option<f64>)> = variants
        .iter()
        .map(|(value, of)| (value, mean(&scores(runs, of)).filter(|_| of.len() >= FEWEST)))
        .collect();
    let base = means.iter().find(|(value, _)| *value == "paper's").and_then(|(_, mean)| *mean);
    let Some(base) = base.filter(|_| means.len() >= values && means.iter().all(|(_, m)| m.is_some())) else {
        return NOT_ENOUGH.to_owned();
    };
    let worst = means.iter().filter_map(|(_, m)| Some((m.as_ref()? / base - 1.0).abs())).fold(0.0, f64::max);
    let verdict = if worst <= share { "supported" } else { "not supported" };
    format!("{verdict}: at most {:.0} % away", 100.0 * worst)
}
