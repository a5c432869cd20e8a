//! Policies: sizes, bits, accuracy, bounds.

use autoqd::kernels::{self, Instructions};
use autoqd::policy::{
    Activation, Biases, FilterSpec, LayerSpec, Policy, PolicySpec, Squash, Weights, reference,
};
use proptest::prelude::*;

fn spec(kind: Weights, hidden: &[usize], observation: usize, action: usize) -> PolicySpec {
    PolicySpec::new(kind, hidden.to_vec(), observation, vec![-1.0; action], vec![1.0; action]).unwrap()
}

/// Numbers that look random and are the same everywhere.
fn noise(n: usize, seed: u64, amplitude: f64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        amplitude * ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..n).map(|_| next()).collect()
}

fn act(policy: &mut Policy, observation: &[f64], action_size: usize) -> Vec<f32> {
    let mut action = vec![0.0; action_size];
    policy.act(observation, &mut action);
    action
}

#[test]
fn toeplitz_policies_of_the_six_tasks_have_the_known_sizes() {
    let counts = [(8, 2, 777), (11, 3, 782), (17, 6, 794), (24, 4, 797), (105, 8, 886)];
    for (observation, action, all) in counts {
        let spec = spec(Weights::Toeplitz, &[128, 128], observation, action);
        assert_eq!(spec.parameter_count(), all - action);
        let with = |biases| spec.clone().with_biases(biases).parameter_count();
        assert_eq!([with(Biases::All), with(Biases::None)], [all, all - action - 256]);
    }
}

#[test]
fn a_dense_policy_has_one_parameter_per_weight_and_bias() {
    let spec = spec(Weights::Dense, &[32, 16], 5, 2);
    assert_eq!(spec.parameter_count(), 5 * 32 + 32 + 32 * 16 + 16 + 16 * 2);
}

#[test]
fn zero_parameters_give_the_centre_of_the_action_bounds() {
    let spec = PolicySpec::new(Weights::Toeplitz, vec![8], 3, vec![-1.0, 0.0], vec![1.0, 4.0]).unwrap();
    let mut policy = Policy::new(&spec, &vec![0.0; spec.parameter_count()]).unwrap();
    assert_eq!(act(&mut policy, &[1.0, -2.0, 3.0], 2), [0.0, 2.0]);
}

#[test]
fn a_layer_without_biases_acts_as_one_whose_biases_are_zero() {
    for kind in [Weights::Toeplitz, Weights::Dense] {
        let hidden = spec(kind, &[20], 3, 2);
        let all = hidden.clone().with_biases(Biases::All);
        let parameters = noise(hidden.parameter_count(), 5, 0.7);
        let padded = [&parameters[..], &[0.0; 2]].concat();
        let observation = [0.3, -1.0, 2.0];
        let mut policies = [Policy::new(&hidden, &parameters).unwrap(), Policy::new(&all, &padded).unwrap()];
        let [a, b] = policies.each_mut().map(|policy| act(policy, &observation, 2));
        assert_eq!(a, b);
        assert_eq!(reference::act(&hidden, &parameters, &observation).unwrap(), a);
    }
}

#[test]
fn a_toeplitz_policy_equals_the_dense_one_with_its_matrices() {
    let toeplitz = spec(Weights::Toeplitz, &[40, 20], 7, 3);
    let dense = spec(Weights::Dense, &[40, 20], 7, 3);
    let parameters = noise(toeplitz.parameter_count(), 3, 0.5);
    let mut expanded = Vec::new();
    for layer in toeplitz.split(&parameters).unwrap().layers {
        expanded.extend(layer.matrix());
        expanded.extend_from_slice(layer.biases);
    }
    let mut a = Policy::new(&toeplitz, &parameters).unwrap();
    let mut b = Policy::new(&dense, &expanded).unwrap();
    for seed in 0..20 {
        let observation = noise(7, seed, 3.0);
        assert_eq!(act(&mut a, &observation, 3), act(&mut b, &observation, 3));
    }
}

#[test]
fn the_first_diagonal_is_the_top_right_corner() {
    // Two inputs, two outputs: d0 sits at row 0, column 1; d2 at row 1, column 0.
    let spec = spec(Weights::Toeplitz, &[], 2, 2).with_biases(Biases::All);
    let mut policy = Policy::new(&spec, &[0.5, 0.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(act(&mut policy, &[0.0, 1.0], 2), [kernels::tanh(0.5), 0.0]);
    policy.load(&[0.0, 0.0, 0.25, 0.0, 0.0]).unwrap();
    assert_eq!(act(&mut policy, &[1.0, 0.0], 2), [0.0, kernels::tanh(0.25)]);
}

#[test]
fn load_replaces_every_parameter() {
    for kind in [Weights::Toeplitz, Weights::Dense] {
        let spec = spec(kind, &[30, 12], 9, 4);
        let [first, second] = [1, 2].map(|seed| noise(spec.parameter_count(), seed, 0.5));
        let mut reused = Policy::new(&spec, &first).unwrap();
        reused.load(&second).unwrap();
        let observation = noise(9, 5, 2.0);
        let mut fresh = Policy::new(&spec, &second).unwrap();
        assert_eq!(act(&mut reused, &observation, 4), act(&mut fresh, &observation, 4));
    }
}

#[test]
fn wrong_sizes_are_reported() {
    let spec = spec(Weights::Toeplitz, &[4], 3, 2);
    let error = Policy::new(&spec, &[0.0; 5]).unwrap_err().to_string();
    assert!(error.contains(&spec.parameter_count().to_string()) && error.contains('5'), "{error}");
    assert!(PolicySpec::new(Weights::Dense, vec![0], 3, vec![-1.0], vec![1.0]).is_err());
    assert!(PolicySpec::new(Weights::Dense, vec![4], 3, vec![1.0], vec![-1.0]).is_err());
    assert!(PolicySpec::new(Weights::Dense, vec![4], 3, vec![f64::NEG_INFINITY], vec![1.0]).is_err());
    assert!(PolicySpec::new(Weights::Dense, vec![4], 3, vec![-1.0, -1.0], vec![1.0]).is_err());
}

#[test]
fn an_observation_that_is_not_finite_does_not_look_like_an_action() {
    let spec = spec(Weights::Toeplitz, &[20], 3, 2);
    let parameters = noise(spec.parameter_count(), 1, 0.5);
    for instructions in Instructions::available() {
        let mut policy = Policy::new(&spec, &parameters).unwrap().with_instructions(instructions);
        assert!(act(&mut policy, &[0.0, f64::NAN, 0.0], 2).iter().all(|a| a.is_nan()), "{instructions}");
    }
}

#[test]
fn tanh_is_close_to_the_true_one() {
    let mut worst = 0.0_f64;
    for bits in (0..0x4140_0000_u32).step_by(997) {
        let x = f32::from_bits(bits);
        let exact = libm::tanh(f64::from(x));
        for (x, exact) in [(x, exact), (-x, -exact)] {
            let error = (f64::from(kernels::tanh(x)) - exact).abs();
            worst = worst.max(error / exact.abs().max(f64::from(f32::MIN_POSITIVE)));
            assert!(kernels::tanh(x).abs() < 1.0);
        }
    }
    assert!(worst < 3.3e-7, "{worst}");
}

#[test]
fn single_precision_costs_little() {
    let spec = spec(Weights::Toeplitz, &[128, 128], 17, 6);
    let parameters = noise(spec.parameter_count(), 1, 0.2);
    let mut policy = Policy::new(&spec, &parameters).unwrap();
    for seed in 0..100 {
        let observation = noise(17, seed, 3.0);
        let exact = reference::act_f64(&spec, &parameters, &observation).unwrap();
        for (a, exact) in act(&mut policy, &observation, 6).iter().zip(exact) {
            assert!((f64::from(*a) - exact).abs() < 1e-4, "{a} {exact}");
        }
    }
}

#[test]
fn outputs_are_limited_to_the_bounds_where_they_are_not_squashed() {
    let spec =
        PolicySpec::new(Weights::Dense, vec![], 1, vec![-1.0, -1.0, 2.0], vec![1.0, 1.0, 3.0]).unwrap();
    let mut policy = Policy::new(&spec.with_squash(Squash::Clip), &[0.5, -4.0, 0.5]).unwrap();
    assert_eq!(act(&mut policy, &[1.0], 3), [0.5, -1.0, 2.0]);
}

#[test]
fn relu_keeps_what_is_positive() {
    let spec = spec(Weights::Dense, &[2], 1, 2).with_activation(Activation::Relu).with_squash(Squash::Clip);
    // Hidden sums 0.5 and -0.5, each passed on by an output of its own.
    let mut policy = Policy::new(&spec, &[0.5, -0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!(act(&mut policy, &[1.0], 2), [0.5, 0.0]);
    assert_eq!(act(&mut policy, &[-1.0], 2), [0.0, 0.5]);
}

#[test]
fn a_filter_centres_scales_and_limits_observations() {
    let plain = spec(Weights::Dense, &[], 3, 3).with_squash(Squash::Clip);
    let filtered = plain.clone().with_filter(FilterSpec { clip: Some(0.75) });
    assert_eq!(filtered.parameter_count(), plain.parameter_count() + 6);
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    // The standard deviations are 2, 0.5 and none.
    let parameters = [&[10.0, 0.0, 7.0, 0.5, 2.0, 0.0][..], &identity].concat();
    let mut policy = Policy::new(&filtered, &parameters).unwrap();
    assert_eq!(act(&mut policy, &[11.0, -5.0, 1e9], 3), [0.5, -0.75, 0.0]);
}

#[test]
fn a_shape_that_cannot_act_is_reported() {
    let fine = spec(Weights::Toeplitz, &[4], 3, 2);
    let mut twice = fine.clone();
    twice.layers[1].activation = Activation::Tanh;
    assert!(twice.validate().unwrap_err().to_string().contains("last layer"));
    assert!(twice.with_squash(Squash::Clip).validate().is_ok());
    let mut none = fine.clone();
    none.layers.clear();
    assert!(none.validate().is_err());
    for clip in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let filtered = fine.clone().with_filter(FilterSpec { clip: Some(clip) });
        assert!(filtered.validate().unwrap_err().to_string().contains("clip"));
    }
}

fn any_layer() -> impl Strategy<Value = LayerSpec> {
    let weights = prop::sample::select(vec![Weights::Toeplitz, Weights::Dense]);
    let activation = prop::sample::select(vec![Activation::Tanh, Activation::Relu, Activation::None]);
    (1_usize..150, weights, activation, any::<bool>())
        .prop_map(|(outputs, weights, activation, bias)| LayerSpec { outputs, weights, activation, bias })
}

/// Any policy of up to three layers, with action bounds that do not depend on it.
fn any_spec() -> impl Strategy<Value = PolicySpec> {
    let filter = prop::option::of(prop::option::of(prop::sample::select(vec![0.5, 5.0])));
    let layers = prop::collection::vec(any_layer(), 1..4);
    (1_usize..120, filter, layers, 1_usize..20, any::<bool>(), any::<u64>()).prop_map(
        |(observation_size, clip, mut layers, actions, tanh, seed)| {
            let squash = if tanh { Squash::Tanh } else { Squash::Clip };
            let last = layers.last_mut().unwrap();
            last.outputs = actions;
            last.activation = if tanh { Activation::None } else { last.activation };
            let action_low = noise(actions, seed, 1.0);
            let widths = noise(actions, seed ^ 2, 1.0);
            let action_high = action_low.iter().zip(widths).map(|(l, w)| l + w.abs() + 0.1).collect();
            let filter = clip.map(|clip| FilterSpec { clip });
            PolicySpec { observation_size, filter, layers, squash, action_low, action_high }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every instruction set, and plain loops, give the same bits for any shape and any parameters.
    #[test]
    fn all_instruction_sets_give_the_same_bits(
        spec in any_spec(),
        seed: u64,
        amplitude in prop::sample::select(vec![1e-3, 0.1, 1.0, 30.0]),
    ) {
        let parameters = noise(spec.parameter_count(), seed, amplitude);
        let observation = noise(spec.observation_size, seed ^ 3, 5.0);
        let expected = reference::act(&spec, &parameters, &observation).unwrap();
        for instructions in Instructions::available() {
            let mut policy = Policy::new(&spec, &parameters).unwrap().with_instructions(instructions);
            let got = act(&mut policy, &observation, spec.action_size());
            let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&got), bits(&expected), "{}", instructions);
        }
        for ((a, low), high) in expected.iter().zip(&spec.action_low).zip(&spec.action_high) {
            prop_assert!(*a >= *low as f32 && *a <= *high as f32);
        }
    }

    /// What is stored is read back as it was.
    #[test]
    fn a_stored_shape_is_read_back(spec in any_spec()) {
        prop_assert_eq!(PolicySpec::from_json(&spec.to_json().to_string()).unwrap(), spec);
    }
}
