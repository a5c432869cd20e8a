//! Where a symmetric matrix of the joint space has entries, and its packed storage.

/// Rows of a lower triangle: row `k` holds the columns of `k` in ascending order, then the diagonal.
///
/// The columns of a column are a prefix of the row's columns (true for the ancestors in a tree and for a full
/// triangle), so a factorisation fills no new entries and needs no index search.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    columns: Vec<usize>,
    /// Row `k`: start of its columns, start of its entries.
    rows: Vec<(usize, usize)>,
    entries: usize,
    trunk: usize,
}

/// A trunk is not longer than this: its triangle then fits into 32 registers.
pub(crate) const LARGEST_TRUNK: usize = 6;

impl Pattern {
    fn new(rows_of_columns: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut pattern = Self { columns: Vec::new(), rows: Vec::new(), entries: 0, trunk: 0 };
        for columns in rows_of_columns {
            pattern.rows.push((pattern.columns.len(), pattern.entries));
            pattern.entries += columns.len() + 1;
            pattern.columns.extend(columns);
        }
        pattern.rows.push((pattern.columns.len(), pattern.entries));
        let is_trunk = |t: usize| {
            (0..pattern.size()).all(|k| pattern.columns(k).iter().take(t).copied().eq(0..k.min(t)))
        };
        pattern.trunk = (1..=LARGEST_TRUNK.min(pattern.size())).rev().find(|&t| is_trunk(t)).unwrap_or(0);
        pattern
    }

    /// The pattern of the inertia matrix of a tree: each degree of freedom with its ancestors.
    pub(crate) fn tree(parents: &[Option<usize>]) -> Self {
        Self::new(parents.iter().map(|&parent| {
            let mut ancestors: Vec<usize> = std::iter::successors(parent, |&k| parents[k]).collect();
            ancestors.reverse();
            ancestors
        }))
    }

    /// The full triangle.
    pub(crate) fn full(size: usize) -> Self {
        Self::new((0..size).map(|k| (0..k).collect()))
    }

    /// Number of rows.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.rows.len() - 1
    }

    /// How many rows from the first on are a full triangle, and columns of all other rows.
    #[inline(always)]
    pub(crate) fn trunk(&self) -> usize {
        self.trunk
    }

    /// Number of stored entries.
    #[inline(always)]
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// The columns of row `k` left of the diagonal.
    #[inline(always)]
    pub(crate) fn columns(&self, k: usize) -> &[usize] {
        &self.columns[self.rows[k].0..self.rows[k + 1].0]
    }

    /// Where row `k` starts.
    #[inline(always)]
    pub(crate) fn start(&self, k: usize) -> usize {
        self.rows[k].1
    }

    /// Where the diagonal entry of row `k` is.
    #[inline(always)]
    pub(crate) fn diagonal(&self, k: usize) -> usize {
        self.rows[k + 1].1 - 1
    }

    /// The entries of row `k`.
    #[inline(always)]
    pub(crate) fn row(&self, k: usize) -> std::ops::Range<usize> {
        self.rows[k].1..self.rows[k + 1].1
    }
}
