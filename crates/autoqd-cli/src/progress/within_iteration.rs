//! How far an iteration is while it runs: on a terminal in the bar, elsewhere a line now and then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autoqd::evaluator::Work;
use indicatif::ProgressBar;

use super::duration;
use crate::notes::note;

/// How often the bar is renewed.
const TICK: Duration = Duration::from_millis(250);
/// Iterations that are over sooner need no word.
const SHORT: Duration = Duration::from_secs(1);
/// Plain lines within an iteration come no more often than this.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// Where the search is, as the iterations leave it.
#[derive(Clone, Debug)]
pub struct Now {
    /// Iterations that are done.
    pub iteration: u64,
    /// Iterations asked for.
    pub iterations: u64,
    /// When the iteration in progress began.
    pub began: Instant,
    /// What the bar says about the iterations that are done; empty before the first.
    pub pace: String,
}

/// A thread that looks at an evaluation and says how far it is, until this is dropped.
pub struct WithinIteration {
    now: Arc<Mutex<Now>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WithinIteration {
    /// Starts to watch.
    pub fn new(work: Arc<Work>, now: Now, bar: Option<ProgressBar>) -> Self {
        let (now, stop) = (Arc::new(Mutex::new(now)), Arc::new(AtomicBool::new(false)));
        let thread = {
            let (now, stop) = (now.clone(), stop.clone());
            let watch = move || watch(&work, &now, &stop, bar.as_ref());
            // A system that has no thread left for this has a search without progress, not none.
            std::thread::Builder::new().spawn(watch).ok()
        };
        Self { now, stop, thread }
    }

    /// An iteration is over and the next one begins.
    pub fn renew(&self, now: Now) {
        *lock(&self.now) = now;
    }
}

impl Drop for WithinIteration {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that shows progress has nothing to report when it fails.
            let _ = thread.join();
        }
    }
}

fn lock(now: &Mutex<Now>) -> MutexGuard<'_, Now> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(work: &Work, now: &Mutex<Now>, stop: &AtomicBool, bar: Option<&ProgressBar>) {
    let mut last_line = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        std::thread::park_timeout(TICK);
        let now = lock(now).clone();
        let Some(text) = text(&now, work.episodes(), now.began.elapsed()) else { continue };
        match bar {
            Some(bar) => bar.set_prefix(format!("{}  {text}", now.pace).trim_start().to_owned()),
            None if last_line.elapsed().min(now.began.elapsed()) >= LINE_INTERVAL => {
                note!("iteration {}/{}  {text}", now.iteration + 1, now.iterations);
                last_line = Instant::now();
            }
            None => {}
        }
    }
}

/// Episodes done; before the first iteration is over, also the time that all will take at this pace.
fn text(now: &Now, (done, total): (u64, u64), elapsed: Duration) -> Option<String> {
    if total == 0 || elapsed < SHORT {
        return None;
    }
    let mut text = format!("{done} of {total} episodes");
    if now.pace.is_empty() && done > 0 {
        let iteration = elapsed.as_secs_f64() * total as f64 / done as f64;
        let left = now.iterations.saturating_sub(now.iteration) as f64;
        text += &format!("  ETA about {}", duration(iteration * left - elapsed.as_secs_f64()));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_iteration_says_how_far_it_is_and_the_first_one_guesses_the_end() {
        let now =
            |pace: &str| Now { iteration: 0, iterations: 10, began: Instant::now(), pace: pace.to_owned() };
        let seconds = Duration::from_secs;
        assert_eq!(text(&now(""), (30, 120), Duration::from_millis(400)), None, "too short to speak of");
        assert_eq!(text(&now(""), (0, 0), seconds(5)), None, "nothing is evaluated");
        assert_eq!(text(&now(""), (0, 120), seconds(5)).unwrap(), "0 of 120 episodes");
        assert_eq!(text(&now(""), (30, 120), seconds(10)).unwrap(), "30 of 120 episodes  ETA about 6m30s");
        assert_eq!(text(&now("ETA 5m00s"), (30, 120), seconds(10)).unwrap(), "30 of 120 episodes");
    }
}
