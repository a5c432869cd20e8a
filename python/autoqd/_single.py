"""One environment of a task."""

import os
from typing import Any

import gymnasium
import numpy as np

from autoqd import _native
from autoqd._vector import _action_space, _check_limit, _checked_actions, _observation_space, _positive, _seed, _spec


def make(
    task: str | os.PathLike,
    *,
    render_mode: str | None = None,
    dtype: Any = None,
    max_episode_steps: int | None = None,
    width: int = 480,
    height: int = 360,
) -> "FastEnv":
    """One environment of a task on the reference simulator, as a ``gymnasium.Env`` with its time limit inside.

    For Gymnasium's tasks every number has the bits of ``gymnasium.make``. To train or to evaluate many episodes take
    :func:`autoqd.make_vec`.

    Args:
        task: As in :func:`autoqd.make_vec`.
        render_mode: ``"rgb_array"`` for pictures from ``render()``, drawn in software, or None.
        dtype: ``numpy.float64`` or ``numpy.float32`` for observations, as in :func:`autoqd.make_vec`.
        max_episode_steps: Steps after which an episode is truncated, if fewer than the task's own.
        width: Pixels in a row of a picture.
        height: Rows of a picture.

    Returns:
        The environment.

    Raises:
        ValueError: If the task is unknown or an argument is not possible.

    Example:
        >>> import autoqd
        >>> env = autoqd.make("Walker2d-v5", render_mode="rgb_array", width=160, height=120)
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        >>> env.render().shape
        (120, 160, 3)
    """
    return FastEnv(
        task, render_mode=render_mode, dtype=dtype, max_episode_steps=max_episode_steps, width=width, height=height
    )


class FastEnv(gymnasium.Env):
    """What :func:`autoqd.make` returns; its arguments are those of that function."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, task, *, render_mode=None, dtype=None, max_episode_steps=None, width=480, height=360):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode = {render_mode!r} is not possible; give 'rgb_array' or None")
        self.render_mode = render_mode
        self._size = (_positive("width", width), _positive("height", height))
        self._world = _native.SingleWorld(os.fspath(task))
        facts = self._world.facts()
        self._limit = facts["max_episode_steps"]
        if max_episode_steps is not None:
            self._limit = _positive("max_episode_steps", max_episode_steps)
            _check_limit(self._limit, facts)
        self.observation_space = _observation_space(facts, dtype)
        self.action_space = _action_space(facts)
        self.metadata = {**self.metadata, "render_fps": round(1 / facts["seconds_per_step"])}
        self.spec = _spec(
            task,
            facts,
            max_episode_steps,
            render_mode=render_mode,
            dtype=None if dtype is None else np.dtype(dtype).name,
            width=self._size[0],
            height=self._size[1],
        )
        self._names = [name for name, _ in facts["infos"]]
        self._names_at_reset = {name for name, at_reset in facts["infos"] if at_reset}
        self._dtype = self.observation_space.dtype
        self._observation = np.empty(facts["observation_size"])
        self._steps = 0
        self._is_seeded = False

    def reset(self, *, seed=None, options=None):
        """Starts an episode; without a seed the random stream goes on, and the first time a seed is drawn.

        Example:
            >>> import autoqd
            >>> observation, info = autoqd.make("Hopper-v5").reset(seed=1)
            >>> sorted(info)
            ['x_position', 'z_distance_from_origin']
        """
        seed = _seed(seed)
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = self.np_random_seed
        self._is_seeded = True
        self._steps = 0
        values = self._world.reset(seed, self._observation)
        info = {name: value for name, value in zip(self._names, values) if name in self._names_at_reset}
        return self._observation.astype(self._dtype), info

    def step(self, action):
        """Advances one step.

        Example:
            >>> import autoqd, numpy
            >>> env = autoqd.make("Swimmer-v5")
            >>> _ = env.reset(seed=0)
            >>> observation, reward, terminated, truncated, info = env.step(numpy.zeros(2))
            >>> terminated, truncated
            (False, False)
        """
        action = _checked_actions(action, self.action_space.shape)
        reward, terminated, truncated, diverged, values = self._world.step(action, self._observation)
        self._steps += 1
        info = dict(zip(self._names, values))
        if diverged:
            info["diverged"] = True
        observation = self._observation.astype(self._dtype)
        return observation, reward, terminated, truncated or self._steps >= self._limit, info

    def render(self):
        """The world as an array of (height, width, 3) bytes, if ``render_mode`` is ``"rgb_array"``, else None.

        Example:
            >>> import autoqd
            >>> env = autoqd.make("BipedalWalker-v3", render_mode="rgb_array")
            >>> _ = env.reset(seed=0)
            >>> env.render().dtype
            dtype('uint8')
        """
        return self._world.render(*self._size) if self.render_mode else None

    def close(self):
        """Gives the world back."""
        self._world.close()

    def __repr__(self):
        return f"FastEnv({self.spec.id})"
