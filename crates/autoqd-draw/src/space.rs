//! The frames of a replay in three dimensions.

use crate::camera::View;
use crate::mesh::Surfaces;
use crate::scene_picture::ScenePicture;
use crate::{Image, Mode, Replay};

/// The camera that was chosen for a replay, and the surfaces of its scene.
pub struct SpaceView {
    view: View,
    surfaces: Surfaces,
}

impl SpaceView {
    /// Chooses the camera, for pictures of this width per height.
    pub fn of(replay: &Replay, aspect: f64) -> Self {
        Self { view: View::of(replay, aspect), surfaces: Surfaces::new(&replay.scene) }
    }

    /// Draws one frame of that replay.
    pub fn draw(&self, replay: &Replay, frame: usize, (width, height): (usize, usize), mode: Mode) -> Image {
        let (camera, poses) = (self.view.camera(frame), replay.poses(frame));
        ScenePicture::new(&replay.scene, &self.surfaces, poses, &camera, mode).draw(width, height)
    }
}
