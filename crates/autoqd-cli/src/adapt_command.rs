//! `autoqd adapt`: which policies cope with changed dynamics.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use autoqd_measure::{
    Adaptation, AdaptationOptions, AdaptationStudy, Estimate, LoadedRun, Stored, Vary, adaptation_table,
};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, print_json};
use crate::notes::note;

/// Arguments of `autoqd adapt`.
#[derive(clap::Args)]
pub struct AdaptArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// What to change and how far, for instance friction=0.5:7.5:0.5, friction-scale=0.2:3:0.2 or
    /// mass-scale=0.5:2.0:0.1; also motor-scale, damping-scale and gravity-scale; repeatable
    #[arg(long, value_name = "KNOB=FIRST:LAST:STEP")]
    vary: Vec<Vary>,
    /// All rollouts for every policy, without screening
    #[arg(long)]
    full: bool,
    /// Only print what it would cost
    #[arg(long)]
    estimate: bool,
    /// Only find the policy to deploy for one setting, for instance friction=1.7
    #[arg(long, value_name = "KNOB=VALUE", conflicts_with_all = ["vary", "estimate"])]
    pick: Option<Vary>,
    /// of the final numbers
    #[arg(long, default_value_t = 32)]
    episodes: usize,
    /// Episodes of the first look at every policy
    #[arg(long, value_name = "N", default_value_t = 4)]
    screening: usize,
    /// Policies per setting that go on from the first look
    #[arg(long, value_name = "N", default_value_t = 20)]
    finalists: usize,
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Runs the command.
pub fn run(args: &AdaptArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    ensure!(
        args.episodes > 0 && args.screening > 0 && args.finalists > 0,
        "--episodes, --screening and --finalists must be at least 1"
    );
    let runs = args.measure.one_task()?;
    let options = AdaptationOptions {
        screening_episodes: args.screening,
        episodes: args.episodes,
        finalists: args.finalists,
        full: args.full,
        ..AdaptationOptions::default()
    };
    let study = AdaptationStudy::new(&runs, options, args.measure.bench(registry)?)?;
    match &args.pick {
        Some(setting) => pick(&study, &runs, setting, args, out)?,
        None => study_all(&study, &runs, args, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn study_all(
    study: &AdaptationStudy<'_>,
    runs: &[LoadedRun],
    args: &AdaptArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    ensure!(!args.vary.is_empty(), "nothing to change; give for instance --vary mass-scale=0.5:2.0:0.1");
    let cost = study.cost(&args.vary)?;
    let time = cost.seconds.map_or(String::new(), |s| format!(", about {} on this machine", minutes(s)));
    note!("{} rollouts, at most {:.3e} steps{time}", cost.rollouts, cost.most_steps as f64);
    if args.estimate {
        return if args.measure.json { print_json(&cost, out) } else { Ok(()) };
    }
    let mut progress = RolloutProgress::default();
    let found = study.run(&args.vary, &mut progress)?;
    drop(progress);
    for (i, run) in runs.iter().enumerate() {
        Stored::new(run, found.of_run(i)).write(&run.folder)?;
    }
    if args.measure.json {
        return print_json(&found, out);
    }
    print(&found, args, out)
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

fn print(found: &Adaptation, args: &AdaptArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    for knob in &found.knobs {
        args.format.print(&adaptation_table(found, knob), out)?;
        writeln!(out)?;
    }
    match found.best_unaltered {
        Some(best) => writeln!(out, "best mean return in the unaltered task: {best:.2}")?,
        None => writeln!(out, "no policy could be measured in the unaltered task")?,
    }
    if found.best_unaltered.is_some_and(|best| best <= 0.0) {
        writeln!(out, "it is not positive, so that no share of it counts as success")?;
    }
    if !found.options.full {
        writeln!(
            out,
            "each best policy is the best of {} finalists over {} fresh rollouts (--full: of all policies)",
            found.options.finalists, found.options.episodes
        )?;
    }
    Ok(())
}

/// The best policy of all runs for one setting.
#[derive(serde::Serialize)]
struct Picked {
    setting: String,
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    run: PathBuf,
    policy: u64,
    best: Estimate,
    /// A list that other commands accept.
    #[serde(serialize_with = "autoqd::run_folder::serialize_path")]
    file: PathBuf,
}

fn pick(
    study: &AdaptationStudy<'_>,
    runs: &[LoadedRun],
    setting: &Vary,
    args: &AdaptArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let [value] = setting.values[..] else { bail!("--pick takes one value, for instance friction=1.7") };
    let mut best: Option<(&LoadedRun, u64, Estimate)> = None;
    for run in runs {
        let point = study.pick(run, setting.knob, value)?;
        if let (Some(policy), Some(found)) = (point.policy, point.best)
            && best.as_ref().is_none_or(|(_, _, other)| found.mean > other.mean)
        {
            best = Some((run, policy, found));
        }
    }
    let Some((run, policy, found)) = best else {
        bail!("no policy could be measured at {}", setting.name(value))
    };
    let file = run.folder.join("adapt").join(format!("pick-{}.json", setting.name(value)));
    run.selection(&[run.row(policy)?], &file)?.write(&file)?;
    let origin = run.origin().to_owned();
    let picked = Picked { setting: setting.name(value), run: origin, policy, best: found, file };
    if args.measure.json {
        return print_json(&picked, out);
    }
    let error = found.standard_error.unwrap_or(0.0);
    writeln!(out, "{}: policy {policy} of {}", picked.setting, picked.run.display())?;
    writeln!(out, "return {:.2} ± {error:.2} over {} rollouts", found.mean, found.count)?;
    Ok(writeln!(out, "{}", picked.file.display())?)
}
