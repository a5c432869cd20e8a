//! Feeds recorded actions to our environments.

use super::Options;
use super::recording::{Dtype, Episode, Generator, Recording, Rollout};
use super::report::{Precision, Report};
use super::world::{MACHINES, Machine, World};
use crate::{Action, EnvError};

/// Replays a recording. The last digit of a distance depends on the machine that recorded it (see
/// [`Blas`](crate::Blas)), so where one differs the kinds of machines are tried in turn, and the best is reported.
pub(super) fn replay(recording: &Recording, options: Options) -> Result<Report, EnvError> {
    let mut best: Option<Report> = None;
    for &machine in MACHINES {
        let report = replay_as(recording, options, machine)?;
        if best.as_ref().is_none_or(|best| report.mismatches < best.mismatches) {
            best = Some(report);
        }
        if best.as_ref().is_some_and(|best| best.mismatches == 0) {
            break;
        }
    }
    Ok(best.unwrap_or_default())
}

fn replay_as(recording: &Recording, options: Options, machine: Machine) -> Result<Report, EnvError> {
    let mut report = Report { env: recording.env.clone(), ..Report::default() };
    #[cfg(feature = "mujoco")]
    super::constants::compare(recording, &mut report)?;
    let mut used: Option<World> = None;
    for (index, rollout) in recording.rollouts.iter().enumerate() {
        let plain = rollout.perturbation().is_none() && rollout.episodes.len() == 1;
        let mut world = match used.take() {
            Some(world) if options.reuse && plain => world,
            _ => World::new(&recording.env, rollout, machine)?,
        };
        check_limit(recording, &mut world, &mut report);
        let run = Run { index, rollout, options };
        for (number, episode) in rollout.episodes.iter().enumerate() {
            run.episode(number, episode, &mut world, &mut report)?;
        }
        report.rollouts += 1;
        // A world that ran with other physics or was reused the Gymnasium way is not the next rollout's.
        used = plain.then_some(world);
    }
    Ok(report)
}

fn check_limit(recording: &Recording, world: &mut World, report: &mut Report) {
    let limit = world.environment().spec().max_episode_steps;
    let place = || recording.env.clone();
    report.compare_one(&place, "max_episode_steps", recording.max_episode_steps as f64, limit as f64);
}

/// One rollout being replayed.
struct Run<'a> {
    index: usize,
    rollout: &'a Rollout,
    options: Options,
}

impl Run<'_> {
    fn place(&self, number: usize, moment: &str) -> String {
        let reused = if self.options.reuse { ", used world" } else { "" };
        format!("rollout {} ({}{reused}), episode {number}, {moment}", self.index, self.rollout.kind)
    }

    fn episode(
        &self,
        number: usize,
        episode: &Episode,
        world: &mut World,
        report: &mut Report,
    ) -> Result<(), EnvError> {
        let mut observation = vec![0.0; world.environment().spec().observation_size];
        let seed = episode.seed()?;
        world.environment().reset(seed.as_ref(), &mut observation)?;
        let place = || self.place(number, "reset");
        compare_start(episode, world, &observation, report, &place);
        let mut total = 0.0;
        for step in 0..episode.steps {
            let place = || self.place(number, &format!("step {step}"));
            let action = &episode.action[step];
            let single: Vec<f32> = action.iter().map(|&value| value as f32).collect();
            let action = match self.rollout.action_dtype {
                Dtype::Float32 => Action::F32(&single),
                Dtype::Float64 => Action::F64(action),
            };
            let transition = match world.environment().step(action, &mut observation) {
                Ok(transition) => transition,
                Err(error) => {
                    report.fail(|| format!("{}: {error}", place()));
                    return Ok(());
                }
            };
            report.steps += 1;
            total += transition.reward;
            let ends = [transition.terminated, transition.truncated].map(|end| f64::from(u8::from(end)));
            report.compare_one(&place, "reward", episode.reward[step], transition.reward);
            report.compare_one(&place, "terminated", episode.terminated[step].into(), ends[0]);
            report.compare_one(&place, "truncated", episode.truncated[step].into(), ends[1]);
            compare_step(episode, step, world, &observation, report, &place);
        }
        let place = || self.place(number, "end");
        report.compare_one(&place, "return", episode.total, total);
        if let Some(descriptor) = &episode.descriptor {
            let mut measures = vec![0.0; world.environment().spec().measures.len()];
            world.environment().measures(&mut measures);
            report.compare(&place, "descriptor", descriptor, &measures, Precision::Double);
        }
        Ok(())
    }
}

fn observation_precision(world: &World) -> Precision {
    if world.is_single() { Precision::Single } else { Precision::Double }
}

fn compare_start(
    episode: &Episode,
    world: &World,
    observation: &[f64],
    report: &mut Report,
    place: &dyn Fn() -> String,
) {
    report.compare(place, "obs0", &episode.obs0, observation, observation_precision(world));
    let doubles = [
        ("qpos0", &episode.qpos0, world.qpos()),
        ("qvel0", &episode.qvel0, world.qvel()),
        ("terrain_y", &episode.terrain_y, world.terrain()),
    ];
    for (what, expected, got) in doubles {
        if let Some(expected) = expected {
            report.compare(place, what, expected, got, Precision::Double);
        }
    }
    if let Some(hull) = &episode.hull0 {
        report.compare(place, "hull0", hull, &world.hull(), Precision::Single);
    }
    if let Some(generator) = &episode.rng_after_reset {
        compare_generator(generator, world, report, place);
    }
}

fn compare_generator(generator: &Generator, world: &World, report: &mut Report, place: &dyn Fn() -> String) {
    let rng = world.rng();
    let half = (generator.has_uint32 != 0).then_some(generator.uinteger);
    let parse = |text: &str| u128::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    report.values += 3;
    if parse(&generator.state) != Some(rng.state()) {
        report.fail(|| {
            format!("{}: generator state is {:x}, expected {}", place(), rng.state(), generator.state)
        });
    }
    if parse(&generator.inc) != Some(rng.increment()) {
        report.fail(|| {
            format!("{}: generator inc is {:x}, expected {}", place(), rng.increment(), generator.inc)
        });
    }
    if half != rng.stored_half() {
        let got = rng.stored_half();
        report
            .fail(|| format!("{}: stored half word of the generator is {got:?}, expected {half:?}", place()));
    }
}

fn compare_step(
    episode: &Episode,
    step: usize,
    world: &mut World,
    observation: &[f64],
    report: &mut Report,
    place: &dyn Fn() -> String,
) {
    report.compare(place, "obs", &episode.obs[step], observation, observation_precision(world));
    for (what, expected, got) in
        [("qpos", &episode.qpos, world.qpos()), ("qvel", &episode.qvel, world.qvel())]
    {
        if let Some(expected) = expected {
            report.compare(place, what, &expected[step], got, Precision::Double);
        }
    }
    if let Some(hull) = &episode.hull {
        report.compare(place, "hull", &hull[step], &world.hull(), Precision::Single);
    }
    if let Some(expected) = &episode.feet {
        let mut feet = Vec::new();
        world.feet(&mut feet);
        report.compare(place, "feet", &expected[step], &feet, Precision::Double);
    }
    compare_terms(episode, step, world, report, place);
}

/// Gymnasium's `reward_*` entries of the info dictionary.
fn compare_terms(
    episode: &Episode,
    step: usize,
    world: &mut World,
    report: &mut Report,
    place: &dyn Fn() -> String,
) {
    let environment = world.environment();
    for (name, values) in &episode.info {
        let Some(term) = name.strip_prefix("reward_") else { continue };
        match environment.spec().reward_terms.iter().position(|known| known == term) {
            Some(index) => report.compare_one(place, name, values[step], environment.reward_terms()[index]),
            None => report.fail(|| format!("{}: there is no reward term '{term}'", place())),
        }
    }
}
