"""Scripts written for pyribs run unchanged on `autoqd.ribs`, and find as much."""

import json
import os
import subprocess
import sys

import pytest

SWAP = 'import sys, autoqd.ribs; sys.modules["ribs"] = autoqd.ribs\n'

# CMA-MAE on the sphere, as in pyribs' tutorial.
SPHERE = """
import json
import numpy as np
import ribs
from ribs.archives import GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.schedulers import Scheduler

found = []
for seed in range(4):
    dim, top = 10, 5.12 * 10 / 2
    settings = dict(solution_dim=dim, dims=[30, 30], ranges=[(-top, top)] * 2, seed=seed)
    archive = GridArchive(learning_rate=0.01, threshold_min=0.0, **settings)
    result = GridArchive(**settings)
    emitters = [
        EvolutionStrategyEmitter(
            archive, x0=[0.0] * dim, sigma0=0.5, ranker="imp", selection_rule="mu", restart_rule="basic",
            batch_size=20, seed=10 * seed + i,
        )
        for i in range(4)
    ]
    scheduler = Scheduler(archive, emitters, result_archive=result)
    for _ in range(60):
        x = scheduler.ask()
        objective = 100.0 * (1.0 - np.sum((x - 2.048) ** 2, axis=1) / (dim * 7.168**2))
        folded = np.where(np.abs(x) <= 5.12, x, 5.12 / np.where(x == 0, 1.0, x))
        scheduler.tell(objective, np.stack((folded[:, :5].sum(axis=1), folded[:, 5:].sum(axis=1)), axis=1))
    found.append(float(result.stats.qd_score))
print(json.dumps({"module": ribs.archives.GridArchive.__module__, "found": found}))
"""

# CMA-ME on the lunar lander with linear policies, as in pyribs' tutorial, with short episodes.
LANDER = """
import json
import gymnasium as gym
import numpy as np
import ribs.emitters
from ribs.archives import ArchiveDataFrame, GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.emitters.rankers import TwoStageImprovementRanker
from ribs.schedulers import Scheduler

env = gym.make("LunarLander-v3")
actions, observations = env.action_space.n, env.observation_space.shape[0]

def simulate(model):
    model = model.reshape((actions, observations))
    total, impact_x, impact_y = 0.0, 0.0, 0.0
    observation, _ = env.reset(seed=52)
    for _ in range(120):
        observation, reward, terminated, truncated, _ = env.step(int(np.argmax(model @ observation)))
        total += reward
        impact_x, impact_y = float(observation[0]), float(observation[3])
        if terminated or truncated:
            break
    return total, impact_x, impact_y

archive = GridArchive(
    solution_dim=actions * observations, dims=[20, 20], ranges=[(-1.0, 1.0), (-3.0, 0.0)], qd_score_offset=-600, seed=1
)
emitters = [
    EvolutionStrategyEmitter(
        archive, x0=np.zeros(actions * observations), sigma0=1.0, ranker=TwoStageImprovementRanker, batch_size=10, seed=i
    )
    for i in range(3)
]
scheduler = Scheduler(archive, emitters)
for _ in range(8):
    values = np.array([simulate(model) for model in scheduler.ask()])
    scheduler.tell(values[:, 0], values[:, 1:])
frame = archive.data(return_type="pandas")
assert isinstance(frame, ArchiveDataFrame)
print(json.dumps({"module": ribs.archives.GridArchive.__module__, "found": [float(archive.stats.qd_score)]}))
"""


def run(script):
    """What a script prints, in an interpreter of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("script, margin", [(SPHERE, 0.15), (LANDER, 0.5)], ids=["sphere", "lunar lander"])
def test_a_script_finds_as_much_after_the_swap(script, margin):
    theirs, ours = run(script), run(SWAP + script)
    assert theirs["module"].startswith("ribs.")
    assert ours["module"].startswith("autoqd.ribs.")
    expected, found = (sum(one["found"]) / len(one["found"]) for one in (theirs, ours))
    assert abs(found - expected) < margin * abs(expected), (found, expected)


def test_submodules_are_the_same_objects_under_both_names():
    code = SWAP + (
        "import json, pickle, importlib\n"
        "import ribs.emitters.rankers, ribs.archives._grid_archive\n"
        "from ribs.archives import GridArchive\n"
        "import autoqd.ribs.emitters.rankers as ours\n"
        "assert ribs.emitters.rankers is ours\n"
        "assert ours.__spec__.name == ours.__name__ == 'autoqd.ribs.emitters.rankers'\n"
        "archive = GridArchive(solution_dim=1, dims=[2], ranges=[(0, 1)])\n"
        "assert isinstance(pickle.loads(pickle.dumps(archive)), autoqd.ribs.archives.GridArchive)\n"
        "print(json.dumps('visualize' in dir(ribs) or 'matplotlib' in sys.modules or 'pandas' in sys.modules))\n"
    )
    assert run(code) is False


def test_pyribs_itself_stays_importable():
    code = "import json, autoqd.ribs, ribs; print(json.dumps([ribs.__name__, ribs.archives.GridArchive.__module__]))"
    assert run(code) == ["ribs", "ribs.archives._grid_archive"]
