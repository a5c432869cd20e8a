//! A short rollout of every task, or of those named as arguments: two episodes under a constant action.

use autoqd_env::{Action, EnvError, Perturbation, Seed, load_task, task_names};

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
        println!("{name}: return {total}");
    }
    Ok(())
}
