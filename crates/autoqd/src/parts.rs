//! State in named parts, each with a version and readable by itself.
//!
//! Whatever can be stopped and continued (a search, an emitter, a descriptor) puts its state into parts and takes them
//! back. A later version adds parts or raises the version of one; what it does not find it fills in or rejects by name,
//! and ignores what it does not know.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// The destination of parts: a checkpoint file, or [`Parts`] in memory.
pub trait PutParts {
    /// Puts a part of `len` bytes that `write` writes, for what is too large to be held twice.
    ///
    /// # Errors
    /// When the bytes cannot be written, or are not `len`.
    fn stream(
        &mut self,
        name: &str,
        version: u32,
        len: usize,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error>;

    /// Puts bytes as they are.
    ///
    /// # Errors
    /// When they cannot be written.
    fn bytes(&mut self, name: &str, version: u32, bytes: &[u8]) -> Result<(), Error> {
        self.stream(name, version, bytes.len(), &mut |out| out.write_all(bytes))
    }
}

/// Puts a value, encoded with postcard.
///
/// # Errors
/// When it cannot be encoded or written.
pub fn put_value<T: Serialize + ?Sized>(
    parts: &mut dyn PutParts,
    name: &str,
    version: u32,
    value: &T,
) -> Result<(), Error> {
    let bytes = postcard::to_allocvec(value).map_err(|e| unusable(name, e))?;
    parts.bytes(name, version, &bytes)
}

/// Puts parts under names that start with a prefix, for something that exists several times.
pub struct Within<'a> {
    parts: &'a mut dyn PutParts,
    prefix: String,
}

impl<'a> Within<'a> {
    /// Names become `prefix/name`.
    pub fn new(parts: &'a mut dyn PutParts, prefix: impl Into<String>) -> Self {
        Self { parts, prefix: prefix.into() }
    }
}

impl PutParts for Within<'_> {
    fn stream(
        &mut self,
        name: &str,
        version: u32,
        len: usize,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.parts.stream(&format!("{}/{name}", self.prefix), version, len, write)
    }
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Version of its content.
    pub version: u32,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Part {
    /// The value that [`put_value`] put.
    ///
    /// # Errors
    /// When it is another value.
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, Error> {
        match postcard::take_from_bytes(&self.bytes) {
            Ok((value, [])) => Ok(value),
            Ok(_) => Err(unusable(&self.name, "it is longer than expected")),
            Err(e) => Err(unusable(&self.name, e)),
        }
    }
}

/// Parts in memory.
///
/// ```
/// use autoqd::parts::{PutParts, Parts, Within, put_value};
/// let mut parts = Parts::default();
/// put_value(&mut parts, "counts", 1, &[3u64, 4])?;
/// Within::new(&mut parts, "emitter/0").bytes("state", 2, b"anything")?;
/// assert_eq!(parts.require("counts", 1)?.value::<[u64; 2]>()?, [3, 4]);
/// assert!(parts.optional("added later", 1)?.is_none());
/// assert!(parts.require("counts", 1).is_err(), "taken already");
/// let mut emitter = parts.within("emitter/0");
/// assert!(emitter.require("state", 1).unwrap_err().to_string().contains("update autoqd"));
/// # Ok::<(), autoqd::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    parts: BTreeMap<String, Part>,
}

impl Parts {
    /// Adds a part; false if there is one of this name already.
    pub fn insert(&mut self, part: Part) -> bool {
        self.parts.insert(part.name.clone(), part).is_none()
    }

    /// Takes a part out, so that it is not held twice.
    ///
    /// # Errors
    /// When it is missing, or of a version above `newest`, the latest that the caller understands.
    pub fn require(&mut self, name: &str, newest: u32) -> Result<Part, Error> {
        self.optional(name, newest)?.ok_or_else(|| unusable(name, "it is missing"))
    }

    /// Takes a part out that older versions did not write.
    ///
    /// # Errors
    /// When it is of a version above `newest`, the latest that the caller understands.
    pub fn optional(&mut self, name: &str, newest: u32) -> Result<Option<Part>, Error> {
        let part = self.parts.remove(name);
        match part.as_ref().filter(|part| part.version > newest) {
            Some(part) => Err(unusable(
                name,
                format!(
                    "it has version {}, but this program reads up to {newest}; update autoqd",
                    part.version
                ),
            )),
            None => Ok(part),
        }
    }

    /// Takes out all parts that were put [`Within`] a prefix.
    pub fn within(&mut self, prefix: &str) -> Self {
        let start = format!("{prefix}/");
        let mut inner = Self::default();
        for (name, mut part) in std::mem::take(&mut self.parts) {
            match name.strip_prefix(&start) {
                Some(rest) => {
                    part.name = rest.to_owned();
                    inner.insert(part);
                }
                None => drop(self.parts.insert(name, part)),
            }
        }
        inner
    }

    /// Names of the parts that have not been taken yet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }
}

impl PutParts for Parts {
    fn stream(
        &mut self,
        name: &str,
        version: u32,
        len: usize,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(len);
        write(&mut bytes).map_err(|e| unusable(name, e))?;
        check_length(name, len, bytes.len())?;
        let new = self.insert(Part { name: name.to_owned(), version, bytes });
        if new { Ok(()) } else { Err(unusable(name, "it was put twice")) }
    }
}

pub(crate) fn check_length(name: &str, announced: usize, written: usize) -> Result<(), Error> {
    if announced == written {
        return Ok(());
    }
    Err(unusable(name, format!("it has {written} bytes, not the {announced} that were announced")))
}

pub(crate) fn unusable(name: &str, reason: impl ToString) -> Error {
    Error::Part { name: name.to_owned(), reason: reason.to_string() }
}
