#!/usr/bin/env python3
"""Learning curves of Stable-Baselines3, to lay beside those of `autoqd run TASK --method sac` (or td3).

    python3 -m venv sb3 && sb3/bin/python3 -m pip install stable-baselines3==2.9.2 'gymnasium[mujoco]'
    sb3/bin/python3 scripts/sb3_curves.py sac Hopper-v5 --seed 0 --steps 100000 --out sb3-sac-hopper-0.csv

Trains with Stable-Baselines3's defaults on one thread and evaluates the policy without exploration after every
`--every` steps. A row is written as soon as it is known: steps, mean return, standard deviation, CPU seconds.
`--noise 0.1` adds the noise to TD3's actions that `td3.exploration_noise = 0.1` has here.
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.noise import NormalActionNoise


class Curve(BaseCallback):
    """Evaluates and writes."""

    def __init__(self, task, every, episodes, path):
        super().__init__()
        self.world, self.every, self.episodes, self.path = gymnasium.make(task), every, episodes, path

    def _on_training_start(self):
        with open(self.path, "w") as file:
            file.write("steps,return,return_std,cpu_seconds\n")

    def _on_step(self):
        if self.num_timesteps % self.every == 0:
            returns = [self.episode(1000 * self.num_timesteps + e) for e in range(self.episodes)]
            with open(self.path, "a") as file:
                numbers = np.mean(returns), np.std(returns), time.process_time()
                file.write(f"{self.num_timesteps}," + ",".join(f"{x:.2f}" for x in numbers) + "\n")
        return True

    def episode(self, seed):
        observation, _ = self.world.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action, _ = self.model.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = self.world.step(action)
            total, ended = total + reward, terminated or truncated
        return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", choices=["sac", "td3"])
    parser.add_argument("task")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=5000)
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kind = {"sac": SAC, "td3": TD3}[options.method]
    extra = {}
    if options.noise > 0.0:
        size = gymnasium.make(options.task).action_space.shape[0]
        extra["action_noise"] = NormalActionNoise(np.zeros(size), options.noise * np.ones(size))
    model = kind("MlpPolicy", options.task, seed=options.seed, device="cpu", **extra)
    curve = Curve(options.task, options.every, options.episodes, options.out)
    model.learn(options.steps, callback=curve)


main()
