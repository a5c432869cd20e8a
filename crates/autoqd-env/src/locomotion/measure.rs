//! Hand-designed behaviour measures of an episode.

use super::dot::dot;
use super::memory::Memory;
use super::names::Names;
use super::numpy_sum::sum;
use super::place::Number;
use super::state::{Needs, State};
use super::task_file::{Measure, Statistic};
use crate::{EnvError, MeasureSpec};

/// A measure, with its names resolved.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub name: String,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Foot { geom: usize },
    Span { joints: Vec<usize>, limit: f64 },
    Correlation { joints: [usize; 2] },
    Straightness { joints: [usize; 2] },
    Statistic { of: Number, statistic: Statistic, low: f64, high: f64, seconds_per_step: f64 },
}

impl Definition {
    pub fn resolve(measure: &Measure, seconds_per_step: f64, names: &Names<'_>) -> Result<Self, EnvError> {
        let pair =
            |joints: &[String; 2]| Ok::<_, EnvError>([names.single(&joints[0])?, names.single(&joints[1])?]);
        let (name, default, what) = match measure {
            Measure::FootContact { name, geom } => {
                (name, format!("{geom} contact"), What::Foot { geom: names.geom(geom)? })
            }
            Measure::JointSpan { name, joints, limit } => {
                if joints.is_empty() || !(limit.is_finite() && *limit > 0.0) {
                    return Err(names.invalid("joint-span needs at least one joint and a positive limit"));
                }
                let joints = joints.iter().map(|joint| names.single(joint)).collect::<Result<_, _>>()?;
                (name, "joint span".to_string(), What::Span { joints, limit: *limit })
            }
            Measure::JointCorrelation { name, joints } => {
                (name, "joint correlation".to_string(), What::Correlation { joints: pair(joints)? })
            }
            Measure::Straightness { name, joints } => {
                (name, "straightness".to_string(), What::Straightness { joints: pair(joints)? })
            }
            Measure::Statistic { name, of, statistic, low, high } => {
                if !(low.is_finite() && high.is_finite() && low < high) {
                    return Err(names.invalid(format!("statistic: low = {low} must be below high = {high}")));
                }
                let of = Number::resolve(of, names)?;
                let what =
                    What::Statistic { of, statistic: *statistic, low: *low, high: *high, seconds_per_step };
                (name, "statistic".to_string(), what)
            }
        };
        Ok(Self { name: name.clone().unwrap_or(default), what })
    }

    /// Every measure here is a fraction.
    pub fn spec(&self) -> MeasureSpec {
        MeasureSpec { name: self.name.clone(), low: 0.0, high: 1.0 }
    }

    pub fn needs(&self) -> Needs {
        match self.what {
            What::Statistic { of, .. } => of.needs(),
            _ => Needs::default(),
        }
    }

    /// What must be kept from an episode to compute the measure.
    pub fn record(&self, max_steps: usize) -> Record {
        match &self.what {
            What::Foot { .. } => Record::Foot { touches: 0 },
            What::Span { joints, .. } => Record::Span { extremes: vec![EMPTY; joints.len()] },
            What::Correlation { .. } => Record::Series { values: Vec::with_capacity(max_steps) },
            What::Straightness { .. } => {
                Record::Path { lengths: Vec::with_capacity(max_steps), first: [0.0; 2], last: [0.0; 2] }
            }
            What::Statistic { .. } => Record::Summary(Summary::default()),
        }
    }
}

const EMPTY: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

/// The part of an episode's past that one measure needs.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Foot { touches: usize },
    Span { extremes: Vec<[f64; 2]> },
    Series { values: Vec<[f64; 2]> },
    Path { lengths: Vec<f64>, first: [f64; 2], last: [f64; 2] },
    Summary(Summary),
}

/// Running statistics of a number (Welford's).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    count: usize,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
    last: f64,
    above: bool,
    crossings: usize,
}

impl Summary {
    fn add(&mut self, x: f64) {
        self.count += 1;
        let from_mean = x - self.mean;
        self.mean += from_mean / self.count as f64;
        self.squares += from_mean * (x - self.mean);
        let first = self.count == 1;
        self.low = if first { x } else { self.low.min(x) };
        self.high = if first { x } else { self.high.max(x) };
        let above = x > self.mean;
        self.crossings += usize::from(above && !self.above && !first);
        self.above = above;
        self.last = x;
    }

    fn value(&self, statistic: Statistic, seconds_per_step: f64) -> f64 {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::Last => self.last,
            Statistic::Range => self.high - self.low,
            Statistic::StandardDeviation => (self.squares / self.count as f64).sqrt(),
            Statistic::Frequency => self.crossings as f64 / (self.count as f64 * seconds_per_step),
        }
    }
}

impl Record {
    /// Forgets the last episode; `data` is the start of the next.
    pub fn start(&mut self, what: &What, data: &impl State) {
        match self {
            Record::Foot { touches } => *touches = 0,
            Record::Span { extremes } => extremes.fill(EMPTY),
            Record::Series { values } => values.clear(),
            Record::Summary(summary) => *summary = Summary::default(),
            Record::Path { lengths, first, last } => {
                lengths.clear();
                if let What::Straightness { joints } = what {
                    *first = joints.map(|j| data.qpos()[j]);
                    *last = *first;
                }
            }
        }
    }

    /// Adds one step; `touch` says whether the foot of a foot measure touches the floor.
    pub fn step(&mut self, what: &What, data: &impl State, memory: &Memory, touch: bool) {
        match (self, what) {
            (Record::Foot { touches }, _) => *touches += usize::from(touch),
            (Record::Span { extremes }, What::Span { joints, .. }) => {
                for ([low, high], &joint) in extremes.iter_mut().zip(joints) {
                    *low = low.min(data.qpos()[joint]);
                    *high = high.max(data.qpos()[joint]);
                }
            }
            (Record::Series { values }, What::Correlation { joints }) => {
                values.push(joints.map(|j| data.qpos()[j]));
            }
            (Record::Path { lengths, last, .. }, What::Straightness { joints }) => {
                let next = joints.map(|j| data.qpos()[j]);
                lengths.push(norm(next, *last));
                *last = next;
            }
            (Record::Summary(summary), What::Statistic { of, .. }) => summary.add(of.value(data, memory)),
            _ => {}
        }
    }

    /// The measure of `steps` steps so far.
    pub fn value(&self, what: &What, steps: usize) -> f64 {
        if steps == 0 {
            return 0.0;
        }
        match (self, what) {
            (Record::Foot { touches }, _) => *touches as f64 / steps as f64,
            (Record::Span { extremes }, What::Span { limit, .. }) => {
                let total = sum(extremes.len(), |i| (extremes[i][1] - extremes[i][0]) / (2.0 * limit));
                (total / extremes.len() as f64).clamp(0.0, 1.0)
            }
            (Record::Series { values }, _) => ((1.0 + correlation(values)) / 2.0).clamp(0.0, 1.0),
            (Record::Path { lengths, first, last }, _) => straightness(lengths, *first, *last),
            (Record::Summary(summary), What::Statistic { statistic, low, high, seconds_per_step, .. }) => {
                let value = summary.value(*statistic, *seconds_per_step);
                let share = (value - low) / (high - low);
                if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
            }
            _ => 0.0,
        }
    }
}

fn norm(a: [f64; 2], b: [f64; 2]) -> f64 {
    let (x, y) = (a[0] - b[0], a[1] - b[1]);
    (x * x + y * y).sqrt()
}

/// Pearson's, or 0 where one of the two hardly moves.
fn correlation(values: &[[f64; 2]]) -> f64 {
    let n = values.len();
    let mean = [0, 1].map(|k| sum(n, |i| values[i][k]) / n as f64);
    let product = |a: usize, b: usize| dot(n, |i| values[i][a] - mean[a], |i| values[i][b] - mean[b]);
    let (xx, yy) = (product(0, 0), product(1, 1));
    if xx <= 1e-12 * n as f64 || yy <= 1e-12 * n as f64 {
        return 0.0;
    }
    product(0, 1) / (xx * yy).sqrt()
}

/// The distance between the ends is numpy's norm of one vector, which is a dot product; the lengths of the parts
/// are norms of the rows of a matrix, which are sums.
fn straightness(lengths: &[f64], first: [f64; 2], last: [f64; 2]) -> f64 {
    let path = sum(lengths.len(), |i| lengths[i]);
    let way = |i: usize| last[i] - first[i];
    if path < 1e-9 { 0.0 } else { (dot(2, way, way).sqrt() / path).clamp(0.0, 1.0) }
}
