//! What Gymnasium's five tasks tell about a world besides observation and reward, under Gymnasium's names.

use super::state::State;
use super::task::Recipe;
use crate::InfoSpec;

const X_POSITION: InfoSpec = InfoSpec { name: "x_position", at_reset: true };
const Y_POSITION: InfoSpec = InfoSpec { name: "y_position", at_reset: true };
const DISTANCE: InfoSpec = InfoSpec { name: "distance_from_origin", at_reset: true };
const Z_DISTANCE: InfoSpec = InfoSpec { name: "z_distance_from_origin", at_reset: true };
const X_VELOCITY: InfoSpec = InfoSpec { name: "x_velocity", at_reset: false };
const Y_VELOCITY: InfoSpec = InfoSpec { name: "y_velocity", at_reset: false };

/// What a built-in task tells. Those that move in a vertical plane have no y position.
pub(super) fn of_builtin(name: &str) -> &'static [InfoSpec] {
    match name {
        "ant" | "swimmer" => &[X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY],
        "half-cheetah" => &[X_POSITION, X_VELOCITY],
        "hopper" | "walker2d" => &[X_POSITION, Z_DISTANCE, X_VELOCITY],
        _ => &[],
    }
}

/// Whose movement the velocities are: that of the torso where it is free, else of the first two joints.
pub(super) fn place(recipe: &Recipe, state: &impl State) -> [f64; 2] {
    let free = recipe.start.qpos.len() > recipe.start.qvel.len();
    let from = if free { &state.xpos()[1][..2] } else { &state.qpos()[..2] };
    [from[0], from[1]]
}

/// Writes everything in the order of the recipe; `before` is the place before the last step.
pub(super) fn write(recipe: &Recipe, state: &impl State, before: [f64; 2], out: &mut [f64]) {
    if recipe.infos.is_empty() {
        return;
    }
    let (qpos, after) = (state.qpos(), place(recipe, state));
    let velocity = |axis: usize| (after[axis] - before[axis]) / recipe.seconds_per_step;
    for (value, info) in out.iter_mut().zip(recipe.infos) {
        *value = match *info {
            X_POSITION => qpos[0],
            Y_POSITION => qpos[1],
            DISTANCE => (qpos[0] * qpos[0] + qpos[1] * qpos[1]).sqrt(),
            Z_DISTANCE => qpos[1] - recipe.start.qpos[1],
            X_VELOCITY => velocity(0),
            _ => velocity(1),
        };
    }
}
