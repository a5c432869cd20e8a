"""Sweeps of whole runs on a Ray cluster of several nodes on this machine."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import autoqd
import pytest
from autoqd import local_cluster

pytest.importorskip("ray")
# Ray's workers give way to everything else on a machine; the tests are not to wait for a time when there is nothing else.
os.environ.setdefault("RAY_worker_niceness", "0")

SWEEP = """
about = "A sweep for tests"
preset = "quick"
tasks = ["point-maze"]
seeds = [1, 2]
[set]
iterations = 120
batch_size = 16
emitters = 2
update_schedule = [10]
checkpoint_every = 5
policy.hidden = [16]
[grid]
method = ["autoqd", "aurora"]
"""


@pytest.fixture(scope="module")
def cluster():
    """A head without work, and two nodes."""
    with local_cluster.start(nodes=2) as cluster:
        yield cluster


def command(file, out, *more, before=""):
    """The program, after some changes of it."""
    program = f"import sys\nfrom autoqd import _ray, _ray_sweep\n{before}\nfrom autoqd._program import main\nmain()"
    return [sys.executable, "-c", program, "sweep", str(file), "--out", str(out), *more]


def environment(cluster):
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "RAY_ADDRESS": cluster.address, "PYTHONPATH": path}


def sweep(cluster, *arguments, **changes):
    """Runs a sweep to its end."""
    line = command(*arguments, **changes)
    return subprocess.run(line, env=environment(cluster), capture_output=True, text=True, timeout=600)


def runs(out):
    """The folders of the runs by their names."""
    return {str(path.parent.relative_to(out)): path.parent for path in sorted(out.glob("**/config.toml"))}


def same(here, there):
    """Compares two sweeps."""
    assert runs(here).keys() == runs(there).keys()
    for name, run in runs(here).items():
        for file in ["archive.parquet", "metrics.csv"]:
            assert (run / file).read_bytes() == (runs(there)[name] / file).read_bytes(), (name, file)
        assert json.loads(autoqd._native.command(["verify", str(runs(there)[name]), "--json"]))["ok"]


def wait_until(condition, process):
    """Waits for something that happens while a process works; what it is then."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if found := condition():
            return found
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    raise AssertionError("it has not happened")


def at_work(out):
    """Processes that work on runs of which something has come back: the process by the name of the run."""
    log = out / "sweep.json"
    fates = json.loads(log.read_text())["runs"] if log.exists() else {}
    found = {}
    for name, fate in fates.items():
        process = re.search(r"process (\d+)", fate.get("place", ""))
        if process and (out / name / "checkpoint.aqd").exists() and not (out / name / "manifest.json").exists():
            found[name] = int(process[1])
    return found


def test_whole_runs_end_with_the_same_bytes_whoever_is_lost(cluster, tmp_path):
    file, here, there = tmp_path / "try.toml", tmp_path / "here", tmp_path / "there"
    file.write_text(SWEEP)
    local = subprocess.run(command(file, here, "--threads=2"), env=os.environ, capture_output=True, text=True)
    assert local.returncode == 0, local.stderr

    often = "_ray_sweep.SELDOM = 0.0"
    line = [*command(file, there, before=often), "--engine", "ray"]
    process = subprocess.Popen(line, env=environment(cluster), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    victim, pid = next(iter(wait_until(lambda: at_work(there), process).items()))
    os.kill(pid, signal.SIGKILL)
    fate = lambda name: json.loads((there / "sweep.json").read_text())["runs"][name]  # noqa: E731
    wait_until(lambda: fate(victim)["lost"] == 1, process)
    node = cluster.add_node(**local_cluster.node())
    wait_until(lambda: len(set(at_work(there).values()) - {pid}) == 2, process)
    listed = json.loads(autoqd._native.command(["sweep", str(file), "--out", str(there), "--dry-run", "--json"]))
    assert [run["state"] for run in listed].count("running") >= 2
    # A whole node, then the process that hands out the runs, which goes on with what has come back.
    cluster.remove_node(node, allow_graceful=False)
    process.kill()
    process.wait()
    ended = sweep(cluster, file, there, "--engine", "ray", before=often)
    assert ended.returncode == 0, ended.stderr
    assert "4 of 4 runs are finished, 0 at work, 0 failed, 0 to do" in ended.stdout
    same(here, there)
    notices = (there / victim / "notices.log").read_text()
    assert "was lost" in notices and "goes on from iteration" in notices


def test_a_run_that_fails_or_is_stopped_does_so_alone(cluster, tmp_path):
    file, out = tmp_path / "try.toml", tmp_path / "out"
    gym = [f"gym:call:environments:Point?steps=15&max_episode_steps=15&objective_min=-100{more}" for more in ("", "&fail_at=5")]
    small = SWEEP.replace('"autoqd", "aurora"', '"autoqd"').replace("seeds = [1, 2]", "seeds = [1]").replace("120", "8")
    file.write_text(small.replace('["point-maze"]', json.dumps(["point-maze", *gym])))
    ended = sweep(cluster, file, out, "--engine", "ray")
    assert ended.returncode == 1 and "the point is lost" in ended.stdout, ended.stderr
    assert "2 of 3 runs are finished, 0 at work, 1 failed, 0 to do; run the same command again" in ended.stdout
    listed = json.loads(autoqd._native.command(["sweep", str(file), "--out", str(out), "--dry-run", "--json"]))
    assert [run["state"] for run in listed] == ["finished", "finished", "failed"]

    file.write_text(small.replace("= 8", "= 100000"))
    process = subprocess.Popen([*command(file, tmp_path / "long"), "--engine", "ray"], env=environment(cluster),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "long/sweep.json"
    wait_until(lambda: log.exists() and "process" in log.read_text(), process)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and "1 to do" in said
    (run,) = runs(tmp_path / "long").values()
    assert autoqd.Run(run).status["state"] == "stopped"


def test_a_node_that_computes_other_bits_is_refused_or_marks_the_runs(cluster, tmp_path):
    file = tmp_path / "try.toml"
    file.write_text(SWEEP.replace("120", "2").replace("[1, 2]", "[1]").replace('"autoqd", "aurora"', '"regular"'))
    other = "_ray.Cluster._differences = lambda self, digests: [\"the platform's tanh\"]"
    refused = sweep(cluster, file, tmp_path / "a", "--engine", "ray", before=other)
    assert refused.returncode != 0 and "tanh" in refused.stderr and "--allow-mixed" in refused.stderr
    mixed = sweep(cluster, file, tmp_path / "b", "--engine", "ray", "--allow-mixed", before=other)
    assert mixed.returncode == 0, mixed.stderr
    (run,) = runs(tmp_path / "b").values()
    assert "other bits" in autoqd.Run(run).status["inexact"]
