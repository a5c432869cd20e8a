//! `autoqd describe`: the measures of a policy under a run's descriptor.

use autoqd::memory;
use autoqd::registry::Registry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use autoqd::runner::load_search;
use autoqd::seeds::{Purpose, derive};
use autoqd_measure::Run;

use crate::measuring::print_json;
use crate::run_args::RunArg;

/// Arguments of `autoqd describe`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["parameters", "policy"])))]
pub struct DescribeArgs {
    #[command(flatten)]
    run: RunArg,
    /// File with the parameters of a policy: numbers separated by white space or commas, or a JSON list
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// rolled out again with the seeds it was evaluated with
    #[arg(long)]
    policy: Option<u64>,
    /// by default as many as in the run; an elite is rolled out as often as it was evaluated
    #[arg(long)]
    episodes: Option<u64>,
    /// the episodes, with --parameters
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Description {
    objective: f64,
    return_std: f64,
    length_mean: f64,
    measures: Vec<f64>,
    hand_made: Vec<f64>,
    seeds: Vec<u64>,
}

/// Rolls a policy out and prints what the run's descriptor makes of it.
pub fn run(args: &DescribeArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run.run)?;
    let search = load_search(run.need_folder("descriptor")?, Some(1), registry)?;
    let (seeds, (evaluation, measures)) = match (&args.parameters, args.policy) {
        (Some(file), _) => {
            let episodes = args.episodes.unwrap_or(search.config().episodes as u64);
            let features = search.config().embedding.features as f64;
            memory::require("the episodes", 8.0 * episodes as f64 * (12.0 + features), "--episodes")?;
            let seeds: Vec<u64> =
                (0..episodes).map(|e| derive(args.seed, Purpose::Evaluation, [0, 0, e])).collect();
            let described = search.describe(&read_parameters(file)?, &seeds)?;
            (seeds, described)
        }
        (None, Some(id)) => {
            let run = run.load()?;
            (search.evaluation_seeds(id), search.describe_elite(id, run.parameters(run.row(id)?))?)
        }
        (None, None) => bail!("give --parameters FILE or --policy ID"),
    };
    let description = Description {
        objective: evaluation.objective(),
        return_std: evaluation.return_std(),
        length_mean: evaluation.mean_length(),
        measures,
        hand_made: evaluation.measures(),
        seeds,
    };
    if args.json {
        print_json(&description, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "return     {:.3} ± {:.3}", description.objective, description.return_std)?;
    writeln!(out, "length     {:.1}", description.length_mean)?;
    writeln!(out, "measures   {:?}", description.measures)?;
    for (spec, value) in search.spec().measures.iter().zip(&description.hand_made) {
        writeln!(out, "{:10} {value:.4}", spec.name)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Numbers in any of the usual plain forms.
fn read_parameters(file: &Path) -> anyhow::Result<Vec<f64>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let separators = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']');
    let words = text.split(separators).filter(|word| !word.is_empty());
    words
        .map(|word| match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => bail!("{}: '{word}' is not a finite number", file.display()),
        })
        .collect()
}
