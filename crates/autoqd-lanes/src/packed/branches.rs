//! Sparse symmetric matrices whose rows are a trunk and equal branches beside each other, as those of a body with legs:
//! summed and factored in registers, one branch after the other.
//!
//! Every entry goes through the operations of [`super::factor`] in their order, so the bits are the same.

use super::{factor_trunk, triangle};
use crate::pattern::Pattern;
use crate::simd::Lane;

/// What is added to a matrix before it is factored.
pub(crate) trait Terms<F, const T: usize, const B: usize> {
    /// Adds to the lower triangle of the trunk.
    fn add_to_trunk(&self, trunk: &mut [[F; T]; T]);
    /// Adds to the rows from `first` on: their columns of the trunk, and their own triangle.
    fn add_to_branch(&self, first: usize, head: &mut [[F; T]; B], own: &mut [[F; B]; B]);
}

/// Nothing.
impl<F, const T: usize, const B: usize> Terms<F, T, B> for () {
    #[inline(always)]
    fn add_to_trunk(&self, _: &mut [[F; T]; T]) {}
    #[inline(always)]
    fn add_to_branch(&self, _: usize, _: &mut [[F; T]; B], _: &mut [[F; B]; B]) {}
}

// Loops over a triangle run over the square and leave out what is above the diagonal: so the compiler unrolls them.

/// Factors A = L' D L with A = `matrix` + `terms`, for a pattern of a trunk of `T` rows and branches of `B`: rows of L
/// without its unit diagonal, and the inverse of D. The diagonal of `factors` is not written.
///
/// The branches come first: their rows are eliminated from each other, and their columns of the trunk wait in `factors`, not
/// yet scaled. Then the trunk, which stays in registers, goes over them from the last to the first.
#[inline(always)]
pub(crate) fn factor<F: Lane, const T: usize, const B: usize>(
    pattern: &Pattern,
    matrix: &[F],
    terms: &impl Terms<F, T, B>,
    factors: &mut [F],
    inverse_diagonal: &mut [F],
) {
    let size = pattern.size();
    let (matrix, factors) = (&matrix[..pattern.entries()], &mut factors[..pattern.entries()]);
    let inverse_diagonal = &mut inverse_diagonal[..size];
    let mut end = size;
    while B > 0 && end >= T + B {
        let first = end - B;
        end = first;
        let range = pattern.start(first)..pattern.start(first) + B * T + triangle(B);
        let (mut head, mut own) = ([[F::zero(); T]; B], [[F::zero(); B]; B]);
        let rows = &matrix[range.clone()];
        for r in 0..B {
            let row = &rows[r * T + triangle(r)..][..T + r + 1];
            head[r].copy_from_slice(&row[..T]);
            for q in 0..B {
                if q <= r {
                    own[r][q] = row[T + q];
                }
            }
        }
        terms.add_to_branch(first, &mut head, &mut own);
        let (out, inverses) = (&mut factors[range], &mut inverse_diagonal[first..first + B]);
        eliminate_branch(&mut head, &mut own, out, inverses);
    }
    let mut trunk = [[F::zero(); T]; T];
    for i in 0..T {
        for j in 0..T {
            if j <= i {
                trunk[i][j] = matrix[triangle(i) + j];
            }
        }
    }
    terms.add_to_trunk(&mut trunk);
    for k in (T..size).rev() {
        let (row, inverse) = (&mut factors[pattern.start(k)..][..T], inverse_diagonal[k]);
        let mut head = [F::zero(); T];
        head.copy_from_slice(row);
        for c in 0..T {
            let t = head[c] * inverse;
            row[c] = t;
            for j in 0..T {
                if j <= c {
                    trunk[c][j] = head[j].neg_mul_add(t, trunk[c][j]);
                }
            }
        }
    }
    factor_trunk(&mut trunk, factors, inverse_diagonal);
}

/// Eliminates the rows of a branch from each other, and writes them.
#[inline(always)]
fn eliminate_branch<F: Lane, const T: usize, const B: usize>(
    head: &mut [[F; T]; B],
    own: &mut [[F; B]; B],
    out: &mut [F],
    inverses: &mut [F],
) {
    for step in 0..B {
        let r = B - 1 - step;
        let inverse = F::one() / own[r][r];
        inverses[r] = inverse;
        let (row, from) = (head[r], own[r]);
        let out = &mut out[r * T + triangle(r)..][..T + r];
        for q in 0..B {
            if q < r {
                let t = from[q] * inverse;
                out[T + q] = t;
                for j in 0..T {
                    head[q][j] = row[j].neg_mul_add(t, head[q][j]);
                }
                for p in 0..B {
                    if p <= q {
                        own[q][p] = from[p].neg_mul_add(t, own[q][p]);
                    }
                }
            }
        }
        out[..T].copy_from_slice(&row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed;
    use crate::simd::Array;

    /// Adds the same to every entry, an entry at a time.
    struct Ones;

    impl<const T: usize, const B: usize> Terms<Array, T, B> for Ones {
        fn add_to_trunk(&self, trunk: &mut [[Array; T]; T]) {
            trunk.as_flattened_mut().iter_mut().for_each(|x| *x = *x + Array::one());
        }
        fn add_to_branch(&self, _: usize, head: &mut [[Array; T]; B], own: &mut [[Array; B]; B]) {
            head.as_flattened_mut().iter_mut().for_each(|x| *x = *x + Array::one());
            own.as_flattened_mut().iter_mut().for_each(|x| *x = *x + Array::one());
        }
    }

    /// Three branches of two on a trunk of three.
    const PARENTS: [Option<usize>; 9] =
        [None, Some(0), Some(1), Some(2), Some(3), Some(2), Some(5), Some(2), Some(7)];

    fn matrix(pattern: &Pattern) -> Vec<Array> {
        let mut entries: Vec<Array> = (0..pattern.entries())
            .map(|n| Array::from_array(std::array::from_fn(|l| ((n * 7 + l * 3) % 11) as f64 * 0.17 - 0.8)))
            .collect();
        (0..pattern.size()).for_each(|k| entries[pattern.diagonal(k)] = Array::splat(20.0 + k as f64));
        entries
    }

    fn bits(x: &[Array]) -> Vec<[u64; 8]> {
        x.iter().map(|x| x.to_array().map(f64::to_bits)).collect()
    }

    #[test]
    fn branches_have_the_bits_of_any_other_matrix() {
        let pattern = Pattern::tree(&PARENTS);
        assert_eq!((pattern.trunk(), pattern.branch()), (3, Some(2)));
        let a = matrix(&pattern);
        let zeros = |n: usize| vec![Array::zero(); n];
        let (mut factors, mut inverses) = (zeros(pattern.entries()), zeros(9));
        factor::<Array, 3, 2>(&pattern, &a, &Ones, &mut factors, &mut inverses);
        let mut expected: Vec<Array> = a.iter().map(|x| *x + Array::one()).collect();
        let mut diagonal = zeros(9);
        packed::factor(&pattern, &mut expected, &mut diagonal);
        assert_eq!(bits(&inverses), bits(&diagonal));
        for k in 0..9 {
            let row = pattern.start(k)..pattern.diagonal(k);
            assert_eq!(bits(&factors[row.clone()]), bits(&expected[row]), "row {k}");
        }
    }

    #[test]
    fn a_tree_with_unequal_branches_has_none() {
        let parents = [None, Some(0), Some(1), Some(0)];
        assert_eq!(Pattern::tree(&parents).branch(), None);
        assert_eq!(Pattern::tree(&parents[..3]).branch(), Some(0), "a chain");
    }
}
