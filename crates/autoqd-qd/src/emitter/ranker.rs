//! Rankers: the order in which an evolution strategy sees its candidates.

use serde::{Deserialize, Serialize};

use super::Feedback;
use crate::archive::{AddStatus, Archive};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// What candidates are ranked by; larger is better. The names are pyribs'.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub enum Ranker {
    /// Improvement over the archive's threshold (CMA-MAE).
    #[default]
    #[serde(rename = "imp")]
    Improvement,
    /// New cells first, then improvement (CMA-ME).
    #[serde(rename = "2imp")]
    TwoStageImprovement,
    /// Objective.
    #[serde(rename = "obj")]
    Objective,
    /// New cells first, then objective.
    #[serde(rename = "2obj")]
    TwoStageObjective,
    /// Progress along a random direction of the measures, redrawn at every restart.
    #[serde(rename = "rd")]
    RandomDirection,
    /// New cells first, then progress along a random direction.
    #[serde(rename = "2rd")]
    TwoStageRandomDirection,
}

impl std::str::FromStr for Ranker {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "imp" => Self::Improvement,
            "2imp" => Self::TwoStageImprovement,
            "obj" => Self::Objective,
            "2obj" => Self::TwoStageObjective,
            "rd" => Self::RandomDirection,
            "2rd" => Self::TwoStageRandomDirection,
            _ => {
                let remedy = "use imp, 2imp, obj, 2obj, rd or 2rd";
                return Err(Error::Parameter { name: "ranker", value: name.to_owned(), remedy });
            }
        })
    }
}

/// Candidates in order of rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Candidates from best to worst.
    pub order: Vec<usize>,
    /// How many of them, from the front, have usable values.
    pub usable: usize,
    /// Whether the best and the worst usable candidate rank the same.
    pub flat: bool,
}

impl Ranker {
    /// Whether the random direction matters.
    pub fn needs_direction(self) -> bool {
        matches!(self, Self::RandomDirection | Self::TwoStageRandomDirection)
    }

    fn two_stage(self) -> bool {
        matches!(self, Self::TwoStageImprovement | Self::TwoStageObjective | Self::TwoStageRandomDirection)
    }

    /// A direction for [`Ranker::RandomDirection`]: normal numbers times the width of the measure space.
    pub fn draw_direction(self, archive: &dyn Archive, rng: &mut Rng) -> Vec<f64> {
        if !self.needs_direction() {
            return Vec::new();
        }
        archive.measure_scale().iter().map(|width| rng.normal() * width).collect()
    }

    /// Sorts the candidates. Unusable ones (non-finite numbers) come last; of equal ones the later comes first, as in
    /// pyribs' two-stage rankers.
    pub fn rank(self, feedback: &Feedback<'_>, direction: &[f64]) -> Ranking {
        let keys: Vec<[f64; 2]> =
            (0..feedback.status.len()).map(|i| self.key(feedback, direction, i)).collect();
        let usable = |i: &usize| keys[*i][1].is_finite() && feedback.value[*i].is_finite();
        let (mut order, unusable): (Vec<usize>, Vec<usize>) = (0..keys.len()).partition(usable);
        order.sort_by(|&a, &b| compare(keys[b], keys[a]).then(b.cmp(&a)));
        let flat = match order[..] {
            [first, .., last] => is_flat(keys[first], keys[last]),
            _ => false,
        };
        let usable = order.len();
        order.extend(unusable);
        Ranking { order, usable, flat }
    }

    fn key(self, feedback: &Feedback<'_>, direction: &[f64], i: usize) -> [f64; 2] {
        let stage = if self.two_stage() { stage(feedback.status[i]) } else { 0.0 };
        let value = match self {
            Self::Improvement | Self::TwoStageImprovement => feedback.value[i],
            Self::Objective | Self::TwoStageObjective => feedback.objective[i],
            Self::RandomDirection | Self::TwoStageRandomDirection => {
                feedback.measures.row(i).iter().zip(direction).map(|(m, d)| m * d).sum()
            }
        };
        [stage, value]
    }
}

/// By stage, then by value; -0 equals 0.
fn compare(a: [f64; 2], b: [f64; 2]) -> std::cmp::Ordering {
    (a[0] + 0.0).total_cmp(&(b[0] + 0.0)).then((a[1] + 0.0).total_cmp(&(b[1] + 0.0)))
}

fn stage(status: AddStatus) -> f64 {
    f64::from(status as u8)
}

/// Whether two ranking values are the same for the stop test: closer than 1e-12.
pub fn is_flat(first: [f64; 2], last: [f64; 2]) -> bool {
    libm::hypot(first[0] - last[0], first[1] - last[1]) < 1e-12
}
