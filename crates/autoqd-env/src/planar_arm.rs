//! A planar arm of equal links that should reach everywhere with evenly bent joints. Needs no simulator.

use std::f64::consts::FRAC_PI_2;

use crate::{
    Action, EnvError, EnvSpec, Environment, MeasureSpec, NumpyRng, Pose, Scene, Seed, Shape, ShapeKind, Task,
    Transition, checks,
};

const NAME: &str = "planar-arm";
const JOINTS: usize = 5;
const LINK: f64 = 1.0 / JOINTS as f64;
const MAX_EPISODE_STEPS: usize = 50;
/// Radians that a full action turns a joint in one step.
const SPEED: f64 = 0.1;
/// Joints turn this far to either side.
const LIMIT: f64 = FRAC_PI_2;
const START_NOISE: f64 = 0.05;

/// The recipe of the arm.
///
/// The arm has five joints and total length 1; an action turns each joint by up to 0.1 radians. An observation holds
/// the joint angles and the position of the tip. The return is minus the variance of the final angles (up to that
/// of the start): even arms are good. The measures are the final position of the tip.
///
/// ```
/// use autoqd_env::{Action, PlanarArmTask, Seed, Task};
///
/// let mut arm = PlanarArmTask::default().make()?;
/// let mut observation = [0.0; 7];
/// arm.reset(Some(&Seed::from(1_u64)), &mut observation)?;
/// while !arm.step(Action::F64(&[0.2; 5]), &mut observation)?.done() {}
/// let mut tip = [0.0; 2];
/// arm.measures(&mut tip);
/// assert_eq!(tip, [(observation[5] + 1.0) / 2.0, (observation[6] + 1.0) / 2.0]);
/// # Ok::<(), autoqd_env::EnvError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlanarArmTask {
    spec: EnvSpec,
}

impl Default for PlanarArmTask {
    fn default() -> Self {
        let measure = |name: &str| MeasureSpec { name: name.into(), low: 0.0, high: 1.0 };
        let spec = EnvSpec {
            name: NAME.into(),
            observation_size: JOINTS + 2,
            action_size: JOINTS,
            action_low: vec![-1.0; JOINTS],
            action_high: vec![1.0; JOINTS],
            max_episode_steps: MAX_EPISODE_STEPS,
            reward_terms: vec!["evenness".into()],
            measures: vec![measure("tip x"), measure("tip y")],
            objective_min: -2.5,
        };
        Self { spec }
    }
}

impl Task for PlanarArmTask {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        let rng = NumpyRng::from_seed(&Seed::from(0_u64));
        Ok(Box::new(PlanarArm { spec: self.spec.clone(), rng, angles: [0.0; JOINTS], term: [0.0], steps: 0 }))
    }
}

struct PlanarArm {
    spec: EnvSpec,
    rng: NumpyRng,
    angles: [f64; JOINTS],
    term: [f64; 1],
    steps: usize,
}

impl PlanarArm {
    /// Position and direction of the base of each link, and of the tip.
    fn frames(&self) -> [[f64; 3]; JOINTS + 1] {
        let mut frames = [[0.0; 3]; JOINTS + 1];
        let mut heading = 0.0;
        for (i, angle) in self.angles.iter().enumerate() {
            heading += angle;
            let [x, y, _] = frames[i];
            frames[i][2] = heading;
            frames[i + 1] = [x + LINK * libm::cos(heading), y + LINK * libm::sin(heading), heading];
        }
        frames
    }

    fn tip(&self) -> [f64; 2] {
        let [x, y, _] = self.frames()[JOINTS];
        [x, y]
    }

    fn variance(&self) -> f64 {
        let mean = self.angles.iter().sum::<f64>() / JOINTS as f64;
        self.angles.iter().map(|a| (a - mean) * (a - mean)).sum::<f64>() / JOINTS as f64
    }

    fn observe(&self, out: &mut [f64]) {
        out[..JOINTS].copy_from_slice(&self.angles);
        out[JOINTS..].copy_from_slice(&self.tip());
    }
}

impl Environment for PlanarArm {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn reset(&mut self, seed: Option<&Seed>, observation: &mut [f64]) -> Result<(), EnvError> {
        checks::observation(&self.spec, observation)?;
        if let Some(seed) = seed {
            self.rng = NumpyRng::from_seed(seed);
        }
        self.angles = [0.0; JOINTS].map(|_| self.rng.uniform(-START_NOISE, START_NOISE));
        self.term = [0.0];
        self.steps = 0;
        self.observe(observation);
        Ok(())
    }

    fn step(&mut self, action: Action<'_>, observation: &mut [f64]) -> Result<Transition, EnvError> {
        checks::observation(&self.spec, observation)?;
        checks::action(&self.spec, action)?;
        let before = self.variance();
        for (i, angle) in self.angles.iter_mut().enumerate() {
            *angle = (*angle + SPEED * action.get(i).clamp(-1.0, 1.0)).clamp(-LIMIT, LIMIT);
        }
        self.steps += 1;
        self.observe(observation);
        self.term = [before - self.variance()];
        let truncated = self.steps >= MAX_EPISODE_STEPS;
        Ok(Transition { reward: self.term[0], truncated, ..Transition::default() })
    }

    fn measures(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.tip().map(|x| (x + 1.0) / 2.0));
    }

    fn reward_terms(&self) -> &[f64] {
        &self.term
    }

    fn scene(&self) -> Option<Scene> {
        let points = vec![[0.0, -0.02], [LINK, -0.01], [LINK, 0.01], [0.0, 0.02]];
        let link = |i: usize| Shape {
            kind: ShapeKind::Polygon,
            size: [0.0; 3],
            points: points.clone(),
            mesh: None,
            rgba: [0.25, 0.45, 0.75, 1.0],
            name: format!("link {}", i + 1),
            body: format!("link {}", i + 1),
        };
        let shapes = (0..JOINTS).map(link).collect();
        Some(Scene { shapes, flat: true, follow: 0, seconds_per_step: 0.05 })
    }

    fn poses(&self, out: &mut Vec<Pose>) {
        out.clear();
        out.extend(self.frames()[..JOINTS].iter().map(|&[x, y, angle]| Pose::planar(x, y, angle)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return and final tip of an arm that turns its joints at constant speeds.
    fn run(seed: u64, action: [f64; JOINTS]) -> (f64, [f64; 2]) {
        let mut arm = PlanarArmTask::default().make().unwrap();
        let mut observation = [0.0; JOINTS + 2];
        arm.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
        let mut total = 0.0;
        loop {
            let transition = arm.step(Action::F64(&action), &mut observation).unwrap();
            total += transition.reward;
            if transition.done() {
                let mut measures = [0.0; 2];
                arm.measures(&mut measures);
                return (total, measures);
            }
        }
    }

    #[test]
    fn the_return_is_minus_the_variance_of_the_final_angles() {
        let (total, _) = run(3, [1.0, -1.0, 1.0, -1.0, 1.0]);
        // All joints end at a limit, so the variance is 0.96 of the squared limit; the start's is below 0.0025.
        assert!((total + 0.96 * LIMIT * LIMIT).abs() < 0.0025, "{total}");
        let (even, _) = run(3, [1.0; JOINTS]);
        assert!(even > 0.0 && even < 0.0025, "{even}");
    }

    #[test]
    fn the_tip_stays_within_reach_and_goes_where_the_joints_turn() {
        let (_, [x, up]) = run(7, [0.1; JOINTS]);
        let (_, [_, down]) = run(7, [-0.1; JOINTS]);
        assert!(up > 0.6 && down < 0.4 && x < 1.0);
        let mut arm = PlanarArmTask::default().make().unwrap();
        let mut observation = [0.0; JOINTS + 2];
        for seed in 0..20_u64 {
            arm.reset(Some(&Seed::from(seed)), &mut observation).unwrap();
            assert!(observation[JOINTS].hypot(observation[JOINTS + 1]) <= 1.0);
        }
    }

    #[test]
    fn the_seed_decides_the_start() {
        assert_eq!(run(5, [0.0; JOINTS]), run(5, [0.0; JOINTS]));
        assert_ne!(run(5, [0.0; JOINTS]).1, run(6, [0.0; JOINTS]).1);
    }
}
