//! Everything that touches libmujoco passes through here: loading, changing and tuning a model.
//!
//! libmujoco ends the process on an internal error, so models are checked and given enough memory before they are
//! stepped; its messages are dropped unless they precede such an exit, and no log file is written.

mod clock;
mod digest;
mod library;
mod log;
mod narrow;
mod scaling;
mod self_check;
mod source;
mod tuning;

pub(crate) use clock::Untimed;
pub(crate) use digest::digest;
pub(crate) use library::{notice as library_notice, version};
pub(crate) use narrow::CollisionFunctions;
pub(crate) use scaling::{Scales, Unscaled, check_motors};
pub(crate) use self_check::agree;
pub(crate) use source::{Source, load};
pub(crate) use tuning::{blend, colliding_pairs, mix_solref, mixing, tuned};

use mujoco_rs::prelude::MjData;
pub(crate) use mujoco_rs::prelude::{MjModel as Model, MjtObjBase as Object};
use mujoco_rs::wrappers::mj_model::traits::{ModelType, ModelTypeMut};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The state of one world.
pub(crate) type Data = MjData<Arc<Model>>;

/// The model of a world. Worlds share it, so that what all of them read is in the processor's caches once, unless the physics
/// of a world differ from episode to episode: such a world has its own.
pub(crate) struct Held(Arc<Model>);

impl Deref for Held {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.0
    }
}

impl DerefMut for Held {
    /// # Panics
    /// If the model is shared.
    fn deref_mut(&mut self) -> &mut Model {
        Arc::get_mut(&mut self.0).expect("only a world with a model of its own changes it")
    }
}

// SAFETY: an Arc always leads to the same model, mutably or not.
unsafe impl ModelType for Held {}
// SAFETY: as above; a mutable reference exists only where nobody else has the model.
unsafe impl ModelTypeMut for Held {}

/// The state of a world whose model may be its own.
pub(crate) type OwnData = MjData<Held>;

/// A fresh state with the model itself, or with a copy of it that may be changed.
pub(crate) fn new_own_data(model: &Arc<Model>, copy: bool) -> Option<OwnData> {
    let model = if copy { Arc::new(Model::clone(model)) } else { Arc::clone(model) };
    OwnData::try_new(Held(model)).ok()
}

/// A fresh state; MuJoCo can fail to make it only for lack of memory.
pub(crate) fn new_data(model: &Arc<Model>) -> Option<Data> {
    Data::try_new(Arc::clone(model)).ok()
}

/// Asks for the arrays of a state to be brought into the second cache. They are a few kilobytes; of hundreds of worlds that
/// take turns, each would otherwise wait for its own.
pub(crate) fn prefetch<M: ModelType>(data: &MjData<M>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        const LINE: usize = 64;
        const MOST: usize = 32 << 10;
        let raw = data.ffi();
        let start = raw.buffer.cast::<i8>();
        for offset in (0..MOST.min(raw.nbuffer as usize)).step_by(LINE) {
            // SAFETY: within the buffer; a prefetch reads nothing that the program sees.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

/// Whether the state went bad since the last reset. MuJoCo then starts over from the initial pose by itself, which
/// a caller must not mistake for a continued episode.
pub(crate) fn diverged<M: ModelType>(data: &MjData<M>) -> bool {
    use mujoco_rs::prelude::MjtWarning as W;
    [W::mjWARN_BADQPOS, W::mjWARN_BADQVEL, W::mjWARN_BADQACC, W::mjWARN_BADCTRL]
        .iter()
        .any(|&kind| data.warning()[kind as usize].number > 0)
}
