//! The lanes engine gives the same bits whatever the back end, the lane and the neighbours.
#![cfg(feature = "mujoco")]

use autoqd_env::lanes::{compile, stream};
use autoqd_env::{LocomotionTask, Perturbation};
use autoqd_lanes::{Backend, Batch, Compiled, LANES};
use std::sync::Arc;

const TASKS: [&str; 5] = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"];
const STEPS: usize = 300;

struct Scene {
    compiled: Arc<Compiled>,
    start: Vec<f64>,
}

fn scene(task: &str) -> Scene {
    let task = LocomotionTask::builtin(task, &Perturbation::default()).unwrap();
    let model = task.model();
    Scene { compiled: Arc::new(compile(model).unwrap()), start: model.qpos0().to_vec() }
}

/// The episode with a given number: its start and its controls depend on nothing else.
struct Episode {
    rng: autoqd_env::NumpyRng,
    control: Vec<f64>,
}

impl Episode {
    fn begin(scene: &Scene, batch: &mut Batch, lane: usize, number: u64) -> Self {
        let mut rng = stream(number);
        let qpos: Vec<f64> = scene.start.iter().map(|q| q + rng.uniform(-0.1, 0.1)).collect();
        let qvel: Vec<f64> = (0..scene.compiled.freedoms()).map(|_| rng.uniform(-0.1, 0.1)).collect();
        batch.set_state(lane, &qpos, &qvel);
        Self { rng, control: vec![0.0; scene.compiled.controls()] }
    }

    fn act(&mut self, batch: &mut Batch, lane: usize) {
        self.control.iter_mut().for_each(|u| *u = self.rng.uniform(-1.0, 1.0));
        batch.set_control(lane, &self.control);
    }
}

/// State, body position and contact forces of a lane, as bits.
fn bits(batch: &Batch, lane: usize) -> Vec<u64> {
    let model = batch.model();
    let mut qpos = vec![0.0; model.coordinates()];
    let mut qvel = vec![0.0; model.freedoms()];
    let mut wrenches = vec![[0.0; 6]; model.bodies()];
    batch.qpos(lane, &mut qpos);
    batch.qvel(lane, &mut qvel);
    batch.contact_wrenches(lane, &mut wrenches);
    let pose = batch.body_pose(1, lane);
    let numbers = qpos.iter().chain(&qvel).chain(wrenches.as_flattened()).chain(&pose.0);
    numbers.map(|x| x.to_bits()).collect()
}

/// Runs the episodes, one per lane, and returns their bits; lanes without a number stay idle.
fn run(scene: &Scene, backend: Backend, episodes: [Option<u64>; LANES]) -> Vec<Option<Vec<u64>>> {
    let mut batch = Batch::new(Arc::clone(&scene.compiled), backend).unwrap();
    let mut running: Vec<Option<Episode>> = episodes
        .iter()
        .enumerate()
        .map(|(lane, number)| number.map(|n| Episode::begin(scene, &mut batch, lane, n)))
        .collect();
    let active = (0..LANES).filter(|&l| episodes[l].is_some()).fold(0, |mask, l| mask | 1 << l);
    for _ in 0..STEPS {
        for (lane, episode) in running.iter_mut().enumerate() {
            if let Some(episode) = episode {
                episode.act(&mut batch, lane);
            }
        }
        batch.step(active, 2);
    }
    assert_eq!(batch.diverged() & active, 0);
    (0..LANES).map(|lane| episodes[lane].map(|_| bits(&batch, lane))).collect()
}

#[test]
fn every_back_end_gives_the_same_bits() {
    for task in TASKS {
        let scene = scene(task);
        let episodes = std::array::from_fn(|lane| Some(lane as u64));
        assert!(
            std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1") || Backend::available().len() > 1,
            "nothing to compare: build with AUTOQD_CPUS=test"
        );
        let results: Vec<_> =
            Backend::available().into_iter().map(|b| (b, run(&scene, b, episodes))).collect();
        for (backend, result) in &results[1..] {
            assert!(*result == results[0].1, "{task}: {backend} differs from {}", results[0].0);
        }
    }
}

#[test]
fn neither_lane_nor_neighbours_matter() {
    let backend = Backend::best().unwrap();
    for task in TASKS {
        let scene = scene(task);
        let together = run(&scene, backend, std::array::from_fn(|lane| Some(lane as u64)));
        let turned = run(&scene, backend, std::array::from_fn(|lane| Some((lane as u64 + 3) % 8)));
        for lane in 0..LANES {
            assert!(turned[lane] == together[(lane + 3) % 8], "{task}: lane {lane}");
        }
        let mut alone = [None; LANES];
        alone[5] = Some(2);
        assert!(run(&scene, backend, alone)[5] == together[2], "{task}: alone");
    }
}

#[test]
fn a_diverging_lane_stops_and_touches_no_other() {
    for backend in Backend::available() {
        for task in TASKS {
            let scene = scene(task);
            let undisturbed = run(&scene, backend, std::array::from_fn(|lane| Some(lane as u64)));
            let mut batch = Batch::new(Arc::clone(&scene.compiled), backend).unwrap();
            let mut running: Vec<Episode> =
                (0..LANES).map(|lane| Episode::begin(&scene, &mut batch, lane, lane as u64)).collect();
            let bad = [f64::NAN, 1e9, f64::INFINITY, 1e200];
            for step in 0..STEPS {
                (0..LANES).for_each(|lane| running[lane].act(&mut batch, lane));
                if step % 20 == 3 {
                    // A velocity that blows up at once or within a few steps, and garbage as a position.
                    let mut qpos = scene.start.clone();
                    let mut qvel = vec![0.0; scene.compiled.freedoms()];
                    qvel[2] = bad[step / 20 % 4];
                    batch.set_state(3, &qpos, &qvel);
                    qpos[0] = f64::NAN;
                    batch.set_state(6, &qpos, &qvel);
                }
                batch.step(u8::MAX, 2);
            }
            assert_ne!(batch.diverged() & 1 << 6, 0, "{task}: NaN must be noticed");
            assert_eq!(batch.diverged() & !(1 << 6 | 1 << 3), 0, "{task}: only the bad ones");
            for lane in [0, 1, 2, 4, 5, 7] {
                assert!(Some(bits(&batch, lane)) == undisturbed[lane], "{task}, {backend}: lane {lane}");
            }
            // The lane can be used again, as if nothing had happened.
            for lane in [3, 6] {
                running[lane] = Episode::begin(&scene, &mut batch, lane, lane as u64);
            }
            for _ in 0..STEPS {
                [3, 6].into_iter().for_each(|lane| running[lane].act(&mut batch, lane));
                batch.step(1 << 3 | 1 << 6, 2);
            }
            for lane in [3, 6] {
                assert!(
                    Some(bits(&batch, lane)) == undisturbed[lane],
                    "{task}, {backend}: reused lane {lane}"
                );
            }
        }
    }
}

#[test]
fn planar_algebra_agrees_with_the_general_one() {
    for task in ["half-cheetah", "hopper", "swimmer", "walker2d"] {
        let planar = scene(task);
        assert!(planar.compiled.is_planar(), "{task} moves in a plane");
        let general = Compiled::clone(&planar.compiled).without_planar_algebra();
        let general = Scene { compiled: Arc::new(general), start: planar.start.clone() };
        let backend = Backend::best().unwrap();
        let mut batches = [&planar, &general].map(|s| Batch::new(Arc::clone(&s.compiled), backend).unwrap());
        let mut worst = 0.0_f64;
        for (scene, batch) in [&planar, &general].into_iter().zip(&mut batches) {
            let mut episode = Episode::begin(scene, batch, 0, 4);
            for _ in 0..30 {
                episode.act(batch, 0);
                batch.step(1, 1);
            }
        }
        let values = |batch: &Batch| bits(batch, 0).into_iter().map(f64::from_bits).collect::<Vec<_>>();
        for (a, b) in values(&batches[0]).iter().zip(values(&batches[1])) {
            worst = worst.max((a - b).abs() / (1.0 + b.abs()));
        }
        assert!(worst < 1e-9, "{task}: {worst:e}");
    }
}

/// What episodes of every task end in. An archive that was searched with one version is continued by the next, so
/// faster code keeps every bit; a change of these numbers needs a reason and a word in the change log.
#[test]
fn faster_code_keeps_every_bit() {
    const DIGESTS: [u64; 5] = [
        0x7608_0146_33f5_f846,
        0xc6db_fd12_da7a_b984,
        0xbf83_aef0_88ed_50a3,
        0xf00b_17db_47ec_dd5a,
        0x8b3f_3011_3807_de58,
    ];
    let digests = TASKS.map(|task| {
        let episodes =
            run(&scene(task), Backend::best().unwrap(), std::array::from_fn(|lane| Some(lane as u64)));
        let words = episodes.into_iter().flatten().flatten();
        // FNV-1a over whole words.
        words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
    });
    assert_eq!(digests, DIGESTS, "{digests:#x?}");
}
