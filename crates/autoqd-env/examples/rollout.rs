//! A short rollout of every task, or of those named as arguments: two episodes under a constant action, in one world, in
//! a batch of worlds on the same simulator, and in one on the simulator of searches.

use autoqd_env::{Action, EnvError, Perturbation, Physics, Seed, Task, Transition, load_task, task_names};

const STEPS: usize = 20;

fn main() -> Result<(), EnvError> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let names = if named.is_empty() { task_names().into_iter().map(String::from).collect() } else { named };
    for name in names {
        let task = load_task(&name, &Perturbation::default())?;
        let mut world = task.make()?;
        let mut observation = vec![0.0; task.spec().observation_size];
        let action = vec![0.5_f32; task.spec().action_size];
        let mut total = 0.0;
        for episode in 0..2_u64 {
            world.reset(Some(&Seed::from(episode)), &mut observation)?;
            for _ in 0..STEPS {
                let transition = world.step(Action::F32(&action), &mut observation)?;
                total += transition.reward;
                if transition.done() {
                    break;
                }
            }
        }
        let [same, fast] = [Physics::Reference, Physics::Auto].map(|physics| batch(&*task, physics, &action));
        println!("{name}: return {total}, {} in a batch, {} as in a search", same?, fast?);
    }
    Ok(())
}

/// Both episodes in every lane, every other lane the second one first; the mean over lanes.
fn batch(task: &dyn Task, physics: Physics, action: &[f32]) -> Result<f64, EnvError> {
    let mut worlds = task.make_worlds(physics)?;
    let (lanes, size) = (worlds.lanes(), task.spec().observation_size);
    let mut observations = vec![0.0; lanes * size];
    let actions = action.repeat(lanes);
    let mut transitions = vec![Transition::default(); lanes];
    let mut total = 0.0;
    for turn in 0..2_u64 {
        for (lane, row) in observations.chunks_mut(size).enumerate() {
            worlds.reset(lane, Some(&Seed::from((lane as u64 + turn) % 2)), row)?;
        }
        let mut active = vec![true; lanes];
        for _ in 0..STEPS {
            worlds.step(&active, Action::F32(&actions), &mut observations, &mut transitions)?;
            for (active, transition) in active.iter_mut().zip(&transitions) {
                total += if *active { transition.reward } else { 0.0 };
                *active &= !transition.done();
            }
        }
    }
    Ok(total / lanes as f64)
}
