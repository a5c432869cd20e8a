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
    branch: Option<usize>,
    full: bool,
}

/// The degrees of freedom before one.
pub(crate) const fn before(k: usize) -> u64 {
    (1 << k) - 1
}

/// The degrees of freedom up to one.
pub(crate) const fn through(k: usize) -> u64 {
    u64::MAX >> (63 - k)
}

/// The set bits, lowest first.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            lowest as usize
        })
    })
}

/// A trunk is not longer than this: its triangle then fits into 32 registers.
pub(crate) const LARGEST_TRUNK: usize = 6;

impl Pattern {
    fn new(rows_of_columns: impl Iterator<Item = Vec<usize>>) -> Self {
        let (branch, full) = (None, false);
        let mut pattern = Self { columns: Vec::new(), rows: Vec::new(), entries: 0, trunk: 0, branch, full };
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
        pattern.branch = pattern.find_branch();
        pattern.full = (0..pattern.size()).all(|k| pattern.columns(k).len() == k);
        pattern
    }

    /// The rows after the trunk in equal parts, each a triangle of its own beside the trunk's columns.
    fn find_branch(&self) -> Option<usize> {
        let (trunk, size) = (self.trunk, self.size());
        if trunk == size {
            return Some(0);
        }
        let starts_branch = |k: usize| self.columns(k).len() == trunk;
        let length = (trunk + 1..size).find(|&k| starts_branch(k)).unwrap_or(size) - trunk;
        let in_place = |k: usize| {
            let first = k - (k - trunk) % length;
            self.columns(k).iter().copied().eq((0..trunk).chain(first..k))
        };
        ((size - trunk).is_multiple_of(length) && (trunk..size).all(in_place)).then_some(length)
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

    /// Whether it is the full triangle, in which column `i` is at place `i` of a row.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.full
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

    /// Rows per branch, if what follows the trunk are equal branches: legs of a walker. None follow a chain.
    #[inline(always)]
    pub(crate) fn branch(&self) -> Option<usize> {
        self.branch
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
