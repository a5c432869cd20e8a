//! BipedalWalker replays Gymnasium's episodes bit for bit, whatever threads or earlier episodes there were.
#![cfg(feature = "box2d")]

use std::io::Read;
use std::path::Path;

use autoqd_env::{Action, BipedalWalker, BipedalWalkerTask, Environment, Seed, WorldReuse};
use serde_json::Value;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/envs/BipedalWalker-v3.json.gz");
    let mut json = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Numbers stored as the shortest decimals of single-precision values.
fn singles(value: &Value) -> Vec<f64> {
    numbers(value).into_iter().map(|x| f64::from(x as f32)).collect()
}

fn replay(walker: &mut BipedalWalker, episode: &Value, dtype: &str) -> usize {
    let mut observation = vec![0.0; 24];
    let seed = episode["reset_seed"].as_u64().map(Seed::from);
    walker.reset(seed.as_ref(), &mut observation).unwrap();
    check_reset(walker, episode, &observation);
    let mut total = 0.0;
    let steps = episode["steps"].as_u64().unwrap() as usize;
    for t in 0..steps {
        let action = numbers(&episode["action"][t]);
        let single: Vec<f32> = action.iter().map(|&a| a as f32).collect();
        let action = if dtype == "float32" { Action::F32(&single) } else { Action::F64(&action) };
        let transition = walker.step(action, &mut observation).unwrap();
        assert_eq!(observation, singles(&episode["obs"][t]), "observation {t}");
        assert_eq!(transition.reward, episode["reward"][t].as_f64().unwrap(), "reward {t}");
        assert_eq!(
            u64::from(transition.terminated),
            episode["terminated"][t].as_u64().unwrap(),
            "terminated {t}"
        );
        assert_eq!(
            u64::from(transition.truncated),
            episode["truncated"][t].as_u64().unwrap(),
            "truncated {t}"
        );
        assert_eq!(walker.feet().map(f64::from).to_vec(), numbers(&episode["feet"][t]), "feet {t}");
        assert_eq!(walker.hull().map(f64::from).to_vec(), singles(&episode["hull"][t]), "hull {t}");
        total += transition.reward;
    }
    assert_eq!(total, episode["return"].as_f64().unwrap());
    let mut measures = [0.0; 2];
    walker.measures(&mut measures);
    assert_eq!(measures.to_vec(), numbers(&episode["descriptor"]));
    steps
}

fn check_reset(walker: &BipedalWalker, episode: &Value, observation: &[f64]) {
    assert_eq!(observation, singles(&episode["obs0"]));
    assert_eq!(walker.terrain_heights(), numbers(&episode["terrain_y"]));
    assert_eq!(walker.hull().map(f64::from).to_vec(), singles(&episode["hull0"]));
    let (rng, expected) = (walker.rng(), &episode["rng_after_reset"]);
    assert_eq!(format!("{:x}", rng.state()), expected["state"].as_str().unwrap().trim_start_matches('0'));
    assert_eq!(format!("{:x}", rng.increment()), expected["inc"].as_str().unwrap().trim_start_matches('0'));
    let half = (expected["has_uint32"] == 1).then(|| expected["uinteger"].as_u64().unwrap() as u32);
    assert_eq!(rng.stored_half(), half);
}

fn walker_of(rollout: &Value, reuse: WorldReuse) -> BipedalWalker {
    let knob = |name: &str, default| rollout[name].as_f64().unwrap_or(default);
    let task =
        BipedalWalkerTask::new(knob("friction", BipedalWalkerTask::FRICTION), knob("mass", 1.0)).unwrap();
    task.walker(reuse).unwrap()
}

#[test]
fn every_golden_episode() {
    let file = golden();
    let mut steps = 0;
    for rollout in file["rollouts"].as_array().unwrap() {
        // A rollout of several episodes was recorded on one Gymnasium environment, which keeps its world.
        let mut walker = walker_of(rollout, WorldReuse::Always);
        for episode in rollout["episodes"].as_array().unwrap() {
            steps += replay(&mut walker, episode, rollout["action_dtype"].as_str().unwrap());
        }
    }
    assert_eq!(steps, 4758);
}

#[test]
fn a_new_world_per_episode_forgets_earlier_episodes() {
    let file = golden();
    let rollouts = file["rollouts"].as_array().unwrap();
    let plain = |r: &&Value| r["friction"].is_null() && r["mass"].is_null() && r["kind"] != "gait";
    let mut reused = walker_of(&rollouts[0], WorldReuse::Never);
    for rollout in rollouts.iter().filter(plain).rev() {
        replay(&mut reused, &rollout["episodes"][0], rollout["action_dtype"].as_str().unwrap());
    }
}

/// Everything an episode of a small open-loop gait gives, as bits.
fn trace(walker: &mut BipedalWalker, seed: u64) -> Vec<u64> {
    let mut observation = [0.0; 24];
    walker.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
    let mut bits = Vec::new();
    for t in 0..120 {
        let action = [0.11, 0.17, 0.13, 0.19].map(|w: f64| (w * f64::from(t) + seed as f64).sin());
        let transition = walker.step(Action::F64(&action), &mut observation).unwrap();
        bits.extend(observation.iter().chain([&transition.reward]).map(|x| x.to_bits()));
        if transition.done() {
            break;
        }
    }
    bits
}

#[test]
fn threads_change_nothing() {
    let make = || BipedalWalkerTask::default().walker(WorldReuse::Never).unwrap();
    let run = |threads: u64| -> Vec<Vec<u64>> {
        let worker = |first: u64| {
            let mut walker = make();
            (first..24)
                .step_by(threads as usize)
                .map(|seed| (seed, trace(&mut walker, seed)))
                .collect::<Vec<_>>()
        };
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || worker(first))).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        all.sort_by_key(|(seed, _)| *seed);
        all.into_iter().map(|(_, bits)| bits).collect()
    };
    let one = run(1);
    assert!(one.iter().all(|bits| bits.len() > 25 * 20));
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn memory_does_not_grow_over_resets() {
    no_growth(5_000);
}

#[test]
#[ignore = "20 s of resets"]
fn memory_does_not_grow_over_a_hundred_thousand_resets() {
    no_growth(100_000);
}

fn no_growth(resets: u64) {
    for reuse in [WorldReuse::Never, WorldReuse::Always] {
        let mut walker = BipedalWalkerTask::default().walker(reuse).unwrap();
        let mut cycle = |resets: u64| {
            for seed in 0..resets {
                walker.reset(Some(&Seed::from(seed)), &mut [0.0; 24]).unwrap();
            }
            resident_kilobytes()
        };
        let Some(before) = cycle(500) else {
            eprintln!("skipped: no /proc/self/statm");
            return;
        };
        let after = cycle(resets).unwrap();
        // A leak of one body per reset would be 150 bytes each.
        assert!(after < before + 500, "{before} kB before {resets} resets, {after} kB after ({reuse:?})");
    }
}

fn resident_kilobytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4)
}
