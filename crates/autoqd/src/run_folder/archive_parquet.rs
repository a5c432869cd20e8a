//! The result archive as a Parquet file.
//!
//! Plain columns of doubles and unsigned integers, lists for seeds, features and parameters, no nulls. The key-value
//! metadata holds the format version and the checksum of the content. Between the pages and the footer, where Parquet
//! readers do not look, stand 32 bytes: the blake3 of all other bytes of the file, compared before anything is decoded.
//!
//! In format version 1 the features were called `embedding`. A version is raised only for what an older program would
//! misread: columns may be added without, since readers keep plain numbers they do not know and leave out the rest.

use super::archive_table::{ArchiveTable, Column, ColumnData, MEASURES_PREFIX, POLICY};
use super::{FillError, RunFolderError, write_atomic};
use crate::policy::PolicySpec;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

const VERSION: u32 = 2;
const VERSION_KEY: &str = "autoqd.version";
const DIGEST_KEY: &str = "autoqd.digest";
const PREFIX: &str = "autoqd.meta.";

impl ArchiveTable {
    /// Writes the table; the same table gives the same bytes.
    pub fn write_parquet(&self, path: &Path) -> Result<(), RunFolderError> {
        self.check().map_err(|reason| RunFolderError::encode(path, reason))?;
        check_memory(path)?;
        write_atomic(path, |file| write(self, file))
    }

    /// Reads a table and checks it.
    pub fn read_parquet(path: &Path) -> Result<Self, RunFolderError> {
        check_memory(path)?;
        let file = File::open(path).map_err(|e| RunFolderError::io("read", path, e))?;
        check_file(&file).map_err(|e| RunFolderError::damaged(path, e))?;
        let keys = read_keys(&file).map_err(|e| RunFolderError::damaged(path, e))?;
        if let Some(found) = keys.get(VERSION_KEY).and_then(|v| v.parse().ok()).filter(|v| *v > VERSION) {
            return Err(RunFolderError::NewerVersion { path: path.to_owned(), found, known: VERSION });
        }
        read(file, &keys).map_err(|e| RunFolderError::damaged(path, e))
    }

    /// The shape of the policies in a table that is not read itself; nothing if the table does not say it, or if there
    /// is no table yet.
    pub fn read_policy(path: &Path) -> Result<Option<PolicySpec>, crate::Error> {
        let file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| RunFolderError::io("read", path, e))?,
        };
        let keys = read_keys(&file).map_err(|e| RunFolderError::damaged(path, e))?;
        keys.get(&format!("{PREFIX}{POLICY}")).map(|text| PolicySpec::from_json(text)).transpose()
    }
}

/// Whether a page can be packed or unpacked: without the memory for that, the Parquet library panics.
fn check_memory(path: &Path) -> Result<(), RunFolderError> {
    let there =
        zstd::zstd_safe::CCtx::try_create().is_some() && zstd::zstd_safe::DCtx::try_create().is_some();
    let refused = || RunFolderError::io("open", path, io::ErrorKind::OutOfMemory.into());
    there.then_some(()).ok_or_else(refused)
}

const DIGEST: u64 = 32;
/// Length of the footer and the format's magic.
const TAIL: u64 = 8;

/// Passes pages on and holds the footer back, so that the checksum can go between them.
struct Sink<W> {
    out: W,
    hasher: blake3::Hasher,
    footer: Option<Vec<u8>>,
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = match &mut self.footer {
            Some(footer) => footer.write(bytes)?,
            None => self.out.write(bytes)?,
        };
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write(table: &ArchiveTable, out: &mut (impl Write + Send)) -> Result<(), FillError> {
    let mut keys = vec![
        KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_string()),
        KeyValue::new(DIGEST_KEY.to_owned(), table.digest()),
    ];
    keys.extend(table.metadata.iter().map(|(k, v)| KeyValue::new(format!("{PREFIX}{k}"), v.clone())));
    write_columns(&table.columns(), keys, out)
}

fn write_columns(
    columns: &[Column<'_>],
    keys: Vec<KeyValue>,
    out: &mut (impl Write + Send),
) -> Result<(), FillError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by("autoqd".to_owned())
        .set_key_value_metadata(Some(keys))
        .build();
    let sink = Sink { out, hasher: blake3::Hasher::new(), footer: None };
    let mut writer = SerializedFileWriter::new(sink, schema(columns)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        match &column.data {
            ColumnData::F64(values) => write_column::<DoubleType, _>(&mut group, column.width, values)?,
            ColumnData::U64(values) => {
                // Parquet stores unsigned integers in the bits of signed ones.
                let bits: Vec<i64> = values.iter().map(|v| *v as i64).collect();
                write_column::<Int64Type, _>(&mut group, column.width, &bits)?;
            }
        }
    }
    group.close()?;
    writer.flush()?;
    writer.inner_mut().footer = Some(Vec::new());
    let Sink { out, hasher, footer } = writer.into_inner()?;
    out.write_all(hasher.finalize().as_bytes())?;
    Ok(out.write_all(&footer.unwrap_or_default())?)
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    width: Option<usize>,
    values: &[T::T],
) -> Result<(), FillError> {
    let mut column = group.next_column()?.ok_or("the schema has too few columns")?;
    match width {
        None => column.typed::<T>().write_batch(values, None, None)?,
        Some(width) => {
            let definition = vec![1; values.len()];
            let repetition: Vec<i16> = (0..values.len()).map(|i| i16::from(i % width != 0)).collect();
            column.typed::<T>().write_batch(values, Some(&definition), Some(&repetition))?
        }
    };
    Ok(column.close()?)
}

fn schema(columns: &[Column<'_>]) -> Result<TypePtr, FillError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, FillError>>()?;
    Ok(Arc::new(Type::group_type_builder("archive").with_fields(fields).build()?))
}

fn field(column: &Column<'_>) -> Result<TypePtr, FillError> {
    let (physical, converted) = match column.data {
        ColumnData::U64(_) => (Physical::INT64, ConvertedType::UINT_64),
        ColumnData::F64(_) => (Physical::DOUBLE, ConvertedType::NONE),
    };
    let value = |name: &str| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        builder.with_converted_type(converted).build().map(Arc::new)
    };
    if column.width.is_none() {
        return Ok(value(&column.name)?);
    }
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = Arc::new(list.with_fields(vec![value("element")?]).build()?);
    let group = Type::group_type_builder(&column.name).with_repetition(Repetition::REQUIRED);
    Ok(Arc::new(group.with_converted_type(ConvertedType::LIST).with_fields(vec![list]).build()?))
}

fn read_keys(file: &File) -> Result<BTreeMap<String, String>, FillError> {
    let reader = SerializedFileReader::new(file.try_clone()?)?;
    let keys = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(keys.filter_map(|kv| Some((kv.key.clone(), kv.value.clone()?))).collect())
}

/// Compares the checksum of the file.
fn check_file(mut file: &File) -> Result<(), FillError> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
    file.read_exact(&mut tail).map_err(|_| "it ends too early")?;
    let footer = TAIL + u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let position = len.checked_sub(footer + DIGEST).ok_or("it is cut, or not a Parquet file")?;
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut file.take(position), &mut hasher)?;
    let mut stored = [0; DIGEST as usize];
    file.read_exact(&mut stored)?;
    io::copy(&mut file, &mut hasher)?;
    if blake3::Hash::from_bytes(stored) == hasher.finalize() {
        Ok(())
    } else {
        Err("its checksum does not match: it was cut, altered or not written by autoqd".into())
    }
}

fn read(file: File, keys: &BTreeMap<String, String>) -> Result<ArchiveTable, FillError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    if reader.num_row_groups() != 1 {
        return Err("it does not have exactly one row group".into());
    }
    let group = reader.get_row_group(0)?;
    let rows = usize::try_from(group.metadata().num_rows())?;
    let mut table = ArchiveTable::default();
    let mut measures = Vec::new();
    let mut complete = true;
    for (i, column) in schema.columns().iter().enumerate() {
        if !keeps(column) {
            complete = false;
            continue;
        }
        let column = read_column(group.as_ref(), i, column, rows)?;
        match (column.name.starts_with(MEASURES_PREFIX), column.data) {
            (true, ColumnData::F64(values)) => measures.push(values.into_owned()),
            (_, data) => table.insert(Column { data, ..column })?,
        }
    }
    table.measures.width = measures.len();
    table.measures.values =
        (0..rows).flat_map(|row| measures.iter().filter_map(move |m| m.get(row))).copied().collect();
    let own = keys.iter().filter_map(|(k, v)| Some((k.strip_prefix(PREFIX)?.to_owned(), v.clone())));
    table.metadata = own.collect();
    table.check()?;
    match keys.get(DIGEST_KEY) {
        // With a column left out only the checksum of the file, which was compared, can be.
        Some(digest) if !complete || *digest == table.digest() => Ok(table),
        _ => Err("the checksum of its content does not match".into()),
    }
}

fn keeps(column: &ColumnDescriptor) -> bool {
    let name = column.path().parts().first().map_or("", String::as_str);
    let (list, floats) = (column.max_rep_level() > 0, column.physical_type() == Physical::DOUBLE);
    let nullable = column.max_def_level() > u8::from(list).into();
    ArchiveTable::keeps(name, list, floats && !nullable)
}

fn read_column(
    group: &dyn RowGroupReader,
    index: usize,
    descriptor: &ColumnDescriptor,
    rows: usize,
) -> Result<Column<'static>, FillError> {
    let name = descriptor.path().parts().first().cloned().unwrap_or_default();
    let list = descriptor.max_rep_level() > 0;
    let (data, count) = match descriptor.physical_type() {
        Physical::DOUBLE => {
            let values = read_values::<DoubleType>(group, index, rows, list)?;
            let count = values.len();
            (ColumnData::F64(values.into()), count)
        }
        Physical::INT64 => {
            let values: Vec<u64> =
                read_values::<Int64Type>(group, index, rows, list)?.iter().map(|v| *v as u64).collect();
            let count = values.len();
            (ColumnData::U64(values.into()), count)
        }
        other => return Err(format!("column '{name}' has the unexpected type {other}").into()),
    };
    if !list {
        return Ok(Column { name, width: None, data });
    }
    // An empty table does not tell the width of its lists; nothing needs it.
    let width = count.checked_div(rows).unwrap_or(0);
    if rows > 0 && (width == 0 || count % rows != 0) {
        return Err(format!("column '{name}' has lists of different length").into());
    }
    Ok(Column { name, width: Some(width), data })
}

fn read_values<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    rows: usize,
    list: bool,
) -> Result<Vec<T::T>, FillError> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let levels = list.then_some((&mut definition, &mut repetition));
    let (definition, repetition) = levels.unzip();
    let (records, ..) = reader.read_records(rows, definition, repetition, &mut values)?;
    if records != rows {
        return Err("a column has too few rows".into());
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::*;

    fn table() -> ArchiveTable {
        ArchiveTable {
            cell: vec![4, 9],
            id: vec![17, 3],
            iteration: vec![2, 1],
            objective: vec![10.5, -1.0],
            measures: Block { width: 1, values: vec![0.0, 0.5] },
            features: Block { width: 2, values: vec![1.0, 2.0, 3.0, 4.0] },
            parameters: Block { width: 1, values: vec![0.1, 0.2] },
            ..ArchiveTable::default()
        }
    }

    /// Reads a file of these columns that says it is of `version` and has the digest of `table`.
    fn read_back(columns: &[Column<'_>], version: u32, digest: &str) -> Result<ArchiveTable, RunFolderError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.parquet");
        let key = |name: &str, value: String| KeyValue::new(name.to_owned(), value);
        let keys = vec![key(VERSION_KEY, version.to_string()), key(DIGEST_KEY, digest.to_owned())];
        write_atomic(&path, |file| write_columns(columns, keys, file)).unwrap();
        ArchiveTable::read_parquet(&path)
    }

    #[test]
    fn the_features_of_version_1_were_called_embedding_and_have_the_same_digest() {
        let table = table();
        let mut columns = table.columns();
        for column in columns.iter_mut().filter(|column| column.name == "features") {
            column.name = "embedding".to_owned();
        }
        assert_eq!(read_back(&columns, 1, &table.digest()).unwrap(), table);
    }

    #[test]
    fn columns_of_a_later_version_are_kept_or_left_out_and_lists_may_be_missing() {
        let table = table();
        let mut columns = table.columns();
        let column = |name: &str, width, data| Column { name: name.to_owned(), width, data };
        columns.push(column("visits", None, ColumnData::U64(vec![7, 8].into())));
        columns.push(column("code", Some(2), ColumnData::F64(vec![0.5; 4].into())));
        columns.push(column("novelty", None, ColumnData::F64(vec![0.25, 0.75].into())));
        columns.retain(|column| column.name != "parameters");
        let read = read_back(&columns, VERSION, "of all columns").unwrap();
        assert_eq!(read.statistic("novelty"), Some(&[0.25, 0.75][..]));
        assert_eq!((&read.features, read.parameters.width), (&table.features, 0));
        let newer = read_back(&columns, VERSION + 1, "").unwrap_err().to_string();
        assert!(newer.contains("update autoqd"), "{newer}");
    }
}
