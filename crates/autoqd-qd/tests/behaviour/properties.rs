//! Random sequences of operations against a model that remembers everything.

use std::collections::BTreeMap;

use autoqd_qd::{Archive, CellConfig, GridArchive, Reserve, redescribe_together};
use proptest::prelude::*;

use super::support::{batch, unit_grid};

#[derive(Debug, Clone)]
enum Operation {
    /// Objective and measures of each candidate.
    Add(Vec<(f64, f64, f64)>),
    AddSingle(Vec<(f64, f64, f64)>),
    Clear,
}

fn candidate() -> impl Strategy<Value = (f64, f64, f64)> {
    let odd = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(1e300), Just(-1e300)];
    let coordinate = prop_oneof![8 => -0.3..1.3, 1 => odd.clone()];
    // Small integers make ties and rejections by equality common.
    let objective = prop_oneof![6 => (-5i32..20).prop_map(f64::from), 3 => -5.0..20.0, 1 => odd];
    (objective, coordinate.clone(), coordinate)
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let rows = || prop::collection::vec(candidate(), 0..20);
    let one = prop_oneof![
        8 => rows().prop_map(Operation::Add),
        4 => rows().prop_map(Operation::AddSingle),
        1 => Just(Operation::Clear),
    ];
    prop::collection::vec(one, 1..12)
}

/// What must be true of the contents, from the history of usable candidates since the last clear.
#[derive(Default)]
struct History {
    best_of_cell: BTreeMap<usize, f64>,
    stored_max: Option<f64>,
    dropped: u64,
}

fn apply(archive: &mut GridArchive, history: &mut History, operation: &Operation) {
    let (Operation::Add(rows) | Operation::AddSingle(rows)) = operation else {
        archive.clear();
        *history = History { dropped: history.dropped, ..History::default() };
        return;
    };
    let solutions: Vec<f64> = (0..rows.len()).map(|i| i as f64).collect();
    let objective: Vec<f64> = rows.iter().map(|r| r.0).collect();
    let measures: Vec<f64> = rows.iter().flat_map(|r| [r.1, r.2]).collect();
    let batch = batch(&solutions, &objective, &measures);
    let before: Vec<f64> = archive.elites().objectives().to_vec();
    let single = matches!(operation, Operation::AddSingle(_));
    let info = if single { archive.add_single(&batch) } else { archive.add(&batch) }.unwrap();
    assert_eq!(info.status.len(), rows.len());
    for (i, &(f, m1, m2)) in rows.iter().enumerate() {
        if [f, m1, m2].iter().all(|v| v.is_finite()) {
            let best = history.best_of_cell.entry(archive.cell_of(&[m1, m2]).unwrap()).or_insert(f);
            *best = best.max(f);
        } else {
            history.dropped += 1;
            assert_eq!(info.status[i] as u8, 0);
        }
        if info.stored[i] {
            history.stored_max = Some(history.stored_max.map_or(f, |m: f64| m.max(f)));
        }
    }
    if info.num_accepted() == 0 {
        assert_eq!(archive.elites().objectives(), before, "nothing accepted, nothing changed");
    }
}

fn check(archive: &GridArchive, history: &History, elitist: bool) {
    let stats = archive.stats();
    let objectives: Vec<f64> = archive.elites().iter().map(|e| e.objective).collect();
    let offset = archive.config().qd_score_offset;
    let qd_score: f64 = objectives.iter().map(|f| f - offset).sum();
    let scale = objectives.iter().map(|f| f.abs()).sum::<f64>().max(1.0);
    assert!((stats.qd_score - qd_score).abs() <= 1e-9 * scale);
    assert!((stats.norm_qd_score - qd_score / 25.0).abs() <= 1e-9 * scale);
    assert_eq!(stats.num_elites, archive.cells().collect::<std::collections::BTreeSet<_>>().len());
    assert_eq!(stats.coverage, stats.num_elites as f64 / 25.0);
    assert_eq!(stats.obj_max, history.stored_max, "from the history, not the contents");
    assert_eq!(stats.obj_max, archive.best_elite().map(|e| e.objective));
    assert_eq!(archive.non_finite_rows(), history.dropped);
    assert!(archive.thresholds().iter().all(|t| t.is_finite()));
    for (i, cell) in archive.cells().enumerate() {
        let elite = archive.elites().get(i).unwrap();
        assert_eq!(archive.cell_of(elite.measures).unwrap(), cell, "elites live in their own cell");
        assert_eq!(archive.elite_index(cell), Some(i));
    }
    if elitist {
        let held: BTreeMap<usize, f64> = archive.cells().zip(objectives).collect();
        assert_eq!(held, history.best_of_cell, "an elitist archive holds the best of every cell");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn statistics_and_contents_follow_from_the_history(operations in operations(), soft in any::<bool>()) {
        let cell = if soft { CellConfig::annealing(0.3, -2.0) } else { CellConfig::elitist() };
        let mut archive = unit_grid(cell.qd_score_offset(-7.0));
        let mut history = History::default();
        for operation in &operations {
            apply(&mut archive, &mut history, operation);
            check(&archive, &history, !soft);
        }
    }

    #[test]
    fn describing_anew_and_back_loses_nothing_that_the_reserve_holds(
        rows in prop::collection::vec(candidate(), 1..60),
        shift in -1.0..1.0,
    ) {
        let mut archive = unit_grid(CellConfig::elitist());
        apply(&mut archive, &mut History::default(), &Operation::Add(rows));
        let before: BTreeMap<u64, Vec<f64>> =
            archive.elites().iter().map(|e| (e.id, e.measures.to_vec())).collect();
        let cells: BTreeMap<usize, u64> = archive.cells().zip(archive.elites().ids().iter().copied()).collect();
        let mut reserve = Reserve::new(1000, archive.schema().clone());
        // Everything moves and is squeezed into a few cells, then moves back.
        let squeeze = |pool: &autoqd_qd::Population| {
            pool.measures().as_slice().iter().map(|m| m.clamp(-1.0, 2.0) * 0.3 + shift).collect()
        };
        let there = redescribe_together(&mut [&mut archive], &mut reserve, squeeze).unwrap();
        prop_assert_eq!(there.stored[0] + there.reserved, before.len());
        let restore = |pool: &autoqd_qd::Population| pool.ids().iter().flat_map(|id| before[id].clone()).collect();
        let back = redescribe_together(&mut [&mut archive], &mut reserve, restore).unwrap();
        prop_assert_eq!((back.reserved, back.dropped), (0, 0));
        let after: BTreeMap<usize, u64> = archive.cells().zip(archive.elites().ids().iter().copied()).collect();
        prop_assert_eq!(after, cells);
    }
}
