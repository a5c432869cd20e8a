//! States kept of evaluated policies, in half precision.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use half::f16;

use crate::error::LearnError;

/// A number as it is stored: rounded to half precision, limited to its range.
pub fn to_half(x: f32) -> f16 {
    f16::from_f32(x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()))
}

/// The number that storing and reading back gives.
pub fn rounded(x: f64) -> f32 {
    to_half(x as f32).to_f32()
}

type Stored = Box<[f16]>;

/// States of policies by identity, one list of states per episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct States {
    policies: BTreeMap<u64, Vec<Stored>>,
}

impl States {
    /// Keeps the episodes of a policy.
    pub fn insert<'a>(&mut self, id: u64, episodes: impl Iterator<Item = &'a [f32]>) {
        let stored = episodes.map(|states| states.iter().map(|x| to_half(*x)).collect()).collect();
        self.policies.insert(id, stored);
    }

    /// The episodes of a policy; none for one that was not kept.
    pub fn get(&self, id: u64) -> &[Box<[f16]>] {
        self.policies.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Forgets all other policies.
    pub fn retain(&mut self, alive: &BTreeSet<u64>) {
        self.policies.retain(|id, _| alive.contains(id));
    }

    /// Bytes kept of a policy.
    pub fn bytes_of(&self, id: u64) -> usize {
        self.get(id).iter().map(|states| size_of_val::<[f16]>(states)).sum()
    }

    /// Bytes that [`States::write`] writes.
    pub fn written_len(&self) -> usize {
        let policy = |episodes: &Vec<Stored>| 16 + episodes.iter().map(written_len).sum::<usize>();
        8 + self.policies.values().map(policy).sum::<usize>()
    }

    /// Writes everything.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        put(out, self.policies.len() as u64)?;
        for (id, episodes) in &self.policies {
            put(out, *id)?;
            put(out, episodes.len() as u64)?;
            episodes.iter().try_for_each(|states| put_states(out, states))?;
        }
        Ok(())
    }

    /// Reads what [`States::write`] wrote.
    pub fn read(source: &mut &[u8]) -> Result<Self, LearnError> {
        let mut states = Self::default();
        for _ in 0..take(source)? {
            let id = take(source)?;
            let episodes = (0..take(source)?).map(|_| take_states(source)).collect::<Result<_, _>>()?;
            states.policies.insert(id, episodes);
        }
        Ok(states)
    }
}

/// A uniform sample of all states offered: every state has a random key, and the lowest keys stay. The sample depends
/// on what was offered, not on the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservoir {
    capacity: usize,
    states: BTreeMap<(u64, u64), Stored>,
}

impl Reservoir {
    /// An empty reservoir for `capacity` states.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, states: BTreeMap::new() }
    }

    /// Offers a state of a policy under its random key.
    pub fn offer(&mut self, key: u64, id: u64, state: &[f32]) {
        let full = self.states.len() >= self.capacity;
        if full && self.states.last_key_value().is_none_or(|(last, _)| (key, id) >= *last) {
            return;
        }
        self.states.insert((key, id), state.iter().map(|x| to_half(*x)).collect());
        if self.states.len() > self.capacity {
            self.states.pop_last();
        }
    }

    /// Policy and state of everything kept, by ascending key.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[f16])> {
        self.states.iter().map(|((_, id), state)| (*id, &**state))
    }

    /// Bytes that [`Reservoir::write`] writes.
    pub fn written_len(&self) -> usize {
        8 + self.states.values().map(|state| 16 + written_len(state)).sum::<usize>()
    }

    /// Writes everything.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        put(out, self.states.len() as u64)?;
        for ((key, id), state) in &self.states {
            put(out, *key)?;
            put(out, *id)?;
            put_states(out, state)?;
        }
        Ok(())
    }

    /// Replaces the content by what [`Reservoir::write`] wrote.
    pub fn read(&mut self, source: &mut &[u8]) -> Result<(), LearnError> {
        self.states.clear();
        for _ in 0..take(source)? {
            let key = (take(source)?, take(source)?);
            self.states.insert(key, take_states(source)?);
        }
        Ok(())
    }
}

fn put(out: &mut dyn Write, number: u64) -> io::Result<()> {
    out.write_all(&number.to_le_bytes())
}

fn put_states(out: &mut dyn Write, states: &[f16]) -> io::Result<()> {
    put(out, states.len() as u64)?;
    let mut buffer = Vec::with_capacity(2 * states.len());
    states.iter().for_each(|x| buffer.extend(x.to_le_bytes()));
    out.write_all(&buffer)
}

/// Bytes that [`put_states`] writes.
fn written_len(states: &Stored) -> usize {
    8 + 2 * states.len()
}

fn cut() -> LearnError {
    LearnError::Stored { what: "states of elites", reason: "they end too early".to_owned() }
}

fn take(source: &mut &[u8]) -> Result<u64, LearnError> {
    let (bytes, rest) = source.split_first_chunk().ok_or_else(cut)?;
    *source = rest;
    Ok(u64::from_le_bytes(*bytes))
}

fn take_states(source: &mut &[u8]) -> Result<Stored, LearnError> {
    let len = usize::try_from(take(source)?).ok().and_then(|n| n.checked_mul(2)).ok_or_else(cut)?;
    let (bytes, rest) = source.split_at_checked(len).ok_or_else(cut)?;
    *source = rest;
    Ok(bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoqd::seeds::{Purpose, derive};

    #[test]
    fn states_come_back_from_bytes_and_damage_is_noticed() {
        let mut states = States::default();
        states.insert(7, [&[1.0, -2.5, 1e9][..], &[]].into_iter());
        states.insert(3, [&[0.1f32][..]].into_iter());
        let mut bytes = Vec::new();
        states.write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), states.written_len());
        assert_eq!(States::read(&mut bytes.as_slice()).unwrap(), states);
        for end in 0..bytes.len() {
            assert!(States::read(&mut &bytes[..end]).is_err(), "cut at {end}");
        }
        assert_eq!(states.get(7)[0][2], f16::MAX, "limited to the range of the type");
        assert_eq!((states.bytes_of(7), states.bytes_of(9)), (6, 0));
        states.retain(&BTreeSet::from([3]));
        assert_eq!((states.get(3).len(), states.get(7).len()), (1, 0));
    }

    #[test]
    fn the_reservoir_does_not_depend_on_the_order_and_is_uniform() {
        let key = |id| derive(1, Purpose::Training, [2, id, 0]);
        let (mut forwards, mut backwards) = (Reservoir::new(100), Reservoir::new(100));
        for id in 0..1000 {
            forwards.offer(key(id), id, &[id as f32]);
            backwards.offer(key(999 - id), 999 - id, &[(999 - id) as f32]);
        }
        assert_eq!(forwards, backwards);
        let early = forwards.iter().filter(|(id, _)| *id < 500).count();
        assert!((30..70).contains(&early), "{early} of 100 from the first half");
        let mut bytes = Vec::new();
        forwards.write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), forwards.written_len());
        let mut back = Reservoir::new(100);
        back.read(&mut bytes.as_slice()).unwrap();
        assert_eq!(back, forwards);
        let mut none = Reservoir::new(0);
        none.offer(1, 1, &[1.0]);
        assert_eq!(none.iter().count(), 0);
    }
}
