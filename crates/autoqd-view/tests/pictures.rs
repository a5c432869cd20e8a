//! A frame of every task, compared with a golden picture.

mod common;

use autoqd_env::{Action, Perturbation, Pose, Seed, load_task, task_names};
use autoqd_view::Replay;
use autoqd_view::plot::Mode;
use autoqd_view::render::{Caption, FrameStyle, Renderer, filmstrip, frames_of_one_cycle, gif};

/// An episode under smooth actions that move every joint.
fn replay(task: &str, steps: usize) -> Replay {
    let mut world = load_task(task, &Perturbation::default()).unwrap().make().unwrap();
    let spec = world.spec().clone();
    let mut observation = vec![0.0; spec.observation_size];
    world.reset(Some(&Seed::from(3_u64)), &mut observation).unwrap();
    let mut replay = Replay::new(world.scene().expect("every built-in task can be drawn"), 1);
    let mut poses: Vec<Pose> = Vec::new();
    world.poses(&mut poses);
    replay.push(&poses, 0.0);
    for t in 0..steps {
        let swing = |i: usize| 0.6 * (0.16 * t as f64 + 1.3 * i as f64).sin();
        let action: Vec<f64> = (0..spec.action_size).map(|i| swing(i) * spec.action_high[i]).collect();
        let transition = world.step(Action::F64(&action), &mut observation).unwrap();
        world.poses(&mut poses);
        replay.push(&poses, transition.reward);
        if transition.done() {
            break;
        }
    }
    replay
}

/// Mean absolute difference per channel and the share of pixels that differ by more than a shade.
fn difference(a: &[u8], b: &[u8]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let far = a
        .chunks(4)
        .zip(b.chunks(4))
        .filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 24))
        .count();
    (sum as f64 / a.len() as f64, far as f64 / (a.len() / 4) as f64)
}

fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn a_frame_of_each_task_looks_like_its_golden_picture() {
    for task in task_names() {
        let replay = replay(task, 40);
        let style = FrameStyle { width: 240, height: 180, mode: Mode::Light };
        let renderer = Renderer::new(&replay, style).unwrap();
        let image = renderer.frame(25).unwrap();
        let name = format!("frames/{task}.png");
        common::show(&format!("{task}-small.png"), &image.png().unwrap());
        if common::bless() {
            common::write_golden(&name, &image.png().unwrap());
        }
        let golden = decode(&std::fs::read(common::golden(&name)).unwrap());
        let (mean, far) = difference(&image.rgba, &golden);
        assert!(mean < 0.5 && far < 0.0005, "{task}: mean difference {mean}, {far} of the pixels differ");
        // The test can fail: another frame is not the same picture.
        let other = renderer.frame(0).unwrap();
        assert!(difference(&other.rgba, &golden).1 > 0.0005, "{task}: nothing moved");
    }
}

#[test]
fn filmstrips_show_all_frames_and_a_caption() {
    for (task, mode) in [
        ("half-cheetah", Mode::Light),
        ("bipedal-walker", Mode::Dark),
        ("ant", Mode::Dark),
        ("swimmer", Mode::Light),
    ] {
        let replay = replay(task, 120);
        let renderer = Renderer::new(&replay, FrameStyle { width: 240, height: 200, mode }).unwrap();
        let caption = Caption {
            title: format!("#{}", 137),
            text: format!("return {:.0} · measures 0.31, −0.12", replay.total_reward()),
            note: task.to_string(),
        };
        let frames = frames_of_one_cycle(&replay, 6);
        let strip = filmstrip(&renderer, &frames, &caption).unwrap();
        common::show(&format!("{task}-strip.png"), &strip.png().unwrap());
        assert_eq!(strip.width, 6 * 243 - 3);
        assert!(strip.height > 215);
        assert!(strip.rgba.chunks_exact(4).all(|p| p[3] == 255));
        let corner = &strip.rgba[4 * strip.width * (strip.height - 15)..][..4 * 60];
        assert!(corner.chunks_exact(4).any(|p| p[..3] != corner[..3]), "{task}: no title under the strip");
    }
}

#[test]
fn a_gif_has_real_time_frames() {
    let replay = replay("hopper", 60);
    let renderer = Renderer::new(&replay, FrameStyle { width: 160, height: 120, mode: Mode::Light }).unwrap();
    let bytes = gif(&renderer, &Caption::default(), 0.4).unwrap();
    common::show("hopper.gif", &bytes);
    let mut decoder = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
    let mut count = 0;
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 4);
        count += 1;
    }
    // 0.4 s at 25 frames per second, or the whole episode if it was shorter.
    let length = (replay.frames() as f64 * replay.seconds_per_frame()).min(0.4);
    assert_eq!(count, (length * 25.0).ceil() as usize);
}
