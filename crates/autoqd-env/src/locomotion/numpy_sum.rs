//! Sums in numpy's order of additions, so that they round as Gymnasium's do.

use std::ops::{Add, AddAssign};

const BLOCK: usize = 128;

/// Sum of `value(0) .. value(n - 1)` as `numpy.sum` adds a contiguous array.
pub(super) fn sum<T>(n: usize, value: impl Fn(usize) -> T + Copy) -> T
where
    T: Copy + Default + Add<Output = T> + AddAssign,
{
    range(0, n, value)
}

fn range<T>(start: usize, n: usize, value: impl Fn(usize) -> T + Copy) -> T
where
    T: Copy + Default + Add<Output = T> + AddAssign,
{
    if n < 8 {
        let mut total = T::default();
        (start..start + n).for_each(|i| total += value(i));
        return total;
    }
    if n <= BLOCK {
        return block(start, n, value);
    }
    let half = n / 2 - (n / 2) % 8;
    range(start, half, value) + range(start + half, n - half, value)
}

fn block<T>(start: usize, n: usize, value: impl Fn(usize) -> T + Copy) -> T
where
    T: Copy + Default + Add<Output = T> + AddAssign,
{
    let mut lane: [T; 8] = std::array::from_fn(|k| value(start + k));
    let whole = n - n % 8;
    for i in (8..whole).step_by(8) {
        for (k, total) in lane.iter_mut().enumerate() {
            *total += value(start + i + k);
        }
    }
    let mut total = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    (whole..n).for_each(|i| total += value(start + i));
    total
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn small_integers_are_summed_exactly_at_every_length() {
        for n in 0..600 {
            assert_eq!(sum(n, |i| i as f64), (n * n.saturating_sub(1) / 2) as f64);
        }
    }

    #[test]
    fn the_order_of_additions_is_numpys() {
        // What numpy 2.4 gives for np.array([1e16] + [1.0] * (n - 1)).sum().
        let value = |i: usize| if i == 0 { 1e16 } else { 1.0 };
        let left_to_right = |n: usize| (0..n).map(value).fold(0.0, |a, b| a + b);
        assert_eq!(left_to_right(200), 1e16);
        assert_eq!(sum(8, value), 10000000000000006.0);
        assert_eq!(sum(9, value), 10000000000000008.0);
        assert_eq!(sum(200, value), 10000000000000188.0);
    }
}
