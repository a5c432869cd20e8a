"""Runs from Python: started, stopped, continued, refused."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import autoqd
from conftest import SMALL


def archive_bytes(run):
    return (run.path / "archive.parquet").read_bytes()


def test_the_program_makes_the_same_archive(run, tmp_path):
    settings = [flag for name, value in SMALL.items() for flag in ("--set", f"{name}={value}")]
    command = [sys.executable, "-m", "autoqd", "run", "point-maze", "--preset", "quick", "--out", tmp_path / "run"]
    subprocess.run([*command, *settings], check=True, capture_output=True)
    assert archive_bytes(autoqd.Run(tmp_path / "run")) == archive_bytes(run)


def test_settings_may_be_nested_dotted_or_of_numpy(run, tmp_path):
    settings = {**SMALL, "iterations": np.int64(6), "update_schedule": np.array([4])}
    del settings["policy.hidden"]
    other = autoqd.run(
        "point-maze", out=tmp_path / "run", progress=False, policy={"hidden": (16,)}, threads=1, **settings
    )
    assert archive_bytes(other) == archive_bytes(run)


def test_callbacks_see_every_iteration_and_may_stop_the_run(run, tmp_path):
    seen = []

    def watch(facts):
        seen.append(facts)
        return facts["iteration"] == 3

    stopped = autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[watch], **SMALL)
    assert [facts["iteration"] for facts in seen] == [1, 2, 3]
    assert {"elites", "qd_score", "env_steps", "seconds"} <= seen[0].keys()
    assert stopped.status["state"] == "stopped"
    finished = autoqd.resume(stopped.path, progress=False)
    assert finished.status["state"] == "finished"
    assert archive_bytes(finished) == archive_bytes(run)


def test_what_a_callback_raises_comes_after_the_checkpoint(run, tmp_path):
    def fail(facts):
        if facts["iteration"] == 2:
            raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[fail], **SMALL)
    assert archive_bytes(autoqd.resume(tmp_path / "run", progress=False)) == archive_bytes(run)


def test_ctrl_c_checkpoints_and_the_run_goes_on(run, tmp_path):
    code = """
        import autoqd, sys
        def first(facts):
            print("running", flush=True)
        try:
            autoqd.run("point-maze", out=sys.argv[1], iterations=100_000, batch_size=8, callbacks=[first],
                       update_schedule=[4], **{"policy.hidden": [16]})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path / "run"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "interrupted"
    status = autoqd.Run(tmp_path / "run").status
    assert status["state"] == "stopped" and status["checkpoint_iteration"] == status["iteration"]
    reached = status["iteration"]
    on = autoqd.resume(tmp_path / "run", progress=False, callbacks=[lambda facts: True])
    assert on.status["iteration"] == reached + 1


def test_ctrl_c_during_a_callback_is_not_forgotten(tmp_path):
    interrupt = lambda facts: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[interrupt], **SMALL)
    assert autoqd.Run(tmp_path / "run").status["iteration"] == 1


def test_other_threads_work_during_a_run(tmp_path):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    autoqd.run("swimmer", out=tmp_path / "run", progress=False, iterations=2, batch_size=16)
    done.set()
    thread.join()
    assert counted > 20


def test_a_run_in_a_thread_and_in_a_forked_process(run, tmp_path):
    found = []
    work = lambda: found.append(autoqd.run("point-maze", out=tmp_path / "thread", progress=False, **SMALL))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert archive_bytes(found[0]) == archive_bytes(run)
    child = os.fork()
    if child == 0:
        autoqd.run("point-maze", out=tmp_path / "fork", progress=False, **SMALL)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert archive_bytes(autoqd.Run(tmp_path / "fork")) == archive_bytes(run)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"task": "hoper"}, ValueError, "did you mean 'hopper'"),
        ({"episods": 3}, autoqd.SettingError, "did you mean 'episodes'"),
        ({"episodes": "three"}, ValueError, "episodes"),
        ({"iterations": 0}, ValueError, "iterations"),
        ({"seed": -1}, ValueError, "seed"),
        ({"method": "nothing"}, ValueError, "nothing"),
        ({"preset": "nothing"}, ValueError, "the presets are"),
        ({"policy": 3}, ValueError, "policy"),
        ({"policy": {"hiden": [3]}}, ValueError, "did you mean 'policy.hidden'"),
        ({"learning_rate": float("nan")}, ValueError, "learning_rate"),
        ({"iterations": object()}, TypeError, "iterations"),
        ({"task": None}, ValueError, "task"),
        ({"max_seconds": "long"}, TypeError, "max_seconds|str"),
    ],
)
def test_what_is_not_possible_is_said_in_an_exception(settings, kind, message, tmp_path):
    with pytest.raises(kind, match=message):
        autoqd.run(**{"task": "point-maze", "out": tmp_path / "run", "progress": False, **settings})
    assert not (tmp_path / "run" / "config.toml").exists()


def test_a_folder_in_use_is_refused(run):
    with pytest.raises(autoqd.Error, match="maze"):
        autoqd.run("point-maze", out=run.path, progress=False)


def test_progress_in_a_file_is_lines(tmp_path, capsys):
    autoqd.run("point-maze", out=tmp_path / "run", **SMALL)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("6/6 [") and "elites" in last


def test_a_callback_may_stand_alone_and_must_be_a_function(tmp_path):
    seen = []
    autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=seen.append, **SMALL)
    assert len(seen) == 6
    with pytest.raises(TypeError, match="functions"):
        autoqd.run("point-maze", out=tmp_path / "other", progress=False, callbacks=[3], **SMALL)


def test_a_run_needs_a_task():
    with pytest.raises(autoqd.SettingError, match="which task"):
        autoqd.run()
