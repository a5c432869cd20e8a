//! Linear algebra with the same bits on every CPU.

use autoqd_qd::linear::{cholesky, multiply, multiply_lower, rank_update, symmetric_eigen};
use autoqd_qd::{NormalSource, Rng};

fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0);
    let mut numbers = vec![0.0; count];
    rng.fill_normal(&mut numbers);
    numbers
}

/// A symmetric matrix whose upper triangle holds what must not be looked at.
fn symmetric(n: usize, seed: u64) -> Vec<f64> {
    let mut a = random(n * n, seed);
    for j in 0..n {
        a[j * n..j * n + j].fill(f64::NAN);
    }
    a
}

fn entry(lower: &[f64], n: usize, i: usize, j: usize) -> f64 {
    lower[i.min(j) * n + i.max(j)]
}

#[test]
fn eigenvectors_are_orthonormal_and_give_the_matrix_back() {
    for n in [1, 2, 3, 5, 8, 31, 64, 97] {
        let a = symmetric(n, n as u64);
        let (values, v) = symmetric_eigen(&a, n).unwrap();
        assert!(values.is_sorted(), "{values:?}");
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| v[k * n + i] * values[k] * v[k * n + j]).sum();
                assert!((product - entry(&a, n, i, j)).abs() < 1e-12 * n as f64, "{n}: {i}, {j}");
                let dot: f64 = (0..n).map(|k| v[i * n + k] * v[j * n + k]).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13 * n as f64, "{n}: {i}, {j}");
            }
        }
    }
}

#[test]
fn known_and_extreme_spectra() {
    let n = 40;
    // The second difference has the eigenvalues 2 - 2 cos(pi k / (n + 1)).
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        a[i * n + i] = 2.0;
        if i + 1 < n {
            a[i * n + i + 1] = -1.0;
        }
    }
    for scale in [1e-300, 1e-150, 1.0, 1e300] {
        let scaled: Vec<f64> = a.iter().map(|x| x * scale).collect();
        let (values, _) = symmetric_eigen(&scaled, n).unwrap();
        for (k, value) in values.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64;
            assert!((value / scale - (2.0 - 2.0 * angle.cos())).abs() < 1e-13, "{scale}: {k}");
        }
    }
    assert_eq!(symmetric_eigen(&vec![0.0; n * n], n).unwrap().0, vec![0.0; n]);
    assert!(symmetric_eigen(&[1.0, f64::NAN, 0.0, 1.0], 2).is_none());
}

#[test]
fn factors_and_products_are_those_of_plain_sums() {
    for n in [1, 3, 4, 7, 8, 9, 20, 33] {
        let y = random(n * (n + 2), n as u64);
        let mut c = symmetric(n, 1);
        c.iter_mut().filter(|x| !x.is_nan()).for_each(|x| *x = 0.0);
        rank_update(&mut c, n, &y);
        let mut plain = vec![0.0; n * n];
        for j in 0..n {
            for i in j..n {
                let sum = y.chunks_exact(n).fold(0.0, |sum, column| sum + column[i] * column[j]);
                assert_eq!(c[j * n + i], sum, "{n}: not in the order of the columns");
                plain[j * n + i] = sum;
            }
        }
        let mut l = c.clone();
        assert!(cholesky(&mut l, n));
        let x = random(5 * n, 7);
        let (mut lower, mut full) = (vec![0.0; 5 * n], vec![0.0; 5 * n]);
        multiply_lower(&l, n, &x, &mut lower);
        for j in 0..n {
            l[j * n..j * n + j].fill(0.0);
        }
        multiply(&l, n, &x, &mut full);
        assert_eq!(lower, full, "{n}");
        for j in 0..n {
            for i in j..n {
                let product: f64 = (0..n).map(|k| l[k * n + i] * l[k * n + j]).sum();
                assert!((product - plain[j * n + i]).abs() < 1e-11, "{n}: {i}, {j}");
            }
        }
        c[0] = -1.0;
        assert!(!cholesky(&mut c, n));
    }
}

/// The bits that every CPU must give; `scripts/other-cpus.sh` compares whole searches on emulated ones.
#[test]
fn the_bits_are_those_of_every_cpu() {
    let n = 70;
    let a = symmetric(n, 3);
    let (values, vectors) = symmetric_eigen(&a, n).unwrap();
    let mut c = vec![0.0; n * n];
    rank_update(&mut c, n, &random(n * n, 4));
    (0..n).for_each(|i| c[i * n + i] += 1.0);
    assert!(cholesky(&mut c, n));
    let mut out = vec![0.0; n * 6];
    multiply(&vectors, n, &random(n * 6, 5), &mut out);
    // FNV-1a.
    let bits = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
    let all = [values, vectors, c, out].concat();
    assert_eq!(all.iter().fold(0xcbf2_9ce4_8422_2325, bits), 6_353_582_034_089_160_554);
}
