//! What an episode knows besides the state: goals, contacts, how places move.

use super::state::{Needs, State};

/// A point of the world, with its name resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spot {
    Body(usize),
    Geom(usize),
    Site(usize),
    Fixed([f64; 3]),
    /// The centre of mass of all bodies.
    Center,
    /// The point of a goal, whose numbers begin here.
    Goal(usize),
}

impl Spot {
    pub(super) fn needs(self) -> Needs {
        Needs {
            points: matches!(self, Self::Geom(_) | Self::Center),
            sites: matches!(self, Self::Site(_)),
            ..Needs::POSES
        }
    }

    pub(super) fn position(self, state: &impl State, memory: &Memory) -> [f64; 3] {
        match self {
            Self::Body(body) => state.xpos()[body],
            Self::Geom(geom) => state.geom_xpos()[geom],
            Self::Site(site) => state.site_xpos()[site],
            Self::Fixed(point) => point,
            Self::Center => center_of_mass(state, memory),
            Self::Goal(first) => std::array::from_fn(|i| memory.goals[first + i]),
        }
    }
}

fn center_of_mass(state: &impl State, memory: &Memory) -> [f64; 3] {
    let mut moment = [0.0; 3];
    for (mass, center) in memory.masses.iter().zip(state.xipos()) {
        moment.iter_mut().zip(center).for_each(|(sum, x)| *sum += mass * x);
    }
    moment.map(|sum| sum / memory.total_mass)
}

/// What the parts of a task ask an episode to follow, in the order in which they asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followed {
    /// Pairs of geoms.
    pub contacts: Vec<[usize; 2]>,
    pub tracks: Vec<Track>,
}

/// A place whose velocity is wanted, and the body whose turning comes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Track {
    pub at: Spot,
    pub body: usize,
}

impl Followed {
    /// The number of an item, which is added if it is new.
    pub fn number_of<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
        items.iter().position(|known| *known == item).unwrap_or_else(|| {
            items.push(item);
            items.len() - 1
        })
    }

    pub fn needs(&self) -> Needs {
        let tracks = self.tracks.iter().map(|track| track.at.needs().and(Needs::POSES));
        tracks.fold(Needs::default(), Needs::and)
    }

    /// Calls `found` with every followed contact that two touching geoms make.
    pub fn match_contact(&self, geoms: [usize; 2], mut found: impl FnMut(usize)) {
        let [a, b] = geoms;
        let same = |pair: &[usize; 2]| *pair == [a, b] || *pair == [b, a];
        (0..self.contacts.len()).filter(|&i| same(&self.contacts[i])).for_each(&mut found);
    }
}

/// The memory of one episode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Per followed contact: whether it is there after the last step; none at the start.
    pub touching: Vec<bool>,
    /// Per followed contact: seconds since it was last there, and those that ended with the last step.
    away: Vec<f64>,
    ended: Vec<f64>,
    tracks: Vec<Tracked>,
    /// The numbers drawn for the episode.
    pub goals: Vec<f64>,
    /// Masses of the bodies, and their sum.
    pub masses: Vec<f64>,
    pub total_mass: f64,
}

/// Where a track was before a step, and how it moved during the last.
#[derive(Clone, Copy, Debug, Default)]
struct Tracked {
    position: [f64; 3],
    rotation: [f64; 9],
    velocity: [f64; 3],
    turning: [f64; 3],
}

impl Memory {
    pub fn new(followed: &Followed, goals: usize, masses: &[f64]) -> Self {
        Self {
            touching: vec![false; followed.contacts.len()],
            away: vec![0.0; followed.contacts.len()],
            ended: vec![0.0; followed.contacts.len()],
            tracks: vec![Tracked::default(); followed.tracks.len()],
            goals: vec![0.0; goals],
            masses: masses.to_vec(),
            total_mass: masses.iter().sum(),
        }
    }

    /// Forgets the last episode; its goals are drawn elsewhere.
    pub fn start(&mut self) {
        self.touching.fill(false);
        self.away.fill(0.0);
        self.ended.fill(0.0);
        self.tracks.fill(Tracked::default());
    }

    /// Keeps where everything is before a step.
    pub fn remember(&mut self, followed: &Followed, state: &impl State) {
        for i in 0..followed.tracks.len() {
            let Track { at, body } = followed.tracks[i];
            let (position, rotation) = (at.position(state, self), state.xmat()[body]);
            let tracked = &mut self.tracks[i];
            (tracked.position, tracked.rotation) = (position, rotation);
        }
    }

    /// Follows everything through a step, after `touching` has been brought up to date.
    pub fn step(&mut self, followed: &Followed, state: &impl State, seconds: f64) {
        for ((&touching, away), ended) in self.touching.iter().zip(&mut self.away).zip(&mut self.ended) {
            *ended = if touching { *away } else { 0.0 };
            *away = if touching { 0.0 } else { *away + seconds };
        }
        for i in 0..followed.tracks.len() {
            let Track { at, body } = followed.tracks[i];
            let (position, rotation) = (at.position(state, self), state.xmat()[body]);
            let tracked = &mut self.tracks[i];
            tracked.velocity = std::array::from_fn(|k| (position[k] - tracked.position[k]) / seconds);
            tracked.turning = turned(&tracked.rotation, &rotation).map(|angle| angle / seconds);
        }
    }

    /// Mean velocity of a track during the last step.
    pub fn velocity(&self, track: usize) -> [f64; 3] {
        self.tracks[track].velocity
    }

    /// How the body of a track turned during the last step, in radians per second.
    pub fn turning(&self, track: usize) -> [f64; 3] {
        self.tracks[track].turning
    }

    /// Seconds since a contact was last there.
    pub fn away(&self, contact: usize) -> f64 {
        self.away[contact]
    }

    /// Seconds without a contact that ended with the last step; 0 if none did.
    pub fn ended(&self, contact: usize) -> f64 {
        self.ended[contact]
    }
}

/// The rotation that leads from one orientation to another: its axis times its angle, in the world's frame.
fn turned(from: &[f64; 9], to: &[f64; 9]) -> [f64; 3] {
    let entry = |i: usize, j: usize| (0..3).map(|k| to[3 * i + k] * from[3 * j + k]).sum::<f64>();
    let sines =
        [entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1)].map(|x| 0.5 * x);
    let sine = sines.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = 0.5 * (entry(0, 0) + entry(1, 1) + entry(2, 2) - 1.0);
    let stretch = if sine < 1e-9 { 1.0 } else { sine.atan2(cosine) / sine };
    sines.map(|x| x * stretch)
}

/// A vector of the world along the axes of a body.
pub(super) fn into_frame(rotation: &[f64; 9], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| rotation[i] * v[0] + rotation[3 + i] * v[1] + rotation[6 + i] * v[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_its_axis_and_its_angle() {
        let about_z = |angle: f64| {
            let (s, c) = angle.sin_cos();
            [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0]
        };
        for (from, to) in [(0.3, 0.8), (0.0, 2.9), (1.0, 1.0), (0.5, -0.5)] {
            let turn = turned(&about_z(from), &about_z(to));
            assert!((turn[2] - (to - from)).abs() < 1e-12 && turn[0] == 0.0 && turn[1] == 0.0, "{turn:?}");
        }
        let seen = into_frame(&about_z(std::f64::consts::FRAC_PI_2), [0.0, 2.0, 1.0]);
        assert!((seen[0] - 2.0).abs() < 1e-12 && seen[1].abs() < 1e-12 && seen[2] == 1.0);
    }
}
