"""Searches in environments of Gymnasium."""

import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import gymnasium
import numpy as np
import pytest

import autoqd
from environments import Point, make_point

HERE = pathlib.Path(__file__).parent
SMALL = {"iterations": 4, "batch_size": 4, "episodes": 2, "update_schedule": [3], "policy.hidden": [8], "progress": False}
LIMIT = {"max_episode_steps": 20}


def archive_bytes(run):
    return (run.path / "archive.parquet").read_bytes()


@pytest.fixture(scope="module")
def point(tmp_path_factory):
    out = tmp_path_factory.mktemp("gym") / "point"
    return autoqd.run(env=make_point, env_args=LIMIT, out=out, threads=2, **SMALL)


def test_the_number_of_workers_changes_nothing(point, tmp_path):
    assert len(point) > 4 and point.status["state"] == "finished"
    alone = autoqd.run(env=make_point, env_args=LIMIT, out=tmp_path / "run", threads=1, **SMALL)
    assert archive_bytes(alone) == archive_bytes(point)
    assert (alone.path / "metrics.csv").read_bytes() == (point.path / "metrics.csv").read_bytes()


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(point, tmp_path):
    stop = lambda facts: facts["iteration"] == 2
    autoqd.run(env=make_point, env_args=LIMIT, out=tmp_path / "run", callbacks=[stop], threads=2, **SMALL)
    assert archive_bytes(autoqd.resume(tmp_path / "run", progress=False)) == archive_bytes(point)


def test_stored_returns_are_those_of_the_environment(point):
    table = point.frame("archive", "numpy", parameters=True)
    for row in range(0, len(point), 5):
        policy, returns = point.policy(table["id"][row]), []
        for seed in table["seeds"][row]:
            env, total, over = Point(), 0.0, False
            observation, _ = env.reset(seed=int(seed))
            while not over:
                observation, reward, terminated, truncated, _ = env.step(policy(observation))
                total, over = total + reward, terminated or truncated
            returns.append(total)
        assert np.mean(returns) == table["objective"][row]


def test_everything_after_a_run_works_on_it(point, tmp_path):
    assert point.evaluate(episodes=1)
    assert len(point.select(2, out=tmp_path / "chosen.json")) == 2
    report = point.report(tmp_path / "report.html", seconds=1).read_text(encoding="utf-8")
    assert report.count("data:image/gif;base64,") == min(9, len(point)) and "no shapes to draw" not in report
    frames = point.render(save=tmp_path / "film.gif")
    assert frames.shape == (21, 24, 32, 3) and frames.max() == 255
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")
    with pytest.raises(autoqd.Error, match="cannot be changed"):
        point.adapt("mass-scale=0.5:1.0:0.5")
    assert point.status["task"].startswith("gym:call:environments:make_point?")


class Unseen(Point):
    """A point that nobody can draw."""

    metadata = {"render_modes": []}

    def __init__(self):
        super().__init__()


def test_an_environment_that_draws_nothing_is_reported_on(tmp_path):
    found = autoqd.run(env=Unseen, env_args=LIMIT, out=tmp_path / "run", threads=1, **SMALL)
    assert "no shapes to draw" in found.report(tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [{"discrete": True}, {"nested": True}, {"discrete": True, "nested": True}])
def test_other_spaces(arguments, tmp_path):
    found = autoqd.run(env=make_point, env_args={**arguments, **LIMIT}, out=tmp_path / "run", threads=2, **SMALL)
    assert len(found) > 4
    assert found.policy().action_size == (4 if arguments.get("discrete") else 2)


@pytest.mark.parametrize("method", ["aurora", "lstm-aurora"])
def test_learned_descriptors(method, tmp_path):
    settings = {**SMALL, "autoencoder": {"epochs": 2}}
    assert len(autoqd.run(env=make_point, env_args=LIMIT, out=tmp_path / "run", method=method, **settings)) > 4


def test_a_function_that_no_module_holds(point, tmp_path):
    # As in a notebook: sent to the workers by value, and given again to go on.
    make = lambda **arguments: Point(**arguments)
    stop = lambda facts: facts["iteration"] == 2
    autoqd.run(env=make, env_args=LIMIT, out=tmp_path / "run", callbacks=[stop], **SMALL)
    code = f"import autoqd; autoqd.resume({str(tmp_path / 'run')!r}, progress=False)"
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE)
    assert "give it again, as env=FUNCTION" in alone.stderr
    assert archive_bytes(autoqd.resume(tmp_path / "run", env=make, progress=False))


def test_an_id_that_only_this_process_knows(tmp_path):
    gymnasium.register("autoqd-tests/Point-v0", entry_point=Point, max_episode_steps=20)
    try:
        found = autoqd.run(env="autoqd-tests/Point-v0", out=tmp_path / "run", **SMALL)
    finally:
        gymnasium.registry.pop("autoqd-tests/Point-v0")
    assert len(found) > 4 and found.task == "gym:autoqd-tests/Point-v0"


@pytest.mark.parametrize("make", [lambda: gymnasium.make("Pendulum-v1", g=9.0), lambda: gymnasium.make_vec("Pendulum-v1", 2, g=9.0)])
def test_an_environment_stands_for_more_like_it(make, tmp_path):
    env = make()
    settings = {**SMALL, "iterations": 1}
    found = autoqd.run(env=env, env_args={"max_episode_steps": 10}, out=tmp_path / "run", **settings)
    env.close()
    assert found.task == "gym:Pendulum-v1?max_episode_steps=10&g=9.0"
    assert (found.frame("archive", "numpy")["length_mean"] == 10).all() and len(found) > 0


def test_a_vector_environment_of_functions(point, tmp_path):
    env = gymnasium.vector.SyncVectorEnv([make_point, make_point])
    found = autoqd.run(env=env, env_args=LIMIT, out=tmp_path / "run", **SMALL)
    assert archive_bytes(found) == archive_bytes(point)
    with pytest.raises(ValueError, match="does not say how it was made"):
        autoqd.run(env=Point(), out=tmp_path / "other", **SMALL)


def test_lunar_lander_from_python_and_from_the_program(tmp_path):
    arguments = {"continuous": True, "max_episode_steps": 60}
    settings = {**SMALL, "iterations": 2, "update_schedule": []}
    found = autoqd.run(env="LunarLander-v3", env_args=arguments, out=tmp_path / "python", **settings)
    assert found.policy().observation_size == 8 and found.policy().action_size == 2
    assert found.render(seconds=0.1).shape[1:] == (400, 600, 3)
    command = [sys.executable, "-m", "autoqd", "run", "gym:LunarLander-v3", "--preset", "quick", "--iterations", "2"]
    command += ["--env-arg", "continuous=true", "--env-arg", "max_episode_steps=60", "--out", tmp_path / "program"]
    command += ["--set", "batch_size=4", "--set", "episodes=2", "--set", "policy.hidden=[8]", "--set", "update_schedule=[]"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    program = autoqd.Run(tmp_path / "program")
    assert np.array_equal(program.parameters, found.parameters)
    assert np.array_equal(program.frame("archive", "numpy")["objective"], found.frame("archive", "numpy")["objective"])


def test_a_script_without_a_guard_works(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            sys.path.insert(0, sys.argv[1])
            import autoqd
            from environments import Point

            class Mine(Point):
                pass

            found = autoqd.run(env=lambda: Mine(), env_args={"max_episode_steps": 20}, iterations=1, batch_size=4,
                               out=sys.argv[2], progress=False)
            print(len(found))
            """
        )
    )
    done = subprocess.run([sys.executable, script, HERE, tmp_path / "run"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


def test_an_exception_in_the_environment_says_where(tmp_path):
    with pytest.raises(autoqd.Error, match="RuntimeError: the point is lost .*environments.py, line"):
        autoqd.run(env=make_point, env_args={**LIMIT, "fail_at": 3, "objective_min": 0}, out=tmp_path / "run", **SMALL)


def test_a_worker_that_dies_is_noticed(tmp_path):
    def dying():
        env = Point()
        env.step = lambda action: __import__("os")._exit(3)
        return env

    with pytest.raises(autoqd.Error, match="ended unexpectedly"):
        autoqd.run(env=dying, env_args={**LIMIT, "objective_min": 0}, out=tmp_path / "run", **SMALL)


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("Nothing-v0", "there is no environment 'Nothing-v0'"),
        (3, "expected Gymnasium's id"),
        (lambda: 3, "not a gymnasium.Env"),
        (lambda: Point(), "no limit of steps"),
        (lambda: gymnasium.make("FrozenLake-v1"), "is not a Box or a Dict of Boxes"),
        (lambda: gymnasium.make_vec("CartPole-v1", 2), "return a single one"),
    ],
)
def test_environments_that_cannot_be_searched_are_refused(env, message, tmp_path):
    with pytest.raises(autoqd.Error, match=message):
        autoqd.run(env=env, out=tmp_path / "run", **SMALL)
    assert not (tmp_path / "run" / "config.toml").exists()


def test_hand_designed_measures_are_not_there(tmp_path):
    with pytest.raises(ValueError, match="measures"):
        autoqd.run(env=make_point, env_args=LIMIT, method="regular", out=tmp_path / "run", **SMALL)


def test_ctrl_c_ends_with_a_checkpoint_and_no_worker_is_left(tmp_path):
    code = f"""
        import sys; sys.path.insert(0, {str(HERE)!r})
        import autoqd, environments
        try:
            autoqd.run(env=environments.make_point, env_args={LIMIT!r}, out={str(tmp_path / "run")!r}, iterations=100_000,
                       batch_size=4, progress=False, callbacks=[lambda facts: print("running", flush=True)])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "running\n"
    # To the whole group, as a terminal does.
    import os

    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "interrupted"
    time.sleep(0.2)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    status = autoqd.Run(tmp_path / "run").status
    assert status["checkpoint_iteration"] == status["iteration"] > 0
