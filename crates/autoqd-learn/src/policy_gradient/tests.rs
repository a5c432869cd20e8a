//! A whole generation against a plain computation.

use autoqd::policy::{Biases, PolicySpec, Weights};
use autoqd_qd::{Archive, Batch as Candidates, GridConfig, IsoLineConfig, Rows};

use super::vary;
use crate::actor::Actor;
use crate::golden::{assert_close, parameters};
use crate::random::Stream;
use crate::replay::{Batch, Replay, RowShape, Transition};
use crate::td3::{Options, Td3};

#[derive(serde::Deserialize)]
struct Reference {
    elites: Vec<Vec<f64>>,
    objectives: Vec<f64>,
    measures: Vec<Vec<f64>>,
    start: Networks,
    buffer: Columns,
    parents: Vec<usize>,
    states: Vec<Vec<usize>>,
    pairs: Vec<[usize; 2]>,
    normals: Vec<Vec<f64>>,
    steps: Vec<f64>,
    candidates: Vec<Vec<f64>>,
    earned: Vec<f64>,
    places: Vec<Vec<f64>>,
    /// Cells, and who is in them: a candidate, or -1 - e for the elite e of before.
    grid: Vec<(usize, i64)>,
    new: Columns,
    updates: Vec<Update>,
    after: Networks,
}

#[derive(serde::Deserialize)]
struct Networks {
    actor: Vec<f64>,
    target_actor: Vec<f64>,
    critics: [Vec<Vec<f32>>; 2],
    targets: [Vec<Vec<f32>>; 2],
}

#[derive(serde::Deserialize)]
struct Columns {
    observations: Vec<f32>,
    actions: Vec<f32>,
    rewards: Vec<f32>,
    next_observations: Vec<f32>,
    terminated: Vec<f32>,
}

#[derive(serde::Deserialize)]
struct Update {
    rows: Vec<usize>,
    noise: Vec<f32>,
    loss: f64,
}

const OBSERVATION: usize = 3;
const ACTION: usize = 2;

fn td3(spec: &PolicySpec, start: &Networks) -> Td3 {
    let options = Options {
        hidden: vec![6, 6],
        critic_layer_norm: false,
        learning_rate: 3e-4,
        gamma: 0.99,
        tau: 0.005,
        policy_delay: 2,
        target_noise: 0.2,
        target_noise_clip: 0.5,
    };
    let actor = |policy: &[f64]| {
        let mut actor = Actor::new(spec, 3e-4);
        actor.start(policy);
        actor
    };
    let mut td3 = Td3::new(options, actor(&start.actor), &mut Stream::new(1));
    let mut networks = td3.networks();
    networks.actor.target = actor(&start.target_actor).state().parameters;
    for (i, critic) in networks.critics.iter_mut().enumerate() {
        critic.parameters = parameters(&start.critics[i], 1);
        critic.target = parameters(&start.targets[i], 1);
    }
    assert!(td3.restore(networks));
    td3
}

fn push(replay: &mut Replay, columns: &Columns) {
    for i in 0..columns.rewards.len() {
        replay.push(&Transition {
            observation: &columns.observations[OBSERVATION * i..][..OBSERVATION],
            action: &columns.actions[ACTION * i..][..ACTION],
            reward: columns.rewards[i],
            next_observation: &columns.next_observations[OBSERVATION * i..][..OBSERVATION],
            terminated: columns.terminated[i] == 1.0,
            extra: &[],
        });
    }
}

/// Elites improved by the critic, the greedy actor, and elites varied by iso+line.
fn candidates(reference: &Reference, td3: &Td3, replay: &Replay) -> Vec<f64> {
    let (elites, size) = (reference.elites.concat(), reference.elites[0].len());
    let elites = Rows::new(&elites, size).unwrap();
    let mut batch = Batch::default();
    let mut states = |rows: &Vec<usize>| {
        replay.gather(rows.iter().copied(), &mut batch);
        batch.observations.clone()
    };
    let states: Vec<Vec<f32>> = reference.states.iter().map(&mut states).collect();
    let mut all = vec![0.0; (reference.parents.len() + 1) * size];
    let (varied, greedy) = all.split_at_mut(reference.parents.len() * size);
    vary(td3, 1e-3, elites, &reference.parents, &states, varied);
    td3.actor().policy(greedy);
    let config =
        IsoLineConfig { iso_sigma: 0.005, line_sigma: 0.05, ..IsoLineConfig::new(vec![0.0; size], 0) };
    for ((pair, normals), step) in reference.pairs.iter().zip(&reference.normals).zip(&reference.steps) {
        let mut row = normals.clone();
        config.vary(&mut row, [elites.row(pair[0]), elites.row(pair[1])], *step);
        all.extend(row);
    }
    all
}

#[test]
fn a_generation_is_that_of_numpy() {
    // scripts/make_pga_reference.py
    let reference: Reference = serde_json::from_str(include_str!("reference.json")).unwrap();
    let bounds = (vec![-1.0; ACTION], vec![1.0; ACTION]);
    let spec = PolicySpec::new(Weights::Dense, vec![5], OBSERVATION, bounds.0, bounds.1).unwrap();
    let spec = spec.with_biases(Biases::All);
    let size = spec.parameter_count();
    let mut td3 = td3(&spec, &reference.start);
    let mut replay = Replay::new(RowShape { observation: OBSERVATION, action: ACTION, extra: 0 }, 40);
    push(&mut replay, &reference.buffer);

    let made = candidates(&reference, &td3, &replay);
    let narrow = |values: &[f64]| values.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    assert_close("candidates", &narrow(&made), &narrow(&reference.candidates.concat()));

    let mut archive = GridConfig::new(size, &[4, 4], &[(0.0, 1.0), (0.0, 1.0)]).build().unwrap();
    let mut add = |solutions: &[f64], objective: &[f64], measures: &[Vec<f64>], ids: &[u64]| {
        let measures = measures.concat();
        let [solutions, measures] =
            [(solutions, size), (&measures, 2)].map(|(x, w)| Rows::new(x, w).unwrap());
        archive.add_single(&Candidates::new(solutions, objective, measures).with_ids(ids)).unwrap();
    };
    let ids: Vec<u64> = (1..=reference.elites.len() as u64).collect();
    add(&reference.elites.concat(), &reference.objectives, &reference.measures, &ids);
    let ids: Vec<u64> = (100..100 + reference.earned.len() as u64).collect();
    add(&made, &reference.earned, &reference.places, &ids);
    let who = |id: u64| if id < 100 { -(id as i64) } else { id as i64 - 100 };
    let mut grid: Vec<(usize, i64)> =
        archive.cells().zip(archive.elites().ids()).map(|(cell, id)| (cell, who(*id))).collect();
    grid.sort_unstable();
    assert_eq!(grid, reference.grid);

    push(&mut replay, &reference.new);
    let mut batch = Batch::default();
    for update in &reference.updates {
        replay.gather(update.rows.iter().copied(), &mut batch);
        let loss = td3.update(&batch, &update.noise).critic;
        assert!((loss - update.loss).abs() < 1e-5 * update.loss.max(1.0), "{loss}, expected {}", update.loss);
    }
    let (got, expected) = (td3.networks(), self::td3(&spec, &reference.after).networks());
    assert_close("greedy actor", &got.actor.parameters, &expected.actor.parameters);
    assert_close("its slow copy", &got.actor.target, &expected.actor.target);
    for (got, expected) in got.critics.iter().zip(&expected.critics) {
        assert_close("critic", &got.parameters, &expected.parameters);
        assert_close("its slow copy", &got.target, &expected.target);
    }
}
