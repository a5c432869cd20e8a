"""Fast tasks as Stable-Baselines3 wants its vector environments."""

import functools
import os
import time

import numpy as np
from gymnasium.vector import AutoresetMode

from autoqd._vector import make_vec


def sb3_vec_env(task: str | os.PathLike, num_envs: int = 8, *, seed: int | None = None, step_infos: bool = False, **options):
    """Many environments of one task, as a ``stable_baselines3.common.vec_env.VecEnv``.

    Episodes follow each other without a reset by the user. When one ends, its info has ``terminal_observation``,
    ``TimeLimit.truncated`` and, as with Stable-Baselines3's own monitor, ``episode`` with return, length and time.

    Args:
        task: As in :func:`autoqd.make_vec`.
        num_envs: Number of environments.
        seed: Seed of the first reset: environment i gets ``seed + i``.
        step_infos: Whether the infos of all steps hold the terms of the reward and positions, not only those of last steps.
            It costs about a microsecond per environment and step.
        **options: ``physics``, ``num_threads``, ``dtype`` (here float32 by default) and ``max_episode_steps`` of
            :func:`autoqd.make_vec`.

    Returns:
        The vector environment.

    Raises:
        ImportError: If Stable-Baselines3 is not installed.

    Example:
        >>> import autoqd
        >>> from stable_baselines3 import PPO                                            # doctest: +SKIP
        >>> envs = autoqd.sb3_vec_env("HalfCheetah-v5", num_envs=64, physics="lanes")    # doctest: +SKIP
        >>> PPO("MlpPolicy", envs, device="cpu").learn(100_000)                          # doctest: +SKIP
    """
    return _class()(task, num_envs, seed=seed, step_infos=step_infos, **options)


@functools.cache
def _class():
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise ImportError("autoqd.sb3_vec_env needs Stable-Baselines3: pip install stable-baselines3") from error
    return type("FastVecEnv", (Episodes, VecEnv), {"__module__": __name__, "__doc__": Episodes.__doc__})


class Episodes:
    """The methods of Stable-Baselines3's ``VecEnv`` over :func:`autoqd.make_vec`, without its base class."""

    def __init__(self, task, num_envs=8, *, seed=None, step_infos=False, **options):
        options.setdefault("dtype", np.float32)
        self.envs = make_vec(task, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        self.num_envs = self.envs.num_envs
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space
        self.render_mode = None
        self.metadata = {"render_modes": []}
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._step_infos = bool(step_infos)
        self._options = [{} for _ in range(self.num_envs)]
        self._seeds = [None] * self.num_envs if seed is None else [seed + i for i in range(self.num_envs)]
        self._actions = None
        self._start = time.monotonic()

    def seed(self, seed=None):
        """Seeds the next reset; environment i gets ``seed + i``."""
        first = int(np.random.randint(0, np.iinfo(np.uint32).max, dtype=np.uint32)) if seed is None else seed
        self._seeds = [first + i for i in range(self.num_envs)]
        return list(self._seeds)

    def set_options(self, options=None):
        """Options for the next reset; these environments have none."""

    def reset(self):
        """Starts an episode everywhere and returns the observations."""
        observations, infos = self.envs.reset(seed=list(self._seeds))
        self._seeds = [None] * self.num_envs
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self.reset_infos = _rows(infos, range(self.num_envs), self.num_envs)
        return observations

    def step_async(self, actions):
        """Takes the actions of the next step."""
        self._actions = actions

    def step_wait(self):
        """Advances all environments: observations, rewards, whether episodes ended, infos."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        dones = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        if self._step_infos:
            found = _rows(infos, range(self.num_envs), self.num_envs)
        else:
            found = [{} for _ in range(self.num_envs)]
        if dones.any():
            self._end_episodes(np.flatnonzero(dones), truncated & ~terminated, infos, found)
        return observations, rewards.astype(np.float32), dones, found

    def step(self, actions):
        """Both at once."""
        self.step_async(actions)
        return self.step_wait()

    def _end_episodes(self, ended, only_truncated, infos, found):
        seconds = round(time.monotonic() - self._start, 6)
        last = _rows(infos["final_info"], ended, self.num_envs)
        for i in ended.tolist():
            found[i] = {
                **last[i],
                "terminal_observation": infos["final_obs"][i],
                "TimeLimit.truncated": bool(only_truncated[i]),
                "episode": {"r": round(float(self._returns[i]), 6), "l": int(self._lengths[i]), "t": seconds},
            }
        self._returns[ended] = 0.0
        self._lengths[ended] = 0

    def close(self):
        """Gives worlds and threads back."""
        self.envs.close()

    def get_attr(self, attr_name, indices=None):
        """An attribute of this object, once per environment asked for."""
        return [getattr(self, attr_name)] * len(self._chosen(indices))

    def set_attr(self, attr_name, value, indices=None):
        """Refused: the environments are no objects of their own."""
        raise AttributeError(f"{attr_name} cannot be set: the environments of autoqd are no Python objects of their own")

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        """Refused, for the same reason."""
        raise AttributeError(f"{method_name} cannot be called: the environments of autoqd are no Python objects of their own")

    def env_is_wrapped(self, wrapper_class, indices=None):
        """Whether environments are wrapped: only in what a monitor does."""
        return [wrapper_class.__name__ == "Monitor"] * len(self._chosen(indices))

    def get_images(self):
        """No pictures; `autoqd.make` has them."""
        return [None] * self.num_envs

    def render(self, mode=None):
        """No pictures; `autoqd.make` has them."""
        return None

    def _chosen(self, indices):
        if indices is None:
            return range(self.num_envs)
        return [indices] if isinstance(indices, (int, np.integer)) else list(indices)


def _rows(infos, chosen, count):
    """The infos of the chosen environments as dictionaries, in a list with a place for all of them."""
    rows = [{} for _ in range(count)]
    for key, values in infos.items():
        if key.startswith("_") or isinstance(values, dict) or values.dtype == object:
            continue
        mask, numbers = infos[f"_{key}"].tolist(), values.tolist()
        for i in chosen:
            if mask[i]:
                rows[i][key] = numbers[i]
    return rows
