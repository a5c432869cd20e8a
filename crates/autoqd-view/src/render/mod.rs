//! Behaviours as pictures: drawn in software, so that neither a GPU nor a display is needed.

mod flat;
mod movie;
mod strip;

use autoqd_draw::{Image, Replay, SpaceView};
use autoqd_env::{Seed, Task};

use self::flat::FlatView;
use crate::ViewError;
use crate::plot::Mode;

pub use autoqd_draw::frames_of_one_cycle;
pub use movie::{gif, gif_of, has_ffmpeg, mp4, png_sequence};
pub use strip::{Caption, filmstrip, stack};

/// A still picture of a task at the start of an episode.
pub fn still(task: &dyn Task, style: FrameStyle) -> Result<Image, ViewError> {
    let mut world = task.make()?;
    let mut observation = vec![0.0; task.spec().observation_size];
    world.reset(Some(&Seed::from(0_u64)), &mut observation)?;
    let mut replay = Replay::new(world.scene().ok_or(ViewError::NothingToDraw)?, 1);
    let mut poses = Vec::new();
    world.poses(&mut poses);
    replay.push(&poses, 0.0);
    Renderer::new(&replay, style)?.frame(0)
}

/// Size and style of a frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameStyle {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Light or dark.
    pub mode: Mode,
}

impl Default for FrameStyle {
    fn default() -> Self {
        Self { width: 480, height: 360, mode: Mode::Light }
    }
}

enum Eye {
    Space(SpaceView),
    Plane(FlatView),
}

/// Draws the frames of one replay with a camera that was chosen for all of it.
pub struct Renderer<'a> {
    replay: &'a Replay,
    style: FrameStyle,
    eye: Eye,
}

impl<'a> Renderer<'a> {
    /// Chooses the camera.
    pub fn new(replay: &'a Replay, style: FrameStyle) -> Result<Self, ViewError> {
        if replay.frames() == 0 || replay.scene.shapes.is_empty() {
            return Err(ViewError::NothingToDraw);
        }
        let aspect = style.width as f64 / style.height.max(1) as f64;
        let eye = if replay.scene.flat {
            Eye::Plane(FlatView::of(replay))
        } else {
            Eye::Space(SpaceView::of(replay, aspect))
        };
        Ok(Self { replay, style, eye })
    }

    /// The replay that is drawn.
    pub fn replay(&self) -> &Replay {
        self.replay
    }

    /// Size and style.
    pub fn style(&self) -> FrameStyle {
        self.style
    }

    /// Draws one frame; a number past the end draws the last one.
    pub fn frame(&self, frame: usize) -> Result<Image, ViewError> {
        let frame = frame.min(self.replay.frames() - 1);
        let poses = self.replay.poses(frame);
        let FrameStyle { width, height, mode } = self.style;
        match &self.eye {
            Eye::Plane(view) => flat::draw(&self.replay.scene, poses, view, frame, (width, height), mode),
            Eye::Space(view) => Ok(view.draw(self.replay, frame, (width, height), mode)),
        }
    }
}
