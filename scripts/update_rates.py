#!/usr/bin/env python3
"""Least time of an update of SAC and TD3 by Stable-Baselines3 or sbx, on one core.

    python3 -m venv sb3 && sb3/bin/python3 -m pip install stable-baselines3==2.9.2 sbx-rl==0.28.0
    sb3/bin/python3 scripts/update_rates.py sb3
    sb3/bin/python3 scripts/update_rates.py sbx

Sizes are those of `cargo bench -p autoqd-learn --bench updates`: 27 observations, 8 actions, batches of 256 from a buffer
of 10,000 transitions, 128-128 and 256-256 units. Drawing the batch is part of an update, as it is there. sbx compiles
many updates into one call, so that one of its measurements is 20 updates; a time is the least of all measurements,
in CPU seconds, which do not count what other programs do in between.
Run both beside our own in the same minutes, in turns.
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import gymnasium
import numpy as np
from stable_baselines3.common.logger import Logger

OBSERVATION, ACTION, STORED = 27, 8, 10_000


class Space(gymnasium.Env):
    """Only its spaces are used."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATION,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (ACTION,), np.float32)

    def reset(self, seed=None, options=None):
        return np.zeros(OBSERVATION, np.float32), {}

    def step(self, action):
        return np.zeros(OBSERVATION, np.float32), 0.0, False, False, {}


def model(kind, width):
    made = kind("MlpPolicy", Space(), policy_kwargs={"net_arch": [width, width]}, buffer_size=STORED, device="cpu")
    made.set_logger(Logger(folder=None, output_formats=[]))
    random = np.random.default_rng(1)
    row = lambda size: random.uniform(-1, 1, (1, size)).astype(np.float32)
    for i in range(STORED):
        end = np.array([i % 100 == 0])
        made.replay_buffer.add(row(OBSERVATION), row(OBSERVATION), row(ACTION), row(1)[0], end, [{}])
    return made


def least(train, seconds):
    train()
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < seconds:
        before = time.process_time()
        train()
        times.append(time.process_time() - before)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=["sb3", "sbx"])
    parser.add_argument("--seconds", type=float, default=15.0, help="per figure")
    options = parser.parse_args()
    if options.library == "sb3":
        import torch
        from stable_baselines3 import SAC, TD3

        torch.set_num_threads(1)
        # Two, because every second one of TD3 trains the actor.
        updates = 2
    else:
        from sbx import SAC, TD3

        updates = 20
    for width in [128, 256]:
        for kind in [SAC, TD3]:
            made = model(kind, width)
            seconds = least(lambda: made.train(gradient_steps=updates, batch_size=256), options.seconds)
            print(f"{options.library} {kind.__name__} {width}-{width}: {seconds / updates * 1e6:.0f} us", flush=True)


main()
