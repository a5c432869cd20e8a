//! The figures of what `eval`, `adapt` and `stability` left in run folders: those of the paper.

use autoqd_measure::{
    Adaptation, AdaptationCurve, CurvePoint, DescriptorStability, Measurement, RunAdaptation, RunEvaluation,
    RunMetrics, RunStability, Stored,
};

use crate::plot::{
    Band, Curve, Figure, Mode, Point, Sample, ablation_bars, adaptation, band_over_seeds, success_counts,
    summary_boxes, trade_off, violins,
};
use crate::{RunView, ViewError};

/// Measurements of some runs, without those older than the archive they describe.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    evaluations: Vec<Option<RunMetrics>>,
    adaptations: Vec<Adaptation>,
    /// With the names of their tasks.
    stabilities: Vec<(String, DescriptorStability)>,
    stale: Vec<String>,
}

impl Measured {
    /// Reads what is there.
    pub fn read(runs: &[RunView]) -> Result<Self, ViewError> {
        let mut found = Self::default();
        for run in runs {
            let mut reader = Reader { run, digest: None, stale: &mut found.stale };
            found.evaluations.push(reader.read::<RunEvaluation>()?.map(|own| own.metrics));
            found.adaptations.extend(reader.read::<RunAdaptation>()?.map(|own| own.adaptation));
            let stability = reader.read::<RunStability>()?.map(|own| own.stability);
            found.stabilities.extend(stability.map(|own| (run.task().spec().name.clone(), own)));
        }
        Ok(found)
    }

    /// The result of `autoqd eval` for each run; `None` for runs that were not measured.
    pub fn evaluations(&self) -> &[Option<RunMetrics>] {
        &self.evaluations
    }

    /// Notes about what was left out because the archive has changed since.
    pub fn stale(&self) -> &[String] {
        &self.stale
    }

    /// Every figure that the measurements allow, with a name for its file.
    pub fn figures(&self, mode: Mode) -> Vec<(String, Figure)> {
        let mut figures = self.evaluation_figures(mode);
        figures.extend(self.adaptation_figures(mode));
        figures.extend(self.stability_figure(mode));
        figures
    }

    fn evaluation_figures(&self, mode: Mode) -> Vec<(String, Figure)> {
        let found: Vec<&RunMetrics> = self.evaluations.iter().flatten().collect();
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
        figures
    }

    fn adaptation_figures(&self, mode: Mode) -> Vec<(String, Figure)> {
        let tasks = names(self.adaptations.iter().map(|study| study.task.as_str()));
        let mut figures = Vec::new();
        for task in &tasks {
            let own: Vec<&Adaptation> = self.adaptations.iter().filter(|study| study.task == *task).collect();
            let prefix = if tasks.len() > 1 { format!("{task}-") } else { String::new() };
            let named = |(name, figure)| (format!("{prefix}{name}"), figure);
            figures.extend(adaptation_of_task(task, &own, mode).into_iter().map(named));
        }
        figures
    }

    fn stability_figure(&self, mode: Mode) -> Option<(String, Figure)> {
        let mut samples = Vec::new();
        for (task, own) in &self.stabilities {
            let values = own.variances.iter().flatten().copied().collect();
            add(&mut samples, task.clone(), own.variant.clone(), values);
        }
        let title = "Variance of measures between rollouts of a policy";
        let figure = || violins(title, &samples, "", "variance", mode);
        (!samples.is_empty()).then(|| ("stability".to_string(), figure()))
    }
}

/// Reads the measurements of one run.
struct Reader<'a> {
    run: &'a RunView,
    /// Digest of the archive as it is now; computed when a measurement names the one it was made from.
    digest: Option<String>,
    stale: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn read<T: Measurement>(&mut self) -> Result<Option<T>, ViewError> {
        let Some(stored) = Stored::<T>::read(&self.run.run().folder)? else { return Ok(None) };
        if stored.archive.is_some() && stored.is_stale(&self.digest()?) {
            let (name, command) = (self.run.name(), T::COMMAND);
            self.stale.push(format!(
                "{name}: the archive has changed since `autoqd {command}` measured it; run that again"
            ));
            return Ok(None);
        }
        Ok(Some(stored.result))
    }

    fn digest(&mut self) -> Result<String, ViewError> {
        if self.digest.is_none() {
            self.digest = Some(self.run.run().archive()?.unwrap_or_default().digest());
        }
        Ok(self.digest.clone().unwrap_or_default())
    }
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
        let pairs = variants.iter().map(|variant| {
            let quality = mean_of(&own, variant, |run| run.mean_objective);
            (variant.as_str(), quality.zip(mean_of(&own, variant, |run| Some(run.vendi.value))))
        });
        let scaled = autoqd_measure::trade_off(&pairs.collect::<Vec<_>>());
        for (series, point) in variants.iter().zip(scaled) {
            points.extend(point.map(|p| Point {
                series: series.clone(),
                label: task.clone(),
                x: p.quality,
                y: p.diversity,
            }));
        }
    }
    points
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
    // A task without hand-designed measures has no ground truth.
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

/// Adds numbers to the sample of this group and series: the policies of all seeds make one violin.
fn add(samples: &mut Vec<Sample>, group: String, series: String, values: Vec<f64>) {
    match samples.iter_mut().find(|sample| sample.group == group && sample.series == series) {
        Some(sample) => sample.values.extend(values),
        None => samples.push(Sample { group, series, values }),
    }
}
