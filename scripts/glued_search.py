#!/usr/bin/env python3
"""The same search glued together from pyribs, Gymnasium and a process pool.

This is what one writes without autoqd: CMA-MAE of pyribs, Gymnasium environments in worker processes, the Toeplitz
policy and the random Fourier features in numpy. `make bench` runs it beside ours to compare steps per second.

    python3 scripts/glued_search.py Hopper-v5 --iterations 6 --batch-size 64 --episodes 5 --workers 2
"""
import argparse
import json
import multiprocessing
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import gymnasium
import numpy as np
from ribs.archives import GridArchive
from ribs.emitters import EvolutionStrategyEmitter
from ribs.schedulers import Scheduler

HIDDEN = (128, 128)
FEATURES, GAMMA = 100, 0.999
OBJECTIVE_MIN = {"Ant-v5": -1000, "HalfCheetah-v5": -100, "Hopper-v5": -100, "Swimmer-v5": 0, "Walker2d-v5": -100,
                 "BipedalWalker-v3": -200}


class Policy:
    """Toeplitz layers expanded to matrices once per candidate, which is the fast way in numpy."""

    def __init__(self, parameters, sizes):
        self.layers, at = [], 0
        for n_in, n_out in zip(sizes, sizes[1:]):
            diagonals = parameters[at:at + n_in + n_out - 1]
            at += n_in + n_out - 1
            bias = parameters[at:at + n_out]
            at += n_out
            index = np.arange(n_out)[:, None] - np.arange(n_in)[None, :] + n_in - 1
            self.layers.append((diagonals[index].astype(np.float32), bias.astype(np.float32)))

    @staticmethod
    def size(sizes):
        return sum(i + o - 1 + o for i, o in zip(sizes, sizes[1:]))

    @staticmethod
    def random(sizes, rng):
        return np.concatenate([rng.uniform(-1, 1, i + o - 1 + o) / np.sqrt(i) for i, o in zip(sizes, sizes[1:])])

    def act(self, observation):
        x = observation.astype(np.float32)
        for weights, bias in self.layers:
            x = np.tanh(weights @ x + bias)
        return x


def start_worker(task, features):
    global ENV, SIZES, FEATURE_MAP
    ENV = gymnasium.make(task)
    SIZES = (ENV.observation_space.shape[0], *HIDDEN, ENV.action_space.shape[0])
    FEATURE_MAP = features


def evaluate(job):
    parameters, seeds, mean, std = job
    policy = Policy(parameters, SIZES)
    weights, phases = FEATURE_MAP
    low, high = ENV.action_space.low, ENV.action_space.high
    total, psi, steps, states = 0.0, np.zeros(FEATURES), 0, []
    for seed in seeds:
        observation, _ = ENV.reset(seed=int(seed))
        rows, done = [], False
        while not done:
            action = low + (policy.act(observation) + 1) / 2 * (high - low)
            rows.append(np.concatenate([observation, action]))
            observation, reward, terminated, truncated, _ = ENV.step(action)
            total += float(reward)
            done = terminated or truncated
        rows = np.array(rows)
        steps += len(rows)
        states.append(rows[:, :len(mean)])
        inputs = rows.copy()
        inputs[:, :len(mean)] = (inputs[:, :len(mean)] - mean) / std
        discount = (1 - GAMMA) * GAMMA ** np.arange(len(rows))
        psi += discount @ (np.sqrt(2 / FEATURES) * np.cos(inputs @ weights.T + phases))
    states = np.concatenate(states)
    return total / len(seeds), psi / len(seeds), steps, (len(states), states.sum(0), (states**2).sum(0))


def make_search(dimension, starts, batch_size, objective_min):
    grid = dict(solution_dim=dimension, dims=[10] * 4, ranges=[(-1.2, 1.2)] * 4)
    archive = GridArchive(learning_rate=0.01, threshold_min=objective_min, seed=1, **grid)
    emitters = [EvolutionStrategyEmitter(archive, x0=x0, sigma0=0.02 * 2**i, ranker="imp", selection_rule="mu",
                                         restart_rule=100, batch_size=batch_size, seed=3 + i)
                for i, x0 in enumerate(starts)]
    return Scheduler(archive, emitters, result_archive=GridArchive(seed=2, **grid))


def compile_numba():
    """Two iterations of a tiny search: pyribs compiles at the first use, which is not what is timed."""
    scheduler, rng = make_search(3, np.zeros((5, 3)), 4, 0), np.random.default_rng(0)
    for _ in range(2):
        scheduler.ask()
        scheduler.tell(rng.uniform(size=20), rng.uniform(-1, 1, (20, 4)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time even if iterations are left")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    env = gymnasium.make(args.task)
    n_obs, n_act = env.observation_space.shape[0], env.action_space.shape[0]
    sizes = (n_obs, *HIDDEN, n_act)
    features = (rng.normal(size=(FEATURES, n_obs + n_act)) / np.sqrt(n_obs + n_act),
                rng.uniform(0, 2 * np.pi, FEATURES))
    starts = [Policy.random(sizes, rng) for _ in range(5)]
    scheduler = make_search(Policy.size(sizes), starts, args.batch_size, OBJECTIVE_MIN.get(args.task, -100))
    compile_numba()
    projection = rng.normal(size=(FEATURES, 4)) / np.sqrt(FEATURES)

    count, total, squares = 1.0, np.zeros(n_obs), np.ones(n_obs)
    steps, done = 0, 0
    with multiprocessing.Pool(args.workers, start_worker, (args.task, features)) as pool:
        pool.map(abs, range(100 * args.workers), chunksize=1)  # workers answer when they have their environment
        start = time.perf_counter()
        for done in range(1, args.iterations + 1):
            mean = total / count
            std = np.sqrt(np.maximum(squares / count - mean**2, 1e-12))
            solutions = scheduler.ask()
            jobs = [(x, rng.integers(2**31, size=args.episodes), mean, std) for x in solutions]
            answers = pool.map(evaluate, jobs, chunksize=4)
            objective = np.array([a[0] for a in answers])
            psi = np.array([a[1] for a in answers])
            if done == 1:
                center = psi.mean(0)
                projection = np.linalg.svd(psi - center, full_matrices=False)[2][:4].T
                scale = 1 / np.maximum(np.quantile(np.abs((psi - center) @ projection), 0.95, axis=0), 1e-9)
            scheduler.tell(objective, (psi - center) @ projection * scale)
            for _, _, n, (c, s, q) in answers:
                steps, count, total, squares = steps + n, count + c, total + s, squares + q
            if args.seconds and time.perf_counter() - start > args.seconds:
                break
    seconds = time.perf_counter() - start
    print(json.dumps({"task": args.task, "iterations": done, "env_steps": steps, "seconds": seconds,
                      "env_steps_per_second": steps / seconds, "elites": len(scheduler.result_archive),
                      "best_objective": float(scheduler.result_archive.stats.obj_max)}))


if __name__ == "__main__":
    main()
