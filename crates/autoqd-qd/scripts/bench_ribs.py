"""The work of benches/speed.rs done by pyribs (pip install ribs), for comparison in the same minute.

Prints one line: name, milliseconds on the clock, milliseconds of CPU time. BLAS uses one thread.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import sys
import time

import numpy as np
from ribs.archives import GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.schedulers import Scheduler

DIM, EMITTERS, BATCH = 800, 5, 64


def archive(learning_rate, threshold_min):
    return GridArchive(
        solution_dim=DIM,
        dims=[10] * 4,
        ranges=[(-1.2, 1.2)] * 4,
        learning_rate=learning_rate,
        threshold_min=threshold_min,
        seed=0,
    )


def evaluate(solutions):
    objective = -np.sum((solutions - 0.3) ** 2, axis=1)
    quarters = solutions.reshape(len(solutions), 4, DIM // 4)
    return objective, quarters.sum(axis=2) / np.sqrt(DIM // 4)


def ask_and_tell(iterations):
    main, result = archive(0.01, -1000.0), archive(None, -np.inf)
    emitters = [
        EvolutionStrategyEmitter(
            main,
            x0=np.zeros(DIM),
            sigma0=0.02 * 2**i,
            ranker="imp",
            selection_rule="mu",
            restart_rule=100,
            batch_size=BATCH,
            seed=i,
        )
        for i in range(EMITTERS)
    ]
    scheduler = Scheduler(main, emitters, result_archive=result)
    clock = cpu = 0.0
    for _ in range(iterations):
        start = (time.perf_counter(), time.process_time())
        solutions = scheduler.ask()
        clock += time.perf_counter() - start[0]
        cpu += time.process_time() - start[1]
        objective, measures = evaluate(solutions)
        start = (time.perf_counter(), time.process_time())
        scheduler.tell(objective, measures)
        clock += time.perf_counter() - start[0]
        cpu += time.process_time() - start[1]
    return 1e3 * clock / iterations, 1e3 * cpu / iterations


if __name__ == "__main__":
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    ask_and_tell(3)
    clock, cpu = ask_and_tell(iterations)
    print(f"pyribs/ask_tell/1_threads {clock:.4f} {cpu:.4f}")
