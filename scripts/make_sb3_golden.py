#!/usr/bin/env python3
"""Records ten updates of SAC and of TD3 by Stable-Baselines3 from the same weights, batches and noise.

    python3 -m venv sb3 && sb3/bin/python3 -m pip install stable-baselines3==2.9.2
    sb3/bin/python3 scripts/make_sb3_golden.py crates/autoqd-learn/src

writes sac/golden.json and td3/golden.json there. Networks are small, so that the files are; rewards and terminations are
drawn at random, because an update does not care where they come from.
"""

import json
import sys
from collections import deque
from pathlib import Path

import gymnasium
import numpy as np
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import ReplayBufferSamples

OBSERVATION, ACTION, HIDDEN, BATCH, UPDATES = 4, 2, [8, 8], 16, 10
# Weights are written after these updates.
WRITTEN = [1, 10]


class Space(gymnasium.Env):
    """Only its spaces are used."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATION,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (ACTION,), np.float32)

    def reset(self, seed=None, options=None):
        return np.zeros(OBSERVATION, np.float32), {}

    def step(self, action):
        return np.zeros(OBSERVATION, np.float32), 0.0, False, False, {}


def numbers(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().numpy().astype(np.float32).ravel()]


def layers(module):
    """Weights (a row per output) and biases of all layers in turn."""
    return [numbers(p) for p in module.parameters()]


def batches(rng):
    for _ in range(UPDATES):
        draw = lambda *shape: torch.tensor(rng.normal(size=shape), dtype=torch.float32)
        yield ReplayBufferSamples(
            observations=draw(BATCH, OBSERVATION),
            actions=torch.tanh(draw(BATCH, ACTION)),
            next_observations=draw(BATCH, OBSERVATION),
            dones=torch.tensor(rng.random((BATCH, 1)) < 0.2, dtype=torch.float32),
            rewards=3 * draw(BATCH, 1),
        )


def record(model, state, noise):
    """Trains on one batch after the other; `noise(batch)` returns what the update will draw."""
    losses = {}
    model.set_logger(Logger(folder=None, output_formats=[]))
    start = state()
    updates = []
    queue = deque(batches(np.random.default_rng(5)))
    for number in range(1, UPDATES + 1):
        batch = queue.popleft()
        model.replay_buffer.sample = lambda *a, batch=batch, **k: batch
        drawn = noise(batch)
        model.train(gradient_steps=1, batch_size=BATCH)
        values = model.logger.name_to_value
        losses = {key.split("/")[1]: float(values[key]) for key in values if "loss" in key or "coef" in key}
        values.clear()
        model.logger.name_to_count.clear()
        updates.append(
            {
                "observations": numbers(batch.observations),
                "actions": numbers(batch.actions),
                "next_observations": numbers(batch.next_observations),
                "rewards": numbers(batch.rewards),
                "terminated": numbers(batch.dones),
                "noise": drawn,
                "losses": losses,
                "after": state() if number in WRITTEN else None,
            }
        )
    return {"start": start, "updates": updates}


def sac():
    model = SAC("MlpPolicy", Space(), policy_kwargs={"net_arch": HIDDEN}, seed=1, device="cpu")
    policy = model.policy

    def state():
        return {
            "actor": layers(policy.actor),
            "critics": [layers(q) for q in policy.critic.q_networks],
            "targets": [layers(q) for q in policy.critic_target.q_networks],
            "log_alpha": float(model.log_ent_coef.detach()[0]),
        }

    queue = deque()
    torch.distributions.normal._standard_normal = lambda shape, dtype, device: queue.popleft()
    rng = np.random.default_rng(6)

    def noise(_):
        # The actions of the observations first, then those of the next ones.
        drawn = [torch.tensor(rng.normal(size=(BATCH, ACTION)), dtype=torch.float32) for _ in range(2)]
        queue.extend(drawn)
        return [numbers(d) for d in drawn]

    return record(model, state, noise)


def td3():
    model = TD3("MlpPolicy", Space(), policy_kwargs={"net_arch": HIDDEN}, seed=1, device="cpu")
    policy = model.policy

    def state():
        return {
            "actor": layers(policy.actor),
            "target_actor": layers(policy.actor_target),
            "critics": [layers(q) for q in policy.critic.q_networks],
            "targets": [layers(q) for q in policy.critic_target.q_networks],
        }

    def noise(batch):
        torch.manual_seed(len(seeds))
        drawn = batch.actions.clone().data.normal_(0, model.target_policy_noise)
        torch.manual_seed(len(seeds))
        seeds.append(0)
        # Standard normal, before scale and limits.
        return [numbers(drawn / model.target_policy_noise)]

    seeds = []
    return record(model, state, noise)


def main():
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    for name, made in (("sac", sac()), ("td3", td3())):
        path = folder / name / "golden.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(made, separators=(",", ":")) + "\n")
        print(path, path.stat().st_size, "bytes")


main()
