//! Tuning changes no bit, and a perturbed task is the task of an MJCF file with the scaled values.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{LocomotionTask, Margin, Perturbation, Task, load_task};
use common::{MUJOCO, rollout};
use std::path::Path;

/// The built-in task with its MJCF text changed, on the model as MuJoCo compiles it.
fn edited(name: &str, edit: impl Fn(&str) -> String) -> LocomotionTask {
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks");
    let folder = tempfile::tempdir().unwrap();
    let read = |file: &str| std::fs::read_to_string(tasks.join(file)).unwrap();
    let (toml, xml) = (format!("{name}.toml"), format!("{name}.xml"));
    std::fs::write(folder.path().join(&toml), read(&toml)).unwrap();
    std::fs::write(folder.path().join(&xml), edit(&read(&xml))).unwrap();
    LocomotionTask::from_file(folder.path().join(toml), &Perturbation::default()).unwrap().untuned()
}

/// Replaces the value of every `attribute="..."`.
fn each_value(xml: &str, attribute: &str, change: impl Fn(&str) -> String) -> String {
    let key = format!(" {attribute}=\"");
    let mut parts = xml.split(&key);
    let mut out = parts.next().unwrap().to_string();
    for part in parts {
        let (value, rest) = part.split_once('"').unwrap();
        out += &format!("{key}{}\"{rest}", change(value));
    }
    out
}

fn scale_first(values: &str, scale: f64) -> String {
    let mut words: Vec<_> = values.split_whitespace().map(String::from).collect();
    words[0] = format!("{:?}", words[0].parse::<f64>().unwrap() * scale);
    words.join(" ")
}

fn assert_same(name: &str, perturbation: &Perturbation, reference: &LocomotionTask) {
    let task = LocomotionTask::builtin(name, perturbation).unwrap();
    for seed in 0..3 {
        let ours = rollout(task.make().unwrap().as_mut(), seed, 150);
        let theirs = rollout(reference.make().unwrap().as_mut(), seed, 150);
        assert!(ours == theirs, "{name} {perturbation:?}, seed {seed}");
    }
}

fn changed(name: &str, perturbation: &Perturbation) -> bool {
    let run = |task: LocomotionTask| rollout(task.make().unwrap().as_mut(), 1, 150);
    run(LocomotionTask::builtin(name, perturbation).unwrap())
        != run(LocomotionTask::builtin(name, &Perturbation::default()).unwrap())
}

#[test]
fn tuned_models_give_the_bits_of_the_untuned_ones() {
    for name in MUJOCO {
        let task = LocomotionTask::builtin(name, &Perturbation::default()).unwrap();
        assert!(task.tuning_is_exact(3, 800), "{name}");
        assert_eq!(task.model().ffi().npair > 0, name != "swimmer", "{name} has no explicit pairs");
    }
}

#[test]
fn tuning_stays_exact_under_perturbations() {
    for scale in [0.3, 1.7] {
        for name in MUJOCO {
            let perturbation =
                Perturbation { friction_scale: scale, mass_scale: scale, ..Perturbation::default() };
            assert!(LocomotionTask::builtin(name, &perturbation).unwrap().tuning_is_exact(1, 400), "{name}");
        }
    }
}

#[test]
fn scaled_friction_is_that_of_scaled_mjcf() {
    for name in ["ant", "half-cheetah", "hopper", "walker2d"] {
        for scale in [0.3, 2.0] {
            let reference = edited(name, |xml| each_value(xml, "friction", |v| scale_first(v, scale)));
            let perturbation = Perturbation { friction_scale: scale, ..Perturbation::default() };
            assert_same(name, &perturbation, &reference);
            assert!(changed(name, &perturbation), "{name}");
        }
    }
}

#[test]
fn scaled_mass_is_that_of_scaled_mjcf() {
    for name in MUJOCO {
        for scale in [0.7, 1.3] {
            let reference = edited(name, |xml| match name {
                "ant" => each_value(xml, "density", |v| scale_first(v, scale)),
                "half-cheetah" => each_value(xml, "settotalmass", |v| scale_first(v, scale)),
                // The others have MuJoCo's density of 1000; the first geom line of the defaults gets it written out.
                _ => xml.replacen("<geom ", &format!("<geom density=\"{:?}\" ", 1000.0 * scale), 1),
            });
            let perturbation = Perturbation { mass_scale: scale, ..Perturbation::default() };
            assert_same(name, &perturbation, &reference);
            assert!(changed(name, &perturbation), "{name}");
        }
    }
}

#[test]
fn the_paper_era_margin_is_a_floor_without_margin() {
    for name in ["ant", "hopper"] {
        let reference =
            edited(name, |xml| xml.replacen("<geom type=\"plane\"", "<geom margin=\"0\" type=\"plane\"", 1));
        let perturbation = Perturbation { margin: Margin::PaperEra, ..Perturbation::default() };
        assert_same(name, &perturbation, &reference);
        assert!(changed(name, &perturbation), "{name}");
    }
}

#[test]
fn impossible_perturbations_are_refused() {
    let with = |change: fn(&mut Perturbation)| {
        let mut perturbation = Perturbation::default();
        change(&mut perturbation);
        perturbation
    };
    let cases = [
        ("ant", with(|p| p.friction_scale = -1.0), "friction_scale"),
        ("hopper", with(|p| p.mass_scale = f64::NAN), "mass_scale"),
        ("hopper", with(|p| p.friction = Some(1.0)), "use friction_scale"),
        ("swimmer", with(|p| p.margin = Margin::PaperEra), "floor"),
        ("point-maze", with(|p| p.mass_scale = 2.0), "no friction or mass"),
        #[cfg(feature = "box2d")]
        ("bipedal-walker", with(|p| p.margin = Margin::PaperEra), "only MuJoCo"),
    ];
    for (name, perturbation, expected) in cases {
        let error = load_task(name, &perturbation).err().expect(name).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
