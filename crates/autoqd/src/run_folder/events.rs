//! TensorBoard event files: protobuf events in TFRecord framing.

use super::RunFolderError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open event file.
#[derive(Debug)]
pub(super) struct EventLog {
    file: File,
    path: PathBuf,
}

impl EventLog {
    /// Opens the file, cut back to the events up to `iteration`; makes it when it is missing.
    pub(super) fn open(path: &Path, iteration: u64, wall_time: f64) -> Result<Self, RunFolderError> {
        let refused = |e| RunFolderError::io("write", path, e);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(refused)?;
        let keep = kept_bytes(&file, iteration).map_err(refused)?;
        file.set_len(keep).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        if keep == 0 {
            file.write_all(&record(&version_event(wall_time))).map_err(refused)?;
        }
        Ok(Self { file, path: path.to_owned() })
    }

    /// Adds the scalars of one iteration.
    pub(super) fn append(
        &mut self,
        step: u64,
        wall_time: f64,
        scalars: &[(String, f64)],
    ) -> Result<(), RunFolderError> {
        let bytes = record(&scalar_event(step, wall_time, scalars));
        self.file.write_all(&bytes).map_err(|e| RunFolderError::io("write", &self.path, e))
    }
}

/// Length of the undamaged records whose step is at most `iteration`.
fn kept_bytes(file: &File, iteration: u64) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let mut keep = 0;
    while let Some(data) = read_record(&mut reader)? {
        match step_of(&data) {
            Some(step) if step <= iteration => keep += data.len() as u64 + 16,
            _ => break,
        }
    }
    Ok(keep)
}

/// The checksum of TFRecord: a rotated CRC-32C, so that a checksum of data that holds checksums stays meaningful.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

fn record(data: &[u8]) -> Vec<u8> {
    let len = (data.len() as u64).to_le_bytes();
    [&len[..], &masked_crc(&len), data, &masked_crc(data)].concat()
}

/// The next record; `None` at the end or at the first damage.
fn read_record(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 12];
    if !fill(source, &mut head)? || masked_crc(&head[..8]) != head[8..] {
        return Ok(None);
    }
    let len = u64::from_le_bytes(head[..8].try_into().unwrap_or_default());
    let mut data = Vec::new();
    source.take(len.saturating_add(4)).read_to_end(&mut data)?;
    let crc = data.split_off(data.len().saturating_sub(4));
    Ok((data.len() as u64 == len && masked_crc(&data)[..] == crc[..]).then_some(data))
}

fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

// Event: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5 (message).
// Summary: value = 1 (message). Value: tag = 1 (string), simple_value = 2 (float).

fn version_event(wall_time: f64) -> Vec<u8> {
    let mut event = double(1, wall_time);
    event.extend(bytes(3, b"brain.Event:2"));
    event
}

fn scalar_event(step: u64, wall_time: f64, scalars: &[(String, f64)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in scalars {
        let mut message = bytes(1, tag.as_bytes());
        message.push(2 << 3 | 5);
        message.extend((*value as f32).to_le_bytes());
        summary.extend(bytes(1, &message));
    }
    let mut event = double(1, wall_time);
    event.push(2 << 3);
    event.extend(varint(step));
    event.extend(bytes(5, &summary));
    event
}

fn double(field: u8, value: f64) -> Vec<u8> {
    let mut out = vec![field << 3 | 1];
    out.extend(value.to_le_bytes());
    out
}

fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![field << 3 | 2];
    out.extend(varint(content.len() as u64));
    out.extend(content);
    out
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// The step of one of our events: it follows the nine bytes of the time. The version event has none and counts as 0.
fn step_of(event: &[u8]) -> Option<u64> {
    let rest = event.get(9..)?;
    match rest.first()? {
        0x10 => {
            let mut step = 0u64;
            for (i, byte) in rest[1..].iter().enumerate().take(10) {
                step |= u64::from(byte & 0x7F).checked_shl(7 * i as u32)?;
                if byte & 0x80 == 0 {
                    return Some(step);
                }
            }
            None
        }
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_tensorflow() {
        // CRC-32C of "123456789" is the standard check value E3069283.
        assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
        let expected = 0xE306_9283u32.rotate_right(15).wrapping_add(0xA282_EAD8);
        assert_eq!(masked_crc(b"123456789"), expected.to_le_bytes());
    }

    #[test]
    fn the_step_of_every_event_can_be_read_back() {
        for step in [0, 1, 127, 128, 300, u64::from(u32::MAX), i64::MAX as u64] {
            let event = scalar_event(step, 1.5, &[("a/b".to_owned(), 2.0)]);
            assert_eq!(step_of(&event), Some(step));
        }
        assert_eq!(step_of(&version_event(3.0)), Some(0));
    }
}
