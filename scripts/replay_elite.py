#!/usr/bin/env python3
"""Replays an elite of a run in Gymnasium itself and recomputes what the run stored about it.

Needs numpy, gymnasium, pyarrow and safetensors, and nothing of autoqd: return, embedding and measures are computed
from archive.parquet and descriptor.safetensors alone. Policies (policy_numpy.py) have the bits of autoqd's, so returns
are equal bit for bit when the run was made with the reference simulator.

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

from policy_numpy import Policy, tanh_shape

GYMNASIUM = {"ant": "Ant-v5", "half-cheetah": "HalfCheetah-v5", "hopper": "Hopper-v5", "swimmer": "Swimmer-v5",
             "walker2d": "Walker2d-v5", "bipedal-walker": "BipedalWalker-v3"}


def shape_of(facts):
    """The shape of the run's policies."""
    if isinstance(facts["policy"], dict):
        return facts["policy"]
    env = gymnasium.make(GYMNASIUM[facts["task"]])
    low, high = env.action_space.low.astype(float), env.action_space.high.astype(float)
    observation_size = env.observation_space.shape[0]
    return tanh_shape(facts["policy"], facts["hidden"], facts.get("bias", "all"), observation_size, low, high)


def rollout(task, policy, seed):
    """Return and the (state, action) pairs of one episode in a new environment."""
    env = gymnasium.make(GYMNASIUM[task])
    observation, _ = env.reset(seed=int(seed))
    total, states, actions, done = 0.0, [], [], False
    while not done:
        action = policy.act(observation)
        states.append(np.asarray(observation, float))
        actions.append(action)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        done = terminated or truncated
    return total, np.array(states), np.array(actions)


def embedding(descriptor, iteration, states, actions):
    """psi of one episode (Eq. 6 of the paper)."""
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

    policy = Policy(shape_of(facts), table["parameters"][row])
    episodes = [rollout(facts["task"], policy, seed) for seed in table["seeds"][row]]
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
