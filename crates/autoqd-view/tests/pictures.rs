//! A frame of every task, compared with a golden picture.

mod common;

use autoqd_env::{Action, Perturbation, Pose, Seed, load_task, task_names};
use autoqd_view::Replay;
use autoqd_view::plot::Mode;
use autoqd_view::render::{
    Caption, FrameStyle, Renderer, filmstrip, frames_of_one_cycle, gif, has_ffmpeg, mp4, png_sequence,
};

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

/// The pictures of a film, as ffmpeg reads them.
fn pictures_of(film: &std::path::Path) -> Vec<u8> {
    let mut ffmpeg = std::process::Command::new("ffmpeg");
    ffmpeg.args(["-loglevel", "error", "-i"]).arg(film).args(["-f", "rawvideo", "-pix_fmt", "rgba", "-"]);
    let decoded = ffmpeg.output().unwrap();
    assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
    decoded.stdout
}

#[test]
fn an_mp4_shows_what_was_drawn_in_real_time() {
    if !has_ffmpeg() {
        let missing = "ffmpeg with libx264 is not installed";
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
        eprintln!("skipped: {missing}");
        return;
    }
    // Twenty steps in a second: some of them are shown in two pictures.
    let replay = replay("half-cheetah", 20);
    let style = FrameStyle { width: 160, height: 120, mode: Mode::Light };
    let renderer = Renderer::new(&replay, style).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("film.mp4");
    mp4(&renderer, &Caption::default(), 0.8, &file).unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "a part of the film stayed behind");

    let (decoded, picture) = (pictures_of(&file), 160 * (120 + 25 + 1) * 4);
    assert_eq!(decoded.len() % picture, 0);
    assert_eq!(decoded.len() / picture, 20, "0.8 s at 25 pictures per second");
    for (i, shown) in decoded.chunks_exact(picture).enumerate() {
        let frame = (i as f64 / 25.0 / replay.seconds_per_frame()) as usize;
        let drawn = renderer.frame(frame).unwrap().rgba;
        let (mean, _) = difference(&shown[..drawn.len()], &drawn);
        assert!(mean < 3.0, "picture {i}: {mean}");
        let (other, _) = difference(&shown[..drawn.len()], &renderer.frame((frame + 10) % 20).unwrap().rgba);
        assert!(other > 2.0 * mean, "picture {i}: {mean} from its own frame, {other} from another");
    }
}

#[test]
fn a_folder_of_pictures_has_each_as_often_as_it_is_shown() {
    let replay = replay("half-cheetah", 10);
    let style = FrameStyle { width: 64, height: 48, mode: Mode::Light };
    let renderer = Renderer::new(&replay, style).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = png_sequence(&renderer, &Caption::default(), 0.2, folder.path()).unwrap();
    assert_eq!(files.len(), 10, "0.2 s at 50 pictures per second");
    let bytes: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    // A step of the world takes 0.05 s.
    assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2] && bytes[2] != bytes[3] && bytes[7] != bytes[9]);
}
