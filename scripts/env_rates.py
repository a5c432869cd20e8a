"""Prints the steps per second of Gymnasium (one thread) and of EnvPool (one and two threads) on one task.

    python scripts/env_rates.py Ant-v5 9

What is not installed counts as 0. Used by `make bench`.
"""

import statistics
import sys
import time

SECONDS = 0.25


def rate(step, count, clock):
    """Steps per second of a function that makes `count` steps, measured for about SECONDS."""
    start, done = clock(), 0
    while clock() - start < SECONDS:
        step()
        done += count
    return done / (clock() - start)


def gymnasium_step(task):
    import gymnasium

    env = gymnasium.make(task)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(1000)]
    env.reset(seed=0)
    state = {"i": 0}

    def step():
        state["i"] = (state["i"] + 1) % len(actions)
        _, _, terminated, truncated, _ = env.step(actions[state["i"]])
        if terminated or truncated:
            env.reset()

    return step


def envpool_step(task, threads, envs=8):
    import envpool
    import numpy as np

    ids = [task, task.replace("-v5", "-v4")]
    known = [i for i in ids if i in envpool.list_all_envs()]
    env = envpool.make(known[0], env_type="gymnasium", num_envs=envs, num_threads=threads)
    env.reset()
    size = env.action_space.shape[0]
    actions = np.random.default_rng(0).uniform(-1, 1, (200, envs, size)).astype(env.action_space.dtype)
    state = {"i": 0}

    def step():
        state["i"] = (state["i"] + 1) % len(actions)
        env.step(actions[state["i"]])

    return step


def median_rate(make, count, clock, rounds):
    try:
        step = make()
    except Exception as error:  # not installed, or without this task
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 0.0
    return statistics.median(rate(step, count, clock) for _ in range(rounds))


def main():
    task, rounds = sys.argv[1], int(sys.argv[2])
    print(
        median_rate(lambda: gymnasium_step(task), 1, time.process_time, rounds),
        median_rate(lambda: envpool_step(task, 1), 8, time.perf_counter, rounds),
        median_rate(lambda: envpool_step(task, 2), 8, time.perf_counter, rounds),
    )


if __name__ == "__main__":
    main()
