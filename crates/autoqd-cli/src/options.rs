//! Options that several commands take. The name, short form, value and meaning of each are declared here, once.
//!
//! A command declares which of them it takes, with the type it needs. Where something is particular to the command, the doc
//! comment of its field says that alone; the help shows it after the shared meaning and a colon.

use clap::{Arg, Command};

/// An option that means the same in every command.
struct Shared {
    long: &'static str,
    short: Option<char>,
    /// Name of the value in the help; flags have none.
    value: &'static str,
    meaning: &'static str,
}

const fn option(long: &'static str, value: &'static str, meaning: &'static str) -> Shared {
    Shared { long, short: None, value, meaning }
}

const SHARED: &[Shared] = &[
    Shared { short: Some('o'), ..option("out", "PATH", "Where to write") },
    option("seed", "SEED", "Seed of everything random"),
    option("episodes", "N", "Episodes per policy"),
    option("count", "N", "How many"),
    option("json", "", "Print JSON"),
    option("format", "FORMAT", "Format of the output"),
    option("threads", "N", "Worker threads, by default one per core; changes nothing but the time"),
    option("physics", "PHYSICS", "Simulator"),
    option("iterations", "N", "Iterations of the search"),
    option("policy", "ID", "An elite, by its id"),
    option(
        "reference",
        "FILE",
        "Measure on the scale of this file, which `autoqd eval --write-reference` wrote",
    ),
    option("engine", "ENGINE", "Where policies are evaluated: local (this process) or ray (docs/cluster.md)"),
    option(
        "address",
        "HOST:PORT",
        "The cluster of the engine; by default the one that is found, or a new one here",
    ),
    option("allow-mixed", "", "Accept workers whose bits differ from this machine's, and mark the run"),
    option("chunk", "N", "Candidates that a worker gets at a time, by default chosen from measured times"),
    option("worker-timeout", "SECONDS", "Give up a worker that has not answered for so long"),
    option("space", "SPACE", "Space in which policies are compared"),
    option("seconds", "SECONDS", "Seconds of each animation"),
    option("dark", "", "Light figures on dark ground"),
];

/// Gives every shared option of a command and its subcommands the name, short form and meaning it has everywhere.
pub fn unify(command: Command) -> Command {
    command.mut_args(explain).mut_subcommands(unify)
}

fn explain(arg: Arg) -> Arg {
    let Some(shared) = SHARED.iter().find(|shared| arg.get_long() == Some(shared.long)) else { return arg };
    let help = match arg.get_help() {
        Some(particular) => format!("{}: {particular}", shared.meaning),
        None => shared.meaning.to_owned(),
    };
    let arg = if shared.value.is_empty() { arg } else { arg.value_name(shared.value) };
    let arg = shared.short.into_iter().fold(arg, Arg::short);
    arg.help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn walk<'a>(command: &'a Command, path: &str, visit: &mut dyn FnMut(&str, &'a Command)) {
        visit(path, command);
        for sub in command.get_subcommands() {
            walk(sub, &format!("{path} {}", sub.get_name()), visit);
        }
    }

    fn program() -> Command {
        crate::program(&crate::registry())
    }

    /// The help up to what is particular to a command.
    fn meaning(arg: &Arg) -> String {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        help.split(':').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_command_and_argument_is_explained() {
        walk(&program(), "autoqd", &mut |path, command| {
            assert!(command.get_about().is_some(), "{path} has no description");
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                assert!(arg.get_help().is_some(), "{path} {} has no help", arg.get_id());
            }
        });
    }

    #[test]
    fn an_option_means_the_same_in_every_command() {
        let (program, mut known, mut shorts) = (program(), BTreeMap::new(), BTreeMap::new());
        walk(&program, "autoqd", &mut |path, command| {
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                let values = arg.get_value_names().map(|names| format!("{names:?}"));
                let facts = (arg.get_short(), values, meaning(arg));
                let first = known.entry(long).or_insert_with(|| (path.to_owned(), facts.clone()));
                assert_eq!(first.1, facts, "--{long} of {} and of {path}", first.0);
                if let Some(short) = arg.get_short() {
                    assert_eq!(*shorts.entry(short).or_insert(long), long, "-{short} of {path}");
                }
            }
        });
    }

    #[test]
    fn every_shared_option_is_one_of_several_commands_or_gone() {
        let (program, mut uses) = (program(), BTreeMap::new());
        walk(&program, "autoqd", &mut |_, command| {
            for long in command.get_arguments().filter_map(Arg::get_long) {
                *uses.entry(long).or_insert(0) += 1;
            }
        });
        for Shared { long, .. } in SHARED {
            assert!(uses.get(long).is_some_and(|n| *n > 1), "--{long} belongs to one command alone");
        }
    }

    #[test]
    fn an_alias_is_not_the_name_of_something_else() {
        walk(&program(), "autoqd", &mut |path, command| {
            let aliases = command.get_arguments().filter_map(Arg::get_all_aliases).flatten();
            for alias in aliases {
                assert!(SHARED.iter().all(|shared| shared.long != alias), "{path} --{alias}");
            }
        });
    }

    fn root() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// The project's documents: those at the top, in docs and beside the examples, with their text.
    fn documents() -> Vec<(std::path::PathBuf, String)> {
        let folders = ["", "docs", "docs/notes", "examples/robots", "examples/own_parts"];
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
        let paths = files.map(|file| file.unwrap().path());
        let documents = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        documents.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
    }

    /// A line of a shell as words, without its comment.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quote, mut open) = (Vec::<String>::new(), None, false);
        for c in line.chars() {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    if !open {
                        words.push(String::new());
                        open = true;
                    }
                }
                (None, ' ') => open = false,
                (None, '#') if !open => return words,
                (_, c) => {
                    if !open {
                        words.push(String::new());
                        open = true;
                    }
                    words.last_mut().unwrap().push(c);
                }
            }
        }
        words
    }

    #[test]
    fn every_command_in_the_documents_is_one() {
        let (program, mut tried) = (program(), 0);
        for (path, text) in documents() {
            let blocks = text.split("```").skip(1).step_by(2);
            for line in blocks.flat_map(str::lines).filter(|line| line.starts_with("autoqd ")) {
                // Tasks of Gymnasium come with the Python package, which has an option more.
                if line.contains("gym:") {
                    continue;
                }
                let known = program.clone().try_get_matches_from(words(line));
                assert!(known.is_ok(), "{}: {line}: {}", path.display(), known.unwrap_err());
                tried += 1;
            }
        }
        assert!(tried > 40, "{tried}");
    }

    /// The name that a heading has in links.
    fn anchor(heading: &str) -> String {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
    }

    #[test]
    fn links_in_the_documents_lead_somewhere() {
        let mut followed = 0;
        for (path, text) in documents() {
            let prose: String = text.split("```").step_by(2).collect();
            // What stands in single marks is code too.
            let prose: String = prose.split('`').step_by(2).collect();
            let links = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
            for link in links.filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
                let (file, place) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
                assert!(target.exists(), "{}: {link} leads nowhere", path.display());
                if !place.is_empty() && target.extension().is_some_and(|ending| ending == "md") {
                    let there = std::fs::read_to_string(&target).unwrap();
                    let mut headings = there.lines().filter(|line| line.starts_with('#'));
                    let found = headings.any(|line| anchor(line.trim_start_matches('#')) == place);
                    assert!(found, "{}: {link} names no heading", path.display());
                }
                followed += 1;
            }
        }
        assert!(followed > 60, "{followed}");
    }
}
