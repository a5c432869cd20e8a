"""What a run looks like from Python."""

import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import autoqd
from autoqd import _native


def test_frames_of_every_library_have_the_same_numbers(run):
    plain = run.frame("archive", "numpy", parameters=True)
    assert plain["parameters"].shape == (len(run), len(run.policy().parameters))
    pandas, polars, arrow = (run.frame("archive", name, parameters=True) for name in ("pandas", "polars", "pyarrow"))
    assert list(pandas.columns) == polars.columns == arrow.column_names == list(plain)
    assert np.array_equal(pandas["objective"], plain["objective"])
    assert np.array_equal(polars["objective"].to_numpy(), plain["objective"])
    assert np.array_equal(np.stack(pandas["parameters"]), plain["parameters"])
    assert np.array_equal(polars["parameters"].to_numpy(), plain["parameters"])
    assert arrow["parameters"].to_pylist() == plain["parameters"].tolist()
    assert "parameters" not in run.archive.columns
    with pytest.raises(ValueError, match="pandas, polars"):
        run.frame("archive", "excel")


def test_the_log_is_a_frame(run):
    assert run.metrics["iteration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert run.metrics["qd_score"].is_monotonic_increasing or run.metrics["refit_angle"].notna().any()
    assert (run.frame("timing", "numpy")["iteration_seconds"] > 0).all()
    with pytest.raises(autoqd.Error, match="no training"):
        run.frame("training")


def test_configuration_and_status_are_dicts(run):
    assert run.config["policy"]["hidden"] == [16] and run.config["iterations"] == 6
    assert run.status["state"] == "finished" and run.status["elites"] == len(run)
    assert "finished at iteration 6 of 6" in repr(run)


def test_a_policy_acts_on_one_observation_and_on_many(run):
    policy = run.policy()
    assert policy.id == run.archive.sort_values("objective").iloc[-1]["id"]
    observations = np.random.default_rng(0).normal(size=(50, policy.observation_size))
    actions = policy(observations)
    assert actions.dtype == np.float32 and actions.shape == (50, policy.action_size)
    low, high = policy.action_bounds
    assert ((low <= actions) & (actions <= high)).all() and actions.std() > 0
    for observation, action in zip(observations, actions):
        assert np.array_equal(policy(observation), action)
    assert np.array_equal(pickle.loads(pickle.dumps(policy))(observations), actions)
    assert np.array_equal(autoqd.Policy(policy.spec, policy.parameters)(observations), actions)


def test_odd_observations_are_taken_or_refused_but_never_crash(run):
    policy = run.policy()
    n = policy.observation_size
    wide = np.random.default_rng(0).normal(size=(10, 2 * n))
    wide.flags.writeable = False
    expected = policy(np.ascontiguousarray(wide[:, ::2]))
    assert np.array_equal(policy(wide[:, ::2]), expected)
    assert np.array_equal(policy(np.asfortranarray(wide[:, ::2])), expected)
    assert np.array_equal(policy(wide[:, ::2].tolist()), expected)
    assert np.array_equal(policy(wide[:, ::2].astype(np.float32).astype(float)), policy(wide[:, ::2].astype(np.float32)))
    assert policy(np.zeros((0, n))).shape == (0, policy.action_size)
    assert policy(np.zeros(n, dtype=np.int8)).shape == (policy.action_size,)
    assert policy(np.full(n, np.nan)).shape == (policy.action_size,)
    for wrong in (np.zeros(n + 1), np.zeros((2, 2, n)), np.float64(1.0), np.zeros((n, 3)), []):
        with pytest.raises(ValueError, match="expected"):
            policy(wrong)
    for wrong in ("text", None, [object()] * n):
        with pytest.raises((TypeError, ValueError)):
            policy(wrong)
    with pytest.raises(autoqd.Error, match="parameters"):
        autoqd.Policy(policy.spec, [1.0])
    with pytest.raises(ValueError, match="vector"):
        autoqd.Policy(policy.spec, np.zeros((2, 2)))


def test_the_actions_are_those_of_the_plain_reference(run):
    """The same arithmetic with numpy, as scripts/policy_numpy.py has it."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
    import policy_numpy

    policy = run.policy()
    plain = policy_numpy.Policy(json.loads(policy.spec), policy.parameters)
    for observation in np.random.default_rng(1).normal(size=(20, policy.observation_size)):
        assert np.array_equal(plain.act(observation), policy(observation))


def test_evaluate_compare_and_adapt_return_numbers(run, tmp_path):
    found = run.evaluate(episodes=1)
    assert found["variant"] == "autoqd" or found["method"] == "autoqd"
    shutil.copytree(run.path, tmp_path / "other")
    both = run.compare(tmp_path / "other", episodes=1)
    assert len(both["evaluations"][0]["runs"]) == 2
    with pytest.raises(autoqd.Error, match="at least one episode"):
        run.evaluate(episodes=0)
    with pytest.raises(autoqd.Error, match="--nothing"):
        run.evaluate(nothing=1)
    with pytest.raises(autoqd.Error, match="cannot be changed"):
        run.adapt("mass-scale=0.5:1.0:0.5", episodes=1)


def test_a_selection_is_a_run_of_its_own(run, tmp_path):
    chosen = run.select(3, out=tmp_path / "chosen.json", top="50%")
    assert len(chosen) == 3 and set(chosen.archive["id"]) <= set(run.archive["id"])
    assert len(run.select(2)) == 2 and (run.path / "selected.json").exists()
    assert "point-maze" in repr(chosen) and "<table>" in chosen._repr_html_()


def film_as_mp4(run, tmp_path):
    film = tmp_path / "film.mp4"
    if shutil.which("ffmpeg") is None:
        with pytest.raises(autoqd.Error, match="ffmpeg"):
            run.render(seconds=0.2, size=(81, 60), save=film)
        assert not film.exists()
        return
    frames = run.render(seconds=0.2, size=(81, 60), save=film)
    command = ["ffmpeg", "-loglevel", "error", "-i", str(film), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    shown = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8)
    # H.264 wants even sides.
    shown = shown.reshape(len(frames), 60, 82, 3)[:, :, :81]
    assert np.abs(shown.astype(int) - frames).mean() < 5
    with pytest.raises(autoqd.Error, match="ffmpeg said"):
        run.render(seconds=0.2, size=(81, 60), save=tmp_path / "no" / "such" / "film.mp4")


def test_pictures(run, tmp_path):
    frames = run.render(seconds=0.5, size=(80, 60), save=tmp_path / "film.gif")
    assert frames.dtype == np.uint8 and frames.shape[1:] == (60, 80, 3) and len(frames) == 13
    assert frames.std() > 0
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")
    with pytest.raises(ValueError, match=".gif or .mp4"):
        run.render(seconds=0.1, size=(80, 60), save=tmp_path / "film.avi")
    film_as_mp4(run, tmp_path)
    assert "data:image/gif" in run.film(seconds=0.1, size=(80, 60))._repr_html_()
    assert {path.suffix for path in run.plot(tmp_path / "plots")} == {".svg", ".png"}
    assert run.report(tmp_path / "report.html").read_text().startswith("<!doctype html>")
    page = run._repr_html_()
    assert "point-maze" in page and "data:image/svg+xml" in page


def test_the_explorer_answers_until_it_is_stopped(run):
    try:
        explorer = run.explore(open=False)
    except autoqd.Error as error:
        # Where Node is missing, the package is built without the page.
        if "without the explorer's page" in str(error) and os.environ.get("AUTOQD_REQUIRE_ALL") != "1":
            pytest.skip(str(error))
        raise
    with explorer:
        assert urllib.request.urlopen(explorer.url, timeout=20).status == 200
        assert explorer.url in explorer._repr_html_()
    with pytest.raises(OSError):
        urllib.request.urlopen(explorer.url, timeout=5)


def test_what_is_not_a_run_is_said(run, tmp_path):
    with pytest.raises(autoqd.Error, match="there is no run folder"):
        autoqd.Run(tmp_path / "nothing")
    with pytest.raises(autoqd.Error):
        autoqd.Run(tmp_path)
    with pytest.raises(autoqd.Error, match="no policy with id 123456789"):
        run.policy(123456789)
    with pytest.raises((TypeError, OverflowError)):
        run.policy("best")


def test_a_run_can_be_sent_to_another_process(run):
    assert pickle.loads(pickle.dumps(run)).path == run.path


def test_what_cannot_be_shown_is_refused(run):
    wrong = [{"seconds": value} for value in (-1, float("nan"), "long", np.zeros(3))]
    wrong += [{"rate": 0}] + [{"size": value} for value in ((0, 10), (10, 10, 3), 10, (9.5, 9.5), "ab", None)]
    for options in wrong:
        with pytest.raises(autoqd.SettingError, match="expected"):
            run.render(**options)
    with pytest.raises(autoqd.SettingError, match="GB; make the film shorter"):
        run.film(rate=1e6, size=(4096, 4096))
    for act in (run.policy, run.film):
        for id in (-1, 10**20):
            with pytest.raises(autoqd.Error, match=f"no policy with id {id}"):
                act(id)
        with pytest.raises(TypeError, match="an integer, not 'best'"):
            act("best")


@pytest.mark.parametrize("work", ["run.evaluate(episodes=10**6)", "run.compare(run, episodes=10**6)"])
def test_ctrl_c_ends_measurements(run, work):
    code = f"""
import signal
import autoqd
# A shell starts what runs in the background deaf to interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
run = autoqd.Run({str(run.path)!r})
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("stopped")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "stopped\n"


def test_measurements_in_parts_have_the_numbers_of_the_program(run):
    """A library looks for Ctrl-C between parts of its work, the program does not."""
    options = ["--episodes", "40", "--json"]
    program = subprocess.run([sys.executable, "-m", "autoqd", "eval", str(run.path), *options], capture_output=True, text=True)
    shutil.rmtree(run.path / "eval", ignore_errors=True)
    assert json.loads(_native.command(["eval", str(run.path), *options])) == json.loads(program.stdout)
