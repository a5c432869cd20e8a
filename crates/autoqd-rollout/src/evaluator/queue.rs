//! In which order episodes are run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Work;

/// The (candidate, episode) pairs still to be run, numbered candidate by candidate.
///
/// Every candidate's first episode comes first. Then the other episodes of those candidates whose first one lasted
/// longest or still lasts: the episodes that are left for the end are short, so that no lane waits long for another.
/// The result of an episode does not depend on when it is run.
pub(super) struct Queue {
    state: Mutex<State>,
    work: Arc<Work>,
}

struct State {
    episodes: usize,
    /// The next candidate whose first episode has not been handed out.
    next: usize,
    /// Per candidate.
    first: Vec<First>,
    /// The episodes of one candidate that are being handed out.
    current: std::ops::Range<usize>,
}

/// What is known of a candidate's first episode; the later, the sooner its other episodes are run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum First {
    /// No other episode is left.
    NoneLeft,
    /// It had this many steps.
    Length(u32),
    /// It is not over.
    Lasting,
}

impl Queue {
    /// `episodes` of each of `candidates`; `work` learns of those that are over.
    pub(super) fn new(candidates: usize, episodes: usize, work: Arc<Work>) -> Self {
        let others = if episodes > 1 { First::Lasting } else { First::NoneLeft };
        let state = State { episodes, next: 0, first: vec![others; candidates], current: 0..0 };
        Self { state: Mutex::new(state), work }
    }

    /// The next episode to run.
    pub(super) fn take(&self) -> Option<usize> {
        self.state().take()
    }

    /// An episode is over after `length` steps.
    pub(super) fn finished(&self, job: usize, length: u32) {
        self.work.one_done();
        let mut state = self.state();
        let (candidate, episode) = (job / state.episodes, job % state.episodes);
        if episode == 0 && state.first[candidate] == First::Lasting {
            state.first[candidate] = First::Length(length);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<usize> {
        if self.next < self.first.len() {
            self.next += 1;
            return Some((self.next - 1) * self.episodes);
        }
        if self.current.is_empty() {
            let (candidate, first) = self.first.iter_mut().enumerate().max_by_key(|(_, first)| **first)?;
            if *first == First::NoneLeft {
                return None;
            }
            *first = First::NoneLeft;
            self.current = candidate * self.episodes + 1..(candidate + 1) * self.episodes;
        }
        self.current.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_episodes_come_before_short_ones() {
        let queue = Queue::new(3, 3, Arc::default());
        let firsts: Vec<_> = (0..3).map(|_| queue.take().unwrap()).collect();
        assert_eq!(firsts, [0, 3, 6]);
        queue.finished(0, 10);
        queue.finished(6, 20);
        let order: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!(order, [4, 5, 7, 8, 1, 2], "the one that lasts, then the longer, then the shorter");
        queue.finished(3, 5);
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn every_episode_is_run_once() {
        for (candidates, episodes) in [(0, 2), (4, 1), (5, 4)] {
            let queue = Queue::new(candidates, episodes, Arc::default());
            let mut jobs: Vec<_> = std::iter::from_fn(|| queue.take())
                .inspect(|job| queue.finished(*job, (job * 7 % 5) as u32))
                .collect();
            jobs.sort_unstable();
            assert_eq!(jobs, (0..candidates * episodes).collect::<Vec<_>>());
        }
    }

    #[test]
    fn threads_that_take_at_once_run_every_episode_once() {
        for round in 0..200 {
            let (candidates, episodes) = (1 + round % 7, 1 + round % 4);
            let work = Arc::new(Work::default());
            let queue = Queue::new(candidates, episodes, work.clone());
            let drain = |thread: usize| {
                let mut jobs = Vec::new();
                while let Some(job) = queue.take() {
                    // Threads fall behind each other differently in every round.
                    (0..(job * 31 + thread * 17 + round) % 64).for_each(|_| std::hint::spin_loop());
                    queue.finished(job, (job * 7 % 5) as u32);
                    jobs.push(job);
                }
                jobs
            };
            let drain = &drain;
            let mut jobs: Vec<usize> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || drain(thread))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            jobs.sort_unstable();
            assert_eq!(jobs, (0..candidates * episodes).collect::<Vec<_>>(), "round {round}");
        }
    }
}
