//! Evaluations that end when somebody presses Ctrl-C.

use std::sync::Arc;
use std::time::Instant;

use autoqd::Error;
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, Probe, Work};
use pyo3::prelude::*;

use crate::errors::raised;

/// Seconds between looks for a signal, about: long enough that worlds are kept busy, short enough to wait for.
const SECONDS: f64 = 2.0;
/// Episodes of a part at least.
const EPISODES: usize = 16;

/// Evaluates in parts of about [`SECONDS`], and looks for signals between them: an evaluation alone would end before Python
/// sees any. The answers are those of the evaluator inside, which depend on no other candidate or episode.
pub struct Interruptible(pub Arc<dyn Evaluator>);

/// Raises what Python's handlers of signals raise; only the main thread has any.
pub fn look_for_signals() -> Result<(), Error> {
    Python::attach(|py| py.check_signals()).map_err(raised)
}

impl Evaluator for Interruptible {
    fn evaluate(&self, all: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        let mut found: Vec<Evaluation> = Vec::with_capacity(all.len());
        let (mut done, total, mut size) = (0, all.len() * all.episodes, EPISODES);
        if total == 0 {
            return self.0.evaluate(all, probes);
        }
        while done < total {
            look_for_signals()?;
            let (began, length) = (Instant::now(), part(done, size, all));
            for evaluation in self.0.evaluate(cut(all, done, length), probes)? {
                match found.last_mut() {
                    // The next episodes of a candidate whose first ones were in the part before.
                    Some(last) if last.episodes.len() < all.episodes => {
                        last.episodes.extend(evaluation.episodes)
                    }
                    _ => found.push(evaluation),
                }
            }
            done += length;
            size = ((length as f64 * SECONDS / began.elapsed().as_secs_f64()) as usize).max(EPISODES);
        }
        look_for_signals()?;
        Ok(found)
    }

    fn physics_note(&self) -> String {
        self.0.physics_note()
    }

    fn work(&self) -> Option<Arc<Work>> {
        self.0.work()
    }

    fn news(&self) -> Vec<String> {
        self.0.news()
    }

    fn inexact(&self) -> Option<String> {
        self.0.inexact()
    }
}

/// How many episodes the next part has: of whole candidates, or else of one of them.
fn part(done: usize, size: usize, all: Candidates<'_>) -> usize {
    let left = all.len() * all.episodes - done;
    match done % all.episodes {
        0 if all.episodes <= size => (size / all.episodes * all.episodes).min(left),
        inside => size.min(all.episodes - inside),
    }
}

/// So many episodes of the candidates from one on.
fn cut(all: Candidates<'_>, first: usize, length: usize) -> Candidates<'_> {
    let (candidate, episodes) = (first / all.episodes, length.min(all.episodes));
    let rows = length / episodes;
    Candidates {
        parameters: &all.parameters[candidate * all.dimension..][..rows * all.dimension],
        seeds: &all.seeds[first..][..length],
        episodes,
        ..all
    }
}
