"""Ask and tell."""

import pickle

import numpy as np
import pytest

import autoqd
from environments import Point

SETTINGS = {"emitters": 2, "batch_size": 4, "episodes": 2, "update_schedule": [3], "policy.hidden": [8]}


def make(**more):
    return autoqd.Search(4, [-1.0, -1.0], [1.0, 1.0], objective_min=-100.0, **{**SETTINGS, **more})


def play(policy, seed):
    env, observations, actions, rewards, over = Point(), [], [], [], False
    observation, _ = env.reset(seed=int(seed))
    while not over:
        observations.append(observation)
        actions.append(policy(observation))
        observation, reward, terminated, over, _ = env.step(actions[-1])
        rewards.append(reward)
    return {"observations": np.array([*observations, observation]), "actions": np.array(actions), "rewards": rewards}


def evaluate(search):
    """An evaluation as a user would write it."""

    def of(candidates, seeds):
        rows = zip(candidates, seeds)
        return {"episodes": [[play(search.policy(row), seed) for seed in own] for row, own in rows]}

    return of


def state(search):
    return search.__getstate__()["state"]


def test_a_search_with_own_evaluations_finds_what_the_run_finds(tmp_path):
    search = make()
    for _ in range(5):
        search.step(evaluate(search))
    arguments = {"max_episode_steps": 20, "objective_min": -100}
    run = autoqd.run(env=Point, env_args=arguments, out=tmp_path / "run", iterations=5, progress=False, **SETTINGS)
    ours, theirs = search.frame("numpy", parameters=True), run.frame("archive", "numpy", parameters=True)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.array_equal(ours[name], theirs[name]), name


@pytest.mark.parametrize("method", ["autoqd", "aurora", "lstm-aurora"])
def test_saved_and_loaded_it_goes_on_to_the_same_bytes(method, tmp_path):
    more = {} if method == "autoqd" else {"autoencoder": {"epochs": 2}}
    whole, stopped = make(method=method, **more), make(method=method, **more)
    for _ in range(2):
        whole.step(evaluate(whole))
        stopped.step(evaluate(stopped))
    stopped.save(tmp_path / "search")
    for again in (autoqd.Search.load(tmp_path / "search"), pickle.loads(pickle.dumps(stopped))):
        assert again.iteration == 2
        for _ in range(2):
            again.step(evaluate(again))
        while whole.iteration < 4:
            whole.step(evaluate(whole))
        assert state(again) == state(whole)


def test_asking_again_gives_the_same_candidates():
    search = make()
    first = search.ask()
    assert np.array_equal(search.ask(), first) and first.shape[0] == 8
    assert search.seeds.shape == (8, 2) and len(set(search.seeds.ravel().tolist())) == 16
    with pytest.raises(RuntimeError, match="between ask and tell"):
        search.save("/nowhere")


def test_an_empty_archive_has_no_rows():
    search = make()
    assert search.parameters.shape == (0, search.ask().shape[1])
    assert len(search.archive) == len(search.frame("numpy", parameters=True)["parameters"]) == 0
    assert "0 elites" in repr(search)


def test_hand_designed_measures():
    search = make(method="regular", measures=[(-1, 1), (-1, 1)])
    for _ in range(4):
        candidates = search.ask()
        report = search.tell(1.0 - (candidates**2).sum(axis=1), measures=candidates[:, :2])
    assert report["iteration"] == 4 and search.stats["num_elites"] == len(search.archive) > 1
    stored = search.frame("numpy", parameters=True)
    assert np.allclose(stored["measures_0"], stored["parameters"][:, 0])
    assert np.allclose(stored["objective"], 1.0 - (stored["parameters"] ** 2).sum(axis=1))


def test_failed_evaluations_are_not_stored():
    search = make()
    candidates, seeds = search.ask(), search.seeds
    told = evaluate(search)(candidates, seeds)["episodes"]
    told[0][0]["rewards"][3] = np.nan
    told[1][1]["observations"][2, 1] = np.inf
    objectives = np.array([sum(map(np.sum, (e["rewards"] for e in own))) for own in told])
    objectives[2] = np.nan
    search.tell(objectives, episodes=told)
    assert set(search.archive["id"]) <= set(range(3, 8)) and len(search.archive) > 0


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "give objectives and measures, or episodes"),
        ({"episodes": []}, "0 candidates were told, but 8"),
        ({"episodes": [{"observations": np.zeros((3, 4))}] * 8}, "a dict with observations and actions"),
        ({"episodes": [{"observations": np.zeros((3, 4)), "actions": np.zeros((2, 2))}] * 8}, "or the rewards"),
        ({"objectives": np.zeros(8), "episodes": [{"observations": np.zeros((3, 5)), "actions": np.zeros((2, 2))}] * 8}, "expected 4 and 2"),
        ({"objectives": np.zeros(8), "episodes": [{"observations": np.zeros((9, 4)), "actions": np.zeros((2, 2))}] * 8}, "T actions"),
        ({"objectives": np.zeros(8), "episodes": [{"observations": np.zeros((0, 4)), "actions": np.zeros((0, 2))}] * 8}, "T at least 1"),
        ({"objectives": np.zeros(7), "episodes": [{"observations": np.zeros((3, 4)), "actions": np.zeros((2, 2))}] * 8}, "7 objectives"),
        ({"objectives": np.zeros((8, 1)), "episodes": [{"observations": np.zeros((3, 4)), "actions": np.zeros((2, 2))}] * 8}, "objectives of shape"),
        ({"objectives": ["a"] * 8, "episodes": [{"observations": np.zeros((3, 4)), "actions": np.zeros((2, 2))}] * 8}, "expected numbers"),
        ({"objectives": np.zeros(8), "episodes": [[]] * 8}, "at least one episode"),
        ({"objectives": np.zeros(8), "episodes": ["text"] * 8}, "not str"),
        ({"objectives": np.zeros(8), "measures": np.zeros((8, 2)), "episodes": [{"observations": np.zeros((3, 4)), "actions": np.zeros((2, 2))}] * 8}, "2 measures of candidate 0, expected 0"),
    ],
)
def test_what_cannot_be_told_is_refused_and_can_be_told_again(told, message):
    search = make()
    search.ask()
    with pytest.raises(ValueError, match=message):
        search.tell(**told)
    search.step(evaluate(search))
    assert search.iteration == 1


def test_settings_that_make_no_sense_are_refused(tmp_path):
    for settings, message in [
        ({"normalizer": "frozen"}, "normalizer"),
        ({"method": "regular"}, "measures"),
        ({"method": "dvd-es", "measures": [(0, 1)]}, "no descriptor"),
        ({"episods": 3}, "did you mean"),
    ]:
        with pytest.raises(autoqd.Error, match=message):
            make(**settings)
    with pytest.raises(ValueError, match="low < high"):
        autoqd.Search(2, [1.0], [-1.0])
    with pytest.raises((ValueError, OverflowError)):
        autoqd.Search(-1, [-1.0], [1.0])
    (tmp_path / "damaged").write_bytes(b"AQDASK01 and nothing")
    with pytest.raises(autoqd.Error, match="damaged"):
        autoqd.Search.load(tmp_path / "damaged")
