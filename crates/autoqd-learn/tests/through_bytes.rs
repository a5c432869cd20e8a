//! Evaluators are exchangeable: one that sends everything through bytes gives the same archives with every method, and
//! emitters see what they ask for.

use std::sync::Arc;

use autoqd::Error;
use autoqd::config::{Layers, PartFacts};
use autoqd::emitter::{SearchEmitter, Seen};
use autoqd::evaluator::wire::{Probes, Request, Response};
use autoqd::evaluator::{Candidates, Evaluation, Evaluator, Probe, Transitions};
use autoqd::registry::{EvaluatorContext, Registry};
use autoqd::search::Search;
use autoqd_env::Perturbation;
use autoqd_qd::{AnyEmitter, Archive, Emitter, Feedback, GaussianConfig, Restart};

/// Sends requests and responses through bytes, a few candidates at a time.
struct ThroughBytes(Arc<dyn Evaluator>);

impl Evaluator for ThroughBytes {
    fn evaluate(&self, candidates: Candidates<'_>, probes: &[Probe]) -> Result<Vec<Evaluation>, Error> {
        let mut evaluations = Vec::new();
        let chunks = candidates.parameters.chunks(3 * candidates.dimension);
        let apart = Probes::from_bytes(&Probes::new(probes).to_bytes()?)?;
        for (i, (parameters, seeds)) in
            chunks.zip(candidates.seeds.chunks(3 * candidates.episodes)).enumerate()
        {
            let part = Candidates { parameters, seeds, ..candidates };
            // Probes go with every other request; those of the rest went before.
            let with = if i % 2 == 0 { probes } else { &[] };
            let request = Request::from_bytes(&Request::new(part, with).to_bytes()?)?;
            let response = match i % 2 {
                0 => request.answer(&*self.0)?,
                _ => request.answer_under(&apart, &*self.0)?,
            };
            let response = response.to_bytes()?;
            evaluations.extend(Response::from_bytes(&response)?.evaluations);
        }
        Ok(evaluations)
    }

    fn physics_note(&self) -> String {
        format!("{}, through bytes", self.0.physics_note())
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    let facts = PartFacts::new("Everything goes through bytes.");
    registry.register_evaluator("through-bytes", facts, |context: EvaluatorContext<'_>| {
        Ok(Arc::new(ThroughBytes(Arc::new(context.local()?))))
    });
    let facts = PartFacts::new("Mutation that reads transitions along the way.");
    registry.register_emitter("curious", facts, |context| {
        let mut gaussian = GaussianConfig::new(context.x0, context.sigma0, context.seed);
        gaussian.batch_size = context.batch_size;
        Ok(Box::new(Curious { inner: gaussian.build()?.into(), rewards: 0.0 }))
    });
    registry
}

fn finish(settings: &[&str]) -> Search {
    let registry = registry();
    let task = registry.task("point-maze", &Perturbation::default()).expect("a built-in task");
    let mut layers = Layers::new(&registry).preset("quick").expect("a preset");
    let base =
        ["batch_size=4", "emitters=3", "iterations=7", "update_schedule=[3,5]", "autoencoder.epochs=2"];
    for setting in base.iter().chain(settings) {
        layers = layers.set(setting).expect("a setting");
    }
    let config = layers.flag("task", "point-maze", "TASK").expect("a task").build().expect("a configuration");
    let config = config.resolve(&task.spec().into(), &registry).expect("a valid configuration");
    let mut search = Search::with_registry(config, task, &registry).expect("a search");
    while !search.finished() {
        search.step().expect("an iteration");
    }
    search
}

#[test]
fn every_method_gives_the_same_archive_when_evaluations_go_through_bytes() {
    for method in ["autoqd", "regular", "aurora", "lstm-aurora"] {
        let method = format!("method={method}");
        let local = finish(&[&method]);
        let bytes = finish(&[&method, "evaluator=through-bytes"]);
        assert!(bytes.physics_note().ends_with("through bytes"));
        assert!(!local.result().is_empty());
        assert_eq!(local.result().elites(), bytes.result().elites(), "{method}");
    }
}

/// Counts the rewards of all candidates, not only its own.
struct Curious {
    inner: AnyEmitter,
    rewards: f64,
}

impl Emitter for Curious {
    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }

    fn solution_dim(&self) -> usize {
        self.inner.solution_dim()
    }

    fn ask(&mut self, archive: &dyn Archive, out: &mut [f64]) -> autoqd_qd::Result<()> {
        self.inner.ask(archive, out)
    }

    fn tell(&mut self, archive: &dyn Archive, feedback: &Feedback<'_>) -> autoqd_qd::Result<Option<Restart>> {
        assert!(feedback.fields.is_some_and(|fields| fields.len() == self.batch_size()));
        self.inner.tell(archive, feedback)
    }
}

impl SearchEmitter for Curious {
    fn probes(&self) -> Result<Vec<Probe>, Error> {
        Ok(vec![Probe::new(&Transitions)?])
    }

    fn absorb(&mut self, seen: &Seen<'_>) -> Result<(), Error> {
        assert_eq!(seen.evaluations.len(), 12, "those of all three emitters");
        let episodes = seen.evaluations.iter().flat_map(|e| &e.episodes);
        for (record, episode) in seen.records(0).zip(episodes) {
            let trajectory = record.trajectory();
            assert_eq!(trajectory.len(), episode.length as usize);
            let total: f64 = trajectory.rewards.iter().map(|r| f64::from(*r)).sum();
            assert!((total - episode.total_reward).abs() < 1e-3 * (1.0 + episode.total_reward.abs()));
            let mut before: Option<&[f32]> = None;
            for (observation, action, _, next, _) in trajectory.steps() {
                assert!(before.is_none_or(|before| before == observation), "steps follow each other");
                assert_eq!(action.len(), 2);
                before = Some(next);
            }
            self.rewards += total;
        }
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        self.inner.save()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), Error> {
        self.inner.load(state)
    }
}

#[test]
fn an_emitter_sees_the_transitions_of_all_candidates_and_changes_nothing_by_looking() {
    let plain = finish(&["emitter=gaussian"]);
    for evaluator in ["local", "through-bytes"] {
        let curious = finish(&["emitter=curious", &format!("evaluator={evaluator}")]);
        assert_eq!(plain.result().elites(), curious.result().elites());
    }
}
