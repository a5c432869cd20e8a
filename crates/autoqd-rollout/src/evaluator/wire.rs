//! Evaluations as bytes, for evaluators whose rollouts happen in another process or on another machine.
//!
//! A message is a magic word with the version, the BLAKE3 digest of what follows, and the content in postcard form. All
//! numbers keep their bits. Whoever answers a [`Request`] needs an evaluator of the same task, policy and physics.
//!
//! ```
//! use autoqd_rollout::evaluator::{Candidates, wire};
//! let candidates = Candidates { parameters: &[0.5, f64::MIN_POSITIVE], dimension: 1, seeds: &[7, 8], episodes: 1 };
//! let bytes = wire::Request::new(candidates, &[]).to_bytes()?;
//! let request = wire::Request::from_bytes(&bytes)?;
//! assert_eq!(request.candidates().row(1), [f64::MIN_POSITIVE]);
//! # Ok::<(), autoqd_rollout::Error>(())
//! ```

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Candidates, Evaluation, Evaluator, Probe};
use crate::Error;

const REQUEST: &[u8; 8] = b"AQDREQ01";
const RESPONSE: &[u8; 8] = b"AQDRSP01";
const PROBES: &[u8; 8] = b"AQDPRB01";

/// Candidates to evaluate, and what to collect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    parameters: Vec<f64>,
    dimension: usize,
    seeds: Vec<u64>,
    episodes: usize,
    probes: Vec<Probe>,
}

impl Request {
    /// The request to evaluate candidates under probes.
    pub fn new(candidates: Candidates<'_>, probes: &[Probe]) -> Self {
        Self {
            parameters: candidates.parameters.to_vec(),
            dimension: candidates.dimension,
            seeds: candidates.seeds.to_vec(),
            episodes: candidates.episodes,
            probes: probes.to_vec(),
        }
    }

    /// The candidates.
    pub fn candidates(&self) -> Candidates<'_> {
        let Self { parameters, dimension, seeds, episodes, .. } = self;
        Candidates { parameters, dimension: *dimension, seeds, episodes: *episodes }
    }

    /// The answer of an evaluator.
    pub fn answer(&self, evaluator: &dyn Evaluator) -> Result<Response, Error> {
        Ok(Response { evaluations: evaluator.evaluate(self.candidates(), &self.probes)? })
    }

    /// The answer of an evaluator under probes that came apart from the request, in place of its own.
    pub fn answer_under(&self, probes: &Probes, evaluator: &dyn Evaluator) -> Result<Response, Error> {
        Ok(Response { evaluations: evaluator.evaluate(self.candidates(), &probes.0)? })
    }

    /// The request in bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal(REQUEST, self)
    }

    /// Reads a request; its sizes fit together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let request: Self = open(REQUEST, bytes)?;
        let Self { parameters, dimension, seeds, episodes, .. } = &request;
        let rows = parameters.len().checked_div(*dimension).unwrap_or(0);
        if rows.checked_mul(*dimension) != Some(parameters.len())
            || rows.checked_mul(*episodes) != Some(seeds.len())
        {
            return Err(Error::Wire { reason: "the sizes of a request do not fit together".to_owned() });
        }
        Ok(request)
    }
}

/// What to collect in the episodes of many requests, sent once for all of them: probes may be larger than candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probes(Vec<Probe>);

impl Probes {
    /// Of these probes.
    pub fn new(probes: &[Probe]) -> Self {
        Self(probes.to_vec())
    }

    /// The probes in bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal(PROBES, self)
    }

    /// Reads probes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        open(PROBES, bytes)
    }
}

/// The evaluations of a request, in candidate order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// One per candidate.
    pub evaluations: Vec<Evaluation>,
}

impl Response {
    /// The response in bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal(RESPONSE, self)
    }

    /// Reads a response.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        open(RESPONSE, bytes)
    }
}

/// A value as bytes that begin with `magic` and hold a checksum.
pub fn seal<T: Serialize>(magic: &[u8; 8], value: &T) -> Result<Vec<u8>, Error> {
    let payload = postcard::to_allocvec(value).map_err(|e| Error::Wire { reason: e.to_string() })?;
    Ok([&magic[..], blake3::hash(&payload).as_bytes(), &payload].concat())
}

/// The value in bytes made by [`seal`] with the same `magic`.
pub fn open<T: DeserializeOwned>(magic: &[u8; 8], bytes: &[u8]) -> Result<T, Error> {
    let wrong = |reason: &str| Error::Wire { reason: reason.to_owned() };
    let rest = bytes
        .strip_prefix(magic)
        .ok_or_else(|| wrong("it is not a message of this version; use the same autoqd on both sides"))?;
    let (digest, payload) = rest.split_at_checked(32).ok_or_else(|| wrong("it is cut short"))?;
    if blake3::hash(payload).as_bytes() != digest {
        return Err(wrong("it was changed on its way"));
    }
    postcard::from_bytes(payload).map_err(|e| wrong(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::{Episode, Record, Trajectory};

    #[test]
    fn every_record_comes_back_with_the_same_bits_and_damage_is_noticed() {
        let records = vec![
            Record::Summary(vec![-0.0, f64::NAN, 1e-310]),
            Record::States(vec![f32::NAN, -0.0]),
            Record::Trajectory(Trajectory { rewards: vec![1.5], terminated: true, ..Trajectory::default() }),
        ];
        let episode =
            Episode { total_reward: 0.1 + 0.2, length: 3, diverged: true, measures: vec![0.3], records };
        let response = Response { evaluations: vec![Evaluation { episodes: vec![episode] }] };
        let bytes = response.to_bytes().unwrap();
        let back = Response::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes().unwrap(), bytes, "NaN is not equal to itself, its bytes are");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Response::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Response::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_request_whose_sizes_do_not_fit_is_refused() {
        let request = |dimension, seeds: &[u64]| {
            let candidates = Candidates { parameters: &[1.0, 2.0], dimension, seeds, episodes: 2 };
            Request::from_bytes(&Request::new(candidates, &[]).to_bytes().unwrap())
        };
        assert!(request(1, &[1, 2, 3, 4]).is_ok());
        assert!(request(0, &[]).is_err());
        assert!(request(2, &[1]).is_err());
        assert!(request(3, &[1, 2]).is_err());
    }
}
