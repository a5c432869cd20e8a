//! Moving pictures: GIF, a folder of PNG files, and MP4 where ffmpeg is installed.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use color_quant::NeuQuant;
use rayon::prelude::*;

use super::{Caption, Renderer};
use crate::ViewError;
use crate::image::Image;

/// Frames drawn at once before they are encoded: keeps memory small and every core busy.
const BATCH: usize = 16;

/// Frames per second that a GIF can show at most without stutter in browsers.
const GIF_RATE: f64 = 25.0;

/// Frames per second of an MP4.
const MP4_RATE: f64 = 30.0;

/// The frames of a movie that runs in real time at `rate` frames per second.
fn real_time(renderer: &Renderer<'_>, rate: f64, seconds: f64) -> Vec<usize> {
    let replay = renderer.replay();
    let length = (replay.frames() as f64 * replay.seconds_per_frame()).min(seconds);
    let count = (length * rate).ceil().max(1.0) as usize;
    (0..count).map(|i| (i as f64 / rate / replay.seconds_per_frame()) as usize).collect()
}

fn draw(renderer: &Renderer<'_>, frames: &[usize], caption: &Caption) -> Result<Vec<Image>, ViewError> {
    let bar = caption.draw(renderer.style().width, renderer.style())?;
    frames.par_iter().map(|f| Ok(super::stack(&[renderer.frame(*f)?, bar.clone()], 0))).collect()
}

/// An animated GIF of the first `seconds`, in real time.
pub fn gif(renderer: &Renderer<'_>, caption: &Caption, seconds: f64) -> Result<Vec<u8>, ViewError> {
    let frames = real_time(renderer, GIF_RATE, seconds);
    let samples = draw(renderer, &spread(&frames, 6), caption)?;
    let colors = Colors::of(&samples);
    let mut bytes = Vec::new();
    let mut encoder = start_gif(&mut bytes, &samples[0], &colors)?;
    for batch in frames.chunks(BATCH) {
        add_pictures(&mut encoder, &draw(renderer, batch, caption)?, &colors, GIF_RATE)?;
    }
    drop(encoder);
    Ok(bytes)
}

/// An animated GIF of pictures of one size, so many per second.
///
/// ```
/// use autoqd_view::{Image, render::gif_of};
/// let film = gif_of(&[Image::new(8, 6), Image::new(8, 6)], 25.0)?;
/// assert!(film.starts_with(b"GIF89a"));
/// # Ok::<(), autoqd_view::ViewError>(())
/// ```
pub fn gif_of(pictures: &[Image], rate: f64) -> Result<Vec<u8>, ViewError> {
    let Some(first) = pictures.first() else { return Err(ViewError::NothingToDraw) };
    let places: Vec<usize> = (0..pictures.len()).collect();
    let samples: Vec<Image> = spread(&places, 6).into_iter().map(|i| pictures[i].clone()).collect();
    let colors = Colors::of(&samples);
    let mut bytes = Vec::new();
    let mut encoder = start_gif(&mut bytes, first, &colors)?;
    add_pictures(&mut encoder, pictures, &colors, rate)?;
    drop(encoder);
    Ok(bytes)
}

fn gif_failed(error: gif::EncodingError) -> ViewError {
    ViewError::Encode { format: "GIF", reason: error.to_string() }
}

fn start_gif<'a>(
    bytes: &'a mut Vec<u8>,
    first: &Image,
    colors: &Colors,
) -> Result<gif::Encoder<&'a mut Vec<u8>>, ViewError> {
    let (width, height) = (first.width as u16, first.height as u16);
    let mut encoder =
        gif::Encoder::new(bytes, width, height, &colors.palette.color_map_rgb()).map_err(gif_failed)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_failed)?;
    Ok(encoder)
}

fn add_pictures(
    encoder: &mut gif::Encoder<&mut Vec<u8>>,
    pictures: &[Image],
    colors: &Colors,
    rate: f64,
) -> Result<(), ViewError> {
    let indexed: Vec<Vec<u8>> = pictures.par_iter().map(|p| colors.index(p)).collect();
    for (picture, pixels) in pictures.iter().zip(indexed) {
        let frame = gif::Frame {
            width: picture.width as u16,
            height: picture.height as u16,
            delay: (100.0 / rate) as u16,
            buffer: Cow::Owned(pixels),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).map_err(gif_failed)?;
    }
    Ok(())
}

fn spread(frames: &[usize], count: usize) -> Vec<usize> {
    (0..count).map(|i| frames[i * (frames.len() - 1) / (count - 1).max(1)]).collect()
}

/// Bits of each channel that the table of nearest colours tells apart.
const BITS: u32 = 6;

/// The palette of a film, and which of its colours is nearest to each colour.
struct Colors {
    palette: NeuQuant,
    nearest: Vec<u8>,
}

impl Colors {
    /// One palette for the whole film: colours do not flicker from frame to frame.
    fn of(samples: &[Image]) -> Self {
        let pixels: Vec<u8> = samples.iter().flat_map(|image| image.rgba.iter().copied()).collect();
        let palette = NeuQuant::new(10, 256, &pixels);
        let middle = |part: usize| ((part & ((1 << BITS) - 1)) << (8 - BITS) | 1 << (7 - BITS)) as u8;
        let nearest =
            |i: usize| palette.index_of(&[middle(i >> (2 * BITS)), middle(i >> BITS), middle(i), 255]) as u8;
        Self { nearest: (0..1 << (3 * BITS)).into_par_iter().map(nearest).collect(), palette }
    }

    /// Nearest colours of the palette, with a fine pattern of noise in place of bands.
    fn index(&self, image: &Image) -> Vec<u8> {
        const PATTERN: [i16; 16] = [-7, 1, -5, 3, 5, -3, 7, -1, -4, 4, -6, 2, 8, 0, 6, -2];
        let mut indices = Vec::with_capacity(image.width * image.height);
        for (y, row) in image.rgba.chunks_exact(4 * image.width).enumerate() {
            let noise: [i16; 4] = std::array::from_fn(|x| PATTERN[y % 4 * 4 + x] / 3);
            indices.extend(row.chunks_exact(4).enumerate().map(|(x, p)| {
                let part =
                    |c: u8| usize::from((i16::from(c) + noise[x % 4]).clamp(0, 255) as u8 >> (8 - BITS));
                self.nearest[part(p[0]) << (2 * BITS) | part(p[1]) << BITS | part(p[2])]
            }));
        }
        indices
    }
}

/// Writes every frame of the first `seconds` at 50 frames per second as `folder/0000.png`, `0001.png`, ...
pub fn png_sequence(
    renderer: &Renderer<'_>,
    caption: &Caption,
    seconds: f64,
    folder: &Path,
) -> Result<Vec<PathBuf>, ViewError> {
    std::fs::create_dir_all(folder).map_err(ViewError::at(folder))?;
    let frames = real_time(renderer, 50.0, seconds);
    let mut files = Vec::with_capacity(frames.len());
    for batch in frames.chunks(BATCH) {
        for picture in draw(renderer, batch, caption)? {
            let file = folder.join(format!("{:04}.png", files.len()));
            crate::file::write(&file, &picture.png()?)?;
            files.push(file);
        }
    }
    Ok(files)
}

/// Whether the program `ffmpeg` can be started.
pub fn has_ffmpeg() -> bool {
    let mut command = Command::new("ffmpeg");
    command.arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// Writes an MP4 of the first `seconds` by handing the frames to the program `ffmpeg`.
pub fn mp4(renderer: &Renderer<'_>, caption: &Caption, seconds: f64, file: &Path) -> Result<(), ViewError> {
    let fail = |reason: String| ViewError::Encode { format: "MP4", reason };
    let frames = real_time(renderer, MP4_RATE, seconds);
    let first = draw(renderer, &frames[..1], caption)?;
    let size = format!("{}x{}", first[0].width, first[0].height);
    // Next to its final place, so that the rename is atomic; the ending tells ffmpeg the format.
    let unfinished = file.with_extension("part.mp4");
    let mut child = Command::new("ffmpeg")
        .args([
            "-y",
            "-loglevel",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgba",
            "-s",
            &size,
            "-r",
            &MP4_RATE.to_string(),
            "-i",
            "-",
        ])
        // Even sides, as H.264 wants them, and the pixel format that every player knows.
        .args([
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-c:v",
            "libx264",
            "-crf",
            "20",
            "-pix_fmt",
            "yuv420p",
        ])
        .args(["-movflags", "+faststart"])
        .arg(&unfinished)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| fail(format!("cannot start ffmpeg ({e}): install it, or ask for a GIF")))?;
    let mut pipe = child.stdin.take().ok_or_else(|| fail("ffmpeg has no input".to_string()))?;
    for batch in frames.chunks(BATCH) {
        for picture in draw(renderer, batch, caption)? {
            // A closed pipe means that ffmpeg gave up; its own words below say why.
            if pipe.write_all(&picture.rgba).is_err() {
                break;
            }
        }
    }
    drop(pipe);
    let result = child.wait_with_output().map_err(|e| fail(e.to_string()))?;
    if !result.status.success() {
        let _ = std::fs::remove_file(&unfinished);
        return Err(fail(format!("ffmpeg said: {}", String::from_utf8_lossy(&result.stderr).trim())));
    }
    std::fs::rename(&unfinished, file).map_err(ViewError::at(file))
}
