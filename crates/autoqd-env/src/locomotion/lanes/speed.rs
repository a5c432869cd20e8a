//! How fast both simulators step a task: observations, rewards and resets included.

use super::choice::{reference_worlds, worlds_with};
use crate::{Action, EnvError, LocomotionTask, NumpyRng, Seed, Transition, Worlds};
use autoqd_lanes::Backend;
use std::time::{Duration, Instant};

/// Steps of the task per second of processor time on one core.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// libmujoco with the exact tuning.
    pub reference: f64,
    /// The lanes engine, per back end of this CPU.
    pub lanes: Vec<(Backend, f64)>,
}

/// One simulator at work under random actions; episodes follow each other as in Gymnasium.
struct Runner {
    worlds: Box<dyn Worlds>,
    rng: NumpyRng,
    next_seed: u64,
    actions: Vec<f32>,
    observations: Vec<f64>,
    transitions: Vec<Transition>,
    rates: Vec<f64>,
}

impl Runner {
    fn new(worlds: Box<dyn Worlds>) -> Result<Self, EnvError> {
        let (lanes, spec) = (worlds.lanes(), worlds.spec());
        let (width, length) = (spec.action_size, spec.observation_size);
        let mut runner = Self {
            actions: vec![0.0; lanes * width],
            observations: vec![0.0; lanes * length],
            transitions: vec![Transition::default(); lanes],
            rng: NumpyRng::from_seed(&Seed::from(5_u64)),
            next_seed: 0,
            rates: Vec::new(),
            worlds,
        };
        (0..lanes).try_for_each(|lane| runner.reset(lane))?;
        Ok(runner)
    }

    fn reset(&mut self, lane: usize) -> Result<(), EnvError> {
        let length = self.worlds.spec().observation_size;
        let observation = &mut self.observations[lane * length..(lane + 1) * length];
        self.next_seed += 1;
        self.worlds.reset(lane, Some(&Seed::from(self.next_seed)), observation)
    }

    fn step(&mut self) -> Result<(), EnvError> {
        let lanes = self.worlds.lanes();
        self.actions.iter_mut().for_each(|a| *a = self.rng.uniform(-1.0, 1.0) as f32);
        let active = [true; 64];
        let (o, t) = (&mut self.observations, &mut self.transitions);
        self.worlds.step(&active[..lanes], Action::F32(&self.actions), o, t)?;
        for lane in 0..lanes {
            if self.transitions[lane].done() {
                self.reset(lane)?;
            }
        }
        Ok(())
    }

    /// Steps for at least `duration` of processor time and keeps the rate.
    fn run(&mut self, duration: Duration) -> Result<(), EnvError> {
        let start = processor_time();
        let mut steps = 0;
        loop {
            for _ in 0..20 {
                self.step()?;
            }
            steps += 20 * self.worlds.lanes();
            let elapsed = processor_time() - start;
            if elapsed >= duration {
                self.rates.push(steps as f64 / elapsed.as_secs_f64());
                return Ok(());
            }
        }
    }

    fn median(&mut self) -> f64 {
        self.rates.sort_by(f64::total_cmp);
        self.rates[self.rates.len() / 2]
    }
}

/// Processor time of this thread where the system reports it, else wall-clock time: a busy machine then counts less.
fn processor_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .map(Duration::from_nanos);
    on_cpu.unwrap_or_else(|| start.elapsed())
}

/// Measures both simulators in turns of `turn` each, and reports medians over `rounds` turns. A model that the lanes engine
/// does not support has the speed of the reference only.
///
/// # Errors
/// If a world cannot be made or stepped.
pub fn measure_speed(task: &LocomotionTask, rounds: usize, turn: Duration) -> Result<Speed, EnvError> {
    let mut reference = Runner::new(reference_worlds(task)?)?;
    let mut lanes = Vec::new();
    for backend in Backend::available() {
        if let Ok(worlds) = worlds_with(task, backend) {
            lanes.push((backend, Runner::new(worlds)?));
        }
    }
    for _ in 0..rounds.max(1) {
        reference.run(turn)?;
        for (_, runner) in &mut lanes {
            runner.run(turn)?;
        }
    }
    let lanes = lanes.iter_mut().map(|(backend, runner)| (*backend, runner.median())).collect();
    Ok(Speed { reference: reference.median(), lanes })
}
