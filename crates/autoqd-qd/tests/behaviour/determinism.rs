//! The same bytes for any number of threads, and after a pause.

use autoqd_qd::{
    AddMode, AnyArchive, AnyEmitter, Archive, CellConfig, Centroids, CvtConfig, DominatedNoveltyConfig,
    EsEmitterConfig, Evaluations, GaussianConfig, GridConfig, IsoLineConfig, Ranker, Reserve, RestartRule,
    Rows, Scheduler, SelectionRule, redescribe_together,
};

use super::support::strategies;

const DIM: usize = 70;

/// Everything that a search would store.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Run {
    scheduler: Scheduler,
    archive: AnyArchive,
    result: AnyArchive,
    reserve: Reserve,
}

fn emitters() -> Vec<AnyEmitter> {
    let rankers = ["imp", "2imp", "obj", "2obj", "rd", "2rd", "imp"];
    let es = |(i, (_, strategy)): (usize, (&str, _))| -> AnyEmitter {
        let config = EsEmitterConfig::new(vec![0.1; DIM], 0.2, i as u64).batch_size(10).strategy(strategy);
        let config = config.ranker(rankers[i].parse::<Ranker>().unwrap());
        let config = if i % 2 == 1 { config.selection_rule(SelectionRule::Filter) } else { config };
        config.restart_rule(RestartRule::Every(15 + i as u64)).build().unwrap().into()
    };
    let mut emitters: Vec<AnyEmitter> = strategies().into_iter().enumerate().map(es).collect();
    emitters.push(GaussianConfig::new(vec![0.1; DIM], 0.1, 100).build().unwrap().into());
    emitters.push(IsoLineConfig::new(vec![0.1; DIM], 101).build().unwrap().into());
    emitters
}

fn archive(kind: usize, cell: CellConfig) -> AnyArchive {
    let ranges = [(-2.0, 2.0); 2];
    match kind {
        0 => GridConfig::new(DIM, &[9, 9], &ranges).cell(cell).build().unwrap().into(),
        1 => CvtConfig::new(DIM, &ranges, Centroids::k_means(80, 5)).cell(cell).build().unwrap().into(),
        _ => DominatedNoveltyConfig::new(DIM, 2, 80).build().unwrap().into(),
    }
}

fn start(kind: usize) -> Run {
    let mode = if kind == 0 { AddMode::Batch } else { AddMode::Single };
    let archive_ = archive(kind, CellConfig::annealing(0.05, -50.0));
    let reserve = Reserve::new(50, archive_.schema().clone());
    let scheduler = Scheduler::new(emitters()).unwrap().with_add_mode(mode);
    Run { scheduler, result: archive(kind, CellConfig::elitist()), archive: archive_, reserve }
}

fn step(run: &mut Run, iteration: usize) {
    let solutions = run.scheduler.ask(&run.archive).unwrap();
    let objective: Vec<f64> = solutions.iter().map(|x| -x.iter().map(|v| v * v).sum::<f64>()).collect();
    let measures: Vec<f64> = solutions.iter().flat_map(|x| [x[0] + x[1] * 2.0, x[2] - x[3]]).collect();
    let measures = Rows::new(&measures, 2).unwrap();
    let evaluations = Evaluations { objective: &objective, measures, fields: None };
    run.scheduler.tell(&mut run.archive, Some(&mut run.result), &evaluations).unwrap();
    if iteration == 12 {
        let turn =
            |pool: &autoqd_qd::Population| pool.measures().iter().flat_map(|m| [m[1], -m[0]]).collect();
        redescribe_together(&mut [&mut run.archive, &mut run.result], &mut run.reserve, turn).unwrap();
    }
}

fn bytes(run: &Run) -> String {
    serde_json::to_string(run).unwrap()
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for kind in 0..3 {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut run = start(kind);
                (0..20).for_each(|i| step(&mut run, i));
                bytes(&run)
            })
        };
        let one = with(1);
        assert!(one == with(2) && one == with(5), "archive kind {kind}");
    }
}

#[test]
fn a_stored_run_goes_on_as_if_nothing_had_happened() {
    for kind in 0..3 {
        let mut run = start(kind);
        let mut stored = run.clone();
        for i in 0..25 {
            step(&mut run, i);
            step(&mut stored, i);
            match i {
                0 | 9 => stored = serde_json::from_str(&bytes(&stored)).unwrap(),
                // A format that does not describe itself is pickier.
                3 | 14 => stored = postcard::from_bytes(&postcard::to_stdvec(&stored).unwrap()).unwrap(),
                _ => {}
            }
        }
        assert!(bytes(&run) == bytes(&stored), "archive kind {kind}");
    }
}

#[test]
fn a_run_can_be_stored_between_ask_and_tell() {
    let mut run = start(0);
    (0..5).for_each(|i| step(&mut run, i));
    let mut waiting = run.clone();
    waiting.scheduler.ask(&waiting.archive).unwrap();
    let mut stored: Run = serde_json::from_str(&bytes(&waiting)).unwrap();
    let n = waiting.scheduler.batch_size();
    let objective: Vec<f64> = (0..n).map(|i| (i * 7919 % 101) as f64).collect();
    let measures: Vec<f64> = (0..2 * n).map(|i| (i % 13) as f64 / 4.0 - 1.5).collect();
    for run in [&mut waiting, &mut stored] {
        let measures = Rows::new(&measures, 2).unwrap();
        let evaluations = Evaluations { objective: &objective, measures, fields: None };
        run.scheduler.tell(&mut run.archive, Some(&mut run.result), &evaluations).unwrap();
        assert!(run.scheduler.tell(&mut run.archive, None, &evaluations).is_err(), "only one tell per ask");
    }
    assert_eq!(bytes(&waiting), bytes(&stored));
}

#[test]
fn identities_are_never_given_twice() {
    let mut run = start(0);
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..4 {
        step(&mut run, i);
        assert!(run.scheduler.ids().iter().all(|id| seen.insert(*id)));
    }
}
