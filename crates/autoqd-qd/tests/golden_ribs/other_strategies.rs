//! other_es*: sep-CMA-ES, LM-MA-ES and OpenAI-ES, where candidates follow from the noise exactly.

use autoqd_qd::{AnyStrategy, EvolutionStrategy, OpenAiOptions, RankOne, StrategyConfig};
use serde_json::Value;

use super::files::{Recorded, assert_state, integer, integers, list, load, matrix, number, numbers};
use super::strategies::ranked_flat;

fn strategy(run: &Value) -> StrategyConfig {
    let none = serde_json::Map::new();
    let kwargs = run["kwargs"].as_object().unwrap_or(&none);
    match run["es"].as_str().unwrap() {
        "sep_cma_es" => {
            assert!(kwargs.is_empty(), "unknown options {kwargs:?}");
            StrategyConfig::SepCmaEs { rank_one: RankOne::Pyribs }
        }
        "lm_ma_es" => {
            assert!(kwargs.keys().all(|k| k == "n_vectors"), "unknown options {kwargs:?}");
            StrategyConfig::LmMaEs { vectors: kwargs.get("n_vectors").map(integer) }
        }
        "openai_es" => StrategyConfig::OpenAiEs(openai_options(kwargs)),
        other => panic!("unknown strategy {other}"),
    }
}

fn openai_options(kwargs: &serde_json::Map<String, Value>) -> OpenAiOptions {
    let mut options = OpenAiOptions::default();
    for (name, value) in kwargs {
        match name.as_str() {
            "mirror_sampling" => options.mirror_sampling = value.as_bool().unwrap(),
            "lr" => options.lr = number(value),
            "beta1" => options.beta1 = number(value),
            "beta2" => options.beta2 = number(value),
            "epsilon" => options.epsilon = number(value),
            "l2_coeff" => options.l2_coeff = number(value),
            _ => panic!("unknown option {name}"),
        }
    }
    options
}

#[test]
fn golden_other_strategies_replay() {
    for (name, file) in load("other_es") {
        for (r, run) in list(&file["runs"]).iter().enumerate() {
            let (x0, sigma0) = (numbers(&run["x0"]), number(&run["sigma0"]));
            let mut es = strategy(run).build(&x0, sigma0, integer(&run["batch_size"]), None).unwrap();
            for (g, generation) in list(&run["generations_data"]).iter().enumerate() {
                let place = format!("{name} run {r} {} generation {g}", run["es"]);
                let own = es.ask(&mut Recorded::new(matrix(&generation["z"]))).as_slice().to_vec();
                assert_state(&format!("{place}: solutions"), &own, &matrix(&generation["solutions"]));
                let ranking = integers(&generation["ranking_indices"]);
                es.tell(&ranking, integer(&generation["num_parents"])).unwrap();
                check_after(&place, &es, generation);
            }
        }
    }
}

fn check_after(place: &str, es: &AnyStrategy, generation: &Value) {
    let after = &generation["after"];
    assert_state(&format!("{place}: mean"), es.mean(), &numbers(&after["mean"]));
    let state = |what: &str, got: &[f64], expected: Vec<f64>| {
        assert_state(&format!("{place}: {what}"), got, &expected);
    };
    match es {
        AnyStrategy::SepCmaEs(es) => {
            state("sigma", &[es.sigma()], vec![number(&after["sigma"])]);
            state("pc", es.covariance_path(), numbers(&after["pc"]));
            state("ps", es.step_size_path(), numbers(&after["ps"]));
            state("cov_diag", es.variances(), numbers(&after["cov_diag"]));
        }
        AnyStrategy::LmMaEs(es) => {
            state("sigma", &[es.sigma()], vec![number(&after["sigma"])]);
            state("ps", es.step_size_path(), numbers(&after["ps"]));
            state("m_rows", es.directions().as_slice(), matrix(&after["m_rows"]));
        }
        AnyStrategy::OpenAiEs(es) => {
            let ratio = number(&after["last_update_ratio"]);
            if ratio.is_finite() {
                state("last_update_ratio", &[es.update_ratio().unwrap()], vec![ratio]);
            }
        }
        _ => panic!("{place}: not one of the other strategies"),
    }
    let stop = es.check_stop(ranked_flat(generation)).is_some();
    assert_eq!(stop, after["check_stop"].as_bool().unwrap(), "{place}: stop test");
}
