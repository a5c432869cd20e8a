//! Evaluation on all cores of this machine.

use std::sync::{Arc, Mutex};

use autoqd_env::{Physics, Task};

use super::probe::MakeWatcher;
use super::queue::Queue;
use super::rollout::Worker;
use super::{Candidates, Episode, Evaluation, Evaluator, Probe, ProbeKinds, Work};
use crate::Error;
use crate::policy::PolicySpec;

/// Evaluates candidates on a pool of threads, each of which drives its own batch of worlds.
///
/// The answer is the same for any number of threads: an episode depends on nothing but its parameters and seed,
/// and results are put together in candidate order.
pub struct LocalEvaluator {
    task: Arc<dyn Task>,
    policy: PolicySpec,
    physics: Physics,
    pool: Arc<rayon::ThreadPool>,
    kinds: ProbeKinds,
    /// Workers between evaluations; building worlds costs more than a short episode.
    idle: Mutex<Vec<Worker>>,
    work: Arc<Work>,
}

impl LocalEvaluator {
    /// An evaluator of `policy` in `task` on the threads of `pool`.
    pub fn new(
        task: Arc<dyn Task>,
        policy: PolicySpec,
        physics: Physics,
        pool: Arc<rayon::ThreadPool>,
    ) -> Result<Self, Error> {
        // The first worlds are built here so that an unusable model or engine is reported at once.
        let first = Worker::new(task.make_worlds(physics)?, &policy)?;
        let (kinds, idle) = (ProbeKinds::default(), Mutex::new(vec![first]));
        Ok(Self { task, policy, physics, pool, kinds, idle, work: Arc::default() })
    }

    /// The same evaluator with other kinds of probes.
    pub fn with_probe_kinds(mut self, kinds: ProbeKinds) -> Self {
        self.kinds = kinds;
        self
    }

    fn worker(&self) -> Result<Worker, Error> {
        let idle = self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        match idle {
            Some(worker) => Ok(worker),
            None => Worker::new(self.task.make_worlds(self.physics)?, &self.policy),
        }
    }

    fn run_worker(
        &self,
        candidates: Candidates<'_>,
        probes: &[MakeWatcher],
        queue: &Queue,
    ) -> Result<Vec<(usize, Episode)>, Error> {
        let mut worker = self.worker()?;
        // No thread may take so many worlds that none are left for another.
        let share = (candidates.len() * candidates.episodes).div_ceil(self.pool.current_num_threads());
        let finished = worker.run(candidates, probes, queue, share)?;
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(worker);
        Ok(finished)
    }
}

impl Evaluator for LocalEvaluator {
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        candidates.check(&self.policy)?;
        let probes = probes.iter().map(|probe| self.kinds.decode(probe)).collect::<Result<Vec<_>, _>>()?;
        let jobs = candidates.len() * candidates.episodes;
        self.work.begin(jobs);
        let queue = Queue::new(candidates.len(), candidates.episodes, self.work.clone());
        let finished = match self.pool.current_num_threads() {
            // The calling thread is as good as one other, and may hold what a task in another language needs.
            1 => vec![self.run_worker(candidates, &probes, &queue)],
            _ => self.pool.broadcast(|_| self.run_worker(candidates, &probes, &queue)),
        };
        let mut episodes: Vec<Option<Episode>> = vec![None; jobs];
        for worker in finished {
            for (job, episode) in worker? {
                episodes[job] = Some(episode);
            }
        }
        let mut episodes = episodes.into_iter().flatten();
        Ok((0..candidates.len())
            .map(|_| Evaluation { episodes: episodes.by_ref().take(candidates.episodes).collect() })
            .collect())
    }

    fn physics_note(&self) -> String {
        self.task.physics_note(self.physics)
    }

    fn work(&self) -> Option<Arc<Work>> {
        Some(self.work.clone())
    }
}
