//! A user's own task in Rust: a cart on a track that should end up far from where it started.
//!
//! `cargo run --release -p autoqd --example own_environment`

use std::sync::{Arc, LazyLock};

use autoqd::config::Layers;
use autoqd::registry::Registry;
use autoqd::search::Search;
use autoqd_env::{Action, EnvError, EnvSpec, Environment, MeasureSpec, NumpyRng, Seed, Task, Transition};
use autoqd_qd::Archive;

static SPEC: LazyLock<EnvSpec> = LazyLock::new(|| EnvSpec {
    name: "cart".into(),
    observation_size: 2,
    action_size: 1,
    action_low: vec![-1.0],
    action_high: vec![1.0],
    max_episode_steps: 100,
    reward_terms: vec!["distance".into()],
    measures: vec![MeasureSpec { name: "right".into(), low: 0.0, high: 1.0 }],
    objective_min: 0.0,
});

#[derive(Default)]
struct Cart {
    position: f64,
    velocity: f64,
    steps: usize,
    steps_on_the_right: usize,
}

impl Environment for Cart {
    fn spec(&self) -> &EnvSpec {
        &SPEC
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        let mut rng = NumpyRng::from_seed(seed.unwrap_or(&Seed::from(0_u64)));
        *self = Self { position: rng.uniform(-0.1, 0.1), ..Self::default() };
        observation.copy_from_slice(&[self.position, self.velocity]);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        self.velocity = 0.9 * self.velocity + 0.1 * action.get(0);
        self.position += 0.1 * self.velocity;
        self.steps += 1;
        self.steps_on_the_right += usize::from(self.position > 0.0);
        observation.copy_from_slice(&[self.position, self.velocity]);
        let truncated = self.steps == SPEC.max_episode_steps;
        Ok(Transition { reward: self.position.abs(), truncated, ..Transition::default() })
    }

    fn measures(&self, out: &mut [f64]) {
        out[0] = self.steps_on_the_right as f64 / self.steps.max(1) as f64;
    }
}

struct CartTask;

impl Task for CartTask {
    fn spec(&self) -> &EnvSpec {
        &SPEC
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(Cart::default()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::default();
    let config = Layers::new(&registry).preset("quick")?.flag("task", "cart", "example")?.build()?;
    let mut search = Search::new(config.resolve(&(&*SPEC).into(), &registry)?, Arc::new(CartTask))?;
    while !search.finished() {
        search.step()?;
    }
    let stats = search.result().stats();
    println!(
        "{} different carts, the best with return {:.1}",
        stats.num_elites,
        stats.obj_max.unwrap_or(0.0)
    );
    assert!(stats.num_elites > 50);
    Ok(())
}
