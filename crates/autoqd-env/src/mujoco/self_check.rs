//! Does a tuned model give the same bits as the one it comes from?

use super::{Data, Model, new_data};
use crate::{NumpyRng, Seed};
use std::sync::Arc;

/// Steps both models from the same perturbed starts under the same random controls and compares every bit of the
/// state and of the contact forces. Episodes differ in their seeds.
pub(crate) fn agree(a: &Arc<Model>, b: &Arc<Model>, episodes: u64, steps: usize) -> bool {
    let (Some(mut left), Some(mut right)) = (new_data(a), new_data(b)) else { return false };
    (0..episodes).all(|episode| same_episode(&mut left, &mut right, episode, steps))
}

fn same_episode(left: &mut Data, right: &mut Data, episode: u64, steps: usize) -> bool {
    let mut rng = NumpyRng::from_seed(&Seed::from(episode));
    left.reset();
    right.reset();
    for i in 0..left.qpos().len() {
        let noise = rng.uniform(-0.1, 0.1);
        left.qpos_mut()[i] += noise;
        right.qpos_mut()[i] += noise;
    }
    (0..steps).all(|_| {
        for i in 0..left.ctrl().len() {
            let control = rng.uniform(-1.0, 1.0);
            left.ctrl_mut()[i] = control;
            right.ctrl_mut()[i] = control;
        }
        for data in [&mut *left, &mut *right] {
            data.step();
            data.rne_post_constraint();
        }
        same_state(left, right)
    })
}

fn same_state(left: &Data, right: &Data) -> bool {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let contacts = |data: &Data| {
        data.contact().iter().map(|c| (c.geom, c.dist.to_bits(), c.efc_address)).collect::<Vec<_>>()
    };
    bits(left.qpos()) == bits(right.qpos())
        && bits(left.qvel()) == bits(right.qvel())
        && bits(left.cfrc_ext().as_flattened()) == bits(right.cfrc_ext().as_flattened())
        && contacts(left) == contacts(right)
}
