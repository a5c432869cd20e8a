//! Everything that touches libmujoco passes through here: loading, changing and tuning a model.
//!
//! libmujoco ends the process on an internal error, so models are checked and given enough memory before they are
//! stepped; its messages are dropped unless they precede such an exit, and no log file is written.

mod digest;
mod library;
mod log;
mod narrow;
mod scaling;
mod self_check;
mod source;
mod tuning;

pub(crate) use digest::digest;
pub(crate) use library::{notice as library_notice, version};
pub(crate) use narrow::CollisionFunctions;
pub(crate) use scaling::{Scales, Unscaled, check_motors};
pub(crate) use self_check::agree;
pub(crate) use source::{Source, load};
pub(crate) use tuning::{blend, colliding_pairs, mix_solref, mixing, tuned};

use mujoco_rs::prelude::MjData;
pub(crate) use mujoco_rs::prelude::{MjModel as Model, MjtObjBase as Object};
use mujoco_rs::wrappers::mj_model::traits::ModelType;
use std::sync::Arc;

/// The state of one world.
pub(crate) type Data = MjData<Arc<Model>>;

/// The state of a world that has a model of its own, whose physics may differ from episode to episode.
pub(crate) type OwnData = MjData<Box<Model>>;

/// A fresh state with a copy of the model.
pub(crate) fn new_own_data(model: &Model) -> Option<OwnData> {
    OwnData::try_new(Box::new(model.clone())).ok()
}

/// A fresh state; MuJoCo can fail to make it only for lack of memory.
pub(crate) fn new_data(model: &Arc<Model>) -> Option<Data> {
    Data::try_new(Arc::clone(model)).ok()
}

/// Whether the state went bad since the last reset. MuJoCo then starts over from the initial pose by itself, which
/// a caller must not mistake for a continued episode.
pub(crate) fn diverged<M: ModelType>(data: &MjData<M>) -> bool {
    use mujoco_rs::prelude::MjtWarning as W;
    [W::mjWARN_BADQPOS, W::mjWARN_BADQVEL, W::mjWARN_BADQACC, W::mjWARN_BADCTRL]
        .iter()
        .any(|&kind| data.warning()[kind as usize].number > 0)
}
