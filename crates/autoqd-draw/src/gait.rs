//! How long one cycle of a movement lasts, so that a filmstrip shows one.

use autoqd_env::ShapeKind;

use crate::replay::Replay;

/// Shortest and longest cycle that is looked for, in seconds.
const SHORTEST: f64 = 0.15;
const LONGEST: f64 = 2.4;

/// `count` frames, evenly spaced over a little more than one cycle from the middle of the episode.
pub fn frames_of_one_cycle(replay: &Replay, count: usize) -> Vec<usize> {
    let frames = replay.frames();
    let last = frames.saturating_sub(1);
    let span = (1.2 * period(replay) / replay.seconds_per_frame()).round().max(count as f64) as usize;
    let span = span.min(last);
    let start = (frames * 2 / 5).min(last - span);
    let gaps = count.saturating_sub(1).max(1);
    (0..count).map(|i| start + span * i / gaps).collect()
}

/// Length of the cycle in seconds: the first lag after which the posture comes back, else one second.
fn period(replay: &Replay) -> f64 {
    let step = replay.seconds_per_frame();
    let postures = postures(replay);
    let lags = (SHORTEST / step).ceil() as usize..=((LONGEST / step) as usize).min(postures.len() / 2);
    let unlike: Vec<f64> = lags.clone().map(|lag| difference(&postures, lag)).collect();
    let largest = unlike.iter().copied().fold(0.0, f64::max);
    let smallest = unlike.iter().copied().fold(f64::INFINITY, f64::min);
    let threshold = smallest + 0.25 * (largest - smallest);
    let dip = |i: &usize| {
        let (before, after) = (unlike[i.saturating_sub(1)], unlike[(i + 1).min(unlike.len() - 1)]);
        unlike[*i] <= threshold && unlike[*i] <= before && unlike[*i] <= after && *i > 0
    };
    let found = (0..unlike.len()).find(dip).filter(|_| largest > 0.0);
    found.map_or(1.0, |i| (lags.start() + i) as f64 * step)
}

/// Positions of all moving shapes relative to the followed one, for the second half of the episode.
fn postures(replay: &Replay) -> Vec<Vec<f64>> {
    let moving = |i: usize| !matches!(replay.scene.shapes[i].kind, ShapeKind::Plane | ShapeKind::Polyline);
    let posture = |frame: usize| {
        let poses = replay.poses(frame);
        let center = poses[replay.scene.follow].position;
        let relative = (0..poses.len())
            .filter(|i| moving(*i))
            .flat_map(move |i| (0..3).map(move |axis| poses[i].position[axis] - center[axis]));
        relative.collect()
    };
    let first = replay.frames() / 3;
    (first..replay.frames()).take(400).map(posture).collect()
}

fn difference(postures: &[Vec<f64>], lag: usize) -> f64 {
    let pairs = postures.iter().zip(&postures[lag..]);
    let sum: f64 = pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).sum();
    sum / (postures.len() - lag).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoqd_env::{Pose, Scene, Shape};

    #[test]
    fn a_swinging_limb_shows_its_period() {
        let ball = || Shape {
            kind: ShapeKind::Sphere,
            size: [0.1, 0.0, 0.0],
            points: vec![],
            mesh: None,
            rgba: [1.0; 4],
            name: String::new(),
            body: String::new(),
        };
        let scene = Scene { shapes: vec![ball(), ball()], flat: false, follow: 0, seconds_per_step: 0.05 };
        let mut replay = Replay::new(scene, 1);
        for t in 0..300 {
            // One swing in 0.8 s while the body runs away.
            let phase = f64::from(t) * 0.05 / 0.8 * std::f64::consts::TAU;
            let place = |x: f64| Pose { position: [f64::from(t) + x, 0.0, 0.0], ..Pose::IDENTITY };
            replay.push(&[place(0.0), place(phase.sin())], 0.0);
        }
        assert!((period(&replay) - 0.8).abs() < 0.051, "{}", period(&replay));
        let frames = frames_of_one_cycle(&replay, 8);
        assert_eq!(frames.len(), 8);
        assert!(frames.windows(2).all(|w| w[0] < w[1]) && frames[7] < 300);
    }

    #[test]
    fn an_episode_of_one_frame_is_shown_again_and_again() {
        let scene = Scene { shapes: vec![], flat: true, follow: 0, seconds_per_step: 0.05 };
        let mut replay = Replay::new(scene, 1);
        replay.scene.shapes.push(Shape {
            kind: ShapeKind::Polygon,
            size: [0.0; 3],
            points: vec![],
            mesh: None,
            rgba: [1.0; 4],
            name: String::new(),
            body: String::new(),
        });
        replay.push(&[], 0.0);
        assert_eq!(frames_of_one_cycle(&replay, 4), [0, 0, 0, 0]);
    }
}
