//! The figures of what `eval`, `adapt` and `stability` left in run folders: those of the paper.

use std::path::Path;

use autoqd_measure::{Adaptation, AdaptationCurve, CurvePoint, DescriptorStability, RunMetrics};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::plot::{
    Band, Curve, Figure, Mode, Point, Sample, ablation_bars, adaptation, band_over_seeds, success_counts,
    summary_boxes, trade_off, violins,
};
use crate::{Run, ViewError};

#[derive(Deserialize)]
struct EvalFile {
    metrics: RunMetrics,
}

#[derive(Deserialize)]
struct AdaptFile {
    adaptation: Adaptation,
}

#[derive(Deserialize)]
struct StabilityFile {
    stability: DescriptorStability,
}

/// A file that is there and understood; `None` if it is not there.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ViewError> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let bad = |e: serde_json::Error| ViewError::Measurement {
                path: path.to_owned(),
                reason: e.to_string(),
            };
            serde_json::from_slice(&bytes).map(Some).map_err(bad)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ViewError::at(path)(error)),
    }
}

fn read_all<T: DeserializeOwned>(runs: &[Run], file: &str) -> Result<Vec<T>, ViewError> {
    let found = runs.iter().map(|run| read(&run.path().join(file)));
    Ok(found.collect::<Result<Vec<Option<T>>, _>>()?.into_iter().flatten().collect())
}

/// Every figure that the measurements in these folders allow, with a name for its file.
pub fn measured_figures(runs: &[Run], mode: Mode) -> Result<Vec<(String, Figure)>, ViewError> {
    let mut figures = evaluation_figures(runs, mode)?;
    figures.extend(adaptation_figures(runs, mode)?);
    figures.extend(stability_figure(runs, mode)?);
    Ok(figures)
}

/// What `autoqd eval` found of each run; `None` for runs that were not measured.
pub(crate) fn evaluations(runs: &[Run]) -> Result<Vec<Option<RunMetrics>>, ViewError> {
    let one =
        |run: &Run| Ok(read::<EvalFile>(&run.path().join("eval/metrics.json"))?.map(|file| file.metrics));
    runs.iter().map(one).collect()
}

fn evaluation_figures(runs: &[Run], mode: Mode) -> Result<Vec<(String, Figure)>, ViewError> {
    let found: Vec<EvalFile> = read_all(runs, "eval/metrics.json")?;
    let found: Vec<&RunMetrics> = found.iter().map(|file| &file.metrics).collect();
    let mut figures = Vec::new();
    let points = trade_off_points(&found);
    if points.len() > 1 {
        figures.push(("trade-off".to_string(), trade_off("Quality and diversity", &points, mode)));
    }
    for task in names(found.iter().map(|run| run.task.as_str())) {
        let own: Vec<&RunMetrics> = found.iter().copied().filter(|run| run.task == task).collect();
        if names(own.iter().map(|run| run.variant.as_str())).len() > 1 {
            figures.push((format!("{task}-scores"), score_bars(&task, &own, mode)));
        }
    }
    Ok(figures)
}

/// Order of first appearance.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

/// Mean over seeds of a number of the runs of one variant.
fn mean_of(runs: &[&RunMetrics], variant: &str, number: impl Fn(&RunMetrics) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> =
        runs.iter().filter(|run| run.variant == variant).filter_map(|run| number(run)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// One point per task and variant, both numbers scaled to 0 to 1 over the variants of the task.
fn trade_off_points(found: &[&RunMetrics]) -> Vec<Point> {
    let mut points = Vec::new();
    for task in names(found.iter().map(|run| run.task.as_str())) {
        let own: Vec<&RunMetrics> = found.iter().copied().filter(|run| run.task == task).collect();
        let variants = names(own.iter().map(|run| run.variant.as_str()));
        let pair = |variant: &String| {
            let quality = mean_of(&own, variant, |run| run.mean_objective)?;
            Some((variant.clone(), quality, mean_of(&own, variant, |run| Some(run.vendi.value))?))
        };
        let pairs: Vec<(String, f64, f64)> = variants.iter().filter_map(pair).collect();
        // One method alone has nothing to be compared with.
        if pairs.len() < 2 {
            continue;
        }
        let qualities: Vec<f64> = pairs.iter().map(|p| p.1).collect();
        let diversities: Vec<f64> = pairs.iter().map(|p| p.2).collect();
        for (series, quality, diversity) in pairs {
            let (x, y) = (scaled(quality, &qualities), scaled(diversity, &diversities));
            points.push(Point { series, label: task.clone(), x, y });
        }
    }
    points
}

fn scaled(value: f64, all: &[f64]) -> f64 {
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    if high > low { (value - low) / (high - low) } else { 1.0 }
}

type Number = fn(&RunMetrics) -> Option<f64>;

/// The numbers of the paper's ablations.
const SCORES: [(&str, Number); 3] = [
    ("GT QD score", |run| Some(run.gt.first()?.qd_score)),
    ("mean objective", |run| run.mean_objective),
    ("Vendi score", |run| Some(run.vendi.value)),
];

/// Bars of the scores of each variant of one task, with standard errors over seeds.
fn score_bars(task: &str, runs: &[&RunMetrics], mode: Mode) -> Figure {
    let panel = |(title, number): &(&str, Number)| {
        let sample = |variant: &String| Sample {
            group: variant.clone(),
            series: String::new(),
            values: runs.iter().filter(|run| run.variant == *variant).filter_map(|run| number(run)).collect(),
        };
        let variants = names(runs.iter().map(|run| run.variant.as_str()));
        (title.to_string(), variants.iter().map(sample).collect())
    };
    let mut panels: Vec<(String, Vec<Sample>)> = SCORES.iter().map(panel).collect();
    // A task without hand-made measures has no ground truth.
    panels.retain(|(_, samples)| samples.iter().any(|sample| !sample.values.is_empty()));
    let setting = shorten(&mut panels);
    let mut figure = ablation_bars(task, &panels, &setting, mode);
    if panels.iter().flat_map(|(_, samples)| samples).any(|sample| sample.values.len() > 1) {
        figure.note = "Whiskers: standard error over seeds.".to_string();
    }
    figure
}

/// Variants of one method that differ in one setting are named by its value; the setting itself is returned.
fn shorten(panels: &mut [(String, Vec<Sample>)]) -> String {
    let split = |name: &str| {
        let (method, setting) = name.split_once(' ')?;
        let (key, value) = setting.split_once('=').filter(|(_, value)| !value.contains('='))?;
        Some(((method.to_string(), key.to_string()), value.to_string()))
    };
    let samples = || panels.iter().flat_map(|(_, samples)| samples);
    let Some(first) = samples().next().and_then(|sample| split(&sample.group)) else { return String::new() };
    if !samples().all(|sample| split(&sample.group).is_some_and(|(of, _)| of == first.0)) {
        return String::new();
    }
    for sample in panels.iter_mut().flat_map(|(_, samples)| samples) {
        if let Some((_, value)) = split(&sample.group) {
            sample.group = value;
        }
    }
    first.0.1
}

fn adaptation_figures(runs: &[Run], mode: Mode) -> Result<Vec<(String, Figure)>, ViewError> {
    let studies: Vec<AdaptFile> = read_all(runs, "adapt/adaptation.json")?;
    let studies: Vec<&Adaptation> = studies.iter().map(|file| &file.adaptation).collect();
    let tasks = names(studies.iter().map(|study| study.task.as_str()));
    let mut figures = Vec::new();
    for task in &tasks {
        let own: Vec<&Adaptation> = studies.iter().copied().filter(|study| study.task == *task).collect();
        let prefix = if tasks.len() > 1 { format!("{task}-") } else { String::new() };
        let named = |(name, figure)| (format!("{prefix}{name}"), figure);
        figures.extend(adaptation_of_task(task, &own, mode).into_iter().map(named));
    }
    Ok(figures)
}

fn adaptation_of_task(task: &str, studies: &[&Adaptation], mode: Mode) -> Vec<(String, Figure)> {
    let all = || studies.iter().flat_map(|study| &study.knobs);
    let knobs: Vec<String> = all().map(|k| k.vary.knob.to_string()).collect();
    let knobs = names(knobs.iter().map(String::as_str));
    let curves_of = |knob: &String| -> Vec<&AdaptationCurve> {
        all().filter(|k| k.vary.knob.to_string() == *knob).flat_map(|k| &k.curves).collect()
    };
    let best: Vec<(String, Vec<Curve>)> =
        knobs.iter().map(|knob| (knob.clone(), by_variant(&curves_of(knob), best_return))).collect();
    let mut figure = adaptation(task, &best, mode);
    figure.note = "Bands: standard error over seeds, or over the rollouts of a single run.".to_string();
    let mut figures = vec![("adaptation".to_string(), figure)];
    let shares = studies.first().map(|study| study.options.success.clone()).unwrap_or_default();
    for knob in &knobs {
        let curves = curves_of(knob);
        let counts = shares.iter().enumerate().map(|(i, share)| {
            let count = move |point: &CurvePoint| Some(((*point.successes.get(i)?)? as f64, 0.0));
            (format!("p = {share}"), by_variant(&curves, count))
        });
        let title = format!("{task}: policies that keep their return");
        let counts: Vec<(String, Vec<Curve>)> = counts.collect();
        // Where the best return is not positive, no share of it counts as success.
        if counts.iter().flat_map(|(_, curves)| curves).any(|curve| !curve.band.x.is_empty()) {
            figures.push((format!("success-{knob}"), success_counts(&title, knob, &counts, mode)));
        }
        let title = format!("{task}: returns, without negative ones");
        let mut figure = summary_boxes(&title, &boxes(&curves), knob, "return", mode);
        figure.note = "From the smallest to the largest, mean of the quantiles over seeds.".to_string();
        figures.push((format!("returns-{knob}"), figure));
    }
    figures
}

fn best_return(point: &CurvePoint) -> Option<(f64, f64)> {
    let best = point.best.as_ref()?;
    Some((best.mean, best.standard_error.unwrap_or(0.0)))
}

/// One curve per variant. Over several seeds the band is their standard error; a single run has that of its own
/// rollouts.
fn by_variant(curves: &[&AdaptationCurve], number: impl Fn(&CurvePoint) -> Option<(f64, f64)>) -> Vec<Curve> {
    let variants = names(curves.iter().map(|curve| curve.variant.as_str()));
    let curve = |variant: String| {
        let own: Vec<&&AdaptationCurve> = curves.iter().filter(|curve| curve.variant == variant).collect();
        let points = |curve: &AdaptationCurve| -> Vec<(f64, (f64, f64))> {
            curve.points.iter().filter_map(|p| Some((p.value, number(p)?))).collect()
        };
        let band = match own.as_slice() {
            [alone] => own_band(&points(alone)),
            several => {
                let seeds: Vec<Vec<(f64, f64)>> = several
                    .iter()
                    .map(|c| points(c).into_iter().map(|(x, (y, _))| (x, y)).collect())
                    .collect();
                band_over_seeds(&seeds)
            }
        };
        Curve { name: variant, band }
    };
    variants.into_iter().map(curve).collect()
}

fn own_band(points: &[(f64, (f64, f64))]) -> Band {
    Band {
        x: points.iter().map(|p| p.0).collect(),
        mean: points.iter().map(|p| p.1.0).collect(),
        low: points.iter().map(|p| p.1.0 - p.1.1).collect(),
        high: points.iter().map(|p| p.1.0 + p.1.1).collect(),
    }
}

/// The five numbers of each box, for several seeds of a variant their mean.
fn boxes(curves: &[&AdaptationCurve]) -> Vec<Sample> {
    let mut found: Vec<(f64, &str, Vec<[f64; 5]>)> = Vec::new();
    for curve in curves {
        for (value, quantiles) in curve.boxes.iter().filter_map(|b| Some((b.value, b.quantiles?))) {
            let same =
                |(other, variant, _): &&mut (f64, &str, _)| *other == value && *variant == curve.variant;
            match found.iter_mut().find(same) {
                Some((_, _, seeds)) => seeds.push(quantiles),
                None => found.push((value, &curve.variant, vec![quantiles])),
            }
        }
    }
    // A value at which the first variant has no box still has its place in the order.
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = |seeds: &[[f64; 5]], i: usize| seeds.iter().map(|q| q[i]).sum::<f64>() / seeds.len() as f64;
    let sample = |(value, variant, seeds): &(f64, &str, Vec<[f64; 5]>)| Sample {
        group: value.to_string(),
        series: variant.to_string(),
        values: (0..5).map(|i| mean(seeds, i)).collect(),
    };
    found.iter().map(sample).collect()
}

fn stability_figure(runs: &[Run], mode: Mode) -> Result<Option<(String, Figure)>, ViewError> {
    let mut samples = Vec::new();
    for run in runs {
        if let Some(file) = read::<StabilityFile>(&run.path().join("eval/stability.json"))? {
            let values = file.stability.variances.into_iter().flatten().collect();
            add(&mut samples, run.task().spec().name.clone(), file.stability.variant, values);
        }
    }
    let title = "Variance of measures between rollouts of a policy";
    let figure = || violins(title, &samples, "", "variance", mode);
    Ok((!samples.is_empty()).then(|| ("stability".to_string(), figure())))
}

/// Adds numbers to the sample of this group and series: the policies of all seeds make one violin.
fn add(samples: &mut Vec<Sample>, group: String, series: String, values: Vec<f64>) {
    match samples.iter_mut().find(|sample| sample.group == group && sample.series == series) {
        Some(sample) => sample.values.extend(values),
        None => samples.push(Sample { group, series, values }),
    }
}
