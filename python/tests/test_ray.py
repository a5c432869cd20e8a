"""Searches on a Ray cluster of several nodes on this machine: the same bytes as in one process, whatever happens."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import autoqd
import pytest
from autoqd import _native, _ray, local_cluster
from conftest import SMALL
from environments import Point

pytest.importorskip("ray")
# Ray's workers give way to everything else on a machine; the tests are not to wait for a time when there is nothing else.
os.environ.setdefault("RAY_worker_niceness", "0")


@pytest.fixture(scope="module")
def cluster():
    """A head without work, and one node."""
    with local_cluster.start(nodes=1) as cluster:
        yield cluster


def both(cluster, tmp_path, task="point-maze", callbacks=(), chunk=None, worker_timeout=None, **settings):
    """A run in this process and one on the cluster, which must be equal; what the latter said."""
    settings = {**SMALL, **settings}
    if callable(task):
        settings["env"], task = task, None
    here, there = tmp_path / "here", tmp_path / "there"
    autoqd.run(task, out=here, progress=False, **settings)
    autoqd.run(task, out=there, progress=False, engine="ray", address=cluster.address, chunk=chunk, callbacks=callbacks,
               worker_timeout=worker_timeout, **settings)
    return same(here, there)


def same(here, there):
    """Compares two runs, and returns what the second one said."""
    for name in ["config.toml", "archive.parquet", "metrics.csv"]:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
    log = there / "notices.log"
    return log.read_text() if log.exists() else ""


def workers(state=None):
    """The workers that have joined, or those in a state."""
    return [m for m in list(_ray._cluster.members) if m.facts and state in (None, m.state)]


@pytest.mark.parametrize("method", ["autoqd", "regular", "aurora", "pga-me"])
def test_every_method_finds_the_same_bytes(cluster, tmp_path, method):
    both(cluster, tmp_path, method=method, iterations=4, chunk=7)


def test_chunks_fill_the_lanes_of_a_simulator_unless_that_makes_workers_wait(cluster):
    members = _ray.connect(cluster.address)
    work = members.job("point-maze", b"", "")
    while not (workers := len(members.members)):
        members.tend()
    # As few as a worker has in a sixteenth of the iteration.
    few = -(-320 // (16 * workers))
    for seconds, least in [(0.05, min(8, few)), (0.3, 1), (10.0, 1)]:
        work._rates.clear()
        work._rates.append(seconds)
        lengths = work.plan(320)
        assert sum(lengths) == 320 and lengths[0] == max(lengths)
        assert lengths[-1] >= least / 2 and lengths[0] * seconds <= 20.0
    members.chunk = 7
    assert work.plan(30) == [7, 7, 7, 7, 2]
    members.release()


def test_chunks_and_nodes_that_join_or_are_lost_change_nothing(cluster, tmp_path):
    settings = dict(iterations=8, batch_size=16)
    for chunk in [1, 5, None]:
        both(cluster, tmp_path / f"one-{chunk}", chunk=chunk, **settings)
    nodes = [cluster.add_node(**local_cluster.node())]
    both(cluster, tmp_path / "two", **settings)

    def joined(report):
        while len(nodes) < 3 and report["iteration"] == 2:
            nodes.append(cluster.add_node(**local_cluster.node()))
        return len(workers()) == 4

    assert "joined" in until(cluster, tmp_path / "four", joined)
    both(cluster, tmp_path / "all four", **settings)

    victim, begun = nodes.pop(), threading.Event()

    def remove():
        """In the middle of an iteration: a worker of the node has candidates."""
        end = time.monotonic() + 30
        while not any(m.node == victim.node_id for m in workers("busy")) and time.monotonic() < end:
            time.sleep(0.001)
        cluster.remove_node(victim, allow_graceful=False)

    remover = threading.Thread(target=remove)

    def lost(report):
        if not begun.is_set():
            remover.start()
            begun.set()
        return not remover.is_alive() and not any(m.node == victim.node_id for m in workers())

    assert "was lost" in until(cluster, tmp_path / "removed", lost)
    remover.join()


def until(cluster, tmp_path, enough):
    """A long run on the cluster until a callback says that it is enough, and one in this process as far; what the first said."""
    here, there = tmp_path / "here", tmp_path / "there"
    settings = {**SMALL, "iterations": 20_000, "batch_size": 64, "emitters": 2}
    # In small chunks, so that every worker has some.
    autoqd.run("point-maze", out=there, progress=False, engine="ray", address=cluster.address, chunk=2, callbacks=[enough],
               max_seconds=120, **settings)
    done = autoqd.Run(there).status["iteration"]
    autoqd.run("point-maze", out=here, progress=False, callbacks=[lambda report: report["iteration"] == done], **settings)
    return same(here, there)


def test_workers_killed_at_random_times_change_nothing(cluster, tmp_path):
    """At least ten in a row, each while it has candidates."""
    kills, stop = [], threading.Event()

    def kill():
        chance = random.Random(2026)
        while not stop.is_set():
            # A death is not noticed at once: nobody is killed twice.
            busy = [m for m in workers("busy") if m.number not in kills]
            if busy:
                time.sleep(chance.uniform(0, 0.05))
                victim = chance.choice(busy)
                if victim in workers("busy"):
                    os.kill(victim.facts["pid"], signal.SIGKILL)
                    kills.append(victim.number)
                    time.sleep(chance.uniform(0.1, 0.4))
            time.sleep(0.005)

    killer = threading.Thread(target=kill)

    def enough(report):
        if not killer.is_alive() and len(kills) == 0:
            killer.start()
        if len(kills) >= 10:
            stop.set()
        # Until the last one is noticed, too.
        return len(kills) >= 10 and not any(m.number in kills for m in workers())

    said = until(cluster, tmp_path, enough)
    killer.join()
    assert len(kills) >= 10 and said.count("was lost") >= 10, said


def test_a_worker_that_hangs_is_given_up(cluster, tmp_path):
    stopped = []

    def stop_a_worker(report):
        if report["iteration"] == 2:
            stopped.append(workers()[0].facts["pid"])
            os.kill(stopped[0], signal.SIGSTOP)

    said = both(cluster, tmp_path, iterations=4, callbacks=[stop_a_worker], worker_timeout=3)
    assert "was given up" in said or "issued again" in said
    for pid in stopped:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_environments_task_files_and_what_happens_after_a_run(cluster, tmp_path):
    crash = tmp_path / "crash"
    arguments = {"crash": str(crash), "max_episode_steps": 20}

    def crash_once(report):
        if report["iteration"] == 2:
            crash.touch()

    autoqd.run(env=Point, env_args=arguments, out=tmp_path / "crashed", progress=False, engine="ray",
               address=cluster.address, callbacks=[crash_once], **SMALL)
    assert not crash.exists()
    autoqd.run(env=Point, env_args=arguments, out=tmp_path / "whole", progress=False, **SMALL)
    assert "was lost while it had" in same(tmp_path / "whole", tmp_path / "crashed")
    quadruped = pathlib.Path(__file__).parents[2] / "examples/quadruped/quadruped.toml"
    both(cluster, tmp_path / "file", str(quadruped), iterations=1, batch_size=4, emitters=2, episodes=1, update_schedule=[])
    for name, engine in [("here", {}), ("there", {"engine": "ray", "address": cluster.address})]:
        autoqd.resume(tmp_path / "file" / name, iterations=2, progress=False, **engine)
    same(tmp_path / "file/here", tmp_path / "file/there")


def test_a_search_that_is_killed_goes_on_from_the_program(cluster, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    settings = {**SMALL, "iterations": 60, "checkpoint_every": 3}
    autoqd.run("point-maze", out=here, progress=False, **settings)
    options = [f"--set={key}={json.dumps(value)}" for key, value in settings.items()]
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    program = [sys.executable, "-m", "autoqd"]
    command = [*program, "run", "point-maze", "--preset", "quick", *options, "--out", str(there), "--engine", "ray", "--chunk", "1"]
    _ray.disconnect()
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while not (there / "checkpoint.aqd").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert autoqd.Run(there).status["state"] == "stopped"
    finished = subprocess.run([*program, "resume", str(there), "--engine", "ray"], env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    same(here, there)


def test_measurements_on_the_cluster_give_the_same_numbers(cluster, tmp_path, capfd):
    run = autoqd.run("swimmer", out=tmp_path / "run", progress=False, iterations=2, batch_size=4, emitters=2, episodes=1,
                     update_schedule=[])
    few = ["--episodes", "2", "--json"]
    for command in [
        ["eval", str(run.path), *few],
        ["adapt", str(run.path), "--vary", "mass-scale=1:2:1", "--screening", "1", "--finalists", "2", *few],
        ["stability", str(run.path), "--count", "4", *few],
    ]:
        found = []
        for engine in [[], ["--engine", "ray", "--address", cluster.address]]:
            assert _native.main(["autoqd", *command, *engine]) == 0, capfd.readouterr().err
            found.append(json.loads(capfd.readouterr().out))
        assert found[0] == found[1], command


def test_a_worker_that_computes_other_bits_is_refused_or_marks_the_run(cluster, tmp_path, monkeypatch):
    """The expected digests are changed here, as if this machine were another than the workers'."""
    found = dict(_native.canary_digests())
    found["the platform's tanh"] = "of another machine"
    members = _ray.connect(cluster.address)
    members.close()
    members.release()
    monkeypatch.setattr(members, "_expected", found)
    monkeypatch.setattr(members, "_nodes", {})
    with pytest.raises(autoqd.Error, match="tanh.*--allow-mixed"):
        autoqd.run("point-maze", out=tmp_path / "a", progress=False, engine="ray", address=cluster.address, **SMALL)
    run = autoqd.run("point-maze", out=tmp_path / "b", progress=False, engine="ray", address=cluster.address,
                     allow_mixed=True, **SMALL)
    assert "tanh" in run.status["inexact"]
    assert "Not bit-exact" in pathlib.Path(run.report(tmp_path / "report.html")).read_text()


def test_a_node_with_another_mathematics_library_is_refused(cluster, tmp_path):
    """The canary notices what glibc computes on a CPU without FMA."""
    older = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4"}
    code = "from autoqd import _native; import json; print(json.dumps(_native.canary_digests()))"
    there = dict(json.loads(subprocess.run([sys.executable, "-c", code], env=older, capture_output=True, text=True).stdout))
    here = dict(_native.canary_digests())
    assert there.keys() == here.keys()
    assert any(there[name] != here[name] for name in here if "platform's" in name)


def test_without_ray_the_engine_says_how_to_install_it(tmp_path):
    code = "import sys; sys.modules['ray'] = None; import autoqd; autoqd.run('point-maze', engine='ray', out=sys.argv[1])"
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], capture_output=True, text=True)
    assert found.returncode != 0 and "pip install 'ray==2.60.*'" in found.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()
    program = code.replace("import autoqd; autoqd.run('point-maze', engine='ray', out=sys.argv[1])",
                           "from autoqd import _native; _native.main(['autoqd', 'run', 'point-maze', '--engine=ray', '--out', sys.argv[1]])")
    found = subprocess.run([sys.executable, "-c", program, str(tmp_path / "run")], capture_output=True, text=True)
    assert found.stderr.startswith("error: the engine 'ray' needs Ray: pip install"), found.stderr
