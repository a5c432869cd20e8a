#!/usr/bin/env python3
"""CPU milliseconds of pyribs and of autoqd.ribs for the same calls, in one run.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python3 scripts/ribs_speed.py
"""

import time

import numpy as np
import ribs
import ribs.emitters.opt

import autoqd.ribs
import autoqd.ribs.emitters.opt

RANGES = [(-1.0, 1.0)] * 2
ANNEALING = {"learning_rate": 0.01, "threshold_min": -1e9}


def strategy(package, dim, batch):
    es = package.emitters.opt.CMAEvolutionStrategy(sigma0=0.5, solution_dim=dim, batch_size=batch, seed=1)
    es.reset(np.zeros(dim))
    ranking, values = np.arange(batch), np.arange(float(batch))

    def once():
        es.ask()
        es.tell(ranking, values, batch // 2)

    return once


def adding(archive, dim, rows):
    rng = np.random.default_rng(0)
    solutions = rng.normal(size=(rows, dim))
    batches = [(rng.normal(size=rows), rng.uniform(-1, 1, size=(rows, 2))) for _ in range(50)]
    calls = iter(range(10**9))

    def once():
        i = next(calls)
        objective, measures = batches[i % len(batches)]
        archive.add(solutions, objective + 1e-3 * i, measures)

    return once


def grid(package, dim, **settings):
    return package.archives.GridArchive(solution_dim=dim, dims=[100, 100], ranges=RANGES, **settings)


def cvt(package):
    centroids = np.random.default_rng(1).uniform(-1, 1, size=(10_000, 2))
    return package.archives.CVTArchive(solution_dim=20, centroids=centroids, ranges=RANGES)


def proximity(package):
    return package.archives.ProximityArchive(solution_dim=20, measure_dim=2, k_neighbors=5, novelty_threshold=0.01)


def search(package):
    archive = grid(package, 20, **ANNEALING)
    emitters = [
        package.emitters.EvolutionStrategyEmitter(
            archive, x0=np.zeros(20), sigma0=0.5, ranker="imp", batch_size=36, seed=i
        )
        for i in range(5)
    ]
    scheduler = package.schedulers.Scheduler(archive, emitters)

    def once():
        x = scheduler.ask()
        scheduler.tell(-np.sum(x**2, axis=1), x[:, :2])

    return once


CASES = {
    "CMA-ES `ask` and `tell`, 20 parameters, batch 36": (200, lambda p: strategy(p, 20, 36)),
    "the same, 100 parameters": (200, lambda p: strategy(p, 100, 36)),
    "the same, 800 parameters, batch 64": (20, lambda p: strategy(p, 800, 64)),
    "`GridArchive.add`, 180 rows of 20 parameters": (200, lambda p: adding(grid(p, 20), 20, 180)),
    "the same with thresholds": (200, lambda p: adding(grid(p, 20, **ANNEALING), 20, 180)),
    "`GridArchive.add`, 320 rows of 800 parameters": (200, lambda p: adding(grid(p, 800), 800, 320)),
    "`CVTArchive.add`, 180 rows, 10^4 cells": (200, lambda p: adding(cvt(p), 20, 180)),
    "`ProximityArchive.add`, 64 rows": (60, lambda p: adding(proximity(p), 20, 64)),
    "`Scheduler`, 5 emitters of 36, 20 parameters": (100, search),
}


def milliseconds(once, calls):
    """CPU time per call, the better of two blocks, after calls that compile and warm up."""
    for _ in range(5):
        once()
    blocks = []
    for _ in range(2):
        start = time.process_time()
        for _ in range(calls):
            once()
        blocks.append(time.process_time() - start)
    return 1e3 * min(blocks) / calls


def main():
    print("| | pyribs | autoqd.ribs | times |\n|---|---|---|---|")
    for name, (calls, make) in CASES.items():
        theirs, ours = (milliseconds(make(package), calls) for package in (ribs, autoqd.ribs))
        print(f"| {name} | {theirs:.3g} | {ours:.3g} | {theirs / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
