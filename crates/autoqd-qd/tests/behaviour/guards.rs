//! Nothing unusual may leave a NaN behind.

use autoqd_qd::{
    AddStatus, AnyArchive, Archive, Batch, CellConfig, Centroids, CmaEs, CvtConfig, DominatedNoveltyConfig,
    Emitter, Error, EsEmitterConfig, EvolutionStrategy, Feedback, GridConfig, RankOne, Ranker, RestartReason,
    RestartRule, Rng, Rows, SelectionRule, StartPoint, StopReason,
};

use super::support::{assert_finite, batch, strategies, unit_grid};

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn all_archives() -> Vec<(&'static str, AnyArchive)> {
    let centroids = Centroids::k_means(25, 0);
    vec![
        ("elitist grid", unit_grid(CellConfig::elitist()).into()),
        ("annealing grid", unit_grid(CellConfig::annealing(0.1, -10.0)).into()),
        ("cvt", CvtConfig::new(1, &[(0.0, 1.0); 2], centroids).build().unwrap().into()),
        ("dominated novelty", DominatedNoveltyConfig::new(1, 2, 25).build().unwrap().into()),
    ]
}

#[test]
fn a_row_that_is_not_finite_is_dropped_and_counted_and_disturbs_no_other() {
    for bad in BAD {
        for (name, clean) in all_archives() {
            let (mut with, mut without) = (clean.clone(), clean);
            let solutions = [0.0, 1.0, 2.0, bad];
            let objective = [1.0, bad, 3.0, 4.0];
            let measures = [0.1, 0.1, 0.5, 0.5, bad, 0.9, 0.3, 0.3];
            let info = with.add(&batch(&solutions, &objective, &measures)).unwrap();
            without.add(&batch(&solutions[..1], &objective[..1], &measures[..2])).unwrap();
            assert_eq!(info.non_finite, 3, "{name} {bad}");
            assert_eq!(with.non_finite_rows(), 3, "{name} {bad}");
            assert_eq!(info.status[1..], [AddStatus::Rejected; 3], "{name} {bad}");
            assert_eq!(info.value[1..], [f64::NEG_INFINITY; 3], "{name} {bad}");
            assert_eq!(with.elites(), without.elites(), "{name} {bad}");
            assert_eq!(with.stats(), without.stats(), "{name} {bad}");
        }
    }
}

#[test]
fn strict_mode_refuses_the_whole_batch() {
    for bad in BAD {
        let mut archive = unit_grid(CellConfig::elitist().strict(true));
        archive.add(&batch(&[7.0], &[0.0], &[0.2, 0.2])).unwrap();
        let before = serde_json::to_string(&archive).unwrap();
        for (solution, objective, measure) in [(bad, 1.0, 0.5), (1.0, bad, 0.5), (1.0, 1.0, bad)] {
            let (solutions, objectives) = ([0.0, solution], [1.0, objective]);
            let measures = [0.1, 0.1, 0.5, measure];
            for single in [false, true] {
                let batch = batch(&solutions, &objectives, &measures);
                let answer = if single { archive.add_single(&batch) } else { archive.add(&batch) };
                assert!(matches!(answer, Err(Error::NonFinite { row: 1, .. })), "{answer:?}");
            }
        }
        assert_eq!(serde_json::to_string(&archive).unwrap(), before, "the archive is unchanged");
    }
}

#[test]
fn a_candidate_that_is_not_finite_ranks_last_and_is_no_parent() {
    let status = [AddStatus::New, AddStatus::Rejected, AddStatus::Improved, AddStatus::Rejected];
    let value = [1.0, f64::NEG_INFINITY, 1.0, -3.0];
    let objective = [1.0, f64::NAN, 1.0, -3.0];
    let measures = [0.5, f64::NAN, 0.5, 0.5];
    let feedback = Feedback {
        objective: &objective,
        measures: Rows::new(&measures, 1).unwrap(),
        status: &status,
        value: &value,
        fields: None,
    };
    for name in ["imp", "2imp", "obj", "2obj", "rd", "2rd"] {
        let ranking = name.parse::<Ranker>().unwrap().rank(&feedback, &[1.0]);
        assert_eq!((ranking.order[3], ranking.usable), (1, 3), "{name}");
    }
    // Without the bad row all values are equal, which is what the stop test has to see.
    let flat = Feedback { value: &[1.0, f64::NEG_INFINITY, 1.0, 1.0], ..feedback };
    assert!(Ranker::Improvement.rank(&flat, &[]).flat);
}

#[test]
fn an_iteration_without_usable_candidates_changes_no_distribution() {
    let archive = unit_grid(CellConfig::elitist());
    for (name, strategy) in strategies() {
        let config = EsEmitterConfig::new(vec![0.5; 8], 0.1, 0).batch_size(8).strategy(strategy);
        let mut emitter = config.build().unwrap();
        emitter.ask(&archive, &mut [0.0; 64]).unwrap();
        let nan = [f64::NAN; 8];
        let feedback = Feedback {
            objective: &nan,
            measures: Rows::new(&nan, 1).unwrap(),
            status: &[AddStatus::Rejected; 8],
            value: &[f64::NEG_INFINITY; 8],
            fields: None,
        };
        let restart = emitter.tell(&archive, &feedback).unwrap();
        assert_eq!(restart, None, "{name}");
        assert_finite(name, emitter.strategy());
        if !name.starts_with("openai") {
            assert_eq!(emitter.strategy().mean(), [0.5; 8], "{name}");
        }
    }
}

#[test]
fn a_restart_with_an_empty_archive_goes_back_to_the_initial_point() {
    let archive = unit_grid(CellConfig::elitist());
    for (name, strategy) in strategies() {
        let config = EsEmitterConfig::new(vec![0.5; 8], 0.1, 0).batch_size(8).strategy(strategy);
        let mut emitter = config.restart_rule(RestartRule::Every(1)).build().unwrap();
        emitter.ask(&archive, &mut [0.0; 64]).unwrap();
        let value: Vec<f64> = (0..8).map(f64::from).collect();
        let feedback = Feedback {
            objective: &value,
            measures: Rows::new(&value, 1).unwrap(),
            status: &[AddStatus::Rejected; 8],
            value: &value,
            fields: None,
        };
        let restart = emitter.tell(&archive, &feedback).unwrap().expect("the rule says so");
        assert_eq!((restart.reason, restart.elite), (RestartReason::Rule, None), "{name}");
        assert_eq!(emitter.strategy().mean(), [0.5; 8], "{name}");
    }
}

#[test]
fn a_restart_says_why_and_where() {
    let mut archive = unit_grid(CellConfig::elitist());
    archive.add(&batch(&[3.0], &[1.0], &[0.5, 0.5]).with_ids(&[42])).unwrap();
    let mut emitter = EsEmitterConfig::new(vec![0.5], 0.1, 0).batch_size(4).build().unwrap();
    emitter.ask(&archive, &mut [0.0; 4]).unwrap();
    let feedback = Feedback {
        objective: &[1.0; 4],
        measures: Rows::new(&[0.5; 8], 2).unwrap(),
        status: &[AddStatus::Rejected; 4],
        value: &[0.0; 4],
        fields: None,
    };
    let restart = emitter.tell(&archive, &feedback).unwrap().expect("all values are the same");
    assert_eq!(restart.reason, RestartReason::Stopped(StopReason::FlatValues));
    assert_eq!(restart.elite, Some(42));
    assert_eq!(emitter.strategy().mean(), [3.0]);
}

#[test]
fn an_emitter_that_is_asked_to_starts_again_where_it_is_told() {
    let mut archive = GridConfig::new(8, &[5, 5], &[(0.0, 1.0); 2]).build().unwrap();
    let elite = Batch::new(Rows::new(&[3.0; 8], 8).unwrap(), &[1.0], Rows::new(&[0.5; 2], 2).unwrap());
    archive.add(&elite.with_ids(&[42])).unwrap();
    for (name, strategy) in strategies() {
        let config = EsEmitterConfig::new(vec![0.5; 8], 0.1, 0).batch_size(8).strategy(strategy);
        let mut emitter = config.build().unwrap();
        for (at, elite, mean) in [(StartPoint::Elite, Some(42), 3.0), (StartPoint::Initial, None, 0.5)] {
            let restart = emitter.restart(&archive, at).unwrap().expect("a strategy has something to forget");
            assert_eq!((restart.reason, restart.elite), (RestartReason::Asked, elite), "{name}");
            assert_eq!(emitter.strategy().mean(), [mean; 8], "{name}");
        }
        assert_eq!(emitter.restarts(), 2, "{name}");
    }
}

#[test]
fn filter_selection_without_hits_has_no_parents() {
    let archive = unit_grid(CellConfig::elitist());
    let config = EsEmitterConfig::new(vec![0.5; 3], 0.1, 0).batch_size(4);
    let mut emitter = config.selection_rule(SelectionRule::Filter).build().unwrap();
    emitter.ask(&archive, &mut [0.0; 12]).unwrap();
    let value = [1.0, 2.0, 3.0, 4.0];
    let feedback = Feedback {
        objective: &value,
        measures: Rows::new(&value, 1).unwrap(),
        status: &[AddStatus::Rejected; 4],
        value: &value,
        fields: None,
    };
    emitter.tell(&archive, &feedback).unwrap();
    assert_eq!(emitter.strategy().mean(), [0.5; 3]);
    assert_eq!(emitter.strategy().sigma(), 0.1);
    assert_eq!(emitter.strategy().evaluations(), 4);
}

#[test]
fn measures_of_1e300_find_a_cell_on_their_own_side() {
    let far = [1e300, 1e300, -1e300, -1e300, 1e300, -1e300, 0.5, 0.5];
    for (name, mut archive) in all_archives() {
        let info = archive.add(&batch(&[0.0, 1.0, 2.0, 3.0], &[1.0; 4], &far)).unwrap();
        assert_eq!(info.non_finite, 0, "{name}");
        assert_eq!(archive.len(), 4, "{name}: four corners are four elites");
        assert!(info.value.iter().all(|v| v.is_finite()), "{name}: {:?}", info.value);
        assert!(archive.measure_scale().iter().all(|s| s.is_finite()), "{name}");
    }
    let grid = unit_grid(CellConfig::elitist());
    assert_eq!(grid.cell_of(&[1e300, 1e300]).unwrap(), 24);
    assert_eq!(grid.cell_of(&[-1e300, f64::MAX]).unwrap(), 4);
}

#[test]
fn duplicate_measures_share_one_cell() {
    for (name, mut archive) in all_archives() {
        let info = archive.add(&batch(&[0.0, 1.0, 2.0], &[1.0, 3.0, 2.0], &[0.5; 6])).unwrap();
        if archive.cells().is_some() {
            assert_eq!(info.stored, [false, true, false], "{name}");
        }
        assert_eq!(archive.best_elite().unwrap().objective, 3.0, "{name}");
    }
}

#[test]
fn huge_objectives_leave_statistics_finite() {
    for (name, mut archive) in all_archives() {
        for objective in [1e300, -1e300, f64::MAX, 1.0] {
            archive.add(&batch(&[0.0, 1.0], &[objective; 2], &[0.1, 0.1, 0.9, 0.9])).unwrap();
            let stats = archive.stats();
            assert!(
                stats.qd_score.is_finite() && stats.obj_mean.is_none_or(f64::is_finite),
                "{name} {stats:?}"
            );
            assert!(archive.thresholds().is_none_or(|t| t.iter().all(|t| t.is_finite())), "{name}");
        }
    }
}

#[test]
fn any_learning_rate_leaves_thresholds_finite() {
    for rate in [0.0, 1.0, 2.0, -1.0, 1e200] {
        let mut archive = unit_grid(CellConfig::annealing(rate, 0.0));
        for i in 0..2000 {
            let f = f64::from(i);
            archive.add(&batch(&[0.0, 1.0, 2.0], &[f, f + 1.0, 1e299], &[0.5; 6])).unwrap();
        }
        assert!(archive.thresholds().iter().all(|t| t.is_finite()), "{rate}");
    }
}

#[test]
fn a_covariance_without_symmetry_or_positivity_is_repaired() {
    let mut es = CmaEs::new(&[0.0; 3], 1.0, 4, None, RankOne::Pyribs).unwrap();
    es.set_covariance(&[1.0, 0.5, 0.0, -0.5, -2.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!((es.covariance(0, 1), es.covariance(1, 0)), (0.5, 0.5));
    assert!(es.eigenvalues().unwrap().iter().all(|v| *v > 0.0), "negative eigenvalues are mirrored");
    let mut rng = Rng::new(0, 0);
    assert!(es.ask(&mut rng).as_slice().iter().all(|x| x.is_finite()));
    es.tell(&[0, 1, 2, 3], 2).unwrap();
    assert_eq!(es.check_stop(false), None);
}

#[test]
fn a_singular_covariance_asks_for_a_restart() {
    let mut es = CmaEs::new(&[0.0; 3], 1.0, 4, None, RankOne::Pyribs).unwrap();
    es.set_covariance(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    es.ask(&mut Rng::new(0, 0));
    es.tell(&[0, 1, 2, 3], 2).unwrap();
    assert!(es.mean().iter().all(|x| x.is_finite()) && es.sigma().is_finite());
    assert_eq!(es.check_stop(false), Some(StopReason::IllConditioned));
}

#[test]
fn constructors_refuse_what_has_no_meaning() {
    let new =
        |x0: &[f64], sigma: f64, batch: usize| CmaEs::new(x0, sigma, batch, None, RankOne::Pyribs).is_err();
    assert!(new(&[], 1.0, 4) && new(&[f64::NAN], 1.0, 4) && new(&[0.0], 1.0, 0));
    assert!(new(&[0.0], 0.0, 4) && new(&[0.0], -1.0, 4) && new(&[0.0], f64::NAN, 4) && new(&[0.0], 1e200, 4));
    assert!("imp2".parse::<Ranker>().is_err());
    let error = unit_grid(CellConfig::elitist()).add(&batch(&[1.0], &[1.0, 2.0], &[0.5; 4])).unwrap_err();
    assert_eq!(error.to_string(), "rows of the solutions: expected 2, got 1; give one row per objective");
}
