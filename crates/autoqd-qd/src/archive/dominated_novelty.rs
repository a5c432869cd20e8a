//! Unstructured archive by dominated novelty (Dominated Novelty Search, 2025).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{AddInfo, AddStatus, Archive};
use crate::batch::Batch;
use crate::error::{Result, check_parameter};
use crate::population::{Elite, Population};
use crate::rows::all_finite;
use crate::schema::{Field, Schema};

/// Neighbours remembered beyond the k that count, so that most removals need no new search.
const SPARE: usize = 3;
/// Distances beyond this are cut, so that their squares and sums stay finite.
const DISTANCE_LIMIT: f64 = 1e150;

/// Configuration of [`DominatedNoveltyArchive`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DominatedNoveltyConfig {
    /// Parameters per solution.
    pub solution_dim: usize,
    /// Measures per solution; any number, they are only used for distances.
    pub measure_dim: usize,
    /// Largest number of elites.
    pub capacity: usize,
    /// How many fitter neighbours count.
    pub neighbours: usize,
    /// What is subtracted from each objective in the QD score.
    pub qd_score_offset: f64,
    /// Extra fields of each elite.
    pub fields: Vec<Field>,
    /// Whether one non-finite number rejects the whole batch.
    pub strict: bool,
}

impl DominatedNoveltyConfig {
    /// The usual 15 neighbours.
    pub fn new(solution_dim: usize, measure_dim: usize, capacity: usize) -> Self {
        let (qd_score_offset, fields, strict) = (0.0, Vec::new(), false);
        Self { solution_dim, measure_dim, capacity, neighbours: 15, qd_score_offset, fields, strict }
    }

    /// Declares one more extra field.
    pub fn field(mut self, name: &str, width: usize) -> Self {
        self.fields.push(Field { name: name.to_owned(), width });
        self
    }

    /// Makes the archive.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn build(self) -> Result<DominatedNoveltyArchive> {
        let mut schema = Schema::new(self.solution_dim, self.measure_dim)?;
        for field in &self.fields {
            schema = schema.with_field(&field.name, field.width)?;
        }
        let fits = self.capacity > 0 && self.capacity < u32::MAX as usize / 2;
        check_parameter(fits, "capacity", self.capacity, "use at least one elite and fewer than 2^31")?;
        check_parameter(self.neighbours > 0, "neighbours", self.neighbours, "use at least one")?;
        let offset = self.qd_score_offset;
        check_parameter(offset.is_finite(), "qd_score_offset", offset, "use a finite number")?;
        Ok(DominatedNoveltyArchive {
            best: Population::new(schema.clone()),
            elites: Population::new(schema),
            config: self,
            next_id: 0,
            non_finite_rows: 0,
            fitter: Vec::new(),
        })
    }
}

/// A population of fixed size. Survivors are those with the largest mean distance to their k nearest *fitter*
/// neighbours, so an elite is only driven out by something better that behaves similarly. No cells, bounds or
/// thresholds.
///
/// Fitter means a larger objective, or an equal one inserted earlier; two copies therefore never veto each other.
/// Exactly one elite has no fitter neighbour; it always survives, and its value in [`AddInfo`] is `f64::MAX`.
///
/// ```
/// use autoqd_qd::{Archive, Batch, DominatedNoveltyConfig, Rows};
/// let mut archive = DominatedNoveltyConfig::new(1, 2, 2).build()?;
/// let measures = Rows::new(&[0.0, 0.0, 0.0, 0.1, 5.0, 5.0], 2)?;
/// archive.add(&Batch::new(Rows::new(&[1.0, 2.0, 3.0], 1)?, &[3.0, 2.0, 1.0], measures))?;
/// // The second candidate is close to a fitter one; the third is the worst, but far away.
/// assert_eq!(archive.elites().objectives(), [3.0, 1.0]);
/// # Ok::<(), autoqd_qd::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DominatedNoveltyArchive {
    config: DominatedNoveltyConfig,
    elites: Population,
    /// Holds at most one elite: the best ever stored.
    best: Population,
    next_id: u64,
    non_finite_rows: u64,
    /// The nearest fitter neighbours of each elite; derived from the elites.
    #[serde(skip)]
    fitter: Vec<FitterNeighbours>,
}

/// The nearest fitter elites of one elite, nearest first.
#[derive(Debug, Clone, Default)]
struct FitterNeighbours {
    /// Distance and position in the population.
    nearest: Vec<(f64, u32)>,
    /// Whether these are all fitter elites there are.
    complete: bool,
}

impl FitterNeighbours {
    fn search(elites: &Population, index: usize, keep: usize) -> Self {
        let fitter = (0..elites.len()).filter(|&other| is_fitter(elites, other, index));
        let mut nearest: Vec<_> =
            fitter.map(|other| (distance(elites, index, other), other as u32)).collect();
        let complete = nearest.len() <= keep;
        if !complete {
            nearest.select_nth_unstable_by(keep, by_distance);
            nearest.truncate(keep);
        }
        nearest.sort_unstable_by(by_distance);
        Self { nearest, complete }
    }

    /// Records a fitter elite, if it is near enough to be known to be among the nearest.
    fn insert(&mut self, distance: f64, other: u32, keep: usize) {
        let entry = (distance, other);
        if !self.complete && self.nearest.last().is_none_or(|last| distance >= last.0) {
            return;
        }
        let at = self.nearest.partition_point(|known| by_distance(known, &entry).is_lt());
        self.nearest.insert(at, entry);
        if self.nearest.len() > keep {
            self.nearest.pop();
            self.complete = false;
        }
    }

    /// Forgets removed elites; `position` maps old to new positions.
    fn forget(&mut self, position: &[Option<u32>]) {
        self.nearest.retain_mut(|entry| {
            let new = position[entry.1 as usize];
            entry.1 = new.unwrap_or(0);
            new.is_some()
        });
    }

    /// Mean distance to the k nearest; infinite without fitter elites.
    fn novelty(&self, k: usize) -> f64 {
        let k = k.min(self.nearest.len());
        match k {
            0 => f64::INFINITY,
            _ => self.nearest[..k].iter().map(|n| n.0).sum::<f64>() / k as f64,
        }
    }
}

fn by_distance(a: &(f64, u32), b: &(f64, u32)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

fn is_fitter(elites: &Population, a: usize, b: usize) -> bool {
    let (fa, fb) = (elites.objectives()[a], elites.objectives()[b]);
    fa > fb || (fa == fb && a < b)
}

/// Euclidean distance, cut at [`DISTANCE_LIMIT`]. Eight sums in a fixed order let the compiler use vectors.
fn distance(elites: &Population, a: usize, b: usize) -> f64 {
    let (a, b) = (elites.measures().row(a), elites.measures().row(b));
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    let mut sums = [0.0; 8];
    for (a, b) in a8.zip(b8) {
        for lane in 0..8 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    libm::sqrt(sums.iter().sum::<f64>() + rest).min(DISTANCE_LIMIT)
}

impl DominatedNoveltyArchive {
    /// The archive's configuration.
    pub fn config(&self) -> &DominatedNoveltyConfig {
        &self.config
    }

    /// Mean distance of each elite to its k nearest fitter neighbours; infinite for the fittest.
    pub fn dominated_novelty(&self) -> Vec<f64> {
        let search = |i| FitterNeighbours::search(&self.elites, i, self.config.neighbours);
        let all: Vec<FitterNeighbours> = (0..self.len()).into_par_iter().map(search).collect();
        all.iter().map(|n| n.novelty(self.config.neighbours)).collect()
    }

    fn keep(&self) -> usize {
        self.config.neighbours.saturating_mul(1 + SPARE)
    }

    /// Neighbours of everyone, the newcomers (from `first` on) included.
    fn meet(&mut self, first: usize) {
        let (elites, keep, n) = (&self.elites, self.keep(), self.elites.len());
        if self.fitter.len() != first {
            // After loading: the lists are derived from the elites.
            self.fitter = (0..first).into_par_iter().map(|_| FitterNeighbours::default()).collect();
        }
        self.fitter.par_iter_mut().enumerate().for_each(|(i, list)| {
            for other in (first..n).filter(|&other| is_fitter(elites, other, i)) {
                list.insert(distance(elites, i, other), other as u32, keep);
            }
        });
        let newcomers = (first..n).into_par_iter().map(|i| FitterNeighbours::search(elites, i, keep));
        self.fitter.par_extend(newcomers);
        self.complete_short_lists();
    }

    /// Searches again where removals left fewer neighbours than the k that count.
    fn complete_short_lists(&mut self) {
        let (elites, keep, k) = (&self.elites, self.keep(), self.config.neighbours);
        self.fitter.par_iter_mut().enumerate().for_each(|(i, list)| {
            if !list.complete && list.nearest.len() < k {
                *list = FitterNeighbours::search(elites, i, keep);
            }
        });
    }

    /// Removes the elites of least novelty beyond the capacity; returns who stayed.
    fn compete(&mut self, novelty: &[f64]) -> Vec<bool> {
        let n = self.elites.len();
        let mut order: Vec<usize> = (0..n).collect();
        // Equal novelty: the fitter one stays.
        let fitness = |i: usize| (self.elites.objectives()[i], i);
        order.sort_by(|&a, &b| {
            let (fa, fb) = (fitness(a), fitness(b));
            novelty[b].total_cmp(&novelty[a]).then(fb.0.total_cmp(&fa.0)).then(fa.1.cmp(&fb.1))
        });
        let mut keep = vec![true; n];
        order.iter().skip(self.config.capacity).for_each(|&i| keep[i] = false);
        if n > self.config.capacity {
            self.remove(&keep);
        }
        keep
    }

    fn remove(&mut self, keep: &[bool]) {
        let mut next = 0;
        let mut number = |&stays: &bool| {
            next += u32::from(stays);
            stays.then(|| next - 1)
        };
        let position: Vec<Option<u32>> = keep.iter().map(&mut number).collect();
        self.elites.retain(keep);
        let mut stays = keep.iter();
        self.fitter.retain(|_| *stays.next().expect("one flag per elite"));
        self.fitter.par_iter_mut().for_each(|list| list.forget(&position));
        self.complete_short_lists();
    }

    fn remember_best(&mut self) {
        let better = |best: usize, i: usize| if is_fitter(&self.elites, i, best) { i } else { best };
        let Some(fittest) = (0..self.elites.len()).reduce(better) else { return };
        let objective = self.elites.objectives()[fittest];
        if self.best.objectives().first().is_none_or(|&best| objective > best) {
            self.best.clear();
            self.best.push(self.elites.get(fittest).expect("the index is below len()"));
        }
    }
}

impl Archive for DominatedNoveltyArchive {
    fn elites(&self) -> &Population {
        &self.elites
    }

    fn best_elite(&self) -> Option<Elite<'_>> {
        self.best.get(0)
    }

    fn capacity(&self) -> usize {
        self.config.capacity
    }

    fn qd_score_offset(&self) -> f64 {
        self.config.qd_score_offset
    }

    /// Accepted is what survives the competition of the old elites and the whole batch; the value is the dominated
    /// novelty in that competition.
    fn add(&mut self, batch: &Batch<'_>) -> Result<AddInfo> {
        batch.check(self.schema())?;
        if self.config.strict {
            batch.check_all_finite()?;
        }
        let first = self.elites.len();
        let mut info = AddInfo::rejected(batch.len());
        let finite = |row: usize| all_finite(batch.solutions.row(row));
        let rows: Vec<usize> = (0..batch.len()).filter(|&r| batch.defect(r).is_none() && finite(r)).collect();
        for &row in &rows {
            let id = batch.ids.map_or(self.next_id + row as u64, |ids| ids[row]);
            self.elites.push_row(batch, row, id);
        }
        self.next_id += batch.len() as u64;
        info.non_finite = batch.len() - rows.len();
        self.non_finite_rows += info.non_finite as u64;
        self.meet(first);
        let novelty: Vec<f64> = self.fitter.iter().map(|n| n.novelty(self.config.neighbours)).collect();
        let stays = self.compete(&novelty);
        for (i, &row) in rows.iter().enumerate() {
            info.value[row] = novelty[first + i].min(f64::MAX);
            info.stored[row] = stays[first + i];
            info.status[row] = if stays[first + i] { AddStatus::New } else { AddStatus::Rejected };
        }
        self.remember_best();
        Ok(info)
    }

    fn clear(&mut self) {
        self.elites.clear();
        self.best.clear();
        self.fitter.clear();
    }

    /// Width of the elites' measures.
    fn measure_scale(&self) -> Vec<f64> {
        let range = |axis: usize| {
            let values = self.elites.measures().into_iter().map(move |m| m[axis]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, up), v| (lo.min(v), up.max(v)))
        };
        let width = |(lo, up): (f64, f64)| if lo < up { (up - lo).min(f64::MAX) } else { 1.0 };
        (0..self.config.measure_dim).map(|axis| width(range(axis))).collect()
    }

    fn non_finite_rows(&self) -> u64 {
        self.non_finite_rows
    }

    fn strict(&self) -> bool {
        self.config.strict
    }
}
