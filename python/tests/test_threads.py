"""Several threads of Python that use the package at the same time, with a global interpreter lock or without."""

import sys
import sysconfig
import threading

import numpy as np

import autoqd
from autoqd.ribs.archives import GridArchive
from autoqd.ribs.emitters import EvolutionStrategyEmitter


def in_threads(work, count=4):
    """What `work` returns in each of several threads that start together."""
    found, start = [None] * count, threading.Barrier(count)

    def one(i):
        start.wait()
        try:
            found[i] = work(i)
        except BaseException as error:  # whatever it is, the test is to see it
            found[i] = error

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return found


def search(seed):
    """Parameters of the elites of a short search by ask and tell."""
    search = autoqd.Search(
        2, [-1.0], [1.0], method="regular", measures=[(-1, 1)] * 2, emitters=2, batch_size=4, seed=seed, objective_min=-1e6
    )
    for _ in range(3):
        candidates = search.ask()
        search.tell(1.0 - (candidates**2).sum(axis=1), measures=candidates[:, :2])
    return search.parameters.tobytes()


def strategy(seed):
    archive = GridArchive(solution_dim=5, dims=[8, 8], ranges=[(-1, 1)] * 2)
    emitter = EvolutionStrategyEmitter(archive, x0=np.zeros(5), sigma0=0.5, batch_size=8, seed=seed)
    for _ in range(5):
        solutions = emitter.ask()
        objective, measures = -(solutions**2).sum(axis=1), solutions[:, :2]
        emitter.tell(solutions, objective, measures, archive.add(solutions, objective, measures))
    return archive.data("solution").tobytes()


def test_each_thread_finds_what_it_finds_alone(run):
    policy, observations = run.policy(), np.random.default_rng(0).normal(size=(50, run.policy().observation_size))
    for work in (search, strategy, lambda i: policy(observations[i::4]).tobytes()):
        assert in_threads(work) == [work(i) for i in range(4)]


def test_an_object_that_threads_share_stays_whole():
    shared = autoqd.Search(2, [-1.0], [1.0], method="regular", measures=[(-1, 1)] * 2, emitters=2, batch_size=4)

    def hammer(i):
        for _ in range(20):
            try:
                candidates = shared.ask()
                shared.tell(-(candidates**2).sum(axis=1), measures=candidates[:, :2])
            except RuntimeError as error:
                # Another thread was there first.
                assert str(error)
        return len(shared.archive)

    assert all(isinstance(found, int) for found in in_threads(hammer)), in_threads(hammer)
    before = shared.iteration
    candidates = shared.ask()
    assert shared.tell(-(candidates**2).sum(axis=1), measures=candidates[:, :2])["iteration"] == before + 1


def test_importing_the_package_turns_no_lock_on():
    """Without one, importing a module that has not said it can do without would."""
    without = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert autoqd._native is not None and getattr(sys, "_is_gil_enabled", lambda: True)() == (not without)
