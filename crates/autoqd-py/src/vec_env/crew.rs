//! Threads that live as long as a vector environment and share the blocks of each step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use autoqd_env::{Action, EnvError, Seed};

use super::block::{Autoreset, Block};

/// What all blocks do next.
pub(super) enum Command {
    Reset(Vec<Option<Option<Seed>>>),
    StepF32(Autoreset, Vec<f32>),
    StepF64(Autoreset, Vec<f64>),
}

/// The calling thread and its helpers.
///
/// A helper that wakes late finds nothing left to do, and nobody waits for it: a step takes no longer than its blocks.
pub(super) struct Crew {
    shared: Arc<Shared>,
    helpers: usize,
    pool: Option<rayon::ThreadPool>,
    /// The process whose threads the pool has; a forked process has none of them.
    process: u32,
}

struct Shared {
    /// How far ahead the block is that the same thread will probably take next.
    stride: usize,
    blocks: Vec<Mutex<Block>>,
    /// Lanes of each block.
    lanes: usize,
    action_size: usize,
    command: RwLock<Command>,
    /// The next block that nobody works on.
    next: AtomicUsize,
    /// Helpers that were called and have not come yet.
    called: AtomicUsize,
    /// Blocks that are not done, and what went wrong.
    state: Mutex<State>,
    done: Condvar,
}

struct State {
    left: usize,
    failure: Option<EnvError>,
}

impl Crew {
    pub(super) fn new(blocks: Vec<Block>, lanes: usize, action_size: usize, threads: usize) -> Self {
        let helpers = threads.min(blocks.len()).saturating_sub(1);
        let shared = Shared {
            stride: helpers + 1,
            next: AtomicUsize::new(blocks.len()),
            blocks: blocks.into_iter().map(Mutex::new).collect(),
            lanes,
            action_size,
            command: RwLock::new(Command::Reset(Vec::new())),
            called: AtomicUsize::new(0),
            state: Mutex::new(State { left: 0, failure: None }),
            done: Condvar::new(),
        };
        Self { shared: Arc::new(shared), helpers, pool: None, process: std::process::id() }
    }

    /// The blocks, between commands.
    pub(super) fn blocks(&self) -> impl Iterator<Item = MutexGuard<'_, Block>> {
        self.shared.blocks.iter().map(lock)
    }

    /// Carries out a command in all blocks. `prepare` fills in the command in place of the last one.
    pub(super) fn run(&mut self, prepare: impl FnOnce(&mut Command)) -> Result<(), EnvError> {
        prepare(&mut self.shared.command.write().unwrap_or_else(PoisonError::into_inner));
        *lock(&self.shared.state) = State { left: self.shared.blocks.len(), failure: None };
        self.shared.next.store(0, Ordering::Release);
        self.call_helpers();
        self.shared.work();
        let mut state = lock(&self.shared.state);
        while state.left > 0 {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.take().map_or(Ok(()), Err)
    }

    fn call_helpers(&mut self) {
        if self.process != std::process::id() {
            // The threads stayed in the other process, and so did whatever they held.
            std::mem::forget(self.pool.take());
            self.process = std::process::id();
            self.shared.called.store(0, Ordering::Relaxed);
        }
        if self.helpers > 0 && self.pool.is_none() {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(self.helpers);
            // Without threads the calling one does everything.
            self.pool = builder.thread_name(|i| format!("autoqd-{i}")).build().ok();
        }
        let Some(pool) = &self.pool else { return };
        for _ in self.shared.called.load(Ordering::Relaxed)..self.helpers {
            let shared = Arc::clone(&self.shared);
            shared.called.fetch_add(1, Ordering::Relaxed);
            pool.spawn(move || {
                shared.called.fetch_sub(1, Ordering::Relaxed);
                shared.work();
            });
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.pool.take());
        }
    }
}

impl Shared {
    /// Takes blocks until none is left.
    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::AcqRel);
            let Some(block) = self.blocks.get(index) else { return };
            if let Some(Ok(later)) = self.blocks.get(index + self.stride).map(Mutex::try_lock) {
                later.prefetch();
            }
            // Somebody waits for this block, whatever happens in it.
            let result = catch_unwind(AssertUnwindSafe(|| self.carry_out(index, &mut lock(block))));
            let result = result.unwrap_or_else(|_| Err(self.panicked(index)));
            let mut state = lock(&self.state);
            state.left -= 1;
            if let Err(error) = result {
                state.failure.get_or_insert(error);
            }
            if state.left == 0 {
                self.done.notify_one();
            }
        }
    }

    fn panicked(&self, index: usize) -> EnvError {
        let task = lock(&self.blocks[index]).task().to_owned();
        EnvError::World { task, message: "a step panicked; please report it".to_owned() }
    }

    fn carry_out(&self, index: usize, block: &mut Block) -> Result<(), EnvError> {
        let first = index * self.lanes;
        let actions = first * self.action_size..(first + block.count) * self.action_size;
        match &*self.command.read().unwrap_or_else(PoisonError::into_inner) {
            Command::Reset(seeds) => block.reset(&seeds[first..first + block.count]),
            Command::StepF32(mode, all) => block.step(*mode, Action::F32(&all[actions])),
            Command::StepF64(mode, all) => block.step(*mode, Action::F64(&all[actions])),
        }
    }
}

/// A panic in one block must not make the others unusable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
