//! Films of tasks that draw themselves.

use autoqd::policy::Policy;
use autoqd_env::{Action, Environment, Picture, Seed};

use crate::render::gif_of;
use crate::{Image, ViewError};

/// Pictures per second at most.
const RATE: f64 = 12.5;
/// Width at most, in pixels.
const WIDTH: usize = 320;

/// The start of an episode as pictures.
pub struct Film {
    /// An animated GIF that repeats.
    pub gif: Vec<u8>,
    /// The return of the whole episode.
    pub total_reward: f64,
}

/// The first seconds of the episode that a policy has from the start state of a seed; `None` if the world cannot draw itself.
pub(crate) fn film(
    mut world: Box<dyn Environment>,
    mut policy: Policy,
    seed: u64,
    seconds: f64,
) -> Result<Option<Film>, ViewError> {
    let mut observation = vec![0.0; world.spec().observation_size];
    let mut action = vec![0.0; world.spec().action_size];
    world.reset(Some(&Seed::from(seed)), &mut observation)?;
    let Some(first) = world.picture()? else { return Ok(None) };
    let stride = (first.steps_per_second / RATE).ceil().max(1.0);
    let rate = first.steps_per_second / stride;
    let most = (seconds * rate).ceil() as usize;
    let mut pictures = vec![shrunk(&first)];
    let mut total_reward = 0.0;
    for step in 1.. {
        policy.act(&observation, &mut action);
        let transition = world.step(Action::F32(&action), &mut observation)?;
        if transition.diverged || !transition.reward.is_finite() {
            break;
        }
        total_reward += transition.reward;
        if pictures.len() < most && (step % stride as usize == 0 || transition.done()) {
            pictures.extend(world.picture()?.map(|picture| shrunk(&picture)));
        }
        if transition.done() {
            break;
        }
    }
    Ok(Some(Film { gif: gif_of(&pictures, rate)?, total_reward }))
}

/// The picture with every so many pixels as one, so that it is not too wide.
fn shrunk(picture: &Picture) -> Image {
    let factor = picture.width.div_ceil(WIDTH);
    let (width, height) = ((picture.width / factor).max(1), (picture.height / factor).max(1));
    let mut rgba = Vec::with_capacity(4 * width * height);
    for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
        for colour in 0..3 {
            let mut sum = 0;
            let mut count = 0;
            for y in (row * factor..(row + 1) * factor).take_while(|y| *y < picture.height) {
                for x in (column * factor..(column + 1) * factor).take_while(|x| *x < picture.width) {
                    sum += usize::from(picture.rgb[3 * (y * picture.width + x) + colour]);
                    count += 1;
                }
            }
            rgba.push((sum / count) as u8);
        }
        rgba.push(255);
    }
    Image { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_picture_becomes_the_means_of_its_pixels() {
        let width = 2 * WIDTH;
        let rgb = (0..2 * width).flat_map(|pixel| if pixel % 2 == 0 { [10, 0, 255] } else { [20, 0, 255] });
        let picture = Picture { width, height: 2, rgb: rgb.collect(), steps_per_second: 50.0 };
        let small = shrunk(&picture);
        assert_eq!((small.width, small.height), (WIDTH, 1));
        assert!(small.rgba.chunks_exact(4).all(|pixel| pixel == [15, 0, 255, 255]));
    }
}
