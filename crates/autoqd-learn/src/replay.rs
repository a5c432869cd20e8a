//! The replay buffer: the latest transitions, from which batches are drawn.

use std::io::{self, Write};

use autoqd_qd::Rng;

use crate::error::LearnError;

/// How many numbers a transition has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Length of an observation.
    pub observation: usize,
    /// Length of an action.
    pub action: usize,
    /// Further numbers that a method keeps with a transition.
    pub extra: usize,
}

impl RowShape {
    /// Observation, action, reward, next observation, whether the task ended there, and what is kept besides.
    pub fn width(&self) -> usize {
        2 * self.observation + self.action + 2 + self.extra
    }

    /// Bytes of a buffer of so many transitions.
    pub fn bytes(&self, capacity: usize) -> usize {
        capacity * self.width() * size_of::<f32>()
    }
}

/// A ring of transitions in single precision, one row after the other in one block of memory.
#[derive(Clone, Debug)]
pub struct Replay {
    shape: RowShape,
    capacity: usize,
    rows: Vec<f32>,
    /// Transitions ever pushed.
    pushed: u64,
}

/// One step to remember.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// What was seen.
    pub observation: &'a [f32],
    /// What was done, within ±1.
    pub action: &'a [f32],
    /// What it earned.
    pub reward: f32,
    /// What was seen then.
    pub next_observation: &'a [f32],
    /// Whether the task ended there; not at a time limit.
    pub terminated: bool,
    /// What a method keeps besides.
    pub extra: &'a [f32],
}

/// Transitions drawn from a buffer, one matrix per quantity; used again for every batch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What was seen.
    pub observations: Vec<f32>,
    /// What was done.
    pub actions: Vec<f32>,
    /// What it earned.
    pub rewards: Vec<f32>,
    /// What was seen then.
    pub next_observations: Vec<f32>,
    /// 1 where the task ended.
    pub terminated: Vec<f32>,
    /// What is kept besides.
    pub extra: Vec<f32>,
}

impl Batch {
    fn clear(&mut self) {
        let Self { observations, actions, rewards, next_observations, terminated, extra } = self;
        for column in [observations, actions, rewards, next_observations, terminated, extra] {
            column.clear();
        }
    }

    /// Number of transitions.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }
}

impl Replay {
    /// An empty buffer. Its memory is reserved at once, so that it never moves; the system hands it out page by page.
    pub fn new(shape: RowShape, capacity: usize) -> Self {
        Self { shape, capacity, rows: Vec::with_capacity(capacity * shape.width()), pushed: 0 }
    }

    /// Transitions it holds.
    pub fn len(&self) -> usize {
        self.rows.len() / self.shape.width()
    }

    /// Transitions ever pushed.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.pushed = 0;
    }

    /// Adds a transition; in a full buffer it takes the place of the oldest.
    pub fn push(&mut self, step: &Transition<'_>) {
        let width = self.shape.width();
        let start = (self.pushed % self.capacity as u64) as usize * width;
        self.pushed += 1;
        if start == self.rows.len() {
            self.rows.resize(start + width, 0.0);
        }
        let mut rest = &mut self.rows[start..][..width];
        let flags = [step.reward, f32::from(u8::from(step.terminated))];
        for part in [step.observation, step.action, step.next_observation, &flags, step.extra] {
            let (own, after) = rest.split_at_mut(part.len());
            own.copy_from_slice(part);
            rest = after;
        }
    }

    /// What is kept besides with the transition that was pushed as number `number`, from 0; none if it has left.
    pub fn extra_mut(&mut self, number: u64) -> Option<&mut [f32]> {
        if number >= self.pushed || self.pushed - number > self.capacity as u64 {
            return None;
        }
        let (width, extra) = (self.shape.width(), self.shape.extra);
        let end = ((number % self.capacity as u64) as usize + 1) * width;
        Some(&mut self.rows[end - extra..end])
    }

    /// Fills a batch with transitions drawn uniformly, each drawn anew. The buffer must not be empty.
    pub fn sample(&self, size: usize, random: &mut Rng, batch: &mut Batch) {
        let len = self.len();
        self.gather((0..size).map(|_| random.index(len)), batch);
    }

    /// Fills a batch with the transitions in these places.
    pub fn gather(&self, places: impl Iterator<Item = usize>, batch: &mut Batch) {
        let RowShape { observation, action, .. } = self.shape;
        let width = self.shape.width();
        batch.clear();
        for place in places {
            let row = &self.rows[place * width..][..width];
            let (now, rest) = row.split_at(observation);
            let (done, rest) = rest.split_at(action);
            let (next, rest) = rest.split_at(observation);
            batch.observations.extend_from_slice(now);
            batch.actions.extend_from_slice(done);
            batch.next_observations.extend_from_slice(next);
            batch.rewards.push(rest[0]);
            batch.terminated.push(rest[1]);
            batch.extra.extend_from_slice(&rest[2..]);
        }
    }

    /// Bytes that [`Replay::write`] writes.
    pub fn stored_len(&self) -> usize {
        size_of::<u64>() + self.rows.len() * size_of::<f32>()
    }

    /// Writes everything, row by row.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.pushed.to_le_bytes())?;
        let mut bytes = Vec::new();
        for some in self.rows.chunks(1 << 14) {
            bytes.clear();
            bytes.extend(some.iter().flat_map(|x| x.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Takes in what [`Replay::write`] wrote.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), LearnError> {
        let wrong =
            || LearnError::Stored { what: "replay buffer", reason: "its size does not fit".to_owned() };
        let (pushed, rows) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let pushed = u64::from_le_bytes(*pushed);
        let held = pushed.min(self.capacity as u64) as usize;
        if rows.len() != self.shape.bytes(held) {
            return Err(wrong());
        }
        self.pushed = pushed;
        self.rows.clear();
        let number = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        self.rows.extend(rows.chunks_exact(4).map(number));
        Ok(())
    }
}

/// What a user should know about a buffer before a run.
pub fn memory_note(shape: RowShape, capacity: usize) -> String {
    let megabytes = shape.bytes(capacity) as f64 / 1e6;
    format!("the replay buffer of {capacity} transitions takes up to {megabytes:.0} MB")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: RowShape = RowShape { observation: 2, action: 1, extra: 1 };

    fn push(replay: &mut Replay, i: u64) {
        let x = i as f32;
        replay.push(&Transition {
            observation: &[x, -x],
            action: &[x / 100.0],
            reward: 10.0 * x,
            next_observation: &[x + 1.0, -x - 1.0],
            terminated: i.is_multiple_of(3),
            extra: &[x + 0.5],
        });
    }

    #[test]
    fn a_full_buffer_holds_the_latest_and_batches_are_whole_transitions() {
        let mut replay = Replay::new(SHAPE, 10);
        let memory = replay.rows.as_ptr();
        (0..25).for_each(|i| push(&mut replay, i));
        assert_eq!((replay.len(), replay.pushed()), (10, 25));
        assert_eq!(replay.rows.as_ptr(), memory, "it does not move");
        assert!(replay.extra_mut(14).is_none() && replay.extra_mut(25).is_none());
        replay.extra_mut(15).unwrap()[0] = 99.0;
        let (mut batch, mut seen) = (Batch::default(), [0; 10]);
        replay.sample(1000, &mut Rng::new(1, 0), &mut batch);
        for k in 0..1000 {
            let i = batch.observations[2 * k] as u64;
            seen[i as usize - 15] += 1;
            let x = i as f32;
            assert_eq!(batch.actions[k], x / 100.0);
            assert_eq!(batch.rewards[k], 10.0 * x);
            assert_eq!(batch.next_observations[2 * k..][..2], [x + 1.0, -x - 1.0]);
            assert_eq!(batch.terminated[k] == 1.0, i.is_multiple_of(3));
            assert_eq!(batch.extra[k], if i == 15 { 99.0 } else { x + 0.5 });
        }
        assert!(seen.iter().all(|n| (60..140).contains(n)), "{seen:?}");
        let memory = batch.rewards.as_ptr();
        replay.sample(1000, &mut Rng::new(2, 0), &mut batch);
        assert_eq!(batch.rewards.as_ptr(), memory, "a batch is used again");
    }

    #[test]
    fn a_stored_buffer_goes_on_as_if_it_had_never_stopped() {
        for before in [0, 7, 10, 23] {
            let mut whole = Replay::new(SHAPE, 10);
            (0..before).for_each(|i| push(&mut whole, i));
            let mut bytes = Vec::new();
            whole.write(&mut bytes).unwrap();
            assert_eq!(bytes.len(), whole.stored_len());
            let mut loaded = Replay::new(SHAPE, 10);
            loaded.read(&bytes).unwrap();
            for replay in [&mut whole, &mut loaded] {
                (before..before + 4).for_each(|i| push(replay, i));
            }
            assert_eq!((&whole.rows, whole.pushed), (&loaded.rows, loaded.pushed));
            assert!(loaded.read(&bytes[..bytes.len() - 1]).is_err());
        }
    }
}
