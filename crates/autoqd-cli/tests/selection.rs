//! Every command after `run` takes a list of chosen policies, or a table, in place of the run folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_autoqd");

fn output(args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).output().expect("the program starts")
}

fn succeeds(args: &[&str]) -> String {
    let output = output(args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}, exit {:?}: {error}", output.status.code());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&succeeds(args)).expect("JSON")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn small_run(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    let settings = ["iterations=2", "batch_size=4", "emitters=2", "episodes=1", "update_schedule=[2]"];
    let mut args = vec!["run", "swimmer", "--preset=quick", "--threads=1", "--out", text(&run)];
    args.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    succeeds(&args);
    run
}

#[test]
fn chosen_policies_go_wherever_a_run_goes() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let list = folder.path().join("few.json");
    let list = text(&list);
    let chosen = json(&["select", text(&run), "--count=3", "--top=100%", "--out", list, "--json"]);
    let ids: Vec<u64> =
        chosen["policies"].as_array().unwrap().iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    let results = folder.path().join("few.results");

    let drawn = succeeds(&["render", list, "--size=64x48", "--frames=2"]);
    assert!(ids.iter().all(|id| drawn.contains(&format!("elite-{id}.png"))), "{drawn}");
    assert!(results.join("frames").is_dir(), "results about a list stand beside it");
    succeeds(&["plot", list]);
    assert!(results.join("report/archive.svg").is_file());
    assert!(results.join("report/learning.svg").is_file(), "the curves are those of its run");
    succeeds(&["report", list, "--behaviours=1", "--seconds=1"]);
    assert!(results.join("report/report.html").is_file());

    let table = folder.path().join("few.csv");
    assert!(succeeds(&["export", list, "--out", text(&table)]).starts_with("3 policies"));
    assert_eq!(std::fs::read_to_string(&table).unwrap().lines().count(), 4);
    let id = ids[1].to_string();
    succeeds(&["export", list, "--policy", &id, "--out", text(&folder.path().join("one.onnx"))]);
    let described = json(&["describe", list, "--policy", &id, "--json"]);
    let by_run = json(&["describe", text(&run), "--policy", &id, "--json"]);
    assert_eq!(described, by_run, "described by the run's own descriptor");

    let evaluated = json(&["eval", list, "--episodes=1", "--json"]);
    assert_eq!(evaluated[0]["runs"][0]["policies"], 3);
    let compared = json(&["compare", list, text(&run), "--episodes=1", "--json"]);
    assert_eq!(compared["evaluations"][0]["runs"].as_array().unwrap().len(), 2);
    let curves = folder.path().join("curves.csv");
    succeeds(&["compare", list, "--episodes=1", "--curves", text(&curves)]);
    assert!(std::fs::read_to_string(&curves).unwrap().lines().count() > 1);
    let setting = ["--vary=mass-scale=1.5", "--episodes=1", "--screening=1"];
    succeeds(&[&["adapt", list][..], &setting].concat());
    let stability = json(&["stability", list, "--policies=2", "--rollouts=2", "--json"]);
    assert_eq!(stability[0]["variances"].as_array().unwrap().len(), 2);
    for file in ["eval/metrics.json", "eval/stability.json", "adapt/adaptation.json"] {
        assert!(results.join(file).is_file(), "{file}");
    }
    let groups = json(&["cluster", list, "--count=2", "--space=measures", "--json"]);
    assert_eq!(groups["groups"].as_array().unwrap().len(), 2);

    let picked = json(&["adapt", list, "--pick=mass-scale=1.5", "--episodes=1", "--screening=1", "--json"]);
    assert!(ids.contains(&picked["policy"].as_u64().unwrap()));
    succeeds(&["render", picked["file"].as_str().unwrap(), "--size=64x48", "--frames=1"]);
    let fewer = folder.path().join("fewer.json");
    succeeds(&["select", list, "--count=1", "--out", text(&fewer)]);
    assert!(succeeds(&["export", text(&fewer), "--out", text(&table)]).starts_with("1 policies"));
}

#[test]
fn a_table_from_elsewhere_is_shown_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let table = folder.path().join("table.parquet");
    succeeds(&["export", text(&run), "--out", text(&table)]);
    let table = text(&table);
    succeeds(&["render", table, "--select=1", "--size=64x48", "--frames=1"]);
    succeeds(&["plot", table]);
    succeeds(&["report", table, "--behaviours=1", "--seconds=1"]);
    assert!(folder.path().join("table.results/report/report.html").is_file());
    assert_eq!(
        json(&["eval", table, "--episodes=1", "--json"])[0]["runs"][0]["mean_objective"],
        json(&["eval", text(&run), "--episodes=1", "--json"])[0]["runs"][0]["mean_objective"],
    );
    let refused = output(&["stability", table]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no descriptor; give the run folder"));
}

#[test]
fn a_policy_that_is_not_there_is_named_everywhere_alike() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let out = folder.path().join("x.csv");
    for args in [
        vec!["export", text(&run), "--policy=999999", "--out", text(&out)],
        vec!["describe", text(&run), "--policy=999999"],
        vec!["render", text(&run), "--policy=999999"],
    ] {
        let refused = output(&args);
        assert!(!refused.status.success());
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(error.contains("has no policy with id 999999"), "{args:?}: {error}");
    }
}
