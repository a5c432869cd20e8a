//! `autoqd cluster`: groups of similar policies.

use autoqd::registry::Registry;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use autoqd_measure::{Clusters, LoadedRun, Located, cluster};

use crate::measuring::print_json;
use crate::run_args::RunArg;
use crate::select_command::Chosen;
use crate::space::{LocateArgs, Space};

/// Arguments of `autoqd cluster`.
#[derive(clap::Args)]
pub struct ClusterArgs {
    #[command(flatten)]
    run: RunArg,
    /// groups to make
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    #[arg(long, value_enum, default_value = "embedding")]
    space: Space,
    #[command(flatten)]
    how: LocateArgs,
    /// a list (.json) of the medoids, which other commands accept in place of the run
    #[arg(long)]
    out: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

/// One group.
#[derive(serde::Serialize)]
struct GroupReport<'a> {
    size: usize,
    mean_objective: f64,
    best_objective: f64,
    medoid: Chosen<'a>,
    policies: Vec<u64>,
}

/// Runs the command.
pub fn run(args: &ClusterArgs, registry: &Registry, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (run, located) = args.how.locate(&args.run.run, args.space, registry)?;
    let clusters = cluster(located.points(), args.count as usize);
    if let Some(file) = &args.out {
        let medoids: Vec<usize> = clusters.medoids.iter().map(|&at| located.policies[at]).collect();
        run.selection(&medoids, file)?.write(file)?;
    }
    let groups: Vec<GroupReport<'_>> =
        (0..clusters.medoids.len()).map(|g| report(&run, &located, &clusters, g)).collect();
    if args.json {
        let facts = serde_json::json!({
            "mean_distance": clusters.mean_distance, "separation": clusters.separation, "groups": groups,
            "notices": located.notices,
        });
        print_json(&facts, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (i, group) in groups.iter().enumerate() {
        let GroupReport { size, mean_objective, best_objective, .. } = group;
        writeln!(
            out,
            "group {}: {size} policies, mean return {mean_objective:.2}, best {best_objective:.2}; medoid",
            i + 1
        )?;
        group.medoid.print(out)?;
    }
    match clusters.separation {
        Some(separation) => writeln!(out, "separation {separation:.2} (1: groups far apart, 0: no groups)")?,
        None => writeln!(out, "{} group", groups.len())?,
    }
    located.notices.iter().try_for_each(|notice| writeln!(out, "note: {notice}"))?;
    Ok(ExitCode::SUCCESS)
}

fn report<'a>(run: &'a LoadedRun, located: &Located, clusters: &Clusters, group: usize) -> GroupReport<'a> {
    let groups = located.policies.iter().zip(&clusters.assignment);
    let members: Vec<usize> = groups.filter(|(_, of)| **of == group).map(|(&policy, _)| policy).collect();
    let objectives: Vec<f64> = members.iter().map(|&i| run.table.objective[i]).collect();
    GroupReport {
        size: members.len(),
        mean_objective: objectives.iter().sum::<f64>() / objectives.len() as f64,
        best_objective: objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        medoid: Chosen::new(run, located.policies[clusters.medoids[group]]),
        policies: members.iter().map(|&i| run.table.id[i]).collect(),
    }
}
