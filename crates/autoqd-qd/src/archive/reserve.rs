//! Elites that lost their cell, and the rebuild that may give them one again.

use serde::{Deserialize, Serialize};

use super::Archive;
use crate::error::Result;
use crate::population::Population;
use crate::schema::Schema;

/// A bounded store of elites without a cell. When it is full the lowest objective leaves first (the largest identity
/// on ties), so its contents do not depend on the order of arrival.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reserve {
    capacity: usize,
    /// Sorted by descending objective, then ascending identity.
    elites: Population,
}

impl Reserve {
    /// An empty reserve for `capacity` elites; 0 keeps none.
    pub fn new(capacity: usize, schema: Schema) -> Self {
        Self { capacity, elites: Population::new(schema) }
    }

    /// The elites, best first.
    pub fn elites(&self) -> &Population {
        &self.elites
    }

    /// Number of elites.
    pub fn len(&self) -> usize {
        self.elites.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elites.is_empty()
    }

    /// The largest number of elites.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Removes all elites.
    pub fn clear(&mut self) {
        self.elites.clear();
    }

    /// Adds elites whose identity is not here yet; returns how many were dropped for lack of room.
    ///
    /// # Errors
    /// When the schemas differ.
    pub fn extend(&mut self, elites: &Population) -> Result<usize> {
        self.elites.extend_unique(elites)?;
        let all = self.elites.clone();
        self.refill(&all, |_| true)
    }

    /// Replaces the contents by those elites of a pool for which `keep` is true; returns how many were dropped for
    /// lack of room. The identities of the pool must differ, as [`Population::extend_unique`] provides.
    ///
    /// # Errors
    /// When the schemas differ.
    pub fn refill(&mut self, pool: &Population, keep: impl Fn(usize) -> bool) -> Result<usize> {
        let mut chosen: Vec<usize> = (0..pool.len()).filter(|&i| keep(i)).collect();
        let key = |i: usize| (pool.objectives()[i], pool.ids()[i]);
        chosen.sort_by(|&a, &b| key(b).0.total_cmp(&key(a).0).then(key(a).1.cmp(&key(b).1)));
        let dropped = chosen.len().saturating_sub(self.capacity);
        chosen.truncate(self.capacity);
        self.elites.clear();
        self.elites.extend_selected(pool, &chosen)?;
        Ok(dropped)
    }
}

/// What a rebuild did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedescribeReport {
    /// Elites that took part: all archives and the reserve, each identity once.
    pub pool: usize,
    /// Elites of each archive afterwards.
    pub stored: Vec<usize>,
    /// How many of each archive's former elites are still in it.
    pub survivors: Vec<usize>,
    /// Elites in the reserve afterwards.
    pub reserved: usize,
    /// Elites that found no room in the reserve.
    pub dropped: usize,
}

/// Gives every elite new measures and rebuilds the archives.
///
/// The union of all archives' elites and the reserve (each identity once) is described again and inserted into every
/// archive as one batch; what no archive stores goes to the reserve. `describe` gets the pool and returns the new
/// measures, row after row. Thresholds start again from their minimum. Rows whose new measures are not finite go to
/// the reserve too, where a later description may find them a cell.
///
/// # Errors
/// When the schemas differ, or the measures have the wrong size. The archives and the reserve are then unchanged.
pub fn redescribe_together(
    archives: &mut [&mut dyn Archive],
    reserve: &mut Reserve,
    describe: impl FnOnce(&Population) -> Vec<f64>,
) -> Result<RedescribeReport> {
    let mut pool = Population::new(reserve.elites.schema().clone());
    for archive in archives.iter() {
        pool.extend_unique(archive.elites())?;
    }
    pool.extend_unique(&reserve.elites)?;
    let measures = describe(&pool);
    pool.set_measures(&measures)?;
    if archives.iter().any(|a| a.strict()) {
        pool.as_batch().check_all_finite()?;
    }
    let mut stored_somewhere = vec![false; pool.len()];
    let mut report =
        RedescribeReport { pool: pool.len(), stored: vec![], survivors: vec![], reserved: 0, dropped: 0 };
    for archive in archives.iter_mut() {
        let mut former = archive.elites().ids().to_vec();
        former.sort_unstable();
        let info = archive.rebuild(&pool)?;
        let kept = archive.elites().ids().iter().filter(|id| former.binary_search(id).is_ok()).count();
        report.stored.push(info.num_stored());
        report.survivors.push(kept);
        stored_somewhere.iter_mut().zip(&info.stored).for_each(|(all, one)| *all |= one);
    }
    report.dropped = reserve.refill(&pool, |i| !stored_somewhere[i])?;
    report.reserved = reserve.len();
    Ok(report)
}
