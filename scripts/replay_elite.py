#!/usr/bin/env python3
"""Replays an elite of a run in Gymnasium itself and recomputes what the run stored about it.

Needs numpy, gymnasium, pyarrow and safetensors, and nothing of autoqd: return, embedding and measures are computed
from archive.parquet and descriptor.safetensors alone. Policy arithmetic is done in single precision in autoqd's order
of operations, so returns are equal bit for bit when the run was made with the reference simulator.

    python3 scripts/replay_elite.py runs/hopper-autoqd-0            # the best elite
    python3 scripts/replay_elite.py runs/hopper-autoqd-0 --id 1234
"""
import argparse
import json
import pathlib
import sys

import gymnasium
import numpy as np
import pyarrow.parquet
from safetensors.numpy import load_file

GYMNASIUM = {"ant": "Ant-v5", "half-cheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "swimmer": "Swimmer-v5",
             "walker2d": "Walker2d-v5", "bipedal-walker": "BipedalWalker-v3"}
LIMIT = np.float32(7.9)
P = np.array([1.0, 1.3450629e-1, 3.5790023e-3, 2.2023414e-5, 1.5428213e-8], np.float32)
Q = np.array([1.0, 4.6783957e-1, 2.6192278e-2, 3.4236672e-4, 8.598877e-7], np.float32)
NARROW, PARTIAL_SUMS, STRIDE = 16, 4, 16  # autoqd::kernels: order of summation in a layer


def tanh(x):
    """autoqd's rational tanh in single precision."""
    x = np.clip(x, -LIMIT, LIMIT)
    u = x * x
    p, q = np.full_like(x, P[4]), np.full_like(x, Q[4])
    for k in (3, 2, 1, 0):
        p, q = p * u + P[k], q * u + Q[k]
    return x * p / q


def layers(parameters, sizes, kind, bias):
    """Weights (outputs x inputs) and biases of each layer, rounded once to single precision."""
    at = 0
    for i, (n_in, n_out) in enumerate(zip(sizes, sizes[1:])):
        if kind == "toeplitz":
            diagonals = parameters[at:at + n_in + n_out - 1]
            weights = diagonals[np.arange(n_out)[:, None] - np.arange(n_in)[None, :] + n_in - 1]
            at += n_in + n_out - 1
        else:
            weights = parameters[at:at + n_in * n_out].reshape(n_out, n_in)
            at += n_in * n_out
        biased = bias == "all" or bias == "hidden" and i + 2 < len(sizes)
        biases = parameters[at:at + n_out] if biased else np.zeros(n_out)
        yield weights.astype(np.float32), biases.astype(np.float32)
        at += n_out if biased else 0


def act(network, observation, low, high):
    x = observation.astype(np.float32)
    for weights, bias in network:
        if len(bias) <= NARROW:
            sums = np.zeros((PARTIAL_SUMS, len(bias)), np.float32)
            sums[0] = bias
            for j in range(len(x)):
                sums[j % PARTIAL_SUMS] += x[j] * weights[:, j]
            x = tanh((sums[0] + sums[1]) + (sums[2] + sums[3]))
        else:
            total = bias.copy()
            for first in range(STRIDE):
                for j in range(first, len(x), STRIDE):
                    total = total + x[j] * weights[:, j]
            x = tanh(total)
    centre, half = ((low + high) / 2).astype(np.float32), ((high - low) / 2).astype(np.float32)
    return np.clip(centre + half * x, low.astype(np.float32), high.astype(np.float32))


def rollout(task, network, seed):
    """Return and the (state, action) pairs of one episode in a new environment."""
    env = gymnasium.make(GYMNASIUM[task])
    low, high = env.action_space.low.astype(float), env.action_space.high.astype(float)
    observation, _ = env.reset(seed=int(seed))
    total, states, actions, done = 0.0, [], [], False
    while not done:
        action = act(network, observation, low, high)
        states.append(np.asarray(observation, float))
        actions.append(action)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        done = terminated or truncated
    return total, np.array(states), np.array(actions)


def embedding(descriptor, iteration, states, actions):
    """psi of one episode (Eq. 3 of the paper)."""
    mean, std = descriptor["normalizer_mean"][iteration - 1], descriptor["normalizer_std"][iteration - 1]
    normalized = np.where(std < 1e-6, 0, (states - mean) / np.where(std < 1e-6, 1, std))
    inputs = np.concatenate([normalized, actions], axis=1).astype(np.float32).astype(float)
    weights, phases = descriptor["feature_weights"], descriptor["feature_phases"]
    gamma = float(descriptor["gamma"][0])
    features = np.sqrt(2 / len(phases)) * np.cos(inputs @ weights.T + phases)
    psi = (1 - gamma) * (gamma ** np.arange(len(inputs)) @ features)
    return psi / (1 - gamma ** len(inputs)) if descriptor["length_normalized"][0] else psi


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--id", type=int, help="id of the elite; default the best one")
    args = parser.parse_args()

    table = pyarrow.parquet.read_table(args.run / "archive.parquet").to_pydict()
    descriptor = load_file(args.run / "descriptor.safetensors")
    with open(args.run / "descriptor.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    facts = json.loads(header["__metadata__"]["autoqd"])["metadata"]
    row = table["id"].index(args.id) if args.id is not None else int(np.argmax(table["objective"]))

    env = gymnasium.make(GYMNASIUM[facts["task"]])
    sizes = [env.observation_space.shape[0], *facts["hidden"], env.action_space.shape[0]]
    network = list(layers(np.array(table["parameters"][row]), sizes, facts["policy"], facts.get("bias", "all")))
    episodes = [rollout(facts["task"], network, seed) for seed in table["seeds"][row]]
    total = 0.0
    for value, _, _ in episodes:
        total += value
    answer = {"id": table["id"][row], "objective": table["objective"][row], "replayed": total / len(episodes)}
    answer["same_return"] = answer["objective"] == answer["replayed"]
    if "feature_weights" in descriptor:
        # Runs of format version 1 call the column "embedding".
        features = table["features"] if "features" in table else table["embedding"]
        psi = np.mean([embedding(descriptor, table["iteration"][row], s, a) for _, s, a in episodes], axis=0)
        answer["embedding_error"] = float(np.abs(psi - np.array(features[row])).max())
        if "map_a" in descriptor:
            stored = [table[f"measures_{k}"][row] for k in range(len(descriptor["map_b"]))]
            measures = descriptor["map_a"] @ psi + descriptor["map_b"]
            scale = np.abs(descriptor["map_a"]).sum(axis=1)
            answer["measures_error"] = float((np.abs(measures - stored) / np.maximum(scale, 1)).max())
    print(json.dumps(answer, indent=2))
    sys.exit(0 if answer["same_return"] and answer.get("embedding_error", 0) < 1e-5 else 1)


if __name__ == "__main__":
    main()
