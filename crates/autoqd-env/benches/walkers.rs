//! Steps of BipedalWalker per second of processor time on one core: Box2D's part of the steps alone, world by world,
//! against all lanes of a search together with observations and rewards, in turns. Resets count on both sides.
//! `cargo bench -p autoqd-env --bench walkers`
#[cfg(feature = "box2d")]
mod walkers {
    use autoqd_env::{
        Action, BipedalWalkerTask, Environment, Physics, Seed, Task, Transition, WorldReuse, Worlds,
    };

    const EPISODES: usize = 1200;

    /// Swings of all joints: some episodes fall at once, some kneel, some stand.
    fn swing(episode: u64, t: usize, size: f32) -> [f32; 4] {
        std::array::from_fn(|k| {
            let part = episode * 7 + k as u64 * 13;
            let (speed, phase) = ((part % 17) as f32 * 0.03 + 0.02, (part % 19) as f32);
            ((speed * t as f32 + phase).sin() * (0.1 + (part % 11) as f32 * 0.12) * size).clamp(-1.0, 1.0)
        })
    }

    fn cpu_seconds() -> f64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
        stat.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).expect("nanoseconds") * 1e-9
    }

    /// Steps per second of some episodes, one after the other, without lidar, observation and reward.
    fn bare(lengths: &[usize], size: f32) -> f64 {
        let mut walker = BipedalWalkerTask::default().walker(WorldReuse::Never).expect("a walker");
        let start = cpu_seconds();
        for (episode, &length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            walker.reset(Some(&Seed::from(episode as u64)), &mut [0.0; 24]).expect("a reset");
            for t in 0..length {
                walker.advance_physics(Action::F32(&swing(episode as u64, t, size))).expect("a step");
            }
        }
        lengths.iter().sum::<usize>() as f64 / (cpu_seconds() - start)
    }

    /// Steps per second of a batch, and how long the episodes were that came to their end.
    fn batch(worlds: &mut dyn Worlds, episodes: usize, limit: usize, size: f32) -> (f64, Vec<usize>) {
        let lanes = worlds.lanes();
        let mut lengths = vec![0; episodes];
        let mut observations = vec![0.0; lanes * 24];
        let mut transitions = vec![Transition::default(); lanes];
        let (mut now, mut next, mut steps) = (vec![(0, 0); lanes], 0, 0);
        let mut active = vec![false; lanes];
        let mut actions = vec![0.0_f32; lanes * 4];
        let start = cpu_seconds();
        loop {
            for lane in 0..lanes {
                if !active[lane] && next < episodes {
                    let row = &mut observations[lane * 24..][..24];
                    worlds.reset(lane, Some(&Seed::from(next as u64)), row).expect("a reset");
                    (now[lane], active[lane]) = ((next, 0), true);
                    next += 1;
                }
                let (episode, t) = now[lane];
                actions[lane * 4..][..4].copy_from_slice(&swing(episode as u64, t, size));
            }
            // As in a search, whose lanes idle only at the end of many episodes.
            if active.contains(&false) {
                break;
            }
            worlds.step(&active, Action::F32(&actions), &mut observations, &mut transitions).expect("a step");
            for lane in (0..lanes).filter(|lane| active[*lane]).collect::<Vec<_>>() {
                steps += 1;
                now[lane].1 += 1;
                let (episode, t) = now[lane];
                active[lane] = !transitions[lane].done() && t < limit;
                lengths[episode] = if active[lane] { 0 } else { t };
            }
        }
        (steps as f64 / (cpu_seconds() - start), lengths)
    }

    pub fn main() {
        let setting =
            |name: &str, default| std::env::var(name).ok().and_then(|r| r.parse().ok()).unwrap_or(default);
        let rounds: usize = setting("ROUNDS", 3);
        let only = std::env::var("ONLY").unwrap_or_default();
        let task = BipedalWalkerTask::default();
        let mut worlds = task.make_worlds(Physics::Auto).expect("worlds");
        println!("{:<24}{:>8}{:>12}{:>12}{:>8}", "actions", "length", "Box2D", "batch", "ratio");
        for (name, size) in [("still", 0.0), ("small swings", 0.3), ("swings", 1.0), ("extreme", 100.0)] {
            let (_, lengths) = batch(worlds.as_mut(), EPISODES, 400, size);
            let mut rates: Vec<[f64; 3]> = (0..rounds)
                .map(|_| {
                    let alone = if only == "batch" { 1.0 } else { bare(&lengths, size) };
                    let together = batch(worlds.as_mut(), EPISODES, 400, size).0;
                    [alone, together, together / alone]
                })
                .collect();
            let median = |rates: &mut [[f64; 3]], i: usize| {
                rates.sort_by(|a, b| a[i].total_cmp(&b[i]));
                rates[rates.len() / 2][i]
            };
            let [a, b, r] = [0, 1, 2].map(|i| median(&mut rates, i));
            let over = lengths.iter().filter(|length| **length > 0).count();
            let length = lengths.iter().sum::<usize>() as f64 / over as f64;
            println!("{name:<24}{length:>8.0}{a:>12.0}{b:>12.0}{r:>8.2}");
        }
    }
}

fn main() {
    #[cfg(feature = "box2d")]
    walkers::main();
}
