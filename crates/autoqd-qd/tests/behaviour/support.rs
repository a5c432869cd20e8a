//! Small helpers of the tests.

use autoqd_qd::{
    AnyStrategy, Batch, EvolutionStrategy, GridArchive, GridConfig, OpenAiOptions, RankOne, Rows,
    StrategyConfig,
};

/// A 5 x 5 grid over the unit square for solutions of one number.
pub fn unit_grid(cell: autoqd_qd::CellConfig) -> GridArchive {
    GridConfig::new(1, &[5, 5], &[(0.0, 1.0); 2]).cell(cell).build().unwrap()
}

/// A batch of one-number solutions with two measures.
pub fn batch<'a>(solutions: &'a [f64], objective: &'a [f64], measures: &'a [f64]) -> Batch<'a> {
    Batch::new(Rows::new(solutions, 1).unwrap(), objective, Rows::new(measures, 2).unwrap())
}

/// Every strategy, by name.
pub fn strategies() -> Vec<(&'static str, StrategyConfig)> {
    let openai = OpenAiOptions { mirror_sampling: false, lr: 0.02, ..OpenAiOptions::default() };
    vec![
        ("cma_es", StrategyConfig::CmaEs { rank_one: RankOne::Pyribs }),
        ("cma_es textbook", StrategyConfig::CmaEs { rank_one: RankOne::Textbook }),
        ("sep_cma_es", StrategyConfig::SepCmaEs { rank_one: RankOne::Pyribs }),
        ("sep_cma_es textbook", StrategyConfig::SepCmaEs { rank_one: RankOne::Textbook }),
        ("lm_ma_es", StrategyConfig::LmMaEs { vectors: None }),
        ("openai_es", StrategyConfig::OpenAiEs(openai)),
        ("isotropic", StrategyConfig::Isotropic),
    ]
}

/// Candidates by descending value; NaN last.
pub fn rank(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// Everything that a strategy would store is a finite number. serde_json writes non-finite numbers as null, which no
/// field of a healthy strategy is, except optional ones that are known to be empty.
pub fn assert_finite(place: &str, es: &AnyStrategy) {
    assert!(es.sigma().is_finite() && es.mean().iter().all(|x| x.is_finite()), "{place}: mean or sigma");
    let mut state = serde_json::to_value(es).unwrap();
    let inner = state.as_object_mut().unwrap().values_mut().next().unwrap().as_object_mut().unwrap();
    for optional in ["bounds", "update_ratio"] {
        inner.remove(optional);
    }
    if let Some(covariance) = inner.get_mut("covariance") {
        covariance.as_object_mut().unwrap().retain(|k, v| k != "reference" || !v.is_null());
    }
    assert!(!state.to_string().contains("null"), "{place}: a number is not finite");
}
