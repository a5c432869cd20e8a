//! What the numbers of a flat parameter vector are, and how gradients get into it.

use autoqd::policy::{
    Activation, Biases, FilterParameters, FilterSpec, LayerGradient, Place, PolicySpec, Squash, Weights,
    reference, uniform,
};

/// A Toeplitz and a dense layer, the second without biases, behind a filter.
fn mixed() -> PolicySpec {
    let spec = PolicySpec::new(Weights::Toeplitz, vec![4], 3, vec![-1.0; 2], vec![1.0, 3.0]).unwrap();
    let mut spec = spec.with_filter(FilterSpec { clip: Some(5.0) });
    spec.layers[1].weights = Weights::Dense;
    spec
}

#[test]
fn every_parameter_has_a_place() {
    let spec = mixed();
    let places: Vec<Place> = (0..spec.parameter_count()).map(|i| spec.place(i).unwrap()).collect();
    assert_eq!(places[2..4], [Place::Mean(2), Place::Scale(0)]);
    // Six diagonals from the top right corner (row 0, column 2) to the bottom left (row 3, column 0).
    assert_eq!(places[6], Place::Diagonal { layer: 0, offset: -2 });
    assert_eq!(places[11], Place::Diagonal { layer: 0, offset: 3 });
    assert_eq!(places[12], Place::Bias { layer: 0, output: 0 });
    assert_eq!(places[16 + 5], Place::Weight { layer: 1, row: 1, column: 1 });
    assert_eq!((places.len(), spec.place(places.len())), (24, None));
    assert_eq!(spec.clone().with_biases(Biases::All).place(25), Some(Place::Bias { layer: 1, output: 1 }));
}

#[test]
fn parts_are_joined_to_the_vector_they_were_split_from() {
    let spec = mixed();
    let parameters: Vec<f64> = (0..spec.parameter_count()).map(|i| i as f64).collect();
    let mut parts = spec.split(&parameters).unwrap();
    assert_eq!(parts.filter, Some(FilterParameters { mean: &[0.0, 1.0, 2.0], scale: &[3.0, 4.0, 5.0] }));
    assert_eq!(spec.join(&parts).unwrap(), parameters);
    parts.layers.pop();
    assert!(spec.join(&parts).is_err());
}

#[test]
fn a_skill_is_folded_into_the_biases_of_the_first_layer() {
    let sizes = |inputs| {
        let spec = PolicySpec::new(Weights::Dense, vec![6], inputs, vec![-1.0], vec![1.0]).unwrap();
        spec.with_activation(Activation::Relu).with_biases(Biases::All)
    };
    let (with_skill, plain) = (sizes(3 + 2), sizes(3));
    let parameters = uniform(&with_skill, 4);
    let mut parts = with_skill.split(&parameters).unwrap();
    let first = parts.layers[0];
    let weights: Vec<f64> = first.weights.chunks(5).flat_map(|row| &row[..3]).copied().collect();
    let biases: Vec<f64> = (0..6).map(|i| first.bias(i) + first.weight(i, 3 + 1)).collect();
    parts.layers[0].weights = &weights;
    parts.layers[0].biases = &biases;
    let folded = plain.join(&parts).unwrap();
    let act = |spec, parameters: &[f64], x: &[f64]| reference::act_f64(spec, parameters, x).unwrap()[0];
    let difference =
        act(&with_skill, &parameters, &[0.3, -0.2, 0.9, 0.0, 1.0]) - act(&plain, &folded, &[0.3, -0.2, 0.9]);
    assert!(difference.abs() < 1e-15);
}

/// The action components, each weighted by its number.
fn loss(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> f64 {
    let action = reference::act_f64(spec, parameters, observation).unwrap();
    action.iter().enumerate().map(|(k, a)| (k + 1) as f64 * a).sum()
}

/// The gradient of [`loss`] by plain backpropagation through full matrices.
fn backpropagated(spec: &PolicySpec, parameters: &[f64], observation: &[f64]) -> Vec<f64> {
    let parts = spec.split(parameters).unwrap();
    let mut inputs: Vec<Vec<f64>> = vec![match parts.filter {
        Some(filter) => {
            (0..observation.len()).map(|i| (observation[i] - filter.mean[i]) * filter.scale[i]).collect()
        }
        None => observation.to_vec(),
    }];
    for layer in &parts.layers {
        let x = &inputs[inputs.len() - 1];
        let sum = |i: usize| (0..x.len()).map(|j| layer.weight(i, j) * x[j]).sum::<f64>() + layer.bias(i);
        let output = |i: usize| match layer.shape.layer.activation {
            Activation::Tanh => sum(i).tanh(),
            Activation::Relu => sum(i).max(0.0),
            Activation::None => sum(i),
        };
        inputs.push((0..layer.shape.outputs()).map(output).collect());
    }
    let half = |k: usize| match spec.squash {
        Squash::Tanh => (spec.action_high[k] - spec.action_low[k]) / 2.0,
        Squash::Clip => 1.0,
    };
    let mut upstream: Vec<f64> = (0..spec.action_size()).map(|k| (k + 1) as f64 * half(k)).collect();
    let mut full: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for (l, layer) in parts.layers.iter().enumerate().rev() {
        let slope = |y: f64| match layer.shape.layer.activation {
            Activation::Tanh => 1.0 - y * y,
            Activation::Relu => f64::from(u8::from(y > 0.0)),
            Activation::None => 1.0,
        };
        let (x, y) = (&inputs[l], &inputs[l + 1]);
        let sums: Vec<f64> = upstream.iter().zip(y).map(|(u, y)| u * slope(*y)).collect();
        let weights = sums.iter().flat_map(|s| x.iter().map(move |x| s * x)).collect();
        upstream =
            (0..x.len()).map(|j| (0..sums.len()).map(|i| sums[i] * layer.weight(i, j)).sum()).collect();
        full.insert(0, (weights, sums));
    }
    let layers: Vec<LayerGradient<'_>> =
        full.iter().map(|(weights, biases)| LayerGradient { weights, biases }).collect();
    let mut gradient = vec![0.0; parameters.len()];
    spec.accumulate_gradient(&layers, &mut gradient).unwrap();
    gradient
}

#[test]
fn gradients_of_layers_become_gradients_of_parameters() {
    for weights in [Weights::Toeplitz, Weights::Dense] {
        for (activation, squash) in [
            (Activation::Tanh, Squash::Tanh),
            (Activation::Relu, Squash::Tanh),
            (Activation::None, Squash::Clip),
        ] {
            for biases in [Biases::Hidden, Biases::All, Biases::None] {
                let spec =
                    PolicySpec::new(weights, vec![7, 5], 4, vec![-9.0; 3], vec![9.0, 8.0, 7.0]).unwrap();
                let spec = spec.with_activation(activation).with_biases(biases).with_squash(squash);
                let spec = spec.with_filter(FilterSpec::default());
                let (parameters, observation) = (uniform(&spec, 11), [0.3, -0.8, 1.1, 0.4]);
                let gradient = backpropagated(&spec, &parameters, &observation);
                for i in 2 * spec.observation_size..spec.parameter_count() {
                    let shifted = |h: f64| {
                        let mut parameters = parameters.clone();
                        parameters[i] += h;
                        loss(&spec, &parameters, &observation)
                    };
                    let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                    let error = (gradient[i] - difference).abs();
                    assert!(
                        error < 1e-7,
                        "{weights:?} {activation:?} {biases:?} {:?}: {error}",
                        spec.place(i)
                    );
                }
                assert!(gradient[..8].iter().all(|g| *g == 0.0), "the filter is not trained");
            }
        }
    }
}

#[test]
fn a_gradient_of_another_shape_is_reported() {
    let spec = mixed();
    let layers = [LayerGradient { weights: &[0.0_f32; 12], biases: &[0.0; 4] }];
    let mut gradient = vec![0.0; spec.parameter_count()];
    assert!(
        spec.accumulate_gradient(&layers, &mut gradient).unwrap_err().to_string().contains("every layer")
    );
}

#[test]
fn a_shape_of_a_later_version_is_reported() {
    let later = mixed().to_json().to_string().replace("\"version\":1", "\"version\":2");
    let error = PolicySpec::from_json(&later).unwrap_err().to_string();
    assert!(error.contains("version") && error.contains('2') && error.contains("newer"), "{error}");
    assert!(PolicySpec::from_json("{}").unwrap_err().to_string().contains("version"));
}
