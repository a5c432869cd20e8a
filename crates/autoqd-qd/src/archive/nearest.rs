//! Nearest centroid: a k-d tree for few dimensions, a scan for many.

/// Largest dimension at which the tree beats the scan at 10^4 points (benches/speed.rs).
const TREE_DIMS: usize = 12;
/// Points per leaf; below this a scan is faster than another split.
const LEAF: usize = 16;
/// Points that the scan compares at once.
const LANES: usize = 8;

/// Finds the nearest of fixed points; the one with the lowest number on ties. (Registry crates fix the dimension at
/// compile time; here it is known only at run time.)
#[derive(Debug, Clone)]
pub(crate) enum Nearest {
    Tree(KdTree),
    Scan(Scan),
}

impl Nearest {
    pub fn new(points: &[f64], dim: usize) -> Self {
        if dim <= TREE_DIMS {
            Self::Tree(KdTree::new(points, dim))
        } else {
            Self::Scan(Scan::new(points, dim))
        }
    }

    /// The number of the point nearest to a finite query.
    pub fn find(&self, query: &[f64]) -> usize {
        match self {
            Self::Tree(tree) => tree.find(query),
            Self::Scan(scan) => scan.find(query),
        }
    }
}

/// A balanced tree. It is laid out as the sorted order of points, halves being the two children, so it needs no links.
#[derive(Debug, Clone)]
pub(crate) struct KdTree {
    dim: usize,
    /// Points in tree order.
    points: Vec<f64>,
    /// Number of each point in the caller's order.
    numbers: Vec<u32>,
    /// Axis and position of each inner node's split, stored at the middle of the node's points.
    splits: Vec<(u32, f64)>,
}

/// The state of one search.
struct Search<'a> {
    query: &'a [f64],
    /// Distance from the query to the current node's region, per axis.
    offsets: [f64; TREE_DIMS],
    /// Squared distance and number of the best point so far.
    best: (f64, u32),
}

impl KdTree {
    fn new(points: &[f64], dim: usize) -> Self {
        let count = points.len() / dim;
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        let mut splits = vec![(0, 0.0); count];
        split(points, dim, &mut numbers, &mut splits);
        let ordered =
            numbers.iter().flat_map(|&i| points[i as usize * dim..][..dim].iter().copied()).collect();
        Self { dim, points: ordered, numbers, splits }
    }

    fn find(&self, query: &[f64]) -> usize {
        let mut search = Search { query, offsets: [0.0; TREE_DIMS], best: (f64::INFINITY, u32::MAX) };
        self.descend(&mut search, 0, self.numbers.len(), 0.0);
        search.best.1 as usize
    }

    /// Searches a node whose region is `bound` (squared) away from the query.
    fn descend(&self, search: &mut Search<'_>, start: usize, end: usize, bound: f64) {
        if end - start <= LEAF {
            return self.scan(search, start, end);
        }
        let middle = start + (end - start) / 2;
        let (axis, position) = self.splits[middle];
        let (axis, offset) = (axis as usize, search.query[axis as usize] - position);
        let (near, far) =
            if offset < 0.0 { ((start, middle), (middle, end)) } else { ((middle, end), (start, middle)) };
        self.descend(search, near.0, near.1, bound);
        let before = search.offsets[axis];
        let beyond = bound - before * before + offset * offset;
        // Equality is searched too, for an equally near point with a lower number; the margin covers rounding.
        if beyond * (1.0 - 1e-12) <= search.best.0 {
            search.offsets[axis] = offset;
            self.descend(search, far.0, far.1, beyond);
            search.offsets[axis] = before;
        }
    }

    fn scan(&self, search: &mut Search<'_>, start: usize, end: usize) {
        let points = self.points[start * self.dim..end * self.dim].chunks_exact(self.dim);
        for (point, &number) in points.zip(&self.numbers[start..end]) {
            let distance = squared_distance(search.query, point);
            if distance < search.best.0 || (distance == search.best.0 && number < search.best.1) {
                search.best = (distance, number);
            }
        }
    }
}

/// Sorts `numbers` so that the middle splits them along the widest axis, and then both halves in the same way.
fn split(points: &[f64], dim: usize, numbers: &mut [u32], splits: &mut [(u32, f64)]) {
    if numbers.len() <= LEAF {
        return;
    }
    let axis = widest_axis(points, dim, numbers);
    let at = |i: u32| points[i as usize * dim + axis];
    let middle = numbers.len() / 2;
    numbers.select_nth_unstable_by(middle, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    splits[middle] = (axis as u32, at(numbers[middle]));
    let (left, right) = numbers.split_at_mut(middle);
    let (left_splits, right_splits) = splits.split_at_mut(middle);
    split(points, dim, left, left_splits);
    split(points, dim, right, right_splits);
}

fn widest_axis(points: &[f64], dim: usize, numbers: &[u32]) -> usize {
    let width = |axis: usize| {
        let values = numbers.iter().map(|&i| points[i as usize * dim + axis]);
        let (lo, up) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, up), v| (lo.min(v), up.max(v)));
        up - lo
    };
    (0..dim).max_by(|&a, &b| width(a).total_cmp(&width(b))).unwrap_or(0)
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// All points, eight to a block and axis after axis within it, so that one vector operation serves several points.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    dim: usize,
    blocks: Vec<[f64; LANES]>,
}

impl Scan {
    fn new(points: &[f64], dim: usize) -> Self {
        let count = points.len() / dim;
        // The last block is filled up with its last point, which cannot win against itself.
        let at = |block: usize, axis: usize, lane: usize| {
            points[(block * LANES + lane).min(count - 1) * dim + axis]
        };
        let axes = |block| (0..dim).map(move |axis| std::array::from_fn(|lane| at(block, axis, lane)));
        Self { dim, blocks: (0..count.div_ceil(LANES)).flat_map(axes).collect() }
    }

    fn find(&self, query: &[f64]) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (block, axes) in self.blocks.chunks_exact(self.dim).enumerate() {
            let mut distances = [0.0; LANES];
            for (q, coordinates) in query.iter().zip(axes) {
                for lane in 0..LANES {
                    distances[lane] += (q - coordinates[lane]) * (q - coordinates[lane]);
                }
            }
            for (lane, &distance) in distances.iter().enumerate() {
                if distance < best.0 {
                    best = (distance, block * LANES + lane);
                }
            }
        }
        best.1
    }
}
