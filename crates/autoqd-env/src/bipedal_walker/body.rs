//! The walker's measurements and the terrain, as numbers for Box2D.
//!
//! Expressions keep Gymnasium's order of operations, and every number is rounded to single precision once.

use super::world::{Definition, HULL_CORNERS, Limb, TERRAIN_POINTS};
use crate::NumpyRng;

const SCALE: f64 = 30.0;
/// Width of a terrain segment.
pub const TERRAIN_STEP: f64 = 14.0 / SCALE;
/// Height at which the terrain starts and towards which it returns.
const TERRAIN_HEIGHT: f64 = 400.0 / SCALE / 4.0;
/// Segments that stay flat at the start.
const START_PAD: usize = 20;
/// Uneven stretches have 5 to 9 segments.
const STRETCH: (i64, i64) = (5, 10);
/// Random numbers that Gymnasium draws for clouds.
const CLOUD_DRAWS: usize = 110;
/// Largest push on the hull at the start.
const PUSH: f64 = 5.0;
const LIDAR_RANGE: f64 = 160.0 / SCALE;

const LEG_DOWN: f64 = -8.0 / SCALE;
const LEG_WIDTH: f64 = 8.0 / SCALE;
const LEG_LENGTH: f64 = 34.0 / SCALE;
const HULL_OUTLINE: [[f64; 2]; HULL_CORNERS] =
    [[-30.0, 9.0], [6.0, 9.0], [34.0, 1.0], [34.0, -8.0], [-30.0, -8.0]];
const HULL_DENSITY: f64 = 5.0;
const HULL_FRICTION: f32 = 0.1;
const LEG_DENSITY: f64 = 1.0;
/// Box2D's default; Gymnasium sets none.
const LEG_FRICTION: f32 = 0.2;
/// Strength of every motor.
pub const MOTOR_TORQUE: f64 = 80.0;

/// Where the hull starts.
const START: [f64; 2] = [TERRAIN_STEP * START_PAD as f64 / 2.0, TERRAIN_HEIGHT + 2.0 * LEG_LENGTH];

fn single(v: [f64; 2]) -> [f32; 2] {
    v.map(|x| x as f32)
}

/// The robot on a terrain yet to be drawn.
pub fn definition(friction: f64, mass_scale: f64) -> Definition {
    let density = (LEG_DENSITY * mass_scale) as f32;
    Definition {
        rays: std::array::from_fn(ray),
        terrain: [[0.0; 2]; TERRAIN_POINTS],
        terrain_friction: friction as f32,
        hull_position: single(START),
        hull_corners: HULL_OUTLINE.map(|[x, y]| single([x / SCALE, y / SCALE])),
        hull_density: (HULL_DENSITY * mass_scale) as f32,
        hull_friction: HULL_FRICTION,
        push: 0.0,
        leg_angle: single([-0.05, 0.05]),
        motor_torque: MOTOR_TORQUE as f32,
        limbs: [upper_leg(density), lower_leg(density)],
    }
}

/// From the hull to the end of lidar ray `i`.
fn ray(i: usize) -> [f64; 2] {
    let angle = 1.5 * i as f64 / 10.0;
    [angle.sin() * LIDAR_RANGE, -(angle.cos() * LIDAR_RANGE)]
}

fn upper_leg(density: f32) -> Limb {
    Limb {
        position: single([START[0], START[1] - LEG_LENGTH / 2.0 - LEG_DOWN]),
        half_size: single([LEG_WIDTH / 2.0, LEG_LENGTH / 2.0]),
        density,
        friction: LEG_FRICTION,
        anchor_parent: single([0.0, LEG_DOWN]),
        anchor: single([0.0, LEG_LENGTH / 2.0]),
        limits: [-0.8, 1.1],
        motor_speed: [-1.0, 1.0],
    }
}

fn lower_leg(density: f32) -> Limb {
    Limb {
        position: single([START[0], START[1] - LEG_LENGTH * 3.0 / 2.0 - LEG_DOWN]),
        half_size: single([0.8 * LEG_WIDTH / 2.0, LEG_LENGTH / 2.0]),
        anchor_parent: single([0.0, -LEG_LENGTH / 2.0]),
        limits: [-1.6, -0.1],
        motor_speed: [1.0, 1.0],
        ..upper_leg(density)
    }
}

/// Draws everything random about an episode, in Gymnasium's order: terrain, clouds, push.
pub fn draw(rng: &mut NumpyRng, heights: &mut [f64; TERRAIN_POINTS], definition: &mut Definition) {
    draw_terrain(rng, heights);
    for (i, height) in heights.iter().enumerate() {
        definition.terrain[i] = single([i as f64 * TERRAIN_STEP, *height]);
    }
    for _ in 0..CLOUD_DRAWS {
        rng.double();
    }
    definition.push = rng.uniform(-PUSH, PUSH) as f32;
}

fn draw_terrain(rng: &mut NumpyRng, heights: &mut [f64; TERRAIN_POINTS]) {
    let (mut velocity, mut y) = (0.0, TERRAIN_HEIGHT);
    let mut left = START_PAD as i64;
    // The first segment of a stretch keeps the height and draws nothing.
    let mut hold = false;
    for (i, height) in heights.iter_mut().enumerate() {
        if !hold {
            velocity = 0.8 * velocity + 0.01 * super::sign(TERRAIN_HEIGHT - y);
            if i > START_PAD {
                velocity += rng.uniform(-1.0, 1.0) / SCALE;
            }
            y += velocity;
        }
        *height = y;
        left -= 1;
        hold = left == 0;
        if hold {
            left = rng.integers(STRETCH.0, STRETCH.1);
        }
    }
}
