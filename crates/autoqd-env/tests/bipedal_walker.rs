//! BipedalWalker depends on seed and actions alone. That it is Gymnasium's, bit for bit, is checked by the golden
//! tests.
#![cfg(feature = "box2d")]

use autoqd_env::{Action, BipedalWalker, BipedalWalkerTask, Environment, Seed, WorldReuse};

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

/// One walker plays all episodes, or each of several threads plays some of them.
#[test]
fn threads_and_earlier_episodes_change_nothing() {
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
