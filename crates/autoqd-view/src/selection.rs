//! Which elites to show when there are thousands.

use autoqd::run_folder::ArchiveTable;
use autoqd_measure::{Points, farthest_points, top_fraction};

/// The paper's choice: the best elite, then, one at a time, whichever of the best fifth is farthest in the measures
/// from all chosen so far. Rows of the archive.
pub(crate) fn best_and_different(table: &ArchiveTable, count: usize) -> Vec<usize> {
    if table.measures.width == 0 {
        let mut best = top_fraction(&table.objective, 1.0);
        best.truncate(count);
        return best;
    }
    farthest_points(Points::new(&table.measures.values, table.measures.width), &table.objective, 0.2, count)
}
