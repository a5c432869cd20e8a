//! Moving pictures: GIF, a folder of PNG files, and MP4 where ffmpeg is installed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use autoqd_draw::{Gif, Image};
use rayon::prelude::*;

use super::{Caption, Renderer};
use crate::ViewError;

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
    let mut film = Gif::new(&draw(renderer, &samples, caption)?, RATE)?;
    for batch in frames.chunks(BATCH) {
        film.add(&draw(renderer, batch, caption)?, &mut batch.iter().map(|(_, times)| *times))?;
    }
    Ok(film.finish()?)
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
    if pictures.is_empty() {
        return Err(ViewError::NothingToDraw);
    }
    let samples: Vec<Image> = spread(pictures.len(), 6).map(|i| pictures[i].clone()).collect();
    let mut film = Gif::new(&samples, rate)?;
    film.add(pictures, &mut std::iter::repeat(1))?;
    Ok(film.finish()?)
}

/// So many of `length` places, from the first to the last.
fn spread(length: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |i| i * (length - 1) / (count - 1).max(1))
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
