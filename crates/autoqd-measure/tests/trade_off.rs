//! The counts of the paper's trade-off figure, from its own fine-grained table.

use std::collections::BTreeMap;
use std::path::Path;

use autoqd_measure::{Paper, PaperTask, TradeOff, trade_off};

/// Mean objective and Vendi score of every method, task by task.
type Tasks = BTreeMap<String, Vec<(String, Option<(f64, f64)>)>>;

fn paper() -> Tasks {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let paper = Paper::read(&results).unwrap();
    let of_task = |task: &PaperTask| {
        let pairs = task.mean.iter().zip(&task.vs).map(|(mean, vs)| Some((mean[0], vs[0])));
        paper.methods.iter().cloned().zip(pairs).collect()
    };
    paper.tasks.iter().map(|task| (task.task.clone(), of_task(task))).collect()
}

#[test]
fn the_diagonal_is_the_one_that_gives_the_papers_counts() {
    let tasks = paper();
    assert_eq!(tasks.len(), 6);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for methods in tasks.values() {
        let named: Vec<(&str, Option<(f64, f64)>)> =
            methods.iter().map(|(name, pair)| (name.as_str(), *pair)).collect();
        for ((name, _), point) in named.iter().zip(trade_off(&named)) {
            *counts.entry(name).or_default() += usize::from(point.is_some_and(TradeOff::above_diagonal));
        }
    }
    // The text: 5 of 6, the next best 4 of 6, no other more than 2.
    assert_eq!((counts["autoqd"], counts["regular"]), (5, 4));
    let others: Vec<usize> = ["aurora", "lstm-aurora", "dvd-es", "smerl"].map(|name| counts[name]).into();
    assert_eq!(others, [1, 0, 0, 2]);
}

#[test]
fn methods_that_do_not_differ_or_were_not_measured_have_no_place() {
    assert_eq!(trade_off(&[("a", Some((1.0, 2.0)))]), [None]);
    assert_eq!(trade_off(&[("a", Some((1.0, 2.0))), ("b", Some((1.0, 3.0)))]), [None, None]);
    let points = trade_off(&[("a", Some((1.0, 2.0))), ("b", None), ("c", Some((0.0, 3.0)))]);
    assert_eq!(points[0], Some(TradeOff { quality: 1.0, diversity: 0.0 }));
    assert_eq!(points[1], None);
}
