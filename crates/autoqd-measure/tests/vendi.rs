//! The Vendi score: closed forms, an independent package, and the truncated method against the dense one.

use std::io::Write;
use std::process::{Command, Stdio};

use autoqd::seeds::{Purpose, derive};
use autoqd_measure::{
    Points, bandwidth, vendi_cosine, vendi_dense, vendi_of_kernel, vendi_score, vendi_truncated,
};

/// Repeatable numbers with roughly a normal distribution.
fn noise(stream: u64, count: usize) -> Vec<f64> {
    let uniform =
        |i: u64, part: u64| derive(stream, Purpose::Training, [i, part, 0]) as f64 / u64::MAX as f64;
    (0..count as u64).map(|i| (0..12).map(|part| uniform(i, part)).sum::<f64>() - 6.0).collect()
}

fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "{got} is not {expected}");
}

fn constant_similarity(n: usize, similarity: f64) -> Vec<f64> {
    (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 } else { similarity }).collect()
}

/// Eigenvalues of a matrix with equal off-diagonal entries s: (1 - s)/n, n - 1 times, and (1 + (n - 1) s)/n.
fn constant_similarity_score(n: f64, s: f64) -> f64 {
    let (low, high) = ((1.0 - s) / n, (1.0 + (n - 1.0) * s) / n);
    (-(n - 1.0) * low * low.ln() - high * high.ln()).exp()
}

#[test]
fn no_policy_one_policy_and_one_policy_many_times() {
    assert_eq!(vendi_score(Points::new(&[], 3), 1.0).value, 0.0);
    assert_eq!(vendi_truncated(Points::new(&[], 3), 1.0, 1e-3).value, 0.0);
    assert_close(vendi_score(Points::new(&[1.0, 2.0, 3.0], 3), 1.0).value, 1.0, 1e-12);
    let repeated = [0.3, -1.0].repeat(500);
    assert_close(vendi_score(Points::new(&repeated, 2), 7.0).value, 1.0, 1e-9);
    let truncated = vendi_truncated(Points::new(&repeated, 2), 7.0, 1e-3);
    assert_close(truncated.value, 1.0, 1e-9);
    assert_eq!(truncated.rank, 1);
}

#[test]
fn two_policies_have_the_score_of_their_similarity() {
    for distance in [0.0_f64, 0.1, 1.0, 30.0] {
        let s = (-distance * distance).exp();
        let expected = if s == 1.0 { 1.0 } else { constant_similarity_score(2.0, s) };
        assert_close(vendi_score(Points::new(&[0.0, distance], 1), 1.0).value, expected, 1e-12);
    }
}

#[test]
fn far_clusters_count_as_the_entropy_of_their_sizes() {
    let equal: Vec<f64> = (0..60).map(|i| f64::from(i % 6) * 100.0).collect();
    assert_close(vendi_score(Points::new(&equal, 1), 1.0).value, 6.0, 1e-9);
    let sizes = [1, 2, 3, 10];
    let data: Vec<f64> = sizes.iter().enumerate().flat_map(|(c, &n)| vec![100.0 * c as f64; n]).collect();
    let entropy: f64 = sizes.iter().map(|&n| f64::from(n as u32) / 16.0).map(|p| -p * p.ln()).sum();
    assert_close(vendi_score(Points::new(&data, 1), 1.0).value, entropy.exp(), 1e-9);
    assert_close(vendi_truncated(Points::new(&data, 1), 1.0, 1e-9).value, entropy.exp(), 1e-9);
}

#[test]
fn constant_similarity_has_its_closed_form() {
    for (similarity, printed) in [(0.5, 5.349), (0.9, 1.649), (0.99, 1.074)] {
        let score = vendi_of_kernel(&constant_similarity(10, similarity), 10);
        assert_close(score, constant_similarity_score(10.0, similarity), 1e-9);
        assert!((score - printed).abs() < 5e-4, "{score} rounds to {printed}");
    }
}

#[test]
fn a_linear_kernel_has_the_same_score_by_rows_and_by_columns() {
    let x = noise(1, 40 * 6);
    let unit: Vec<Vec<f64>> = x
        .chunks(6)
        .map(|row| row.iter().map(|v| v / row.iter().map(|v| v * v).sum::<f64>().sqrt()).collect())
        .collect();
    let kernel: Vec<f64> = unit
        .iter()
        .flat_map(|a| unit.iter().map(move |b| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>()))
        .collect();
    assert_close(vendi_cosine(Points::new(&x, 6)), vendi_of_kernel(&kernel, 40), 1e-9);
    let wide = noise(2, 5 * 30);
    assert!(vendi_cosine(Points::new(&wide, 30)) <= 5.0 + 1e-12);
}

#[test]
fn order_and_copies_change_nothing() {
    let x = noise(3, 50 * 4);
    let points = Points::new(&x, 4);
    let gamma = bandwidth(points).unwrap();
    let score = vendi_score(points, gamma).value;
    let reversed = points.pick(&(0..50).rev().collect::<Vec<_>>());
    assert_close(vendi_score(Points::new(&reversed, 4), gamma).value, score, 1e-9);
    assert_close(vendi_score(Points::new(&[x.clone(), x].concat(), 4), gamma).value, score, 1e-9);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let x = noise(4, 300 * 8);
    let points = Points::new(&x, 8);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (bandwidth(points), vendi_dense(points, 0.1), vendi_truncated(points, 0.1, 2e-3)))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn the_bracket_of_the_truncated_method_holds_the_dense_score() {
    // Smooth: points of a curve. Noisy: every policy has a remainder of its own. Clustered: few directions.
    let smooth: Vec<f64> =
        (0..700).flat_map(|i| [0.01 * f64::from(i), (0.03 * f64::from(i)).sin()]).collect();
    let noisy: Vec<f64> = smooth
        .chunks(2)
        .zip(noise(5, 700 * 40).chunks(40))
        .flat_map(|(curve, noise)| {
            curve.iter().copied().chain(noise.iter().map(|x| 0.02 * x)).collect::<Vec<_>>()
        })
        .collect();
    let clustered: Vec<f64> = noise(6, 700 * 3).iter().map(|x| x.round() + 1e-5 * x).collect();
    for (data, dim) in [(&smooth, 2), (&noisy, 42), (&clustered, 3)] {
        let points = Points::new(data, dim);
        let gamma = bandwidth(points).unwrap();
        let dense = vendi_dense(points, gamma).value;
        for tolerance in [0.3, 0.03, 2e-3, 1e-5] {
            let truncated = vendi_truncated(points, gamma, tolerance);
            let slack = 1e-9 * dense;
            assert!(
                truncated.lower <= dense + slack && dense <= truncated.upper + slack,
                "{truncated:?} {dense}"
            );
            assert!(
                truncated.lower <= truncated.value && truncated.value <= truncated.upper,
                "{truncated:?}"
            );
            assert!(truncated.upper / truncated.lower - 1.0 <= tolerance, "{truncated:?}");
            assert_close(truncated.value, dense, tolerance);
        }
    }
}

#[test]
#[ignore = "ten seconds of one core; run it on a quiet machine: cargo test --release -p autoqd-measure --test vendi -- --ignored"]
fn ten_thousand_noisy_policies_take_seconds_and_little_memory() {
    // Embeddings of 1,000 features over four latent directions, with noise of its own for every policy.
    let (n, features) = (10_000, 1000);
    let (latent, directions, own) = (noise(20, n * 4), noise(21, features * 4), noise(22, n * features));
    let value = |i: usize, j: usize| {
        let phase: f64 = (0..4).map(|k| 0.3 * directions[4 * j + k] * latent[4 * i + k]).sum();
        ((phase + j as f64).cos() * 2.0_f64.sqrt() + 0.02 * own[i * features + j]) / (features as f64).sqrt()
    };
    let data: Vec<f64> = (0..n * features).map(|at| value(at / features, at % features)).collect();
    let points = Points::new(&data, features);
    let gamma = bandwidth(Points::new(&data[..1000 * features], features)).unwrap();
    let before = resident_bytes();
    let start = std::time::Instant::now();
    let score = vendi_score(points, gamma);
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 25.0, "{seconds} s");
    assert!(resident_bytes() - before < 1.5e9);
    assert!(score.lower <= score.value && score.value <= score.upper, "{score:?}");
    assert!(score.upper / score.lower < 1.05, "{score:?}");
    eprintln!("{score:?} in {seconds:.1} s, {:.0} MB", (resident_bytes() - before) / 1e6);
}

/// The most memory that this process has had.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

#[test]
fn nearly_equal_policies_keep_their_digits_far_from_the_origin() {
    // Ten policies within 1e-4 of each other, around a point of norm 100: similarities 1 - 1e-8 and closer.
    let data: Vec<f64> = noise(9, 10 * 5).iter().map(|x| 40.0 + 1e-4 * x).collect();
    let points = Points::new(&data, 5);
    let dense = vendi_dense(points, 1.0).value;
    assert!(dense > 1.0 + 1e-8, "{dense}");
    assert!(((vendi_truncated(points, 1.0, 1e-12).value - 1.0) / (dense - 1.0) - 1.0).abs() < 1e-4);
}

fn golden() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/metrics.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn random_kernels_score_as_in_the_python_package() {
    let golden = golden();
    let cases = golden["kernels"].as_array().unwrap();
    assert_eq!(cases.len(), 10);
    for case in cases {
        let kernel: Vec<Vec<f64>> = serde_json::from_value(case["kernel"].clone()).unwrap();
        assert_close(vendi_of_kernel(&kernel.concat(), kernel.len()), case["vendi"].as_f64().unwrap(), 1e-9);
    }
}

/// Runs the reference script, or explains why it cannot.
fn python_scores(kernels: &[Vec<Vec<f64>>]) -> Result<Vec<f64>, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/metrics_reference.py");
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(&python)
        .args([script, "score"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{python}: {e}"))?;
    // A Python without the package may be gone before it has read anything; its own message follows below.
    let _ = child.stdin.take().unwrap().write_all(serde_json::to_string(kernels).unwrap().as_bytes());
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())
}

#[test]
fn random_kernels_score_as_the_python_package_says_now() {
    let kernel = |n: usize| -> Vec<Vec<f64>> {
        let x = noise(n as u64, n * 3);
        let similarity = |i: usize, j: usize| {
            (-0.2 * (0..3).map(|k| (x[3 * i + k] - x[3 * j + k]).powi(2)).sum::<f64>()).exp()
        };
        (0..n).map(|i| (0..n).map(|j| similarity(i, j)).collect()).collect()
    };
    let kernels: Vec<_> = [2, 3, 10, 40, 120].map(kernel).into();
    match python_scores(&kernels) {
        Ok(scores) => {
            for (kernel, score) in kernels.iter().zip(scores) {
                assert_close(vendi_of_kernel(&kernel.concat(), kernel.len()), score, 1e-9);
            }
        }
        Err(reason) if std::env::var("AUTOQD_REQUIRE_ALL").is_ok_and(|v| v == "1") => {
            panic!("vendi-score: {reason}")
        }
        Err(reason) => eprintln!("skipped, vendi-score does not run: {reason}"),
    }
}
