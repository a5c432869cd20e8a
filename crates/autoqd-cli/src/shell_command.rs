//! `autoqd completions` and `autoqd man`, both made from the description of the command line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use autoqd::run_folder::write_atomic;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// Arguments of `autoqd completions`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `autoqd man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// a folder for the pages of all commands; by default the program's page goes to the standard output
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub fn completions(
    args: &CompletionsArgs,
    mut command: Command,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    // Not straight to `out`, because the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "autoqd", &mut script);
    out.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the program's page, or writes those of all commands and names the files.
pub fn man(args: &ManArgs, mut command: Command, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    command.build();
    match &args.out {
        None => out.write_all(&page(&command)?)?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display()))?;
            write_pages(&command, folder, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}

fn write_pages(command: &Command, folder: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    let text = page(command)?;
    write_atomic(&path, |file| Ok(file.write_all(&text)?))?;
    writeln!(out, "{}", path.display())?;
    let shown = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    shown.into_iter().try_for_each(|sub| write_pages(sub, folder, out))
}
