//! Where episodes start, and what is drawn for them.

use super::names::Names;
use super::task_file::{Goal, Heading, JointNoise, Noise, Placed, Range, Reset};
use crate::{EnvError, NumpyRng};

/// Positions and velocities.
type Rest = (Vec<f64>, Vec<f64>);

/// State and noise from which episodes start.
#[derive(Clone)]
pub(crate) struct Start {
    pub qpos: Vec<f64>,
    pub qvel: Vec<f64>,
    /// Other starts, one of which or the first is drawn.
    others: Vec<Rest>,
    position_noise: Option<f64>,
    velocity_noise: Option<f64>,
    velocity_noise_kind: Noise,
    noise: Vec<(JointsAt, JointNoise)>,
    /// First coordinate of a free body's orientation, and the angles it is turned by.
    heading: Option<(usize, [f64; 2])>,
    placed: Vec<(JointsAt, Drawn)>,
    goals: Vec<Drawn>,
    /// Per goal with a mocap body: its number, and the first number of the goal.
    pub mocaps: Vec<(usize, usize)>,
    /// Goals of three numbers that put no mocap body anywhere and are no positions of joints: their names and first numbers.
    pub goal_places: Vec<(String, usize)>,
    pub settle_steps: usize,
}

/// Where joints are among the positions and velocities.
#[derive(Clone)]
struct JointsAt {
    coordinates: Vec<usize>,
    freedoms: Vec<usize>,
}

/// Numbers drawn from a box, until the length of their vector is as wanted.
#[derive(Clone)]
struct Drawn {
    low: Vec<f64>,
    high: Vec<f64>,
    length: Range,
}

/// Draws of a point before it is taken as it is: a range of lengths that nearly no point of the box has.
const MOST_DRAWS: usize = 10_000;
/// Simulator steps before an episode that a task may ask for.
const MOST_SETTLE_STEPS: usize = 100_000;

impl Drawn {
    /// `what` names the table of the task file.
    fn resolve(
        what: &str,
        low: &[f64],
        high: &[f64],
        length: Range,
        names: &Names<'_>,
    ) -> Result<Self, EnvError> {
        let interval = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && a <= b;
        if low.len() != high.len() || low.is_empty() {
            return Err(
                names.invalid(format!("{what} needs as many numbers in `low` as in `high`, at least one"))
            );
        }
        if !low.iter().zip(high).all(interval) {
            return Err(names.invalid(format!("{what}: low = {low:?} must not exceed high = {high:?}")));
        }
        Ok(Self { low: low.to_vec(), high: high.to_vec(), length })
    }

    /// Writes the numbers to `values` at the places `at` gives.
    fn draw(&self, rng: &mut NumpyRng, values: &mut [f64], at: impl Fn(usize) -> usize) {
        for _ in 0..MOST_DRAWS {
            for (i, (&low, &high)) in self.low.iter().zip(&self.high).enumerate() {
                values[at(i)] = if low == high { low } else { rng.uniform(low, high) };
            }
            let square = |i: usize| values[at(i)] * values[at(i)];
            if self.length.contains((0..self.low.len()).map(square).sum::<f64>().sqrt()) {
                return;
            }
        }
    }
}

impl Start {
    /// First the positions of a start, in numpy's order of draws. Returns which of the starts was drawn.
    pub fn draw_positions(&self, rng: &mut NumpyRng, qpos: &mut [f64]) -> usize {
        let which = match self.others.len() {
            0 => 0,
            others => (rng.uniform(0.0, (others + 1) as f64) as usize).min(others),
        };
        let base = if which == 0 { &self.qpos } else { &self.others[which - 1].0 };
        match self.position_noise {
            Some(scale) => {
                for (value, base) in qpos.iter_mut().zip(base) {
                    *value = base + rng.uniform(-scale, scale);
                }
            }
            None => qpos.copy_from_slice(base),
        }
        for (at, noise) in &self.noise {
            let scale = noise.position;
            at.coordinates.iter().for_each(|&q| qpos[q] = base[q] + rng.uniform(-scale, scale));
        }
        if let Some((first, [low, high])) = self.heading {
            let angle = if low == high { low } else { rng.uniform(low, high) };
            turn(&mut qpos[first..first + 4], angle);
        }
        for (at, placed) in &self.placed {
            placed.draw(rng, qpos, |i| at.coordinates[i]);
        }
        which
    }

    /// Then the velocities of that start.
    pub fn draw_velocities(&self, which: usize, rng: &mut NumpyRng, qvel: &mut [f64]) {
        let base = if which == 0 { &self.qvel } else { &self.others[which - 1].1 };
        match self.velocity_noise {
            Some(scale) => {
                for (value, base) in qvel.iter_mut().zip(base) {
                    *value = base
                        + match self.velocity_noise_kind {
                            Noise::Uniform => rng.uniform(-scale, scale),
                            Noise::Normal => scale * rng.standard_normal(),
                        };
                }
            }
            None => qvel.copy_from_slice(base),
        }
        for (at, noise) in &self.noise {
            let scale = noise.velocity;
            at.freedoms.iter().for_each(|&k| qvel[k] = base[k] + rng.uniform(-scale, scale));
        }
        for (at, _) in &self.placed {
            at.freedoms.iter().for_each(|&k| qvel[k] = 0.0);
        }
    }

    /// At last the goals.
    pub fn draw_goals(&self, rng: &mut NumpyRng, goals: &mut [f64]) {
        let mut first = 0;
        for goal in &self.goals {
            goal.draw(rng, goals, |i| first + i);
            first += goal.low.len();
        }
    }

    /// How many numbers all goals have.
    pub fn goal_numbers(&self) -> usize {
        self.goals.iter().map(|goal| goal.low.len()).sum()
    }
}

/// Turns a quaternion about the vertical.
fn turn(quaternion: &mut [f64], angle: f64) {
    let (s, c) = (0.5 * angle).sin_cos();
    let [w, x, y, z] = [quaternion[0], quaternion[1], quaternion[2], quaternion[3]];
    quaternion.copy_from_slice(&[c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w]);
}

/// The start that a task file describes.
pub(super) fn start(reset: &Reset, names: &Names<'_>) -> Result<Start, EnvError> {
    let noise_ok = |scale: Option<f64>| scale.is_none_or(|scale| scale.is_finite() && scale >= 0.0);
    if !noise_ok(reset.position_noise) || !noise_ok(reset.velocity_noise) {
        return Err(names.invalid("position_noise and velocity_noise must be finite and not negative"));
    }
    if reset.settle_steps > MOST_SETTLE_STEPS {
        return Err(
            names.invalid(format!("settle_steps = {}; give at most {MOST_SETTLE_STEPS}", reset.settle_steps))
        );
    }
    let mut states = states(reset, names)?;
    let (qpos, qvel) = states.remove(0);
    let noise = reset.noise.iter().map(|noise| joint_noise(noise, names)).collect::<Result<_, _>>()?;
    let placed = reset.place.iter().map(|placed| place(placed, names)).collect::<Result<_, _>>()?;
    let goals = reset.goal.iter().map(|goal| {
        Drawn::resolve(&format!("[[reset.goal]] '{}'", goal.name), &goal.low, &goal.high, goal.length, names)
    });
    let Reset { position_noise, velocity_noise, velocity_noise_kind, settle_steps, .. } = *reset;
    Ok(Start {
        qpos,
        qvel,
        others: states,
        position_noise,
        velocity_noise,
        velocity_noise_kind,
        noise,
        heading: reset.heading.as_ref().map(|heading| resolve_heading(heading, names)).transpose()?,
        placed,
        goals: goals.collect::<Result<_, _>>()?,
        mocaps: mocaps(&reset.goal, names)?,
        goal_places: goal_places(&reset.goal, names)?,
        settle_steps,
    })
}

/// Positions and velocities of the starts, at least one.
fn states(reset: &Reset, names: &Names<'_>) -> Result<Vec<Rest>, EnvError> {
    let model = names.model;
    let (nq, nv) = (model.nq() as usize, model.nv() as usize);
    let of_key = |name: &String| {
        let key = names.keyframe(name)?;
        Ok((model.key_qpos()[key * nq..][..nq].to_vec(), model.key_qvel()[key * nv..][..nv].to_vec()))
    };
    match (&reset.keyframe, &reset.keyframes) {
        (None, None) => Ok(vec![(model.qpos0().to_vec(), vec![0.0; nv])]),
        (Some(name), None) => Ok(vec![of_key(name)?]),
        (None, Some(keys)) if !keys.is_empty() => keys.iter().map(of_key).collect(),
        (None, Some(_)) => Err(names.invalid("[reset] keyframes is empty; name at least one")),
        (Some(_), Some(_)) => Err(names.invalid("[reset] takes either `keyframe` or `keyframes`")),
    }
}

fn joints_at(joints: &[String], what: &str, names: &Names<'_>) -> Result<JointsAt, EnvError> {
    if joints.is_empty() {
        return Err(names.invalid(format!("{what} needs at least one joint")));
    }
    let coordinates = joints.iter().map(|joint| names.single(joint)).collect::<Result<_, _>>()?;
    Ok(JointsAt { coordinates, freedoms: names.freedoms(joints)? })
}

fn joint_noise(noise: &JointNoise, names: &Names<'_>) -> Result<(JointsAt, JointNoise), EnvError> {
    let at = joints_at(&noise.joints, "[[reset.noise]]", names)?;
    if ![noise.position, noise.velocity].iter().all(|s| s.is_finite() && *s >= 0.0) {
        return Err(names.invalid("[[reset.noise]] needs finite scales that are not negative"));
    }
    Ok((at, noise.clone()))
}

fn place(placed: &Placed, names: &Names<'_>) -> Result<(JointsAt, Drawn), EnvError> {
    let Placed { joints, low, high, length } = placed;
    let at = joints_at(joints, "[[reset.place]]", names)?;
    if low.len() != joints.len() || high.len() != joints.len() {
        return Err(
            names.invalid("[[reset.place]] needs joints, and one number of `low` and `high` for each")
        );
    }
    Ok((at, Drawn::resolve("[[reset.place]]", low, high, *length, names)?))
}

fn resolve_heading(heading: &Heading, names: &Names<'_>) -> Result<(usize, [f64; 2]), EnvError> {
    let [low, high] = heading.range;
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err(names.invalid(format!("[reset] heading: range = [{low}, {high}] is not an interval")));
    }
    Ok((names.free_coordinate(&heading.body)? + 3, heading.range))
}

fn goal_places(goals: &[Goal], names: &Names<'_>) -> Result<Vec<(String, usize)>, EnvError> {
    let places =
        goals.iter().filter(|goal| goal.low.len() == 3 && goal.mocap.is_none() && goal.joints.is_none());
    places.map(|goal| Ok((goal.name.clone(), names.goal(&goal.name)?.first))).collect()
}

fn mocaps(goals: &[Goal], names: &Names<'_>) -> Result<Vec<(usize, usize)>, EnvError> {
    let mut mocaps = Vec::new();
    for goal in goals {
        let Some(body) = &goal.mocap else { continue };
        if goal.low.len() != 3 {
            return Err(names.invalid(format!(
                "[[reset.goal]] '{}' puts a mocap body somewhere, so it needs three numbers",
                goal.name
            )));
        }
        let known = names.goal(&goal.name)?;
        let mocap = names.model.body_mocapid()[names.body(body)?];
        let mocap = usize::try_from(mocap)
            .map_err(|_| names.invalid(format!("body '{body}' is not a mocap body (mocap=\"true\")")))?;
        mocaps.push((mocap, known.first));
    }
    Ok(mocaps)
}
