//! `autoqd adapt`: which policies cope with changed dynamics.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use autoqd_measure::{
    Adaptation, AdaptationCurve, AdaptationKnob, AdaptationOptions, AdaptationStudy, Cell, CurvePoint,
    Estimate, Group, Population, Row, Selection, Table, Vary, save_json,
};

use crate::measuring::{MeasureArgs, RolloutProgress, TableFormat, label, print_json};

/// Arguments of `autoqd adapt`.
#[derive(clap::Args)]
pub struct AdaptArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// What to change and how far, for instance friction=0.5:7.5:0.5, friction-scale=0.2:3:0.2 or
    /// mass-scale=0.5:2.0:0.1; repeatable
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
    /// Rollouts of the final numbers
    #[arg(long, default_value_t = 32)]
    episodes: usize,
    /// Rollouts of the first look at every policy
    #[arg(long, default_value_t = 4)]
    screening: usize,
    /// Policies per setting that go on from the first look
    #[arg(long, default_value_t = 20)]
    finalists: usize,
    /// How the tables are printed
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Runs the command.
pub fn run(args: &AdaptArgs, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    ensure!(
        args.episodes > 0 && args.screening > 0 && args.finalists > 0,
        "rollouts and finalists must be at least 1"
    );
    let populations = args.measure.one_task()?;
    let options = AdaptationOptions {
        screening_episodes: args.screening,
        episodes: args.episodes,
        finalists: args.finalists,
        full: args.full,
        ..AdaptationOptions::default()
    };
    let study = AdaptationStudy::new(&populations, options, args.measure.pool()?)?;
    match &args.pick {
        Some(setting) => pick(&study, &populations, setting, args, out)?,
        None => study_all(&study, &populations, args, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn study_all(
    study: &AdaptationStudy<'_>,
    populations: &[Population],
    args: &AdaptArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    ensure!(!args.vary.is_empty(), "nothing to change; give for instance --vary mass-scale=0.5:2.0:0.1");
    let cost = study.cost(&args.vary)?;
    let time = cost.seconds.map_or(String::new(), |s| format!(", about {} on this machine", minutes(s)));
    eprintln!("{} rollouts, at most {:.3e} steps{time}", cost.rollouts, cost.most_steps as f64);
    if args.estimate {
        return if args.measure.json { print_json(&cost, out) } else { Ok(()) };
    }
    let mut progress = RolloutProgress::default();
    let found = study.run(&args.vary, &mut progress)?;
    drop(progress);
    for (i, population) in populations.iter().enumerate() {
        save_json(&population.folder.join("adapt").join("adaptation.json"), &own_part(&found, i))?;
    }
    if args.measure.json {
        return print_json(&found, out);
    }
    print(&found, args, out)
}

/// The part of a study that is about one population.
fn own_part(found: &Adaptation, population: usize) -> serde_json::Value {
    let knobs: Vec<AdaptationKnob> = found
        .knobs
        .iter()
        .map(|knob| AdaptationKnob { vary: knob.vary.clone(), curves: vec![knob.curves[population].clone()] })
        .collect();
    serde_json::json!({"version": 1, "adaptation": Adaptation { knobs, ..found.clone() }})
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

fn print(found: &Adaptation, args: &AdaptArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    for knob in &found.knobs {
        args.format.print(&table(found, knob), out)?;
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

fn table(found: &Adaptation, knob: &AdaptationKnob) -> Table {
    let columns = knob.curves.iter().map(|c| label(&c.variant, c.seed, &c.path)).collect();
    let row = |label: String, digits, mark_best, cell: &dyn Fn(&AdaptationCurve) -> Cell| Row {
        label,
        cells: knob.curves.iter().map(cell).collect(),
        digits,
        mark_best,
    };
    let value = |v: Option<f64>| v.and_then(|v| Estimate::of(&[v])).map_or(Cell::Empty, Cell::Value);
    let area = vec![
        row("AUC".into(), 2, true, &|c| value(c.area.map(|a| a.auc))),
        row("AUC per width".into(), 2, true, &|c| value(c.area.and_then(|a| a.per_width))),
    ];
    let settings = knob.vary.values.iter().enumerate();
    let best = settings
        .clone()
        .map(|(i, x)| row(x.to_string(), 2, true, &|c| c.points[i].best.map_or(Cell::Empty, Cell::Value)));
    let mut groups = vec![
        Group { title: format!("{}, area under the best policies", knob.vary.knob), rows: area },
        Group { title: format!("{}, return of the best policy", knob.vary.knob), rows: best.collect() },
    ];
    for (p, share) in found.options.success.iter().enumerate() {
        let count = |point: &CurvePoint| value(point.successes[p].map(|count| count as f64));
        let rows =
            settings.clone().map(|(i, x)| row(x.to_string(), 0, true, &|c| count(&c.points[i]))).collect();
        groups.push(Group {
            title: format!("{}, policies with at least {share} of the best return", knob.vary.knob),
            rows,
        });
    }
    groups.push(Group {
        title: format!("{}, quartiles of the returns that are not negative", knob.vary.knob),
        rows: boxes(knob),
    });
    Table { corner: "setting".to_owned(), columns, groups }
}

fn boxes(knob: &AdaptationKnob) -> Vec<Row> {
    let count = knob.curves.first().map_or(0, |c| c.boxes.len());
    let cell = |curve: &AdaptationCurve, i: usize| match curve.boxes[i].quantiles {
        Some([_, low, middle, high, top]) => {
            Cell::Text(format!("{low:.0} {middle:.0} {high:.0} max {top:.0}"))
        }
        None => Cell::Empty,
    };
    let row = |i: usize| Row {
        label: knob.curves[0].boxes[i].value.to_string(),
        cells: knob.curves.iter().map(|curve| cell(curve, i)).collect(),
        digits: 0,
        mark_best: false,
    };
    (0..count).map(row).collect()
}

/// The best policy of all populations for one setting.
#[derive(serde::Serialize)]
struct Picked {
    setting: String,
    run: PathBuf,
    policy: u64,
    best: Estimate,
    /// A list that other commands accept.
    file: PathBuf,
}

fn pick(
    study: &AdaptationStudy<'_>,
    populations: &[Population],
    setting: &Vary,
    args: &AdaptArgs,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let [value] = setting.values[..] else { bail!("--pick takes one value, for instance friction=1.7") };
    let mut best: Option<(&Population, u64, Estimate)> = None;
    for population in populations {
        let point = study.pick(population, setting.knob, value)?;
        if let (Some(policy), Some(found)) = (point.policy, point.best)
            && best.as_ref().is_none_or(|(_, _, other)| found.mean > other.mean)
        {
            best = Some((population, policy, found));
        }
    }
    let Some((population, policy, found)) = best else {
        bail!("no policy could be measured at {}", setting.name(value))
    };
    let run = run_folder(population)?;
    let file = population.folder.join("adapt").join(format!("pick-{}.json", setting.name(value)));
    save_json(&file, &Selection { run: run.clone(), policies: vec![policy] })?;
    let picked = Picked { setting: setting.name(value), run, policy, best: found, file };
    if args.measure.json {
        return print_json(&picked, out);
    }
    let error = found.standard_error.unwrap_or(0.0);
    writeln!(out, "{}: policy {policy} of {}", picked.setting, picked.run.display())?;
    writeln!(out, "return {:.2} ± {error:.2} over {} rollouts", found.mean, found.count)?;
    Ok(writeln!(out, "{}", picked.file.display())?)
}

/// The run a population comes from, as an absolute path, so that a list can be moved.
fn run_folder(population: &Population) -> anyhow::Result<PathBuf> {
    Ok(match population.path.is_dir() {
        true => population.path.canonicalize()?,
        false => serde_json::from_slice::<Selection>(&std::fs::read(&population.path)?)?.run,
    })
}
