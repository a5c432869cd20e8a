//! Rules of the source itself: modules of a crate form no cycle, and nothing that differs between machines, threads or
//! runs is used where the same bytes are promised.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that may use each other, with the reason.
const CYCLES: &[(&str, &[&str], &str)] = &[(
    "autoqd-lanes",
    &["integrate", "kernels", "sim", "solver"],
    "one engine, compiled as a whole for each instruction set",
)];

/// Crates whose results are promised to the byte. `autoqd-env` needs the platform's mathematics for Gymnasium's bits, and
/// `autoqd-lanes` fuses on purpose, with the same bits from every back end.
const SAME_BYTES: &[&str] =
    &["autoqd", "autoqd-rollout", "autoqd-qd", "autoqd-learn", "autoqd-measure", "autoqd-statistics"];

/// What must not be used there, and why.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&[".mul_add("], "fused on some CPUs only"),
    (&["HashMap", "HashSet"], "iterates in another order in every process; use BTreeMap"),
    (
        &[
            ".sin()",
            ".cos()",
            ".tan()",
            ".tanh()",
            ".sinh()",
            ".cosh()",
            ".exp()",
            ".exp2()",
            ".exp_m1()",
            ".ln()",
            ".ln_1p()",
            ".log2()",
            ".log10()",
            ".powf(",
            ".cbrt()",
            ".atan2(",
            ".atan()",
            ".asin()",
            ".acos()",
            ".sin_cos()",
            ".hypot(",
        ],
        "comes from the platform's mathematics library; use the libm crate",
    ),
    (&["SystemTime::now", "thread_rng", "from_entropy"], "differs from run to run"),
];

/// Places where one of these is right, by file and text, with the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("autoqd/src/run_folder/tensors.rs", "HashMap", "the safetensors crate takes one, with a single entry"),
    ("autoqd/src/run_folder/logs.rs", "SystemTime::now", "times of a log are not results"),
];

struct Source {
    /// Path from the folder of crates.
    name: String,
    /// Top-level module.
    module: String,
    /// Code without comments and tests.
    code: String,
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates").to_owned()
}

fn sources(krate: &str) -> Vec<Source> {
    let root = crates().join(krate).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                None if path.is_dir() => folders.push(path),
                Some(ending) if ending == "rs" => sources.push(source(krate, &root, &path)),
                _ => {}
            }
        }
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

fn source(krate: &str, root: &Path, path: &Path) -> Source {
    let inner = path.strip_prefix(root).expect("a file of the crate");
    let first = inner.iter().next().and_then(|name| name.to_str()).expect("a readable name");
    let text = std::fs::read_to_string(path).expect("a readable file");
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    Source {
        name: format!("{krate}/src/{}", inner.display()),
        module: first.trim_end_matches(".rs").to_owned(),
        code,
    }
}

/// The modules named after `crate::` in some code.
fn used(code: &str) -> BTreeSet<String> {
    let word =
        |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned();
    let mut names = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            Some(list) => {
                names.extend(list.split('}').next().unwrap_or("").split(',').map(|item| word(item.trim())))
            }
            None => drop(names.insert(word(after))),
        }
    }
    names
}

/// Every module from which a path of uses leads back to it.
fn in_cycles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let reaches = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = uses[from].iter().collect();
        while let Some(module) = open.pop() {
            if seen.insert(module.clone()) {
                open.extend(uses.get(module).into_iter().flatten());
            }
        }
        seen
    };
    uses.keys().filter(|module| reaches(module).contains(*module)).cloned().collect()
}

#[test]
fn the_modules_of_a_crate_form_no_cycle() {
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(crates()).expect("the folder of crates") {
        let krate = entry.expect("an entry").file_name().into_string().expect("a readable name");
        let sources = sources(&krate);
        let modules: BTreeSet<&String> = sources.iter().map(|s| &s.module).collect();
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources.iter().filter(|s| s.module != "lib" && s.module != "main") {
            let other = |name: &String| *name != source.module && modules.contains(name);
            uses.entry(source.module.clone())
                .or_default()
                .extend(used(&source.code).into_iter().filter(other));
        }
        let known = CYCLES.iter().filter(|(name, ..)| *name == krate);
        let known: BTreeSet<String> =
            known.flat_map(|(_, list, _)| list.iter().map(|m| m.to_string())).collect();
        let cycles = in_cycles(&uses);
        let leads_back = |m: &String| format!("{krate}: {m} leads back to itself through {:?}", uses[m]);
        faults.extend(cycles.difference(&known).map(leads_back));
        let gone = |m: &String| format!("{krate}: {m} is in no cycle any more; take it off the list");
        faults.extend(known.difference(&cycles).map(gone));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn nothing_that_differs_between_machines_is_used_where_bytes_are_promised() {
    let mut used_exceptions = BTreeSet::new();
    for source in SAME_BYTES.iter().flat_map(|krate| sources(krate)) {
        for (words, why) in FORBIDDEN {
            for word in words.iter().filter(|word| source.code.contains(**word)) {
                let allowed = ALLOWED.iter().position(|(file, text, _)| *file == source.name && text == word);
                assert!(allowed.is_some(), "{} uses {word}, which {why}", source.name);
                used_exceptions.extend(allowed);
            }
        }
    }
    assert_eq!(
        used_exceptions.len(),
        ALLOWED.len(),
        "an exception is not needed any more; take it off the list"
    );
}

#[test]
fn floating_point_sums_are_not_left_to_threads() {
    for source in SAME_BYTES.iter().flat_map(|krate| sources(krate)) {
        for statement in source.code.split(';') {
            let parallel =
                ["par_iter", "par_chunks", "par_bridge"].iter().any(|word| statement.contains(word));
            let joined =
                [".sum(", ".sum::<", ".reduce(", ".fold("].iter().any(|word| statement.contains(word));
            assert!(
                !(parallel && joined),
                "{}: a sum whose order depends on threads: {statement}",
                source.name
            );
        }
    }
}
