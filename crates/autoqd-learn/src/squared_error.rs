//! The loss of the autoencoders: the mean of squared errors.

use crate::real::Real;

/// Sums kept side by side, so that the compiler can use vectors; the order of the additions is part of the result.
const LANES: usize = 32;

/// The sum of the squares of all errors, divided by `count`.
pub fn mean<T: Real>(errors: &[T], count: usize) -> T {
    sum_of_squares(errors) * share::<T>(count)
}

/// Replaces the errors by the gradients of their [`mean`].
pub fn backward<T: Real>(errors: &mut [T], count: usize) {
    let (share, two) = (share::<T>(count), T::of(2.0));
    errors.iter_mut().for_each(|e| *e = *e * share * two);
}

fn share<T: Real>(count: usize) -> T {
    T::of(1.0 / count as f64)
}

fn sum_of_squares<T: Real>(errors: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let chunks = errors.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(sum, e)| *sum += *e * *e);
    }
    rest.iter().fold(total(lanes), |sum, e| sum + *e * *e)
}

/// The sum of all lanes: the four groups of eight, then halves, then neighbours.
fn total<T: Real>(lanes: [T; LANES]) -> T {
    let eight: [T; 8] = std::array::from_fn(|i| (lanes[i] + lanes[8 + i]) + (lanes[16 + i] + lanes[24 + i]));
    let four: [T; 4] = std::array::from_fn(|i| eight[i] + eight[4 + i]);
    (four[0] + four[1]) + (four[2] + four[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::assert_gradient;
    use crate::random::Stream;

    #[test]
    fn the_mean_and_its_gradient_are_right_for_any_number_of_errors() {
        let mut stream = Stream::new(3);
        for len in [1, 31, 32, 33, 100] {
            let errors: Vec<f64> = (0..len).map(|_| f64::from(stream.symmetric(1.0))).collect();
            let plain = errors.iter().map(|e| e * e).sum::<f64>() / 40.0;
            assert!((mean(&errors, 40) - plain).abs() < 1e-14);
            let mut gradient = errors.clone();
            backward(&mut gradient, 40);
            assert_gradient(&errors, &gradient, |moved| mean(moved, 40));
        }
    }
}
