//! Refits: the descriptor is fitted to the elites, and both archives are rebuilt with the new measures.

use std::collections::BTreeMap;

use autoqd_qd::{
    Archive, Batch, Emitter, Population, RedescribeReport, Rows, StartPoint, redescribe_together,
};

use super::Search;
use super::build::FEATURES;
use super::outside::{best_fifth, share_outside};
use crate::Error;
use crate::config::RefitEmitters;
use crate::descriptor::{Elites, RefitReport};
use crate::trainer::Refit;

/// With bounds that follow, iterations from one look to the next: each change starts the thresholds again.
const FOLLOW_EVERY: u64 = 10;
/// With bounds that follow, the share of the best fifth of the elites that may lie outside.
const FOLLOW_SHARE: f64 = 0.2;

/// What is done to the measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Fitted anew.
    Anew,
    /// Only scaled.
    Rescale,
}

impl Search {
    /// Refits at the start of an iteration of the schedule. An empty archive has nothing to fit.
    pub(super) fn refit_if_due(&mut self, iteration: u64) -> Result<Option<Refit>, Error> {
        let due = self.config.update_schedule.contains(&iteration);
        if !self.descriptor.refits() || self.result().is_empty() {
            return Ok(None);
        }
        match due {
            true => self.refit(iteration, Fit::Anew).map(Some),
            false if self.best_are_outside(iteration) => self.refit(iteration, Fit::Rescale).map(Some),
            false => Ok(None),
        }
    }

    /// With bounds that follow: whether it is time to look, and too many of the best elites lie outside.
    fn best_are_outside(&self, iteration: u64) -> bool {
        self.config.follows()
            && iteration.is_multiple_of(FOLLOW_EVERY)
            && share_outside(self.result().elites(), self.config.layout().bounds()) > FOLLOW_SHARE
    }

    fn refit(&mut self, iteration: u64, fit: Fit) -> Result<Refit, Error> {
        let elites_before = self.result().len();
        let reembedded = if fit == Fit::Anew && self.descriptor.freeze() { self.reembed()? } else { 0 };
        let elites = self.result().elites();
        let (ids, objectives) = (elites.ids().to_vec(), elites.objectives().to_vec());
        let (features, best) = (features_of(elites), best_fifth(elites));
        let fitted = Elites { ids: &ids, features: &features, objectives: &objectives };
        let descriptor = self.pool.install(|| match fit {
            Fit::Anew => self.descriptor.refit(iteration, fitted),
            Fit::Rescale => self.descriptor.rescale(fitted, &best).map(|()| RefitReport::default()),
        })?;
        let mut archives = self.redescribe()?;
        archives.dropped += self.limit_reserve()?;
        archives.reserved = self.reserve.len();
        let alive = self.alive();
        self.descriptor.retain(&alive);
        if fit == Fit::Anew {
            self.restart_emitters()?;
        }
        Ok(Refit { descriptor, archives, elites_before, reembedded })
    }

    /// What the emitters have learned is about measures that are no more: they start again if the settings say so.
    fn restart_emitters(&mut self) -> Result<(), Error> {
        let at = match self.config.refit_emitters {
            RefitEmitters::Keep => return Ok(()),
            RefitEmitters::Restart => StartPoint::Elite,
            RefitEmitters::New => StartPoint::Initial,
        };
        for emitter in self.scheduler.emitters_mut() {
            let restart = emitter.restart(&self.archive, at)?;
            self.totals.restarts += u64::from(restart.is_some());
        }
        Ok(())
    }

    /// Gives every elite of both archives and the reserve its new measures and rebuilds all three.
    fn redescribe(&mut self) -> Result<RedescribeReport, Error> {
        let (descriptor, threads) = (&self.descriptor, &self.pool);
        let describe =
            |pool: &Population| threads.install(|| descriptor.measures_of(pool.ids(), &features_of(pool)));
        let mut archives: Vec<&mut dyn Archive> = vec![&mut self.archive];
        archives.extend(self.result.as_mut().map(|result| result as &mut dyn Archive));
        Ok(redescribe_together(&mut archives, &mut self.reserve, describe)?)
    }

    /// Takes the lowest objectives out of the reserve until what the descriptor remembers of the rest fits.
    fn limit_reserve(&mut self) -> Result<usize, Error> {
        let mut left = self.descriptor.reserve_bytes();
        let mut fits = |id: &&u64| {
            let bytes = self.descriptor.remembered_bytes(**id);
            let fits = bytes <= left;
            left -= bytes.min(left);
            fits
        };
        let kept = self.reserve.elites().ids().iter().take_while(|id| fits(id)).count();
        if kept == self.reserve.len() {
            return Ok(0);
        }
        let elites = self.reserve.elites().clone();
        self.reserve.refill(&elites, |i| i < kept)?;
        Ok(elites.len() - kept)
    }

    /// Rolls every elite out again with its own seeds, so that all have features of the present embedding.
    fn reembed(&mut self) -> Result<usize, Error> {
        let mut pool = Population::new(self.archive.schema().clone());
        pool.extend_unique(self.archive.elites())?;
        pool.extend_unique(self.result().elites())?;
        pool.extend_unique(self.reserve.elites())?;
        let seeds = self.seeds(pool.ids());
        let evaluations = self.evaluate(pool.solutions().as_slice(), &seeds, &self.descriptor.probes()?)?;
        let features = evaluations.iter().map(|e| self.descriptor.features(e));
        let features: BTreeMap<u64, Vec<f64>> = pool.ids().iter().copied().zip(features).collect();
        let archive = with_features(self.archive.elites(), &features)?;
        self.archive.rebuild(&archive)?;
        if let Some(result) = &mut self.result {
            let elites = with_features(result.elites(), &features)?;
            result.rebuild(&elites)?;
        }
        let reserve = with_features(self.reserve.elites(), &features)?;
        self.reserve.refill(&reserve, |_| true)?;
        Ok(pool.len())
    }
}

/// The features of every elite, row after row; empty where the descriptor has none.
fn features_of(elites: &Population) -> Vec<f64> {
    let Ok(range) = elites.schema().field_range(FEATURES) else { return Vec::new() };
    elites.fields().iter().flat_map(|row| row[range.clone()].iter().copied()).collect()
}

/// The same elites with other features.
fn with_features(elites: &Population, features: &BTreeMap<u64, Vec<f64>>) -> Result<Population, Error> {
    let range = elites.schema().field_range(FEATURES)?;
    let width = elites.schema().fields_width();
    let mut fields = elites.fields().as_slice().to_vec();
    for (row, id) in fields.chunks_exact_mut(width).zip(elites.ids()) {
        row[range.clone()].copy_from_slice(&features[id]);
    }
    let batch = Batch::new(elites.solutions(), elites.objectives(), elites.measures());
    let mut population = Population::new(elites.schema().clone());
    population.extend_from_batch(&batch.with_fields(Rows::new(&fields, width)?).with_ids(elites.ids()))?;
    Ok(population)
}
