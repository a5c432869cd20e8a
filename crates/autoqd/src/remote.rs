//! What a worker on another machine needs to answer requests: the task with its files, the policy's shape, the simulator.
//!
//! A [`Job`] is made where the search runs and sent once to every worker, in a versioned form with a checksum like the
//! messages of [`wire`]. The worker loads the task from it, compares what it has loaded with what
//! the search has, and answers [`Request`](wire::Request)s.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use autoqd_env::{Physics, Task, TaskDigest, TaskOrigin};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::evaluator::{LocalEvaluator, wire};
use crate::policy::PolicySpec;
use crate::registry::{EvaluatorContext, Registry};

/// How the bytes of a job begin.
const JOB: &[u8; 8] = b"AQDJOB01";

/// A task, the shape of its policies and the simulator, as they are sent to workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    #[serde(with = "as_json")]
    origin: TaskOrigin,
    /// The task file among `files`, for a task from a file.
    file: Option<PathBuf>,
    /// Every file by its path relative to the others.
    files: Vec<(PathBuf, Vec<u8>)>,
    digests: Vec<TaskDigest>,
    policy: String,
    physics: Physics,
    /// The simulator in words, which tells when `auto` would mean another one on the worker.
    physics_note: String,
}

impl Job {
    /// The job of an evaluator's context, with the files of its task.
    pub fn new(context: &EvaluatorContext<'_>, registry: &Registry) -> Result<Self, Error> {
        let task = &context.task;
        let origin = task.origin().cloned().ok_or_else(|| Error::Wire {
            reason: format!(
                "the task '{}' was made in code and has no name that a worker could load it by",
                task.spec().name
            ),
        })?;
        let mut job = Self {
            file: None,
            files: Vec::new(),
            digests: task.digests(),
            policy: context.policy.to_json().to_string(),
            physics: task.meant(context.physics),
            physics_note: task.physics_note(context.physics),
            origin,
        };
        if let Some(found) = registry.task_files(&job.origin.name)? {
            let root = common_folder(&found.files);
            for path in &found.files {
                let name = path.strip_prefix(&root).unwrap_or(path).to_owned();
                if *path == found.task {
                    job.file = Some(name.clone());
                }
                job.files.push((name, std::fs::read(path).map_err(|e| unreadable(path, &e))?));
            }
        }
        Ok(job)
    }

    /// The name of the task, or where its file was.
    pub fn task(&self) -> &str {
        &self.origin.name
    }

    /// The shape of the policies, as JSON.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// The job in bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        wire::seal(JOB, self)
    }

    /// Reads a job.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let job: Self = wire::open(JOB, bytes)?;
        let inside = |path: &PathBuf| path.components().all(|c| matches!(c, Component::Normal(_)));
        match job.files.iter().map(|(path, _)| path).chain(&job.file).all(inside) {
            true => Ok(job),
            false => Err(Error::Wire { reason: "it names files outside its folder".to_owned() }),
        }
    }

    /// The evaluator of the job on this machine; the files of its task are written into `folder`.
    pub fn evaluator(
        &self,
        folder: &Path,
        registry: &Registry,
        pool: Arc<rayon::ThreadPool>,
    ) -> Result<LocalEvaluator, Error> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, content)).map_err(|e| unreadable(&path, &e))?;
        }
        let name = match &self.file {
            Some(file) => folder.join(file).to_string_lossy().into_owned(),
            None => self.origin.name.clone(),
        };
        let task = registry.task(&name, &self.origin.perturbation)?;
        self.compare(&*task)?;
        let (policy, physics, probes) =
            (PolicySpec::from_json(&self.policy)?, self.physics, registry.probes().clone());
        EvaluatorContext { config: None, task, policy, physics, pool, probes }.local()
    }

    fn compare(&self, task: &dyn Task) -> Result<(), Error> {
        let differs = |what: &str| {
            let reason = format!("{what} of the task '{}' is another one on this worker", self.origin.name);
            Err(Error::Wire { reason })
        };
        let now = task.digests();
        if let Some((old, _)) = self.digests.iter().zip(&now).find(|(old, new)| old != new) {
            return differs(&format!("the {}", old.of));
        }
        let note = task.physics_note(self.physics);
        match (now.len() == self.digests.len(), note == self.physics_note) {
            (false, _) => differs("what is made"),
            (true, false) => differs(&format!("the simulator ({} here, {note} there)", self.physics_note)),
            (true, true) => Ok(()),
        }
    }
}

/// Settings read more forms than one, which only a format that describes itself can hold.
mod as_json {
    use autoqd_env::TaskOrigin;
    use serde::{Deserialize, Deserializer, Serializer, de, ser};

    pub fn serialize<S: Serializer>(origin: &TaskOrigin, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(origin).map_err(ser::Error::custom)?)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TaskOrigin, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Wire { reason: format!("the file {} of a task: {error}", path.display()) }
}

/// The deepest folder that holds all files.
fn common_folder(files: &[PathBuf]) -> PathBuf {
    let folders = files.iter().map(|file| file.parent().unwrap_or(file).to_owned());
    let common = |a: PathBuf, b: PathBuf| -> PathBuf {
        a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    };
    folders.reduce(common).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicySection;
    use crate::evaluator::{Candidates, Evaluator};
    use crate::search::thread_pool;

    #[test]
    fn a_worker_answers_as_this_process_does_and_refuses_another_task() {
        let registry = Registry::default();
        let task = registry.task("point-maze", &Default::default()).unwrap();
        let policy = PolicySection::default().shape(task.spec()).unwrap();
        let context = EvaluatorContext {
            config: None,
            task,
            policy: policy.clone(),
            physics: Physics::Auto,
            pool: thread_pool(Some(1)).unwrap(),
            probes: registry.probes().clone(),
        };
        let job = Job::new(&context, &registry).unwrap();
        let sent = Job::from_bytes(&job.to_bytes().unwrap()).unwrap();
        assert_eq!(sent, job);
        let folder = tempfile::tempdir().unwrap();
        let worker = sent.evaluator(folder.path(), &registry, context.pool.clone()).unwrap();
        let parameters = vec![0.1; policy.parameter_count()];
        let candidates =
            Candidates { parameters: &parameters, dimension: parameters.len(), seeds: &[7], episodes: 1 };
        let here = context.local().unwrap().evaluate(candidates, &[]).unwrap();
        assert_eq!(worker.evaluate(candidates, &[]).unwrap(), here);
        let other = Job { physics_note: "another".to_owned(), ..job.clone() };
        let refused = other.evaluator(folder.path(), &registry, thread_pool(Some(1)).unwrap()).err().unwrap();
        assert!(refused.to_string().contains("another one on this worker"), "{refused}");
        let outside = Job { file: Some("../task.toml".into()), ..job };
        assert!(Job::from_bytes(&outside.to_bytes().unwrap()).is_err());
    }
}
