//! restart_rules* and trace_*: emitters on archives.

use autoqd_qd::{
    AddStatus, AnyStrategy, Archive, Batch, CmaEs, Emitter, EsEmitter, EsEmitterConfig, EvolutionStrategy,
    Feedback, GridArchive, GridConfig, RestartRule, Rows, SelectionRule,
};
use serde_json::Value;

use super::archive::{check_add, grid_archive};
use super::files::{
    assert_close, assert_state, finite, integer, integers, list, load, matrix, number, numbers,
};

/// The emitter that a golden header describes.
pub fn emitter(header: &Value, x0: &[f64], sigma0: f64, seed: u64) -> EsEmitter {
    let selection_rule = match header["selection_rule"].as_str() {
        Some("mu") => SelectionRule::Mu,
        Some("filter") => SelectionRule::Filter,
        other => panic!("unknown selection rule {other:?}"),
    };
    let restart_rule = match &header["restart_rule"] {
        Value::Number(n) => RestartRule::Every(n.as_u64().unwrap()),
        Value::String(s) if s == "basic" => RestartRule::Basic,
        Value::String(s) if s == "no_improvement" => RestartRule::NoImprovement,
        other => panic!("unknown restart rule {other}"),
    };
    EsEmitterConfig::new(x0.to_vec(), sigma0, seed)
        .batch_size(integer(&header["batch_size"]))
        .ranker(header["ranker"].as_str().unwrap().parse().unwrap())
        .selection_rule(selection_rule)
        .restart_rule(restart_rule)
        .build()
        .unwrap()
}

pub fn statuses(v: &Value) -> Vec<AddStatus> {
    let status = |s| match s {
        0 => AddStatus::Rejected,
        1 => AddStatus::Improved,
        2 => AddStatus::New,
        _ => panic!("unknown status {s}"),
    };
    integers(v).into_iter().map(status).collect()
}

fn cma(emitter: &EsEmitter) -> &CmaEs {
    match emitter.strategy() {
        AnyStrategy::CmaEs(es) => es,
        other => panic!("not CMA-ES: {other:?}"),
    }
}

#[test]
fn golden_restart_rules_replay() {
    for (name, file) in load("restart_rules") {
        for (s, script) in list(&file["scripts"]).iter().enumerate() {
            let x0 = numbers(&script["x0"]);
            let mut emitter = emitter(script, &x0, number(&script["sigma0"]), 0);
            let elite = numbers(&script["only_elite"]);
            let mut archive = GridConfig::new(x0.len(), &[1], &[(0.0, 1.0)]).build().unwrap();
            let rows = Rows::new(&elite, x0.len()).unwrap();
            archive.add(&Batch::new(rows, &[0.0], Rows::new(&[0.5], 1).unwrap())).unwrap();
            for (i, step) in list(&script["steps"]).iter().enumerate() {
                replay_step(&format!("{name} script {s} step {i}"), &mut emitter, &archive, step);
            }
        }
    }
}

fn replay_step(place: &str, emitter: &mut EsEmitter, archive: &GridArchive, step: &Value) {
    let solutions = matrix(&step["solutions"]);
    let mut own = vec![0.0; solutions.len()];
    emitter.ask(archive, &mut own).unwrap();
    let rows = Rows::new(&solutions, emitter.solution_dim()).unwrap();
    emitter.strategy_mut().inject(rows).unwrap();
    let (status, value) = (statuses(&step["status"]), numbers(&step["value"]));
    let objective = if step["objective"].is_null() { value.clone() } else { numbers(&step["objective"]) };
    let measures = vec![0.5; status.len()];
    let measures = Rows::new(&measures, 1).unwrap();
    let feedback = Feedback { objective: &objective, measures, status: &status, value: &value, fields: None };
    if !step["ranking_indices"].is_null() {
        let ranking = emitter.config().ranker.rank(&feedback, &[1.0]);
        assert_eq!(ranking.order, integers(&step["ranking_indices"]), "{place}: ranking");
    }
    emitter.tell(archive, &feedback).unwrap();
    assert_eq!(emitter.iterations() as usize, integer(&step["itrs"]), "{place}: iterations");
    assert_eq!(emitter.restarts() as usize, integer(&step["restarts"]), "{place}: restarts");
    let es = emitter.strategy();
    assert_eq!(es.evaluations() as usize, integer(&step["current_eval"]), "{place}: evaluations");
    assert_state(&format!("{place}: mean"), es.mean(), &numbers(&step["mean"]));
    assert_state(&format!("{place}: sigma"), &[es.sigma()], &[number(&step["sigma"])]);
}

#[test]
fn golden_traces_replay() {
    for (name, file) in load("trace_") {
        let x0 = numbers(&file["x0"]);
        let offset = finite(&file["qd_score_offset"]).unwrap_or(0.0);
        let mut archive = grid_archive(x0.len(), &file, offset).unwrap();
        let mut elitist = file.clone();
        elitist["learning_rate"] = Value::Null;
        elitist["threshold_min"] = "-inf".into();
        let mut result = grid_archive(x0.len(), &elitist, offset).unwrap();
        let sigmas = numbers(&file["sigma0"]);
        let mut emitters: Vec<EsEmitter> = sigmas.iter().map(|&s| emitter(&file, &x0, s, 0)).collect();
        for (i, iteration) in list(&file["iterations_data"]).iter().enumerate() {
            let place = format!("{name} iteration {i}");
            replay_iteration(&place, &mut emitters, &mut archive, &mut result, iteration);
        }
    }
}

fn replay_iteration(
    place: &str,
    emitters: &mut [EsEmitter],
    archive: &mut GridArchive,
    result: &mut GridArchive,
    iteration: &Value,
) {
    let (dim, batch_size) = (emitters[0].solution_dim(), emitters[0].batch_size());
    let (solutions, objective) = (matrix(&iteration["solutions"]), numbers(&iteration["objective"]));
    let measures = matrix(&iteration["measures"]);
    let measures = Rows::new(&measures, archive.schema().measure_dim()).unwrap();
    let batch = Batch::new(Rows::new(&solutions, dim).unwrap(), &objective, measures);
    let info = archive.add(&batch).unwrap();
    result.add(&batch).unwrap();
    check_add(place, &info, &objective, iteration);
    let mut restarted = Vec::new();
    for (e, emitter) in emitters.iter_mut().enumerate() {
        let rows = e * batch_size..(e + 1) * batch_size;
        emitter.ask(archive, &mut vec![0.0; batch_size * dim]).unwrap();
        emitter.strategy_mut().inject(batch.solutions.slice(rows.clone())).unwrap();
        let feedback = Feedback {
            objective: &objective[rows.clone()],
            measures: measures.slice(rows.clone()),
            status: &info.status[rows.clone()],
            value: &info.value[rows],
            fields: None,
        };
        if emitter.tell(archive, &feedback).unwrap().is_some() {
            restarted.push(e);
        }
    }
    let expected: Vec<usize> = list(&iteration["restarts"]).iter().map(|r| integer(&r["emitter"])).collect();
    assert_eq!(restarted, expected, "{place}: restarts");
    for restart in list(&iteration["restarts"]) {
        // The recorded choice instead of our own.
        let elite = archive.elite_in(integer(&restart["elite_cell"])).expect("the recorded elite exists");
        emitters[integer(&restart["emitter"])].strategy_mut().reset(elite.solution).unwrap();
    }
    check_archives(place, archive, result, iteration);
    for (e, (emitter, expected)) in emitters.iter().zip(list(&iteration["emitters"])).enumerate() {
        check_emitter(&format!("{place} emitter {e}"), emitter, expected);
    }
}

fn check_archives(place: &str, archive: &GridArchive, result: &GridArchive, iteration: &Value) {
    for (which, ours) in [("archive", archive), ("result", result)] {
        let (place, expected) = (format!("{place} {which}"), &iteration[which]);
        let mut cells: Vec<usize> = ours.cells().collect();
        cells.sort_unstable();
        assert_eq!(cells, integers(&expected["cell"]), "{place}: cells");
        let objectives: Vec<f64> = cells.iter().map(|&c| ours.elite_in(c).unwrap().objective).collect();
        assert_eq!(objectives, numbers(&expected["objective"]), "{place}: objectives");
        if !expected["threshold"].is_null() {
            for (&cell, threshold) in cells.iter().zip(numbers(&expected["threshold"])) {
                let scale = ours.elite_in(cell).unwrap().objective.abs().max(threshold.abs());
                let got = ours.threshold_in(cell);
                assert_close(&format!("{place} threshold of {cell}"), got, threshold, 1e-12, scale);
            }
        }
        let stats = ours.stats();
        for (name, got) in [
            ("qd_score", stats.qd_score),
            ("coverage", stats.coverage),
            ("obj_max", stats.obj_max.unwrap_or(f64::NAN)),
        ] {
            if let Some(expected) = finite(&expected[name]) {
                assert_close(&format!("{place}: {name}"), got, expected, 1e-10, expected);
            }
        }
    }
}

fn check_emitter(place: &str, emitter: &EsEmitter, expected: &Value) {
    let es = cma(emitter);
    let n = es.dim();
    let cov: Vec<f64> = (0..n * n).map(|k| es.covariance(k / n, k % n)).collect();
    assert_state(&format!("{place}: mean"), es.mean(), &numbers(&expected["mean"]));
    assert_state(&format!("{place}: sigma"), &[es.sigma()], &[number(&expected["sigma"])]);
    assert_state(&format!("{place}: pc"), es.covariance_path(), &numbers(&expected["pc"]));
    assert_state(&format!("{place}: ps"), es.step_size_path(), &numbers(&expected["ps"]));
    assert_state(&format!("{place}: cov"), &cov, &matrix(&expected["cov"]));
    assert_eq!(es.evaluations() as usize, integer(&expected["current_eval"]), "{place}: evaluations");
    assert_eq!(es.last_refresh() as usize, integer(&expected["last_eigen_eval"]), "{place}: last refresh");
    assert_eq!(emitter.restarts() as usize, integer(&expected["restarts"]), "{place}: restarts");
}
