//! The binary formats: exact round trips, the same bytes every time, Python reads them, and damage is never accepted.

use autoqd::config::{Layers, RunConfig, TaskFacts};
use autoqd::export::{TableFormat, write_table};
use autoqd::parts::put_value;
use autoqd::registry::Registry;
use autoqd::run_folder::{
    ArchiveTable, Block, CHECKPOINT_FILE, Checkpoint, IterationRow, RunFolder, Tensor, TensorFile, TimingRow,
};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;

fn config() -> RunConfig {
    let facts = TaskFacts { observation_size: 8, action_size: 2, objective_min: 0.0, measures: vec![] };
    let registry = Registry::default();
    Layers::new(&registry).set("task=swimmer").unwrap().build().unwrap().resolve(&facts, &registry).unwrap()
}

fn table(rows: usize) -> ArchiveTable {
    let number = |i: usize| (i as f64 * 0.7).sin();
    let block = |width: usize| Block { width, values: (0..rows * width).map(number).collect() };
    let seeds = (0..rows as u64 * 5).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    ArchiveTable {
        cell: (0..rows as u64).map(|i| 3 * i).collect(),
        id: (0..rows as u64).map(|i| u64::MAX - i).collect(),
        iteration: (0..rows as u64).collect(),
        objective: (0..rows).map(|i| 100.0 * number(i)).collect(),
        measures: block(4),
        statistics: vec![
            ("return_std".to_owned(), vec![0.5; rows]),
            ("angular span".to_owned(), vec![0.25; rows]),
        ],
        seeds: Block { width: 5, values: seeds },
        features: block(100),
        parameters: block(301),
        metadata: [("task", "swimmer"), ("method", "autoqd")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into(),
    }
}

fn tensors() -> TensorFile {
    let mut file = TensorFile::default();
    file.metadata.insert("task".to_owned(), "swimmer".into());
    file.metadata.insert("gamma".to_owned(), 0.999.into());
    file.tensors.push(Tensor::f32("weights", &[3, 2], &[1.0, 2.0, 3.0, -4.0, 0.1, 6.0]));
    file.tensors.push(Tensor::f64("A", &[2, 2], &[0.1, 0.2, 0.3, 1e-300]));
    file.tensors.push(Tensor::u64("count", &[1], &[u64::MAX]));
    file.tensors.push(Tensor::f64("empty", &[0, 7], &[]));
    file
}

#[test]
fn the_archive_reads_back_exactly_and_has_the_same_bytes_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    for rows in [1, 2, 500] {
        let table = table(rows);
        for format in TableFormat::ALL {
            write_table(&table, format, &a).unwrap();
            write_table(&table.clone(), format, &b).unwrap();
            assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap(), "{format}");
        }
        table.write_parquet(&a).unwrap();
        let back = ArchiveTable::read_parquet(&a).unwrap();
        assert_eq!(back, table);
        assert_eq!(back.digest(), table.digest());
        assert_eq!(back.statistic("angular span").unwrap().len(), rows);
        assert_eq!(back.parameters.row(0), table.parameters.row(0));
    }
}

#[test]
fn an_empty_archive_and_methods_without_features_are_stored_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.parquet");
    let empty = ArchiveTable::default();
    empty.write_parquet(&path).unwrap();
    assert_eq!(ArchiveTable::read_parquet(&path).unwrap(), empty);
    let regular = ArchiveTable { features: Block::default(), statistics: vec![], ..table(3) };
    regular.write_parquet(&path).unwrap();
    assert_eq!(ArchiveTable::read_parquet(&path).unwrap(), regular);
}

#[test]
fn a_table_that_does_not_fit_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.parquet");
    let refuse = |table: ArchiveTable, reason: &str| {
        for format in TableFormat::ALL {
            let message = write_table(&table, format, &path).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
            assert!(!path.exists());
        }
    };
    refuse(ArchiveTable { id: vec![1], ..table(3) }, "column 'id' has 1 values, not 3");
    refuse(
        ArchiveTable { statistics: vec![("cell".to_owned(), vec![0.0; 3])], ..table(3) },
        "two columns named 'cell'",
    );
    refuse(ArchiveTable { objective: vec![0.0, f64::NAN, 1.0], ..table(3) }, "not finite");
    let measures = Block { width: 2, values: vec![0.0; 7] };
    refuse(ArchiveTable { measures, ..table(3) }, "measures");
}

#[test]
fn the_digest_sees_every_change() {
    let base = table(4);
    let mut other = base.clone();
    other.parameters.values[17] = f64::from_bits(other.parameters.values[17].to_bits() ^ 1);
    assert_ne!(base.digest(), other.digest());
    let mut other = base.clone();
    other.metadata.insert("task".to_owned(), "hopper".to_owned());
    assert_ne!(base.digest(), other.digest());
}

#[test]
fn tensors_read_back_exactly_and_have_the_same_bytes_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    tensors().write(&a).unwrap();
    tensors().write(&b).unwrap();
    assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
    let back = TensorFile::read(&a).unwrap();
    assert_eq!(back.metadata, tensors().metadata);
    for tensor in tensors().tensors {
        assert_eq!(back.get(&tensor.name), Some(&tensor));
    }
    assert_eq!(back.get("weights").unwrap().to_f32().unwrap()[3], -4.0);
    assert_eq!(back.get("weights").unwrap().to_f64(), None);
    let wrong = TensorFile { tensors: vec![Tensor::f64("x", &[3], &[1.0])], ..TensorFile::default() };
    assert!(wrong.write(&a).is_err());
    let twice = TensorFile { tensors: vec![Tensor::f64("x", &[1], &[1.0]); 2], ..TensorFile::default() };
    assert!(twice.write(&a).unwrap_err().to_string().contains("two tensors named 'x'"));
}

#[test]
fn python_reads_every_file() {
    let python = std::env::var("AUTOQD_PYTHON").unwrap_or_else(|_| "python3".into());
    let modules = "import numpy, pyarrow.parquet, safetensors.numpy, tensorboard";
    if !Command::new(&python).args(["-c", modules]).output().is_ok_and(|o| o.status.success()) {
        let missing = format!("{python} cannot {modules} (AUTOQD_PYTHON chooses another interpreter)");
        assert!(std::env::var("AUTOQD_REQUIRE_ALL").as_deref() != Ok("1"), "{missing}");
        eprintln!("skipped: {missing}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = RunFolder::create(&path, &config()).unwrap();
    let mut logs = run.logs(0).unwrap();
    for iteration in 1..=3 {
        let metrics =
            IterationRow { iteration, coverage: 0.25 * iteration as f64, ..IterationRow::default() };
        logs.append(&metrics, &[], &TimingRow { iteration, unix_time: 1e9, ..TimingRow::default() }).unwrap();
    }
    run.write_archive(&table(20)).unwrap();
    run.write_descriptor(&tensors()).unwrap();
    for format in [TableFormat::Csv, TableFormat::Npz, TableFormat::Safetensors] {
        write_table(&table(20), format, &path.join(format!("archive.{format}"))).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/read_run_folder.py");
    let output = Command::new(&python).arg(script).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Writes the three kinds of files once for all cases of the properties below.
fn samples() -> &'static [(&'static str, Vec<u8>)] {
    static SAMPLES: std::sync::OnceLock<Vec<(&'static str, Vec<u8>)>> = std::sync::OnceLock::new();
    SAMPLES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&folder.path().join("run"), &config()).unwrap();
        run.write_archive(&ArchiveTable { parameters: Block { width: 2, values: vec![0.5; 6] }, ..small() })
            .unwrap();
        run.write_descriptor(&tensors()).unwrap();
        run.save_checkpoint(&config(), 7, |parts| {
            put_value(parts, "state", 1, &(1u32, "text", vec![1.5f64; 9]))?;
            put_value(parts, "block", 2, &[0.25; 30])
        })
        .unwrap();
        let names = ["archive.parquet", "descriptor.safetensors", CHECKPOINT_FILE];
        names.iter().map(|name| (*name, std::fs::read(run.path().join(name)).unwrap())).collect()
    })
}

fn small() -> ArchiveTable {
    let mut table = table(3);
    table.features = Block { width: 2, values: vec![0.1; 6] };
    table
}

/// Reads a file of any kind; the content as text, so that two can be compared.
fn read(name: &str, bytes: &[u8]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    match name {
        "archive.parquet" => ArchiveTable::read_parquet(&path).map(|t| format!("{t:?}")),
        "descriptor.safetensors" => TensorFile::read(&path).map(|t| format!("{t:?}")),
        _ => Checkpoint::read(&path).map(|c| format!("{c:?}")),
    }
    .map_err(|e| e.to_string())
}

#[test]
#[ignore = "every bit of every file, about a minute; the property below samples them"]
fn no_flipped_bit_at_all_is_believed() {
    for (name, bytes) in samples() {
        let sound = read(name, bytes).unwrap();
        for at in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            let outcome = std::panic::catch_unwind(|| read(name, &changed));
            let outcome = outcome.unwrap_or_else(|_| panic!("{name}: bit {at} of {}", 8 * bytes.len()));
            assert!(
                outcome.is_err() || (outcome.as_ref() == Ok(&sound) && name.ends_with("safetensors")),
                "{name}: bit {at}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_cut_file_is_always_refused(kind in 0usize..3, at in any::<prop::sample::Index>()) {
        let (name, bytes) = &samples()[kind];
        prop_assert!(read(name, &bytes[..at.index(bytes.len())]).is_err());
    }

    /// Tensor files have bits that mean nothing (spaces at the end of the header); all others are rejected.
    #[test]
    fn a_flipped_bit_is_never_believed(kind in 0usize..3, at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let (name, bytes) = &samples()[kind];
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= 1 << bit;
        match read(name, &changed) {
            Err(_) => {}
            Ok(content) => {
                prop_assert!(kind == 1, "a changed {} was accepted", name);
                prop_assert_eq!(content, read(name, bytes).unwrap());
            }
        }
    }

    #[test]
    fn noise_is_always_refused(kind in 0usize..3, noise in prop::collection::vec(any::<u8>(), 0..300), keep in 0usize..40) {
        let (name, bytes) = &samples()[kind];
        let mut changed = bytes[..keep.min(bytes.len())].to_vec();
        changed.extend(&noise);
        prop_assert!(read(name, &changed).is_err());
    }

}

proptest! {
    // Every case waits for the disk.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_table_survives_the_round_trip(
        rows in 0usize..6, k in 1usize..4, d in 0usize..4, n in 1usize..9, value in -1e300f64..1e300,
    ) {
        let filled = |width: usize| Block { width, values: vec![value; rows * width] };
        let table = ArchiveTable {
            cell: vec![u64::MAX; rows], id: vec![0; rows], iteration: vec![3; rows], objective: vec![value; rows],
            measures: filled(k),
            // The width of a list cannot be told from a table without rows.
            features: if rows == 0 { Block::default() } else { filled(d) },
            parameters: if rows == 0 { Block::default() } else { filled(n) },
            ..ArchiveTable::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.parquet");
        table.write_parquet(&path).unwrap();
        prop_assert_eq!(ArchiveTable::read_parquet(&path).unwrap(), table);
    }
}
