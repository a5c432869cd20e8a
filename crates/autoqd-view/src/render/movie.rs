//! Moving pictures: GIF, a folder of PNG files, and MP4 where ffmpeg is installed.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};

use color_quant::NeuQuant;
use rayon::prelude::*;

use super::{Caption, Renderer};
use crate::ViewError;
use crate::image::Image;

/// Frames drawn at once before they are encoded: keeps memory small and every core busy.
const BATCH: usize = 16;

/// Pictures per second of a film: what a GIF can show at most without stutter in browsers, and a divisor of most tasks' own.
const RATE: f64 = 25.0;

/// A frame of the replay, and how many pictures of the movie in a row show it.
type Shown = (usize, usize);

/// The frames of a movie that runs in real time at `rate` frames per second. A world may have fewer than that: each is drawn
/// once all the same.
fn real_time(renderer: &Renderer<'_>, rate: f64, seconds: f64) -> Vec<Shown> {
    let replay = renderer.replay();
    let length = (replay.frames() as f64 * replay.seconds_per_frame()).min(seconds);
    let count = (length * rate).ceil().max(1.0) as usize;
    let frames = (0..count).map(|i| (i as f64 / rate / replay.seconds_per_frame()) as usize);
    let mut shown: Vec<Shown> = Vec::with_capacity(count);
    for frame in frames {
        match shown.last_mut() {
            Some((last, times)) if *last == frame => *times += 1,
            _ => shown.push((frame, 1)),
        }
    }
    shown
}

fn draw(renderer: &Renderer<'_>, frames: &[Shown], caption: &Caption) -> Result<Vec<Image>, ViewError> {
    let bar = caption.draw(renderer.style().width, renderer.style())?;
    frames.par_iter().map(|(f, _)| Ok(super::stack(&[renderer.frame(*f)?, bar.clone()], 0))).collect()
}

/// An animated GIF of the first `seconds`, in real time.
pub fn gif(renderer: &Renderer<'_>, caption: &Caption, seconds: f64) -> Result<Vec<u8>, ViewError> {
    let frames = real_time(renderer, RATE, seconds);
    let each: Vec<Shown> =
        frames.iter().flat_map(|(f, times)| std::iter::repeat_n((*f, 1), *times)).collect();
    let samples: Vec<Shown> = spread(each.len(), 6).map(|i| each[i]).collect();
    let samples = draw(renderer, &samples, caption)?;
    let colors = Colors::of(&samples);
    let mut bytes = Vec::new();
    let mut film = Film::start(&mut bytes, &samples[0], &colors, RATE)?;
    for batch in frames.chunks(BATCH) {
        film.add(&draw(renderer, batch, caption)?, batch.iter().map(|(_, times)| *times))?;
    }
    drop(film);
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
    let samples: Vec<Image> = spread(pictures.len(), 6).map(|i| pictures[i].clone()).collect();
    let colors = Colors::of(&samples);
    let mut bytes = Vec::new();
    let mut film = Film::start(&mut bytes, first, &colors, rate)?;
    film.add(pictures, std::iter::repeat(1))?;
    drop(film);
    Ok(bytes)
}

fn gif_failed(error: gif::EncodingError) -> ViewError {
    ViewError::Encode { format: "GIF", reason: error.to_string() }
}

/// A GIF in the making.
struct Film<'a> {
    encoder: gif::Encoder<&'a mut Vec<u8>>,
    colors: &'a Colors,
    /// How long a picture is shown, in hundredths of a second.
    delay: u16,
    /// The colours of the last picture.
    last: Vec<u8>,
}

impl<'a> Film<'a> {
    fn start(
        bytes: &'a mut Vec<u8>,
        first: &Image,
        colors: &'a Colors,
        rate: f64,
    ) -> Result<Self, ViewError> {
        let (width, height) = (first.width as u16, first.height as u16);
        let mut encoder =
            gif::Encoder::new(bytes, width, height, &colors.palette.color_map_rgb()).map_err(gif_failed)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(gif_failed)?;
        Ok(Self { encoder, colors, delay: (100.0 / rate) as u16, last: Vec::new() })
    }

    /// Adds pictures, each shown so many times in a row. Rows at the top and at the bottom that have not changed since the
    /// picture before (the sky, the caption) are left out, which keeps them.
    fn add(&mut self, pictures: &[Image], times: impl Iterator<Item = usize>) -> Result<(), ViewError> {
        let indexed: Vec<Vec<u8>> = pictures.par_iter().map(|p| self.colors.index(p)).collect();
        for ((picture, pixels), times) in pictures.iter().zip(indexed).zip(times) {
            let rows = changed_rows(&self.last, &pixels, picture.width);
            let frame = gif::Frame {
                width: picture.width as u16,
                top: rows.start as u16,
                height: rows.len() as u16,
                delay: self.delay.saturating_mul(times.min(usize::from(u16::MAX)) as u16),
                buffer: Cow::Borrowed(&pixels[rows.start * picture.width..rows.end * picture.width]),
                ..gif::Frame::default()
            };
            self.encoder.write_frame(&frame).map_err(gif_failed)?;
            self.last = pixels;
        }
        Ok(())
    }
}

/// From the first to the last row that differs; at least one.
fn changed_rows(last: &[u8], pixels: &[u8], width: usize) -> Range<usize> {
    let height = pixels.len() / width;
    if last.len() != pixels.len() {
        return 0..height;
    }
    let differs = |row: &usize| last[row * width..][..width] != pixels[row * width..][..width];
    let start = (0..height).find(differs).unwrap_or(0);
    start..(start..height).rev().find(differs).unwrap_or(start) + 1
}

/// So many of `length` places, from the first to the last.
fn spread(length: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |i| i * (length - 1) / (count - 1).max(1))
}

/// Bits of each channel that the table of nearest colours tells apart.
const BITS: u32 = 6;

/// The palette of a film, and which of its colours is nearest to each colour.
struct Colors {
    palette: NeuQuant,
    /// Found when it is first asked for: a film has few of all colours.
    nearest: Vec<AtomicU16>,
}

/// No colour of the palette.
const UNKNOWN: u16 = u16::MAX;

impl Colors {
    /// One palette for the whole film: colours do not flicker from frame to frame.
    fn of(samples: &[Image]) -> Self {
        let pixels: Vec<u8> = samples.iter().flat_map(|image| image.rgba.iter().copied()).collect();
        let palette = NeuQuant::new(10, 256, &pixels);
        Self { palette, nearest: (0..1 << (3 * BITS)).map(|_| AtomicU16::new(UNKNOWN)).collect() }
    }

    /// The colour of the palette that is nearest to those of a part of all colours. Threads that ask for the same part at the
    /// same time find the same.
    #[inline]
    fn nearest(&self, part: usize) -> u8 {
        let known = self.nearest[part].load(Ordering::Relaxed);
        if known != UNKNOWN {
            return known as u8;
        }
        let middle = |part: usize| ((part & ((1 << BITS) - 1)) << (8 - BITS) | 1 << (7 - BITS)) as u8;
        let rgba = [middle(part >> (2 * BITS)), middle(part >> BITS), middle(part), 255];
        let found = self.palette.index_of(&rgba) as u8;
        self.nearest[part].store(u16::from(found), Ordering::Relaxed);
        found
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
                self.nearest(part(p[0]) << (2 * BITS) | part(p[1]) << BITS | part(p[2]))
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
    let mut files = Vec::new();
    for batch in frames.chunks(BATCH) {
        for (picture, (_, times)) in draw(renderer, batch, caption)?.iter().zip(batch) {
            let bytes = picture.png()?;
            for _ in 0..*times {
                let file = folder.join(format!("{:04}.png", files.len()));
                crate::file::write(&file, &bytes)?;
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// Whether the program `ffmpeg` is there and can write H.264, which not every build of it can.
pub fn has_ffmpeg() -> bool {
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        let mut command = Command::new("ffmpeg");
        command.args(["-hide_banner", "-h", "encoder=libx264"]).stdin(Stdio::null());
        command.output().is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains("Encoder libx264"))
    });
    *FOUND
}

/// Writes an MP4 of the first `seconds` by handing the frames to the program `ffmpeg`.
pub fn mp4(renderer: &Renderer<'_>, caption: &Caption, seconds: f64, file: &Path) -> Result<(), ViewError> {
    let fail = |reason: String| ViewError::Encode { format: "MP4", reason };
    let frames = real_time(renderer, RATE, seconds);
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
            &RATE.to_string(),
            "-i",
            "-",
        ])
        // Even sides, as H.264 wants them, and the pixel format that every player knows.
        .args([
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-c:v",
            "libx264",
            // A quarter of the time of the default; half a megabyte for six seconds.
            "-preset",
            "superfast",
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
        for (picture, (_, times)) in draw(renderer, batch, caption)?.iter().zip(batch) {
            // A closed pipe means that ffmpeg gave up; its own words below say why.
            if (0..*times).any(|_| pipe.write_all(&picture.rgba).is_err()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Grey pictures of four rows.
    fn picture(rows: [u8; 4]) -> Image {
        let rgba = rows.iter().flat_map(|grey| [[*grey, *grey, *grey, 255]; 5]).flatten().collect();
        Image { width: 5, height: 4, rgba }
    }

    #[test]
    fn a_film_holds_only_the_rows_that_change_and_shows_all() {
        let pictures = [picture([0, 60, 120, 200]), picture([0, 200, 60, 200]), picture([0, 200, 60, 200])];
        let bytes = gif_of(&pictures, 25.0).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        let (mut screen, mut rows) = (vec![0; 5 * 4 * 4], Vec::new());
        for picture in &pictures {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.left, frame.width), (0, 5));
            rows.push((frame.top, frame.height));
            let start = usize::from(frame.top) * 5 * 4;
            screen[start..start + frame.buffer.len()].copy_from_slice(&frame.buffer);
            // Colours of a palette, with a pattern against bands.
            assert!(screen.iter().zip(&picture.rgba).all(|(a, b)| a.abs_diff(*b) < 8), "{screen:?}");
        }
        assert_eq!(rows, [(0, 4), (1, 2), (0, 1)]);
    }
}
