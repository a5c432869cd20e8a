//! Whole iterations against plain computations.

use std::sync::Arc;

use autoqd::config::Layers;
use autoqd::evaluator::Candidates;
use autoqd::parts::Parts;
use autoqd::policy::reference;
use autoqd::registry::{Registry, TrainerContext};
use autoqd::trainer::Trainer;
use autoqd_env::Task;

use super::diversity::determinant;
use super::update::{Outcomes, ascend, gradient, scale_to};
use super::{DvdEs, DvdSection, Variant};
use crate::adam::Adam;

#[derive(serde::Deserialize)]
struct Reference {
    start: Vec<f64>,
    iterations: Vec<Recorded>,
}

#[derive(serde::Deserialize)]
struct Recorded {
    lambda: f64,
    noise: Vec<Vec<f64>>,
    returns: Vec<Vec<f64>>,
    actions: Vec<Vec<Vec<f32>>>,
    determinants: Vec<f64>,
    fixed: Vec<f64>,
    released: Vec<f64>,
}

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-9, "{got} where {expected} was expected");
    }
}

#[test]
fn three_iterations_are_those_of_numpy() {
    // scripts/make_dvd_reference.py
    let reference: Reference = serde_json::from_str(include_str!("reference.json")).unwrap();
    let size = reference.start.len();
    let parameters = size / reference.iterations[0].noise.len();
    let mut weights = [reference.start.clone(), reference.start.clone()];
    let mut adams = [0; 2].map(|_| Adam::new(size, 0.05, None));
    for recorded in &reference.iterations {
        let embedding = |row: usize| {
            let agents: Vec<&[f32]> = recorded.actions.iter().map(|agent| &agent[row][..]).collect();
            determinant(&agents)
        };
        let determinants: Vec<f64> = (0..recorded.determinants.len()).map(embedding).collect();
        close(&determinants, &recorded.determinants);
        let outcomes = Outcomes {
            returns: &recorded.returns,
            determinants: Some(&determinants),
            lambda: recorded.lambda,
        };
        let agents = outcomes.differences().into_iter().zip(&recorded.noise);
        let mut joint: Vec<f64> = agents.flat_map(|(d, noise)| gradient(&d, noise, parameters)).collect();
        scale_to(&mut joint, parameters);
        for (weights, adam) in weights.iter_mut().zip(&mut adams) {
            let step = ascend(adam, &joint);
            weights.iter_mut().zip(step).for_each(|(w, step)| *w += step);
        }
        adams[1].forget();
        close(&weights[0], &recorded.fixed);
        close(&weights[1], &recorded.released);
    }
}

fn trainer(settings: &[&str]) -> DvdEs {
    let mut registry = Registry::default();
    crate::register(&mut registry);
    let task: Arc<dyn Task> = autoqd_env::load_task("point-maze", &Default::default()).unwrap();
    let mut layers = Layers::new(&registry).preset("quick").unwrap();
    for setting in ["task=point-maze", "method=dvd-es", "dvd.agents=3", "dvd.pairs=4", "iterations=8"] {
        layers = layers.set(setting).unwrap();
    }
    for setting in settings {
        layers = layers.set(setting).unwrap();
    }
    let config = layers.build().unwrap().resolve(&task.spec().into(), &registry).unwrap();
    DvdEs::new(TrainerContext { config, task, registry: &registry }).unwrap()
}

/// Mean and population standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
}

/// One agent's two policies of a pair, filter included, by the definition.
fn pair(dvd: &DvdEs, agent: usize, noise: &[f64]) -> [Vec<f64>; 2] {
    let seen = &dvd.agents[agent].seen;
    let n = seen.count() as f64;
    let std = |variance: f64| (variance * n / (n - 1.0)).sqrt();
    let scale = seen.variance().into_iter().map(std).map(|s| if s < 1e-7 { 0.0 } else { 1.0 / (s + 1e-8) });
    let filter: Vec<f64> = seen.mean().iter().copied().chain(scale).collect();
    [0.1, -0.1].map(|sigma| {
        let moved = dvd.agents[agent].weights.iter().zip(noise).map(|(w, eps)| w + sigma * eps);
        filter.iter().copied().chain(moved).collect()
    })
}

/// A step of the trainer, with real rollouts, is what the definition gives when every policy is rolled out by itself.
#[test]
fn an_iteration_with_diversity_is_the_definition_s() {
    let mut dvd = trainer(&["dvd.arms=[0.5]"]);
    dvd.step().unwrap();
    let (agents, pairs, weights) = (3, 4, dvd.weights());
    let noise = dvd.noise(2);
    let states: Vec<Vec<f64>> =
        dvd.reservoir.chosen().map(|state| state.iter().map(|x| f64::from(*x)).collect()).collect();
    assert_eq!(states.len(), 20);
    let (mut returns, mut embeddings) = (vec![Vec::new(); agents], vec![Vec::new(); agents]);
    for agent in 0..agents {
        for i in 0..pairs {
            let row = agent * pairs + i;
            let seed = autoqd::seeds::episode(0, 2, row as u64, 0);
            for policy in pair(&dvd, agent, &noise[row * weights..][..weights]) {
                let candidates =
                    Candidates { parameters: &policy, dimension: policy.len(), seeds: &[seed], episodes: 1 };
                returns[agent].push(dvd.evaluator.evaluate(candidates, &[]).unwrap()[0].objective());
                let act = |state: &Vec<f64>| reference::act(&dvd.policy, &policy, state).unwrap();
                embeddings[agent].push(states.iter().flat_map(act).collect::<Vec<f32>>());
            }
        }
    }
    let volumes: Vec<f64> = (0..2 * pairs)
        .map(|row| determinant(&embeddings.iter().map(|agent| &agent[row][..]).collect::<Vec<_>>()))
        .collect();
    let (volume, volume_spread) = moments(&volumes);
    let mut joint = vec![0.0; agents * weights];
    for agent in 0..agents {
        let (mean, spread) = moments(&returns[agent]);
        for i in 0..pairs {
            let worth = |row: usize| {
                0.5 * (volumes[row] - volume) / (volume_spread + 1e-8)
                    + 0.5 * (returns[agent][row] - mean) / (spread + 1e-8)
            };
            let difference = worth(2 * i) - worth(2 * i + 1);
            let eps = &noise[(agent * pairs + i) * weights..][..weights];
            let sums = joint[agent * weights..][..weights].iter_mut();
            sums.zip(eps).for_each(|(sum, eps)| *sum += difference * eps / pairs as f64);
        }
    }
    scale_to(&mut joint, weights);
    let step = ascend(&mut dvd.adam.clone(), &joint);
    let before: Vec<f64> = dvd.agents.iter().flat_map(|agent| agent.weights.clone()).collect();
    dvd.step().unwrap();
    let after: Vec<f64> = dvd.agents.iter().flat_map(|agent| agent.weights.clone()).collect();
    let expected: Vec<f64> = before.iter().zip(step).map(|(w, step)| w + step).collect();
    close(&after, &expected);
    assert!(volumes.iter().any(|v| (v - volume).abs() > 1e-6), "diversity counted: {volumes:?}");
}

#[test]
fn fixed_keeps_the_best_of_every_agent_and_released_loses_the_best() {
    let mut fixed = trainer(&[]);
    let mut best = [f64::NEG_INFINITY; 3];
    for _ in 0..6 {
        fixed.step().unwrap();
        let now = fixed.population().objective;
        assert!(best.iter().zip(&now).all(|(before, now)| now >= before), "{best:?}, then {now:?}");
        best.copy_from_slice(&now);
    }
    assert!(fixed.agents[0].weights != fixed.agents[2].weights);

    let mut released = trainer(&["dvd.variant=released"]);
    assert_eq!(released.settings.variant, Variant::Released);
    for _ in 0..6 {
        released.step().unwrap();
        let table = released.population();
        let copies = (0..2).filter(|agent| table.parameters.row(*agent) == table.parameters.row(2)).count();
        let objectives = &table.objective;
        let last_is_best = objectives[..2].iter().all(|objective| *objective < objectives[2]);
        assert!(copies > 0 || last_is_best, "the last agent took no one's place: {objectives:?}");
        assert!(table.seeds.values.iter().all(|seed| *seed == 0));
        assert_eq!(
            released.adam.moments(),
            Adam::new(3 * released.weights(), 0.05, None).moments(),
            "no memory"
        );
        let ids: std::collections::BTreeSet<u64> = table.id.iter().copied().collect();
        assert_eq!(ids.len(), 3);
    }
}

fn bytes(dvd: &DvdEs) -> Parts {
    let mut parts = Parts::default();
    dvd.save(&mut parts).unwrap();
    parts
}

#[test]
fn neither_threads_nor_stopping_change_a_byte() {
    for variant in ["dvd.variant=fixed", "dvd.variant=released"] {
        let mut one = trainer(&[variant, "threads=1", "dvd.arms=[0.0, 0.5, 1.0]"]);
        let mut two = trainer(&[variant, "threads=2", "dvd.arms=[0.0, 0.5, 1.0]"]);
        for iteration in 1..=8 {
            let (a, b) = (one.step().unwrap(), two.step().unwrap());
            assert_eq!(
                (a.metrics.batch_mean_objective, &a.figures),
                (b.metrics.batch_mean_objective, &b.figures)
            );
            assert_eq!(bytes(&one), bytes(&two), "{variant}, iteration {iteration}");
            if iteration == 4 {
                let mut again = trainer(&[variant, "threads=2", "dvd.arms=[0.0, 0.5, 1.0]"]);
                again.load(&mut bytes(&two)).unwrap();
                two = again;
            }
        }
        assert!(one.finished());
        assert_eq!(one.totals().evaluations, 8 * (3 * 4 * 2 + 3));
    }
}

#[test]
fn a_state_of_other_agents_is_refused() {
    let mut other = trainer(&["dvd.agents=4"]);
    let message = other.load(&mut bytes(&trainer(&[]))).unwrap_err().to_string();
    assert!(message.contains("other agents than the configuration"), "{message}");
}

#[test]
fn a_task_with_unbounded_actions_is_refused() {
    let mut spec = trainer(&[]).spec.clone();
    spec.action_high[0] = f64::INFINITY;
    let message = super::policy(&DvdSection::default(), &spec).unwrap_err().to_string();
    assert!(message.contains("action bounds") && message.contains("expected finite"), "{message}");
}
