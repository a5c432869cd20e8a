//! Tasks from files: the worked example, every kind of term, and how bad input is handled.
#![cfg(feature = "mujoco")]

mod common;

use autoqd_env::{Action, EnvError, Environment, LocomotionTask, Perturbation, Seed, Task, load_task};
use common::rollout;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const MODEL: &str = r#"<mujoco>
  <option timestep="0.01"/>
  <size memory="1K"/>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 1"/>
    <site name="goal" pos="3 4 0.5"/>
    <body name="cart" pos="0 0 0.5">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x"/><motor joint="y" ctrlrange="-2 3"/></actuator>
  <sensor><framepos objtype="body" objname="cart"/></sensor>
  <keyframe><key name="off" qpos="1 2" qvel="0.5 0"/></keyframe>
</mujoco>"#;

const TASK: &str = r#"
name = "cart"
model = "cart.xml"
frame_skip = 2
max_episode_steps = 10
floor = "ground"
[reset]
keyframe = "off"
[[observation]]
kind = "positions"
[[observation]]
kind = "sensors"
[[observation]]
kind = "offset"
body = "cart"
site = "goal"
[[reward]]
kind = "forward-velocity"
body = "cart"
direction = [3.0, 4.0, 0.0]
weight = 10.0
[[reward]]
kind = "height"
body = "cart"
[[reward]]
kind = "site-distance"
body = "cart"
site = "goal"
[[health]]
kind = "state"
range = { above = -50.0, below = 50.0 }
[[measure]]
kind = "foot-contact"
geom = "box"
"#;

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(task: &str, model: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cart.toml"), task).unwrap();
        std::fs::write(folder.path().join("cart.xml"), model).unwrap();
        Self { folder }
    }

    fn load(&self) -> Result<LocomotionTask, EnvError> {
        LocomotionTask::from_file(self.folder.path().join("cart.toml"), &Perturbation::default())
    }

    fn error(&self) -> String {
        let error = self.load().err().expect("an error").to_string();
        assert!(!error.contains('\n'), "{error}");
        error
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quadruped/quadruped.toml")
}

#[test]
fn the_example_of_the_docs_stands_walks_and_repeats_itself() {
    let task = load_task(example().to_str().unwrap(), &Perturbation::default()).unwrap();
    let spec = task.spec().clone();
    assert_eq!((spec.observation_size, spec.action_size, spec.measures.len()), (27, 8, 4));
    assert!(task.notices().is_empty(), "{:?}", task.notices());
    let mut robot = task.make().unwrap();
    let mut observation = vec![0.0; spec.observation_size];
    robot.reset(Some(&Seed::from(1_u64)), &mut observation).unwrap();
    let stand = [0.0, -1.2, 0.0, -1.2, 0.0, -1.2, 0.0, -1.2];
    let steps =
        (0..500).take_while(|_| !robot.step(Action::F64(&stand), &mut observation).unwrap().done()).count();
    assert_eq!(steps, 499, "it falls when it should stand");
    let mut measures = [0.0; 4];
    robot.measures(&mut measures);
    assert!(measures.iter().all(|&m| m > 0.8), "{measures:?}");
    assert_eq!(rollout(task.make().unwrap().as_mut(), 5, 200), rollout(robot.as_mut(), 5, 200));
}

#[test]
fn the_docs_show_the_examples_task_file() {
    let text = std::fs::read_to_string(example()).unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-task.md");
    assert!(std::fs::read_to_string(docs).unwrap().contains(&text), "docs/own-task.md is out of date");
}

#[test]
fn the_examples_tuning_is_exact_also_when_perturbed() {
    let perturbation = Perturbation { friction_scale: 0.4, mass_scale: 1.5, ..Perturbation::default() };
    let task = LocomotionTask::from_file(example(), &perturbation).unwrap();
    assert!(task.model().ffi().npair > 0 && task.tuning_is_exact(3, 500));
}

#[test]
fn every_kind_of_part_and_term_gives_what_it_says() {
    let files = Files::new(TASK, MODEL);
    let task = files.load().unwrap();
    let spec = task.spec().clone();
    assert_eq!((spec.action_low, spec.action_high), (vec![-1.0, -2.0], vec![1.0, 3.0]));
    assert_eq!(spec.reward_terms, ["forward", "height", "distance"]);
    let mut cart = task.world().unwrap();
    let mut observation = vec![0.0; 8];
    cart.reset(Some(&Seed::from(0_u64)), &mut observation).unwrap();
    assert_eq!(observation, [1.0, 2.0, 1.0, 2.0, 0.5, 2.0, 2.0, 0.0]);
    assert_eq!(cart.qvel(), [0.5, 0.0]);
    let transition = cart.step(Action::F64(&[0.0, 0.0]), &mut observation).unwrap();
    // One of the two simulator steps is visible in the body's position, which is one evaluation old.
    let [forward, height, distance] = cart.reward_terms() else { panic!() };
    assert!((forward - 10.0 * 0.6 * 0.5 / 2.0).abs() < 1e-9, "{forward}");
    assert_eq!(*height, 0.5);
    assert!((distance + (1.995_f64 * 1.995 + 4.0).sqrt()).abs() < 1e-9, "{distance}");
    assert_eq!(transition.reward, forward + height + distance);
    assert!(!transition.done() && cart.feet().eq([false]));
}

#[test]
fn a_state_that_diverges_ends_the_episode_and_leaves_no_trace() {
    let log = || Path::new("MUJOCO_LOG.TXT").metadata().ok().map(|file| file.len());
    let log_before = log();
    // Enough force to leave MuJoCo's range of sane numbers within an episode.
    let model = MODEL.replace("<motor name=\"push\"", "<motor gear=\"1e12\" name=\"push\"");
    let task = Files::new(
        &TASK.replace("range = { above = -50.0, below = 50.0 }", "range = { max = 1e300 }"),
        &model,
    );
    let task = task.load().unwrap();
    let mut used = task.make().unwrap();
    let mut observation = vec![0.0; 8];
    used.reset(Some(&Seed::from(0_u64)), &mut observation).unwrap();
    let diverged =
        (0..10).map(|_| used.step(Action::F64(&[1.0, 0.0]), &mut observation).unwrap()).find(|t| t.diverged);
    assert!(diverged.expect("divergence").done());
    let error = used.step(Action::F64(&[0.0, 0.0]), &mut observation).unwrap_err().to_string();
    assert!(error.contains("reset first"), "{error}");
    let calm = |world: &mut dyn Environment| {
        let mut observation = vec![0.0; 8];
        world.reset(Some(&Seed::from(1_u64)), &mut observation).unwrap();
        let transition = world.step(Action::F64(&[0.0, 1.0]), &mut observation).unwrap();
        (observation, transition)
    };
    assert_eq!(calm(used.as_mut()), calm(task.make().unwrap().as_mut()));
    assert_eq!(log(), log_before, "MuJoCo's own log file was written");
}

/// The cart with other parts of its task file.
fn cart(reset: &str, parts: &str) -> LocomotionTask {
    let task = format!(
        "name = \"cart\"\nmodel = \"cart.xml\"\nframe_skip = 2\nmax_episode_steps = 10\n{reset}\n{parts}"
    );
    Files::new(&task, MODEL).load().unwrap()
}

const SEES_ALL: &str = "[[observation]]\nkind = \"positions\"\n[[observation]]\nkind = \"velocities\"\n\
                        [[reward]]\nkind = \"healthy\"\n";

#[test]
fn placed_joints_start_at_rest_within_their_box_and_length() {
    let place = "[reset]\nkeyframe = \"off\"\nvelocity_noise = 0.1\n[[reset.place]]\njoints = [\"y\", \"x\"]\n\
                 low = [-1.0, 0.0]\nhigh = [1.0, 2.0]\nlength = { above = 0.5, max = 1.0 }\n";
    let task = cart(place, SEES_ALL);
    let mut world = task.make().unwrap();
    let mut seen = [0.0; 4];
    let mut starts = Vec::new();
    for seed in 0..50_u64 {
        world.reset(Some(&Seed::from(seed)), &mut seen).unwrap();
        let [x, y, vx, vy] = seen;
        assert!((0.0..2.0).contains(&x) && (-1.0..1.0).contains(&y), "{seen:?}");
        assert!((0.5..=1.0).contains(&x.hypot(y)) && vx == 0.0 && vy == 0.0, "{seen:?}");
        starts.push(x);
    }
    starts.sort_by(f64::total_cmp);
    starts.dedup();
    assert!(starts.len() > 45, "every seed has its own place");
}

#[test]
fn observations_of_chosen_joints_places_and_functions() {
    let parts = r#"
[[observation]]
kind = "positions"
joints = ["y", "x"]
function = "sin"
[[observation]]
kind = "velocities"
joints = ["y"]
[[observation]]
kind = "place"
at = { geom = "box" }
axes = ["z", "x"]
[[observation]]
kind = "offset"
from = { point = [1.0, 1.0, 1.0] }
to = { site = "goal" }
[[observation]]
kind = "actuator-forces"
joints = ["y"]
[[observation]]
kind = "constraint-forces"
[[observation]]
kind = "body-velocities"
[[observation]]
kind = "body-inertias"
[[reward]]
kind = "healthy"
"#;
    let task = cart("[reset]\nkeyframe = \"off\"", parts);
    let mut world = task.make().unwrap();
    let mut seen = vec![0.0; task.spec().observation_size];
    assert_eq!(seen.len(), 2 + 1 + 2 + 3 + 1 + 2 + 6 + 10);
    world.reset(Some(&Seed::from(0_u64)), &mut seen).unwrap();
    assert_eq!(seen[..2], [2.0_f64.sin(), 1.0_f64.sin()]);
    assert_eq!(seen[2..5], [0.0, 0.5, 1.0]);
    assert_eq!(seen[5..8], [2.0, 3.0, -0.5]);
    world.step(Action::F64(&[0.0, 2.5]), &mut seen).unwrap();
    assert_eq!(seen[8], 2.5);
    assert_eq!(seen[11..17][3], 0.5, "the body moves along x");
    assert_eq!(seen[26], 1.0, "the last number of an inertia is the mass");
}

#[test]
fn rewards_of_places_and_numbers_and_the_order_of_their_sum() {
    let parts = r#"
[[observation]]
kind = "positions"
[[reward]]
kind = "value"
of = { joint = "x" }
scale = 0.25
weight = 3.0
[[reward]]
kind = "squared-distance"
from = { body = "cart" }
to = { point = [0.0, 0.0, 0.5] }
weights = [1.0, 0.5, 2.0]
[[reward]]
kind = "distance"
from = { body = "cart" }
to = { site = "goal" }
weight = 2.0
[[reward]]
kind = "velocity-cost"
joints = ["x", "y"]
weights = [2.0, 1.0]
[[reward]]
kind = "control-cost"
of = "control"
weight = 0.5
[[reward]]
kind = "forward-velocity"
center_of_mass = true
"#;
    for order in ["gains-then-costs", "as-listed"] {
        let task = cart(&format!("reward_order = \"{order}\"\n[reset]\nkeyframe = \"off\""), parts);
        let mut world = task.world().unwrap();
        let mut seen = [0.0; 2];
        world.reset(Some(&Seed::from(0_u64)), &mut seen).unwrap();
        let step = world.step(Action::F64(&[0.0, 0.0]), &mut seen).unwrap();
        let terms = world.reward_terms().to_vec();
        let x = world.qpos()[0];
        // Poses are those of the evaluation before the last step of the simulator.
        let before = x - 0.5 * 0.01;
        let expected = [
            3.0 * (x / 0.25),
            -(before * before + 0.5 * 4.0),
            -2.0 * ((3.0 - before).powi(2) + 4.0).sqrt(),
            -0.5,
            0.0,
            0.25,
        ];
        for (term, expected) in terms.iter().zip(expected) {
            assert!((term - expected).abs() < 1e-9, "{terms:?} {expected:?}");
        }
        assert!((step.reward - terms.iter().sum::<f64>()).abs() < 1e-12);
    }
}

#[test]
fn statistics_of_an_episode_are_measures() {
    let statistic = |kind: &str, low: f64, high: f64| {
        format!(
            "[[measure]]\nkind = \"statistic\"\nof = {{ joint = \"x\" }}\nstatistic = \"{kind}\"\nlow = {low:?}\nhigh = {high:?}\n"
        )
    };
    let parts =
        [("mean", 0.0), ("last", 0.0), ("range", 0.0), ("standard-deviation", 0.0), ("frequency", 0.0)]
            .map(|(kind, low)| statistic(kind, low, 100.0))
            .concat();
    let task = cart("[reset]\nkeyframe = \"off\"", &(SEES_ALL.to_string() + &parts));
    let mut world = task.world().unwrap();
    let mut seen = [0.0; 4];
    world.reset(Some(&Seed::from(0_u64)), &mut seen).unwrap();
    let mut xs = Vec::new();
    for i in 0..10 {
        world.step(Action::F64(&[if i % 4 < 2 { 40.0 } else { -80.0 }, 0.0]), &mut seen).unwrap();
        xs.push(seen[0]);
    }
    let mut measures = [0.0; 5];
    world.measures(&mut measures);
    let mean = xs.iter().sum::<f64>() / 10.0;
    let (low, high) = xs.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    let deviation = (xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 10.0).sqrt();
    let expected = [mean, xs[9], high - low, deviation];
    for (measure, expected) in measures.iter().zip(expected) {
        assert!((measure - expected / 100.0).abs() < 1e-12, "{measures:?} {expected:?}");
    }
    assert!((0.0..0.5).contains(&measures[4]));
}

#[test]
fn wrong_actions_are_refused_and_leave_the_world_as_it_was() {
    let task = LocomotionTask::builtin("hopper", &Perturbation::default()).unwrap();
    let mut hopper = task.world().unwrap();
    let mut observation = vec![0.0; 11];
    assert!(hopper.step(Action::F64(&[0.0; 3]), &mut observation).unwrap_err().to_string().contains("reset"));
    hopper.reset(Some(&Seed::from(0_u64)), &mut observation).unwrap();
    let before = hopper.qpos().to_vec();
    let size = hopper.step(Action::F64(&[0.0; 4]), &mut observation).unwrap_err().to_string();
    assert!(size.contains("4 numbers, expected 3"), "{size}");
    let nan = hopper.step(Action::F32(&[0.0, f32::NAN, 0.0]), &mut observation).unwrap_err().to_string();
    assert!(nan.contains("component 1") && nan.contains("NaN"), "{nan}");
    assert!(hopper.reset(None, &mut [0.0; 3]).is_err());
    assert_eq!(hopper.qpos(), before);
}

#[test]
fn names_that_the_model_lacks_are_answered_with_those_it_has() {
    let body =
        Files::new(&TASK.replace("body = \"cart\"\ndirection", "body = \"carr\"\ndirection"), MODEL).error();
    assert!(body.contains("no body 'carr' (there are: world, cart)"), "{body}");
    let geom = Files::new(&TASK.replace("geom = \"box\"", "geom = \"foot\""), MODEL).error();
    assert!(geom.contains("no geom 'foot' (there are: ground, box)"), "{geom}");
    let site = Files::new(&TASK.replace("site = \"goal\"\n[[reward]]", "site = \"gaol\"\n[[reward]]"), MODEL)
        .error();
    assert!(site.contains("no site 'gaol' (there are: goal)"), "{site}");
    let key = Files::new(&TASK.replace("keyframe = \"off\"", "keyframe = \"of\""), MODEL).error();
    assert!(key.contains("no keyframe 'of' (there are: off)"), "{key}");
}

#[test]
fn mistakes_in_a_task_file_are_named_with_their_place() {
    let unknown = Files::new(&TASK.replace("frame_skip", "frameskip"), MODEL).error();
    assert!(unknown.contains("cart.toml: line 4") && unknown.contains("`frameskip`"), "{unknown}");
    let field = Files::new(&TASK.replace("weight = 10.0", "wieght = 10.0"), MODEL).error();
    assert!(field.contains("wieght") && field.contains("weight"), "{field}");
    let kind = Files::new(&TASK.replace("\"height\"", "\"hight\""), MODEL).error();
    assert!(kind.contains("hight") && kind.contains("site-distance"), "{kind}");
    for (from, to, expected) in [
        ("frame_skip = 2", "frame_skip = 0", "frame_skip = 0"),
        ("direction = [3.0, 4.0, 0.0]", "direction = [0.0, 0.0, 0.0]", "no length"),
        ("weight = 10.0", "weight = inf", "not finite"),
        ("floor = \"ground\"\n", "", "need `floor`"),
        ("above = -50.0, below = 50.0", "", "without bounds"),
        ("body = \"cart\"\ndirection", "direction", "either `body` or `joint`"),
        ("[[observation]]\nkind = \"positions\"", "[[observation]]\nkind = \"positions\"\nfrom = 2", "empty"),
        ("kind = \"sensors\"", "kind = \"sensors\"\nclip = [1.0, -1.0]", "not an interval"),
    ] {
        let error = Files::new(&TASK.replacen(from, to, 1), MODEL).error();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn bad_models_are_answered_with_mujocos_message_and_line() {
    let malformed = Files::new(TASK, &MODEL.replace("type=\"box\"", "type=\"bux\"")).error();
    assert!(malformed.contains("cart.xml") && malformed.contains("line 10"), "{malformed}");
    let broken = Files::new(TASK, "<mujoco><worldbody>").error();
    assert!(broken.contains("cart.xml"), "{broken}");
    let empty = Files::new(TASK, "<mujoco/>").error();
    assert!(empty.contains("no actuators"), "{empty}");
    let missing = Files::new(&TASK.replace("cart.xml", "none.xml"), MODEL).error();
    assert!(missing.contains("none.xml") && missing.contains("cannot be read"), "{missing}");
    let nowhere = load_task("nowhere/at-all.toml", &Perturbation::default()).err().unwrap().to_string();
    assert!(nowhere.contains("nowhere/at-all.toml"), "{nowhere}");
}

#[test]
fn a_models_own_memory_size_cannot_end_the_process() {
    // MODEL asks for one kilobyte, which is not enough for a single step.
    let task = Files::new(TASK, MODEL).load().unwrap();
    assert!(!rollout(task.make().unwrap().as_mut(), 0, 10).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// However a task file is mangled, it is read or rejected, never a crash.
    #[test]
    fn mangled_task_files_are_read_or_refused(edits in prop::collection::vec((any::<u16>(), 0..6_u8, ".{0,6}"), 1..5)) {
        let mut lines: Vec<String> = TASK.lines().map(String::from).collect();
        for (place, kind, text) in edits {
            let (i, n) = (usize::from(place) % lines.len(), lines.len());
            match kind {
                0 => drop(lines.remove(i)),
                1 => lines.insert(i, text),
                2 => lines[i] += &text,
                3 => lines.swap(i, (i * 7 + 3) % n),
                4 => lines[i] = lines[i].replace(|c: char| c.is_ascii_digit(), "9"),
                _ => lines[i] = lines[i].replace('"', &text),
            }
            if lines.is_empty() {
                lines.push(String::new());
            }
        }
        if let Ok(task) = Files::new(&lines.join("\n"), MODEL).load()
            && task.frame_skip() < 100
        {
            let mut world = task.make().unwrap();
            let mut observation = vec![0.0; task.spec().observation_size];
            world.reset(Some(&Seed::from(0_u64)), &mut observation).unwrap();
            world.step(Action::F64(&[0.5, 0.5]), &mut observation).unwrap();
        }
    }
}

#[test]
fn a_health_range_that_no_value_is_in_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cart.xml"), MODEL).unwrap();
    let path = folder.path().join("cart.toml");
    for (range, possible) in [
        ("above = nan, below = 1.0", false),
        ("above = 2.0, below = 1.0", false),
        ("above = 1.0, below = 1.0", false),
        ("min = 1.0, max = 1.0", true),
        ("min = 1.0, below = 1.0", false),
    ] {
        let text = TASK.replace("above = -50.0, below = 50.0", range);
        assert_ne!(text, TASK);
        std::fs::write(&path, text).unwrap();
        let loaded = LocomotionTask::from_file(&path, &Perturbation::default());
        assert_eq!(loaded.is_ok(), possible, "{range}");
        if let Err(error) = loaded {
            assert!(error.to_string().contains("no value is in the range"), "{error}");
        }
    }
}
