//! The best and the most different behaviours, as data for the painter.

use std::fmt::Write;

use autoqd::run_folder::ArchiveTable;
use serde_json::json;

use super::{ReportOptions, number};
use crate::film::Film;
use crate::plot::svg::escape;
use crate::render::{FrameStyle, Renderer};
use crate::{Change, Replay, RunView, ViewError};

/// Frames per second of the animations.
const RATE: f64 = 25.0;

pub(super) fn behaviours(
    run: &RunView,
    table: &ArchiveTable,
    shown: &[usize],
    options: ReportOptions,
) -> Result<String, ViewError> {
    let mut html = String::from("<div><div class=\"behaviours\">\n");
    for (i, row) in shown.iter().enumerate() {
        match run.replay(table, *row, Change::default()) {
            Ok(replay) => html.push_str(&behaviour(table, (i + 1, *row), &replay, options.seconds)?),
            Err(ViewError::NothingToDraw) => match run.film(table, *row, options.seconds)? {
                Some(film) => html.push_str(&filmed(table, (i + 1, *row), &film)),
                // A task without a body can still be reported on.
                None => return Ok("<p>This task has no shapes to draw.</p>".to_string()),
            },
            Err(error) => return Err(error),
        }
    }
    let order = match run.run().is_selection() {
        true => "In the order in which they were chosen.",
        false => {
            "The best elite first, then those that differ most from all before them, among the best fifth."
        }
    };
    let _ = writeln!(
        html,
        "</div>\n<p class=\"note\">The numbers are those on the map. {order} <span class=\"on-screen\">Click one to pause it. </span><i>Found</i> is the return \
         the search accepted an elite with, <i>this episode</i> that of the whole episode whose start is shown, in the \
         reference simulator.</p></div>"
    );
    Ok(html)
}

fn behaviour(
    table: &ArchiveTable,
    (place, row): (usize, usize),
    replay: &Replay,
    seconds: f64,
) -> Result<String, ViewError> {
    let style = FrameStyle { width: 320, height: 240, ..FrameStyle::default() };
    let poster = Renderer::new(replay, style)?.frame(replay.frames() * 2 / 5)?.png()?;
    let (header, frames) = encode(replay, seconds);
    let mut html = String::new();
    let _ = writeln!(
        html,
        "<figure class=\"behaviour\"><div class=\"screen\"><img alt=\"elite {id} at work\" src=\"data:image/png;base64,{}\">\
         <canvas data-replay=\"{}\" data-frames=\"{}\" tabindex=\"0\" role=\"img\" aria-label=\"elite {id} at work\"></canvas></div>\
         {}</figure>",
        base64(&poster),
        escape(&header),
        base64(&frames),
        caption(table, (place, row), replay.total_reward()),
        id = table.id[row],
    );
    Ok(html)
}

/// An elite of a task that draws itself.
fn filmed(table: &ArchiveTable, (place, row): (usize, usize), film: &Film) -> String {
    format!(
        "<figure class=\"behaviour\"><div class=\"screen\"><img alt=\"elite {id} at work\" \
         src=\"data:image/gif;base64,{}\"></div>{}</figure>\n",
        base64(&film.gif),
        caption(table, (place, row), film.total_reward),
        id = table.id[row],
    )
}

fn caption(table: &ArchiveTable, (place, row): (usize, usize), total_reward: f64) -> String {
    format!(
        "<figcaption><span class=\"place\">{place}</span> <b>#{}</b> found {}, this episode {}</figcaption>",
        table.id[row],
        number(table.objective[row]),
        number(total_reward),
    )
}

/// The scene as JSON and the poses in 16 bits each: positions in parts of the largest one, rotations in parts of 1.
fn encode(replay: &Replay, seconds: f64) -> (String, Vec<u8>) {
    let stride = (1.0 / (RATE * replay.seconds_per_frame())).round().max(1.0) as usize;
    let step = stride as f64 * replay.seconds_per_frame();
    let frames: Vec<usize> =
        (0..replay.frames()).step_by(stride).take((seconds / step).ceil() as usize + 1).collect();
    let poses = || frames.iter().flat_map(|f| replay.poses(*f));
    let largest = poses().flat_map(|p| p.position).map(f64::abs).fold(1e-6, f64::max);
    let mut bytes = Vec::new();
    let mut push = |value: f64| bytes.extend(((value * 32767.0).round() as i16).to_le_bytes());
    for pose in poses() {
        pose.position.iter().for_each(|v| push(v / largest));
        pose.rotation.iter().for_each(|v| push(v.clamp(-1.0, 1.0)));
    }
    let mut scene = replay.scene.clone();
    scene.seconds_per_step = step;
    (json!({ "scene": scene, "largest": largest, "count": frames.len() }).to_string(), bytes)
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, b| (word << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
