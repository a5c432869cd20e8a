"""Fast tasks: Gymnasium environments whose worlds are stepped by the native part."""

import math
import operator
import os
import warnings
from typing import Any, Literal

import numpy as np

try:
    import gymnasium
except ImportError as error:
    raise ImportError("autoqd.make and autoqd.make_vec need Gymnasium: pip install gymnasium") from error
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from autoqd import _native

Physics = Literal["auto", "lanes", "reference"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
# What `_native.VectorWorlds.step` returns is a sum of these.
_ANY_FRESH, _ALL_FRESH, _ANY_ENDED, _ANY_DIVERGED = 1, 2, 4, 8


def make_vec(
    task: str | os.PathLike,
    num_envs: int = 1,
    *,
    physics: Physics = "auto",
    num_threads: int | None = None,
    dtype: Any = None,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    max_episode_steps: int | None = None,
) -> "FastVectorEnv":
    """Many environments of one task, as a ``gymnasium.vector.VectorEnv``.

    Args:
        task: One of Gymnasium's ids (``"HalfCheetah-v5"``, ``"Ant-v5"``, ``"Hopper-v5"``, ``"Swimmer-v5"``,
            ``"Walker2d-v5"``, ``"BipedalWalker-v3"``), a name of ours (``"half-cheetah"``, ``"point-maze"``, ...) or the
            path of a task file ending in ``.toml``.
        num_envs: Number of environments. With ``"lanes"`` multiples of 8 are fastest, of 16 for BipedalWalker.
        physics: ``"lanes"`` is the batched simulator, eight worlds in the lanes of the CPU's vector registers; it agrees
            with MuJoCo step by step up to rounding. ``"reference"`` is libmujoco or Box2D and gives the bits of
            ``gymnasium.make_vec``. ``"auto"`` takes lanes where they support the model, else the reference.
        num_threads: Threads that step the worlds, the calling one included; by default one per available core. Results do
            not depend on it.
        dtype: ``numpy.float64`` or ``numpy.float32`` for observations; by default that of Gymnasium's environment, which is
            float64 except for BipedalWalker.
        autoreset_mode: ``"NextStep"``, ``"SameStep"`` or ``"Disabled"``, or a ``gymnasium.vector.AutoresetMode``.
        copy: Whether observations are a new array each time. With False it is the same array, which the next step
            overwrites.
        max_episode_steps: Steps after which an episode is truncated, if fewer than the task's own.

    Returns:
        The vector environment.

    Raises:
        ValueError: If the task is unknown, the physics does not support it, or an argument is not possible.

    Example:
        >>> import autoqd
        >>> envs = autoqd.make_vec("HalfCheetah-v5", num_envs=16, physics="lanes")
        >>> observations, infos = envs.reset(seed=0)
        >>> observations.shape
        (16, 17)
        >>> actions = envs.action_space.sample()
        >>> observations, rewards, terminations, truncations, infos = envs.step(actions)
        >>> sorted(key for key in infos if not key.startswith("_"))
        ['reward_ctrl', 'reward_forward', 'x_position', 'x_velocity']
        >>> envs.close()
    """
    return FastVectorEnv(
        task,
        num_envs,
        physics=physics,
        num_threads=num_threads,
        dtype=dtype,
        autoreset_mode=autoreset_mode,
        copy=copy,
        max_episode_steps=max_episode_steps,
    )


class FastVectorEnv(VectorEnv):
    """What :func:`autoqd.make_vec` returns; its arguments are those of that function.

    Infos hold, for every environment, the terms of the reward as ``reward_...`` and what Gymnasium's environment of the
    same name tells (``x_position`` and so on), each with its mask ``_...``.

    An action that is not finite, or a simulation that fails, ends the episode of that environment alone: ``terminated`` is
    True, the reward 0, ``infos["diverged"]`` says which it was, and a warning is given the first time.

    Environments may be used from any thread, by one at a time. After a fork the child goes on with threads of its own.
    """

    def __init__(
        self,
        task,
        num_envs=1,
        *,
        physics="auto",
        num_threads=None,
        dtype=None,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        copy=True,
        max_episode_steps=None,
    ):
        self.num_envs = _positive("num_envs", num_envs)
        threads = _available_cores() if num_threads is None else _positive("num_threads", num_threads)
        if max_episode_steps is not None:
            max_episode_steps = _positive("max_episode_steps", max_episode_steps)
        self.physics = _one_of("physics", physics, ("auto", "lanes", "reference"))
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.copy = bool(copy)
        self._worlds = _native.VectorWorlds(
            os.fspath(task), self.physics, self.num_envs, threads, self.autoreset_mode.value, max_episode_steps
        )
        facts = self._worlds.facts()
        _check_limit(max_episode_steps, facts)
        #: Which simulator runs, in words.
        self.physics_note = facts["physics"]
        self.single_observation_space = _observation_space(facts, dtype)
        self.single_action_space = _action_space(facts)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self.spec = _spec(
            task,
            facts,
            max_episode_steps,
            num_envs=self.num_envs,
            physics=physics,
            num_threads=num_threads,
            dtype=None if dtype is None else np.dtype(dtype).name,
            autoreset_mode=self.autoreset_mode.value,
            copy=copy,
        )
        self._actions_shape = self.action_space.shape
        self._at_reset = [(i, name, f"_{name}") for i, (name, at_reset) in enumerate(facts["infos"]) if at_reset]
        self._at_step = [(i, name, f"_{name}") for i, (name, at_reset) in enumerate(facts["infos"]) if not at_reset]
        self._observations_shape = (self.num_envs, facts["observation_size"])
        self._infos_shape = (len(facts["infos"]), self.num_envs)
        self._dtype = self.single_observation_space.dtype
        self._observations = np.zeros(self._observations_shape, self._dtype)
        self._seeds = [None] * self.num_envs
        self._is_reset = False
        self._has_warned = False

    def reset(self, *, seed=None, options=None):
        """Starts an episode in all environments.

        Args:
            seed: An integer, from which environment i gets ``seed + i``, or a list with an integer or None per environment;
                None goes on with an environment's random stream, and the first time draws a seed from the system.
            options: ``{"reset_mask": mask}`` resets the environments only where the array of booleans is True.

        Returns:
            Observations and infos.

        Example:
            >>> import autoqd
            >>> envs = autoqd.make_vec("Hopper-v5", num_envs=2)
            >>> observations, infos = envs.reset(seed=[3, 4])
            >>> sorted(infos)
            ['_x_position', '_z_distance_from_origin', 'x_position', 'z_distance_from_origin']
        """
        asked = self._asked(seed)
        mask = self._mask(options)
        if mask is not None:
            asked = [one if chosen else False for one, chosen in zip(asked, mask)]
        observations = self._empty_observations()
        infos = np.empty(self._infos_shape)
        fresh = np.empty(self.num_envs, np.bool_)
        self._open_worlds().reset(asked, observations, infos, fresh)
        self._is_reset = self._is_reset or mask is None or bool(fresh.all())
        self._seeds = [old if new is None or new is False else new for old, new in zip(self._seeds, asked)]
        if mask is None:
            return observations, self._infos(self._at_reset, infos, np.ones(self.num_envs, np.bool_))
        infos[:, ~mask] = 0.0
        return observations, self._infos(self._at_reset, infos, mask.copy())

    def step(self, actions):
        """Advances all environments by one action each.

        Args:
            actions: An array of shape ``(num_envs, action_size)``. As in Gymnasium, the control cost of float32 actions is
                computed in single precision and that of all others in double precision. Actions are not clipped, but the
                simulator's motors are limited.

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Example:
            >>> import autoqd, numpy
            >>> envs = autoqd.make_vec("Swimmer-v5", num_envs=3, autoreset_mode="SameStep")
            >>> _ = envs.reset(seed=0)
            >>> observations, rewards, terminations, truncations, infos = envs.step(numpy.zeros((3, 2)))
            >>> rewards.shape, bool(terminations.any())
            ((3,), False)
        """
        if not (
            type(actions) is np.ndarray
            and actions.dtype in _FLOATS
            and actions.shape == self._actions_shape
            and actions.flags.c_contiguous
            and actions.flags.aligned
        ):
            actions = _checked_actions(actions, self._actions_shape)
        if not self._is_reset:
            self._open_worlds()
            raise ResetNeeded("call reset before the first step")
        n = self.num_envs
        observations = self._empty_observations()
        rewards = np.empty(n)
        terminated = np.empty(n, np.bool_)
        truncated = np.empty(n, np.bool_)
        values = np.empty(self._infos_shape)
        fresh = np.empty(n, np.bool_)
        flags = self._worlds.step(actions, observations, rewards, terminated, truncated, values, fresh)
        infos = self._infos(self._at_reset, values, np.ones(n, np.bool_))
        if not flags & _ALL_FRESH:
            mask = ~fresh if flags & _ANY_FRESH else np.ones(n, np.bool_)
            infos.update(self._infos(self._at_step, values, mask))
        if flags & _ANY_ENDED:
            infos.update(self._last())
        if flags & _ANY_DIVERGED:
            infos.update(self._diverged())
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs):
        """Gives worlds and threads back."""
        self._worlds.close()
        # A step asks only this, because it is asked in every step.
        self._is_reset = False

    def __repr__(self):
        return f"FastVectorEnv({self.spec.id}, num_envs={self.num_envs}, physics={self.physics!r})"

    @property
    def np_random_seed(self):
        """The last seed of every environment; None where there was none yet."""
        return tuple(self._seeds)

    def _open_worlds(self):
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError(f"{self!r} is closed; make a new one")
        return self._worlds

    def _empty_observations(self):
        return np.empty(self._observations_shape, self._dtype) if self.copy else self._observations

    @staticmethod
    def _infos(keys, values, mask):
        infos = {}
        for i, name, mask_name in keys:
            infos[name] = values[i]
            infos[mask_name] = mask
        return infos

    def _asked(self, seed):
        """One entry per environment; those that never had a seed get one from the system in place of None."""
        if seed is None or isinstance(seed, (list, tuple, np.ndarray)):
            asked = [None] * self.num_envs if seed is None else [_seed(one) for one in seed]
            if len(asked) != self.num_envs:
                raise ValueError(f"{len(asked)} seeds for {self.num_envs} environments; give one per environment")
        else:
            first = _seed(seed)
            asked = [first + i for i in range(self.num_envs)]
        return [_entropy() if new is None and old is None else new for new, old in zip(asked, self._seeds)]

    def _mask(self, options):
        if not options or "reset_mask" not in options:
            return None
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be an array of booleans, not {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"options['reset_mask'] must have shape ({self.num_envs},) and a True in it, not {mask!r}")
        return mask

    def _last(self):
        """`final_obs` and `final_info` of the episodes that the last step ended."""
        n = self.num_envs
        rows = np.zeros(self._observations_shape, self._dtype)
        values = np.zeros(self._infos_shape)
        ended = np.empty(n, np.bool_)
        self._worlds.last(rows, values, ended)
        observations = np.full(n, None, dtype=object)
        for i in np.flatnonzero(ended):
            observations[i] = rows[i]
        info = self._infos([*self._at_reset, *self._at_step], values, ended)
        return {"final_obs": observations, "_final_obs": ended, "final_info": info, "_final_info": ended.copy()}

    def _diverged(self):
        diverged = np.empty(self.num_envs, np.bool_)
        self._worlds.diverged(diverged)
        if not self._has_warned:
            self._has_warned = True
            which = np.flatnonzero(diverged)[0]
            warnings.warn(
                f"{self!r}: environment {which} was given an action that is not finite, or its simulation failed; its "
                "episode ends here. Look at infos['diverged']; this is said once.",
                RuntimeWarning,
                stacklevel=3,
            )
        return {"diverged": diverged, "_diverged": diverged.copy()}


def _positive(name, value):
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not 0 < number < 2**24:
        raise ValueError(f"{name} = {number} is not possible; give an integer of at least 1")
    return number


def _one_of(name, value, known):
    if value not in known:
        raise ValueError(f"{name} = {value!r} is not possible; give one of {', '.join(map(repr, known))}")
    return value


def _check_limit(limit, facts):
    longest = facts["max_episode_steps"]
    if limit is not None and limit > longest:
        raise ValueError(f"max_episode_steps = {limit}, but episodes of '{facts['name']}' have at most {longest} steps")


def _seed(value):
    if value is None:
        return None
    try:
        seed = operator.index(value)
    except TypeError:
        raise TypeError(f"a seed must be an integer, not {value!r}") from None
    if seed < 0:
        raise ValueError(f"a seed must not be negative, and {seed} is")
    return seed


def _entropy():
    return int.from_bytes(os.urandom(16), "little")


def _available_cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked_actions(actions, shape):
    """The actions as an array that the native part can read."""
    array = np.asarray(actions)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"actions must be real numbers, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"actions have the shape {array.shape}, expected {shape}")
    kind = np.float32 if array.dtype == np.float32 else np.float64
    return np.require(array, kind, ["C", "A"])


def _action_space(facts):
    low, high = (np.asarray(facts[key], np.float32) for key in ("action_low", "action_high"))
    return gymnasium.spaces.Box(low, high, dtype=np.float32)


def _observation_space(facts, dtype):
    is_walker = facts["gymnasium_id"] == "BipedalWalker-v3"
    if dtype is None:
        dtype = np.float32 if is_walker else np.float64
    dtype = np.dtype(dtype)
    if dtype not in _FLOATS:
        raise ValueError(f"dtype = {dtype} is not possible; give numpy.float64 or numpy.float32")
    if not is_walker:
        return gymnasium.spaces.Box(-math.inf, math.inf, (facts["observation_size"],), dtype)
    leg_low, leg_high = [-math.pi, -5, -math.pi, -5, -0.0], [math.pi, 5, math.pi, 5, 5]
    low = np.array([-math.pi, -5, -5, -5, *leg_low, *leg_low, *[-1] * 10], np.float32)
    high = np.array([math.pi, 5, 5, 5, *leg_high, *leg_high, *[1] * 10], np.float32)
    return gymnasium.spaces.Box(low.astype(dtype), high.astype(dtype), dtype=dtype)


def _spec(task, facts, max_episode_steps, **arguments):
    """What makes the environment again: ``gymnasium.make(env.spec)`` or ``gymnasium.make_vec(envs.spec)``."""
    name = facts["gymnasium_id"] or facts["name"]
    return EnvSpec(
        id="autoqd/" + "".join(c if c.isalnum() or c in "-_.:" else "-" for c in name),
        entry_point="autoqd._single:make",
        vector_entry_point="autoqd._vector:make_vec",
        max_episode_steps=max_episode_steps or facts["max_episode_steps"],
        order_enforce=False,
        disable_env_checker=True,
        kwargs={"task": os.fspath(task), **arguments},
    )
