//! Nanoseconds per policy forward pass and per embedded step, for the sizes of the six tasks and every
//! instruction set of this CPU: `cargo bench -p autoqd --bench kernels`.
//!
//! Timings of one row are short slices taken in turns, and the fastest is printed: what the code costs when
//! nothing else has the core. The median in brackets tells how busy the machine was.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use autoqd::embedding::{Embedding, FeatureMap, FeatureOptions, Normalizer, PsiAccumulator, PsiOptions};
use autoqd::kernels::Instructions;
use autoqd::policy::{Policy, PolicySpec, Weights};

const TASKS: [(&str, usize, usize); 6] = [
    ("Swimmer", 8, 2),
    ("Hopper", 11, 3),
    ("HalfCheetah", 17, 6),
    ("Walker2d", 17, 6),
    ("BipedalWalker", 24, 4),
    ("Ant", 105, 8),
];
const ROUNDS: usize = 501;
const CALLS: usize = 64;

fn main() {
    let sets = Instructions::available();
    let heading: String = sets.iter().map(|set| format!("{:>16}", set.to_string())).collect();
    for (title, row) in [
        ("policy, Toeplitz 128-128", toeplitz as fn(usize, usize, Instructions) -> Box<dyn FnMut()>),
        ("policy, dense 128-128", dense),
        ("100 features and psi", features),
    ] {
        println!("{title} (ns)\n{:<16}{heading}", "");
        for (task, observation, action) in TASKS {
            let mut work: Vec<_> = sets.iter().map(|set| row(observation, action, *set)).collect();
            let times: String =
                measure(&mut work).iter().map(|(a, b)| format!("{a:>8.0} ({b:>5.0})")).collect();
            println!("{task:<16}{times}");
        }
    }
}

/// Fastest and median time per call of each piece of work.
fn measure(work: &mut [Box<dyn FnMut()>]) -> Vec<(f64, f64)> {
    let mut times = vec![Vec::new(); work.len()];
    for _ in 0..ROUNDS {
        for (work, times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (0..CALLS).for_each(|_| work());
            times.push(start.elapsed().as_nanos() as f64 / CALLS as f64);
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times.iter().map(|times| (times[0], times[ROUNDS / 2])).collect()
}

fn wave(n: usize, amplitude: f64) -> Vec<f64> {
    (0..n).map(|i| amplitude * (i as f64 * 0.7).sin()).collect()
}

fn policy(kind: Weights, observation: usize, action: usize, set: Instructions) -> Box<dyn FnMut()> {
    let spec = PolicySpec::new(kind, vec![128, 128], observation, vec![-1.0; action], vec![1.0; action])
        .expect("a valid policy");
    let parameters = wave(spec.parameter_count(), 0.1);
    let mut policy = Policy::new(&spec, &parameters).expect("matching parameters").with_instructions(set);
    let (input, mut output) = (wave(observation, 1.0), vec![0.0; action]);
    Box::new(move || {
        policy.act(black_box(&input), &mut output);
        black_box(&output);
    })
}

fn toeplitz(observation: usize, action: usize, set: Instructions) -> Box<dyn FnMut()> {
    policy(Weights::Toeplitz, observation, action, set)
}

fn dense(observation: usize, action: usize, set: Instructions) -> Box<dyn FnMut()> {
    policy(Weights::Dense, observation, action, set)
}

fn features(observation: usize, action: usize, set: Instructions) -> Box<dyn FnMut()> {
    let map = FeatureMap::sample(&FeatureOptions::default(), observation + action, 1).expect("valid options");
    let normalizer = Normalizer::new(wave(observation, 0.1), vec![2.0; observation]);
    let embedding = Embedding::new(Arc::new(map), normalizer, PsiOptions::default()).expect("matching sizes");
    let mut psi = PsiAccumulator::new(Arc::new(embedding)).with_instructions(set);
    let states = wave(observation, 1.0);
    let actions: Vec<f32> = wave(action, 1.0).iter().map(|a| *a as f32).collect();
    Box::new(move || psi.push(black_box(&states), black_box(&actions)))
}
