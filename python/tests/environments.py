"""Environments for tests, written in Python."""

import contextlib
import os

import gymnasium
import numpy as np
from gymnasium import spaces


class Point(gymnasium.Env):
    """A point in the plane that is pushed around; it should end at (1, 1)."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode=None, discrete=False, nested=False, steps=20, fail_at=None, crash=None):
        self.render_mode = render_mode
        self._discrete, self._nested, self._steps, self._fail_at = discrete, nested, steps, fail_at
        self._crash = crash
        box = spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.observation_space = spaces.Dict({"place": box, "speed": box}) if nested else spaces.Box(-10, 10, (4,), np.float32)
        self.action_space = spaces.Discrete(4, start=1) if discrete else spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place, self._speed, self._count = self.np_random.uniform(-0.1, 0.1, 2), np.zeros(2), 0
        return self._observe(), {}

    def step(self, action):
        if self._discrete:
            assert 1 <= action <= 4
            action = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]][action - 1], np.float64)
        assert self._discrete or (action.dtype == np.float32 and self.action_space.contains(action))
        self._count += 1
        if self._count == self._fail_at:
            raise RuntimeError("the point is lost")
        if self._crash is not None and self._count == 10:
            # The first to get here takes the file and ends its process.
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._crash)
                os._exit(1)
        self._speed = 0.9 * self._speed + 0.1 * action
        self._place = self._place + self._speed
        reward = -float(np.abs(self._place - 1.0).sum())
        return self._observe(), reward, False, self._count >= self._steps, {}

    def _observe(self):
        if self._nested:
            return {"place": self._place, "speed": self._speed}
        return np.concatenate([self._place, self._speed]).astype(np.float32)

    def render(self):
        picture = np.zeros((24, 32, 3), np.uint8)
        row, column = np.clip((self._place * 6 + 12).astype(int), 0, 23)
        picture[row, column] = 255
        return picture


def make_point(**arguments):
    """A function of a module that makes an environment."""
    return Point(**arguments)
