//! Nearest centroid by a balanced k-d tree.

/// Points per leaf; below this a scan is faster than another split.
const LEAF: usize = 16;

/// A balanced tree over points. It is laid out as the sorted order of points, halves being the two children, so it
/// needs no links. (Registry crates fix the dimension at compile time; here it is known only at run time.)
#[derive(Debug, Clone, Default)]
pub(crate) struct KdTree {
    dim: usize,
    /// Points in tree order.
    points: Vec<f64>,
    /// Number of each point in the caller's order.
    numbers: Vec<u32>,
    /// Axis and position of each inner node's split, in depth-first order of the middle positions.
    splits: Vec<(u32, f64)>,
}

impl KdTree {
    pub fn new(points: &[f64], dim: usize) -> Self {
        let count = points.len() / dim;
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        let mut splits = vec![(0, 0.0); count];
        split(points, dim, &mut numbers, &mut splits);
        let ordered =
            numbers.iter().flat_map(|&i| points[i as usize * dim..][..dim].iter().copied()).collect();
        Self { dim, points: ordered, numbers, splits }
    }

    /// The number of the nearest point; the lowest number on ties.
    pub fn nearest(&self, query: &[f64]) -> usize {
        let mut best = (f64::INFINITY, u32::MAX);
        self.search(query, 0, self.numbers.len(), &mut best);
        best.1 as usize
    }

    fn search(&self, query: &[f64], start: usize, end: usize, best: &mut (f64, u32)) {
        if end - start <= LEAF {
            return self.scan(query, start, end, best);
        }
        let middle = start + (end - start) / 2;
        let (axis, position) = self.splits[middle];
        let offset = query[axis as usize] - position;
        let (near, far) =
            if offset < 0.0 { ((start, middle), (middle, end)) } else { ((middle, end), (start, middle)) };
        self.search(query, near.0, near.1, best);
        // Equality is searched too: an equally near point with a lower number may lie on the other side.
        if offset * offset <= best.0 {
            self.search(query, far.0, far.1, best);
        }
    }

    fn scan(&self, query: &[f64], start: usize, end: usize, best: &mut (f64, u32)) {
        let points = self.points[start * self.dim..end * self.dim].chunks_exact(self.dim);
        for (point, &number) in points.zip(&self.numbers[start..end]) {
            let distance = squared_distance(query, point);
            if distance < best.0 || (distance == best.0 && number < best.1) {
                *best = (distance, number);
            }
        }
    }
}

/// Sorts `numbers` so that the middle splits them along the widest axis, and both halves alike.
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

/// Squared Euclidean distance, summed in order.
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
