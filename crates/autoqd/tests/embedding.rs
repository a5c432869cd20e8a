//! Features, normaliser and psi: what holds for any input.

use std::sync::Arc;

use autoqd::embedding::{
    Embedding, FeatureMap, FeatureOptions, MULTI_SCALE, Normalizer, PsiAccumulator, PsiOptions,
    RunningStatistics, Sampling, reference,
};
use autoqd::kernels::{self, Instructions};
use proptest::prelude::*;

fn noise(n: usize, seed: u64, amplitude: f64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        amplitude * ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..n).map(|_| next()).collect()
}

fn embedding(states: usize, actions: usize, dimension: usize, options: PsiOptions) -> Arc<Embedding> {
    let features = FeatureOptions { dimension, ..Default::default() };
    let map = FeatureMap::sample(&features, states + actions, 5).unwrap();
    let std = noise(states, 8, 1.0).iter().map(|x| x.abs() + 0.1).collect();
    let normalizer = Normalizer::new(noise(states, 7, 1.0), std);
    Arc::new(Embedding::new(Arc::new(map), normalizer, options).unwrap())
}

fn psi(accumulator: &mut PsiAccumulator, observations: &[f64], actions: &[f32]) -> Vec<f64> {
    let states = accumulator.embedding().normalizer().size();
    let action_size = accumulator.embedding().features().inputs() - states;
    for (t, observation) in observations.chunks_exact(states).enumerate() {
        accumulator.push(observation, &actions[t * action_size..][..action_size]);
    }
    accumulator.finish()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn cosine_is_close_to_the_true_one() {
    let mut worst = 0.0_f64;
    for limit in [2.0, 10.0, 100.0, 1e3, 1e4] {
        for x in noise(200_000, 3, limit) {
            let x = x as f32;
            worst = worst.max((f64::from(kernels::cosine(x)) - libm::cos(f64::from(x))).abs());
        }
    }
    assert!(worst < 1.3e-7, "{worst}");
}

#[test]
fn cosine_stays_within_one_for_any_number() {
    for bits in (0..u32::MAX - 65_521).step_by(65_521) {
        let x = f32::from_bits(bits);
        let y = kernels::cosine(x);
        assert!(if x.is_finite() { y.abs() <= 1.0 } else { y.is_nan() || y.abs() <= 1.0 }, "cos {x} = {y}");
    }
}

#[test]
fn features_are_the_same_for_the_same_seed_alone() {
    let options = FeatureOptions::default();
    let map = FeatureMap::sample(&options, 10, 1).unwrap();
    assert_eq!(map, FeatureMap::sample(&options, 10, 1).unwrap());
    assert_ne!(map, FeatureMap::sample(&options, 10, 2).unwrap());
    // Stored runs are replayed from these numbers.
    assert_eq!(map.weights()[..2], [0.2828829539265002, -0.44691586856936183]);
    assert_eq!(map.phases()[..2], [1.481410906611512, 1.7960098743110118]);
}

#[test]
fn weights_have_the_spread_of_the_bandwidth() {
    for sampling in [Sampling::Independent, Sampling::Orthogonal] {
        for (bandwidth, expected) in [(None, 20.0_f64.sqrt()), (Some(0.5), 0.5)] {
            let options = FeatureOptions { dimension: 2000, bandwidth, sampling, ..Default::default() };
            let map = FeatureMap::sample(&options, 20, 1).unwrap();
            let variance = map.weights().iter().map(|w| w * w).sum::<f64>() / map.weights().len() as f64;
            assert!((variance * expected * expected - 1.0).abs() < 0.03, "{variance}");
        }
    }
}

#[test]
fn orthogonal_features_are_orthogonal_within_a_block() {
    let options = FeatureOptions { dimension: 25, sampling: Sampling::Orthogonal, ..Default::default() };
    let map = FeatureMap::sample(&options, 10, 1).unwrap();
    let rows: Vec<&[f64]> = map.weights().chunks_exact(10).collect();
    let cosine =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (norm(a) * norm(b));
    for block in rows.chunks(10) {
        for i in 0..block.len() {
            (0..i).for_each(|j| assert!(cosine(block[i], block[j]).abs() < 1e-14));
        }
    }
    assert!(cosine(rows[0], rows[10]).abs() > 1e-3, "blocks are independent");
}

/// Random phases add noise that directions cannot remove, so the kernel is estimated from the directions alone.
#[test]
fn orthogonal_directions_approximate_the_kernel_with_less_variance() {
    let x = noise(8, 1, 1.0);
    let exact = (-norm(&x).powi(2) / (2.0 * 8.0)).exp();
    let error = |sampling: Sampling| -> f64 {
        let options = FeatureOptions { dimension: 32, sampling, ..Default::default() };
        let square = |seed| {
            let map = FeatureMap::sample(&options, 8, seed).unwrap();
            let cosine = |w: &[f64]| w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>().cos();
            (map.weights().chunks_exact(8).map(cosine).sum::<f64>() / 32.0 - exact).powi(2)
        };
        (0..1000).map(square).sum::<f64>() / 1000.0
    };
    assert!(error(Sampling::Orthogonal) < 0.5 * error(Sampling::Independent));
}

#[test]
fn multi_scale_features_use_each_bandwidth_for_an_equal_share() {
    let options = FeatureOptions { dimension: 1000, scales: MULTI_SCALE.to_vec(), ..Default::default() };
    let map = FeatureMap::sample(&options, 16, 1).unwrap();
    for (share, scale) in map.weights().chunks_exact(200 * 16).zip(MULTI_SCALE) {
        let variance = share.iter().map(|w| w * w).sum::<f64>() / share.len() as f64;
        assert!((variance * 16.0 * scale * scale - 1.0).abs() < 0.1);
    }
}

#[test]
fn senseless_options_are_reported() {
    let sample = |options: FeatureOptions| FeatureMap::sample(&options, 4, 1);
    assert!(sample(FeatureOptions { dimension: 0, ..Default::default() }).is_err());
    assert!(sample(FeatureOptions { bandwidth: Some(0.0), ..Default::default() }).is_err());
    assert!(sample(FeatureOptions { scales: vec![], ..Default::default() }).is_err());
    assert!(sample(FeatureOptions { scales: vec![1.0, -1.0], ..Default::default() }).is_err());
    let map = Arc::new(FeatureMap::sample(&FeatureOptions::default(), 4, 1).unwrap());
    for gamma in [0.0, 1.0, -0.5, f64::NAN] {
        let options = PsiOptions { gamma, ..Default::default() };
        assert!(Embedding::new(map.clone(), Normalizer::identity(3), options).is_err());
    }
    assert!(Embedding::new(map, Normalizer::identity(5), PsiOptions::default()).is_err());
}

#[test]
fn state_survives_serialisation() {
    let map = FeatureMap::sample(&FeatureOptions::default(), 4, 1).unwrap();
    let stored = serde_json::to_string(&map).unwrap();
    assert_eq!(serde_json::from_str::<FeatureMap>(&stored).unwrap(), map);
    assert!(serde_json::from_str::<FeatureMap>(r#"{"inputs":2,"weights":[1.0],"phases":[1.0]}"#).is_err());
    let mut statistics = RunningStatistics::new(2);
    statistics.push(&[0.1, 0.7]);
    statistics.push(&[0.3, 0.7]);
    let stored = serde_json::to_string(&statistics).unwrap();
    assert_eq!(serde_json::from_str::<RunningStatistics>(&stored).unwrap(), statistics);
    let stored = serde_json::to_string(&statistics.normalizer()).unwrap();
    assert_eq!(serde_json::from_str::<Normalizer>(&stored).unwrap(), statistics.normalizer());
}

#[test]
fn a_constant_dimension_maps_to_zero_and_no_data_to_the_identity() {
    let mut statistics = RunningStatistics::new(2);
    assert_eq!(statistics.normalizer(), Normalizer::identity(2));
    (0..5).for_each(|i| statistics.push(&[f64::from(i), 0.3]));
    let normalized: Vec<f64> = statistics.normalizer().apply(&[4.0, 123.0]).collect();
    assert!((normalized[0] - 2.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(normalized[1], 0.0);
}

#[test]
fn an_empty_episode_has_no_embedding_and_a_used_accumulator_starts_afresh() {
    for length_normalized in [false, true] {
        let options = PsiOptions { length_normalized, ..Default::default() };
        let mut used = PsiAccumulator::new(embedding(3, 1, 10, options));
        assert_eq!(used.finish(), vec![0.0; 10]);
        let (observations, actions) = (noise(3 * 13, 1, 1.0), vec![0.5; 13]);
        let first = psi(&mut used, &observations, &actions);
        assert_eq!(psi(&mut used, &observations, &actions), first);
        used.push(&[1.0; 3], &[1.0]);
        used.begin();
        assert_eq!(psi(&mut used, &observations, &actions), first);
    }
}

#[test]
fn length_normalised_psi_of_a_constant_step_is_phi_whatever_the_length() {
    let options = PsiOptions { gamma: 0.99, length_normalized: true };
    let embedding = embedding(3, 1, 50, options);
    let observation = [0.3, -0.2, 0.9];
    let one = reference::psi_f64(&embedding, &observation, &[0.5]);
    for steps in [1, 7, 300] {
        let many =
            psi(&mut PsiAccumulator::new(embedding.clone()), &observation.repeat(steps), &vec![0.5; steps]);
        many.iter().zip(&one).for_each(|(a, b)| assert!((a - b).abs() < 1e-7));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any instruction set, and plain loops, give the same bits for any sizes and lengths.
    #[test]
    fn all_instruction_sets_give_the_same_bits(
        states in 1_usize..60,
        actions in 0_usize..9,
        dimension in 1_usize..130,
        steps in 0_usize..40,
        length_normalized: bool,
        seed: u64,
    ) {
        let embedding = embedding(states, actions, dimension, PsiOptions { gamma: 0.95, length_normalized });
        let observations = noise(states * steps, seed, 10.0);
        let actions: Vec<f32> = noise(actions * steps, seed ^ 9, 1.0).iter().map(|a| *a as f32).collect();
        let expected = reference::psi(&embedding, &observations, &actions);
        for instructions in Instructions::available() {
            let mut accumulator = PsiAccumulator::new(embedding.clone()).with_instructions(instructions);
            prop_assert_eq!(&psi(&mut accumulator, &observations, &actions), &expected, "{}", instructions);
        }
        let double = reference::psi_f64(&embedding, &observations, &actions);
        for (a, b) in expected.iter().zip(&double) {
            prop_assert!((a - b).abs() < 1e-5);
        }
        // Appendix B: every coordinate is within sqrt(2/D), so the norm is within sqrt(2).
        let bound = (2.0 / dimension as f64).sqrt();
        prop_assert!(expected.iter().all(|x| x.abs() <= bound * (1.0 + 1e-12)));
        prop_assert!(norm(&expected) <= 2.0_f64.sqrt() * (1.0 + 1e-12));
    }

    /// An observation's offset and unit do not matter once the normaliser has seen them.
    #[test]
    fn psi_does_not_depend_on_the_units_of_observations(
        seed: u64,
        scale in prop::collection::vec(0.01_f64..100.0, 4),
        shift in prop::collection::vec(-50.0_f64..50.0, 4),
    ) {
        let raw = noise(4 * 50, seed, 1.0);
        let moved: Vec<f64> = raw.iter().enumerate().map(|(i, x)| x * scale[i % 4] + shift[i % 4]).collect();
        let actions: Vec<f32> = noise(50, seed ^ 1, 1.0).iter().map(|a| *a as f32).collect();
        let map = Arc::new(FeatureMap::sample(&FeatureOptions::default(), 5, 1).unwrap());
        let [a, b] = [raw, moved].map(|observations| {
            let mut statistics = RunningStatistics::new(4);
            observations.chunks_exact(4).for_each(|row| statistics.push(row));
            let embedding = Embedding::new(map.clone(), statistics.normalizer(), PsiOptions::default()).unwrap();
            psi(&mut PsiAccumulator::new(Arc::new(embedding)), &observations, &actions)
        });
        for (a, b) in a.iter().zip(&b) {
            prop_assert!((a - b).abs() < 1e-8);
        }
    }

    /// Merging parts in order equals taking everything in at once.
    #[test]
    fn merged_statistics_equal_those_of_all_observations(
        parts in prop::collection::vec(0_usize..20, 1..6),
        offset in -1e4_f64..1e4,
        seed: u64,
    ) {
        let (mut merged, mut all) = (RunningStatistics::new(3), RunningStatistics::new(3));
        let mut rows = Vec::new();
        for (i, n) in parts.iter().enumerate() {
            let mut part = RunningStatistics::new(3);
            for row in noise(3 * n, seed ^ i as u64, 1.0).chunks_exact(3) {
                let row: Vec<f64> = row.iter().map(|x| x + offset).collect();
                part.push(&row);
                all.push(&row);
                rows.push(row);
            }
            merged.merge(&part);
        }
        prop_assert_eq!(merged.count(), rows.len() as u64);
        for d in 0..3 {
            let n = rows.len().max(1) as f64;
            let mean = rows.iter().map(|r| r[d]).sum::<f64>() / n;
            let variance = rows.iter().map(|r| (r[d] - mean).powi(2)).sum::<f64>() / n;
            prop_assert!((merged.mean()[d] - mean).abs() < 1e-9);
            prop_assert!((merged.variance()[d] - variance).abs() < 1e-9);
            prop_assert!((all.variance()[d] - variance).abs() < 1e-9);
        }
    }
}
