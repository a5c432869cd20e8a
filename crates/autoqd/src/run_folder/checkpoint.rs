//! The checkpoint container: named parts in one compressed file, with version and checksum.
//!
//! Layout, integers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `\x89AQD\r\n\x1a\n` |
//! | 4 | format version |
//! | 4 + n | length and postcard encoding of the header: iteration and configuration |
//! | .. | zstd stream of parts: kind (1 byte), name (u16 length and UTF-8), u64 length in bytes, content; ended by kind 0 |
//! | 32 | blake3 of everything before |
//!
//! A part is a postcard value, a block of raw f64, or bytes that are encoded already.

use super::{FillError, RunFolderError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"\x89AQD\r\n\x1a\n";
/// Latest format version this program writes and reads.
pub(super) const VERSION: u32 = 1;
const DIGEST: usize = 32;
/// Fast and light: the state is mostly random mantissas, so more effort gains nothing.
const LEVEL: i32 = 1;
/// No more than this is reserved on the word of a length field.
const CAUTIOUS: usize = 1 << 20;
const HEADER_MAX: u32 = 1 << 20;

const END: u8 = 0;
const VALUE: u8 = 1;
const FLOATS: u8 = 2;
const BYTES: u8 = 3;

/// What a checkpoint says about itself without being loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointHeader {
    /// Iterations completed.
    pub iteration: u64,
    /// The complete configuration, as TOML.
    pub config: String,
}

/// Writes the parts of a checkpoint.
pub struct CheckpointWriter<'a> {
    stream: zstd::Encoder<'a, Hashing<&'a mut dyn Write>>,
}

impl<'a> CheckpointWriter<'a> {
    /// Starts a checkpoint.
    pub fn new(out: &'a mut dyn Write, header: &CheckpointHeader) -> Result<Self, FillError> {
        let mut out = Hashing { out, hasher: blake3::Hasher::new() };
        let bytes = postcard::to_stdvec(header)?;
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&u32::try_from(bytes.len())?.to_le_bytes())?;
        out.write_all(&bytes)?;
        Ok(Self { stream: zstd::Encoder::new(out, LEVEL)? })
    }

    /// Adds a value.
    pub fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), FillError> {
        let bytes = postcard::to_stdvec(value)?;
        self.part(VALUE, name, bytes.len())?;
        Ok(self.stream.write_all(&bytes)?)
    }

    /// Adds a block of numbers.
    pub fn floats(&mut self, name: &str, values: &[f64]) -> Result<(), FillError> {
        self.part(FLOATS, name, 8 * values.len())?;
        let mut buffer = [0u8; 8 * 512];
        for chunk in values.chunks(512) {
            for (bytes, value) in buffer.chunks_exact_mut(8).zip(chunk) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            self.stream.write_all(&buffer[..8 * chunk.len()])?;
        }
        Ok(())
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), FillError> {
        self.part(BYTES, name, bytes.len())?;
        Ok(self.stream.write_all(bytes)?)
    }

    /// Adds `len` bytes that `write` writes, for what is too large to be held twice.
    pub fn stream(
        &mut self,
        name: &str,
        len: usize,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FillError> {
        self.part(BYTES, name, len)?;
        let mut counted = Counted { out: &mut self.stream, bytes: 0 };
        write(&mut counted)?;
        if counted.bytes == len { Ok(()) } else { Err(format!("part '{name}' has another length").into()) }
    }

    /// Ends the checkpoint with its checksum.
    pub fn finish(mut self) -> Result<(), FillError> {
        self.stream.write_all(&[END])?;
        let Hashing { out, hasher } = self.stream.finish()?;
        Ok(out.write_all(hasher.finalize().as_bytes())?)
    }

    fn part(&mut self, kind: u8, name: &str, len: usize) -> Result<(), FillError> {
        self.stream.write_all(&[kind])?;
        self.stream.write_all(&u16::try_from(name.len())?.to_le_bytes())?;
        self.stream.write_all(name.as_bytes())?;
        Ok(self.stream.write_all(&(len as u64).to_le_bytes())?)
    }
}

struct Counted<W> {
    out: W,
    bytes: usize,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.bytes += n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Hashing<W> {
    out: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A checkpoint in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Iteration and configuration.
    pub header: CheckpointHeader,
    parts: BTreeMap<String, Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Value(Vec<u8>),
    Floats(Vec<f64>),
    Bytes(Vec<u8>),
}

impl Checkpoint {
    /// Reads a checkpoint file and checks it.
    pub fn read(path: &Path) -> Result<Self, RunFolderError> {
        let file = File::open(path).map_err(|e| RunFolderError::io("read", path, e))?;
        let mut reader = Reader { file: BufReader::with_capacity(1 << 16, file), path: path.to_owned() };
        reader.version()?;
        let end = reader.check_digest()?;
        let header = reader.header()?;
        let start = reader.at(|f| f.stream_position())?;
        let body = reader.file.take(end.saturating_sub(start));
        let parts = read_parts(body).map_err(|e| RunFolderError::damaged(path, e))?;
        Ok(Self { header, parts })
    }

    /// Reads iteration and configuration only, without checking the rest.
    pub fn read_header(path: &Path) -> Result<CheckpointHeader, RunFolderError> {
        let file = File::open(path).map_err(|e| RunFolderError::io("read", path, e))?;
        let mut reader = Reader { file: BufReader::new(file), path: path.to_owned() };
        reader.version()?;
        reader.header()
    }

    /// A value.
    pub fn value<T: DeserializeOwned>(&self, name: &str) -> Result<T, RunFolderError> {
        match self.parts.get(name) {
            Some(Part::Value(bytes)) => match postcard::take_from_bytes(bytes) {
                Ok((value, [])) => Ok(value),
                Ok(_) => Err(unusable(name, "it is longer than expected")),
                Err(e) => Err(unusable(name, e)),
            },
            Some(_) => Err(unusable(name, "it is not a value")),
            None => Err(unusable(name, "it is missing")),
        }
    }

    /// A block of numbers, which leaves the checkpoint so that it is not held twice.
    pub fn take_floats(&mut self, name: &str) -> Result<Vec<f64>, RunFolderError> {
        match self.take(name)? {
            Part::Floats(values) => Ok(values),
            _ => Err(unusable(name, "it is not a block of numbers")),
        }
    }

    /// Bytes, which leave the checkpoint so that they are not held twice.
    pub fn take_bytes(&mut self, name: &str) -> Result<Vec<u8>, RunFolderError> {
        match self.take(name)? {
            Part::Bytes(bytes) => Ok(bytes),
            _ => Err(unusable(name, "it is not bytes")),
        }
    }

    fn take(&mut self, name: &str) -> Result<Part, RunFolderError> {
        self.parts.remove(name).ok_or_else(|| unusable(name, "it is missing"))
    }

    /// Names of the parts still in the checkpoint.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }
}

fn unusable(name: &str, reason: impl ToString) -> RunFolderError {
    RunFolderError::Section { name: name.to_owned(), reason: reason.to_string() }
}

/// Checks version and checksum of a checkpoint file without decoding it.
pub(super) fn check_file(path: &Path) -> Result<(), RunFolderError> {
    let file = File::open(path).map_err(|e| RunFolderError::io("read", path, e))?;
    let mut reader = Reader { file: BufReader::with_capacity(1 << 16, file), path: path.to_owned() };
    reader.version()?;
    reader.check_digest().map(|_| ())
}

struct Reader {
    file: BufReader<File>,
    path: PathBuf,
}

impl Reader {
    fn at<T>(
        &mut self,
        read: impl FnOnce(&mut BufReader<File>) -> io::Result<T>,
    ) -> Result<T, RunFolderError> {
        read(&mut self.file).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => RunFolderError::damaged(&self.path, "it ends too early"),
            _ => RunFolderError::io("read", &self.path, e),
        })
    }

    fn version(&mut self) -> Result<(), RunFolderError> {
        let magic: [u8; 8] = self.at(read_array)?;
        if magic != MAGIC {
            return Err(RunFolderError::damaged(&self.path, "it does not start like a checkpoint"));
        }
        let found = u32::from_le_bytes(self.at(read_array)?);
        match found {
            0 => Err(RunFolderError::damaged(&self.path, "it has version 0")),
            1..=VERSION => Ok(()),
            _ => Err(RunFolderError::NewerVersion { path: self.path.clone(), found, known: VERSION }),
        }
    }

    /// Compares the checksum and returns where the content ends; leaves the position unchanged.
    fn check_digest(&mut self) -> Result<u64, RunFolderError> {
        let position = self.at(|f| f.stream_position())?;
        let len = self.at(|f| f.seek(SeekFrom::End(0)))?;
        let end = len.saturating_sub(DIGEST as u64);
        self.at(|f| f.rewind())?;
        let mut hasher = blake3::Hasher::new();
        self.at(|f| io::copy(&mut f.take(end), &mut hasher))?;
        let stored: [u8; DIGEST] = self.at(read_array)?;
        if blake3::Hash::from_bytes(stored) != hasher.finalize() {
            return Err(RunFolderError::damaged(
                &self.path,
                "its checksum does not match: it was cut or altered",
            ));
        }
        self.at(|f| f.seek(SeekFrom::Start(position)))?;
        Ok(end)
    }

    fn header(&mut self) -> Result<CheckpointHeader, RunFolderError> {
        let len = u32::from_le_bytes(self.at(read_array)?);
        if len > HEADER_MAX {
            return Err(RunFolderError::damaged(&self.path, "its header is too long"));
        }
        let mut bytes = vec![0; len as usize];
        self.at(|f| f.read_exact(&mut bytes))?;
        postcard::from_bytes(&bytes).map_err(|e| RunFolderError::damaged(&self.path, e))
    }
}

fn read_array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_parts(body: impl Read) -> Result<BTreeMap<String, Part>, FillError> {
    let mut stream = zstd::Decoder::new(body)?;
    let mut parts = BTreeMap::new();
    loop {
        let [kind] = read_array(&mut stream)?;
        if kind == END {
            return match stream.read(&mut [0])? {
                0 => Ok(parts),
                _ => Err("there is something after its end".into()),
            };
        }
        let name_len = u16::from_le_bytes(read_array(&mut stream)?);
        let name = String::from_utf8(read_bytes(&mut stream, u64::from(name_len))?)?;
        let len = u64::from_le_bytes(read_array(&mut stream)?);
        let part = match kind {
            VALUE => Part::Value(read_bytes(&mut stream, len)?),
            FLOATS => Part::Floats(read_floats(&mut stream, len)?),
            BYTES => Part::Bytes(read_bytes(&mut stream, len)?),
            _ => return Err(format!("part '{name}' is of unknown kind {kind}").into()),
        };
        if parts.insert(name, part).is_some() {
            return Err("a part occurs twice".into());
        }
    }
}

fn read_bytes(stream: &mut impl Read, len: u64) -> Result<Vec<u8>, FillError> {
    let mut bytes = Vec::with_capacity(CAUTIOUS.min(len as usize));
    stream.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err("it ends too early".into()) }
}

fn read_floats(stream: &mut impl Read, len: u64) -> Result<Vec<f64>, FillError> {
    if !len.is_multiple_of(8) {
        return Err("a block of numbers is cut".into());
    }
    let mut values = Vec::with_capacity(CAUTIOUS.min(len as usize / 8));
    let mut left = len as usize;
    let mut buffer = [0u8; 8 * 512];
    while left > 0 {
        let chunk = &mut buffer[..left.min(8 * 512)];
        stream.read_exact(chunk)?;
        values.extend(chunk.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        left -= chunk.len();
    }
    Ok(values)
}
