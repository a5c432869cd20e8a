//! TensorBoard event files: protobuf events in TFRecord framing.

use super::RunFolderError;
use super::log_sums::{LogSum, Summing};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open event file.
#[derive(Debug)]
pub(super) struct EventLog {
    file: File,
    path: PathBuf,
    summing: Summing,
}

impl EventLog {
    /// Opens the file, cut back to the first `keep` bytes, whose checksum is `summing`; makes it when it is missing.
    pub(super) fn open(
        path: &Path,
        keep: u64,
        summing: Summing,
        wall_time: f64,
    ) -> Result<Self, RunFolderError> {
        let refused = |e| RunFolderError::io("write", path, e);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(refused)?;
        file.set_len(keep).map_err(refused)?;
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        let mut log = Self { file, path: path.to_owned(), summing };
        if keep == 0 {
            log.write(&record(&version_event(wall_time)))?;
        }
        Ok(log)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RunFolderError> {
        self.file.write_all(bytes).map_err(|e| RunFolderError::io("write", &self.path, e))?;
        self.summing.add(bytes);
        Ok(())
    }

    /// Flushes everything to disk; the answer is the checksum of it.
    pub(super) fn sync(&self) -> Result<LogSum, RunFolderError> {
        self.file.sync_data().map_err(|e| RunFolderError::io("write", &self.path, e))?;
        Ok(self.summing.sum())
    }

    /// Adds the scalars of one iteration.
    pub(super) fn append(
        &mut self,
        step: u64,
        wall_time: f64,
        scalars: &[(String, f64)],
    ) -> Result<(), RunFolderError> {
        self.write(&record(&scalar_event(step, wall_time, scalars)))
    }
}

/// Length of the undamaged records whose step is at most `iteration`.
pub(super) fn kept_bytes(mut bytes: &[u8], iteration: u64) -> u64 {
    let mut keep = 0;
    while let Some(data) = read_record(&mut bytes) {
        match step_of(data) {
            Some(step) if step <= iteration => keep += data.len() as u64 + 16,
            _ => break,
        }
    }
    keep
}

/// The checksum of TFRecord: a rotated CRC-32C, so that a checksum of data that holds checksums stays meaningful.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

fn record(data: &[u8]) -> Vec<u8> {
    let len = (data.len() as u64).to_le_bytes();
    [&len[..], &masked_crc(&len), data, &masked_crc(data)].concat()
}

/// Takes the next record; `None` at the end or at the first damage.
fn read_record<'a>(source: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (head, rest) = source.split_first_chunk::<12>()?;
    let len = usize::try_from(u64::from_le_bytes(head[..8].try_into().ok()?)).ok()?;
    let (data, rest) = rest.split_at_checked(len)?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let sound = masked_crc(&head[..8]) == head[8..] && masked_crc(data) == *crc;
    *source = rest;
    sound.then_some(data)
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
