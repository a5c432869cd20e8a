//! The checkpoint container: named parts in one compressed file, with version and checksum.
//!
//! Layout, integers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `\x89AQD\r\n\x1a\n` |
//! | 4 | format version |
//! | 4 + n | length and postcard encoding of the header: iteration and configuration |
//! | .. | zstd stream of parts: the byte 4, name (u16 length and UTF-8), u32 version, u64 length in bytes, content; ended by the byte 0 |
//! | 32 | blake3 of everything before |
//!
//! In format version 1 the byte before a part is 1, 2 or 3 and no version follows its name: it is part version 1.

use super::{FillError, RunFolderError};
use crate::Error;
use crate::parts::{Part, Parts, PutParts, check_length, unusable};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"\x89AQD\r\n\x1a\n";
/// Latest format version this program writes and reads.
pub(super) const VERSION: u32 = 2;
const DIGEST: usize = 32;
/// Fast and light: the state is mostly random mantissas, so more effort gains nothing.
const LEVEL: i32 = 1;
/// No more than this is allocated because a length field asks for it.
const CAUTIOUS: usize = 1 << 20;
const HEADER_MAX: u32 = 1 << 20;

const END: u8 = 0;
/// A part of format version 1: a value, a block of numbers or bytes.
const UNVERSIONED: std::ops::RangeInclusive<u8> = 1..=3;
const PART: u8 = 4;

/// What a checkpoint says about itself without being loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointHeader {
    /// Iterations completed.
    pub iteration: u64,
    /// The complete configuration, as TOML.
    pub config: String,
}

/// Writes the parts of a checkpoint.
pub(super) struct CheckpointWriter<'a> {
    stream: zstd::Encoder<'a, Hashing<&'a mut dyn Write>>,
}

impl<'a> CheckpointWriter<'a> {
    /// Starts a checkpoint.
    pub(super) fn new(out: &'a mut dyn Write, header: &CheckpointHeader) -> Result<Self, FillError> {
        let mut out = Hashing { out, hasher: blake3::Hasher::new() };
        let bytes = postcard::to_stdvec(header)?;
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&u32::try_from(bytes.len())?.to_le_bytes())?;
        out.write_all(&bytes)?;
        Ok(Self { stream: zstd::Encoder::new(out, LEVEL)? })
    }

    /// Ends the checkpoint with its checksum.
    pub(super) fn finish(mut self) -> Result<(), FillError> {
        self.stream.write_all(&[END])?;
        let Hashing { out, hasher } = self.stream.finish()?;
        Ok(out.write_all(hasher.finalize().as_bytes())?)
    }

    fn start_part(&mut self, name: &str, version: u32, len: usize) -> io::Result<()> {
        let name_len = u16::try_from(name.len()).map_err(|_| io::Error::other("its name is too long"))?;
        self.stream.write_all(&[PART])?;
        self.stream.write_all(&name_len.to_le_bytes())?;
        self.stream.write_all(name.as_bytes())?;
        self.stream.write_all(&version.to_le_bytes())?;
        self.stream.write_all(&(len as u64).to_le_bytes())
    }
}

impl PutParts for CheckpointWriter<'_> {
    fn stream(
        &mut self,
        name: &str,
        version: u32,
        len: usize,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let refused = |e| unusable(name, e);
        self.start_part(name, version, len).map_err(refused)?;
        let mut counted = Counted { out: &mut self.stream, bytes: 0 };
        write(&mut counted).map_err(refused)?;
        check_length(name, len, counted.bytes)
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
    /// The state.
    pub parts: Parts,
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

fn read_parts(body: impl Read) -> Result<Parts, FillError> {
    let mut stream = zstd::Decoder::new(body)?;
    let mut parts = Parts::default();
    loop {
        let [kind] = read_array(&mut stream)?;
        if kind == END {
            return match stream.read(&mut [0])? {
                0 => Ok(parts),
                _ => Err("there is something after its end".into()),
            };
        }
        if !parts.insert(read_part(&mut stream, kind)?) {
            return Err("a part occurs twice".into());
        }
    }
}

fn read_part(stream: &mut impl Read, kind: u8) -> Result<Part, FillError> {
    let name_len = u16::from_le_bytes(read_array(stream)?);
    let name = String::from_utf8(read_bytes(stream, u64::from(name_len))?)?;
    let version = match kind {
        PART => u32::from_le_bytes(read_array(stream)?),
        kind if UNVERSIONED.contains(&kind) => 1,
        _ => return Err(format!("part '{name}' is of unknown kind {kind}").into()),
    };
    let len = u64::from_le_bytes(read_array(stream)?);
    Ok(Part { name, version, bytes: read_bytes(stream, len)? })
}

fn read_bytes(stream: &mut impl Read, len: u64) -> Result<Vec<u8>, FillError> {
    let mut bytes = Vec::with_capacity(CAUTIOUS.min(len as usize));
    stream.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err("it ends too early".into()) }
}
