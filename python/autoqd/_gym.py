"""Environments of Gymnasium as tasks.

A task's name, ``gym:ID?argument=value&...``, says everything that is needed to make the environment. Values are Python
literals; a word that is none is text. Two arguments are ours: ``objective_min``, the lowest return that counts, and
``max_episode_steps``, which Gymnasium knows too. A function that makes environments has the name
``gym:call:MODULE:FUNCTION``; one that no module holds has to be given again in every process (`register_function`).
"""

import ast
import importlib
import traceback

import numpy as np

from autoqd._errors import Error, SettingError

PREFIX = "gym:"
CALL = "call:"
RANDOM_EPISODES = 4
"""Episodes of random actions by which the lowest return that counts is estimated."""
OURS = ("objective_min",)
OF_VECTORS = ("render_mode", "num_envs", "vectorization_mode", "vector_kwargs")
"""What the spec of an environment says about how it was used, and not about what it is."""

_functions = {}
_sources = {}
_facts = {}


def register_function(name, function):
    """Makes a function that returns an environment the one that a task name means in this process."""
    _functions[name] = function
    _facts.pop(name, None)


def name_of(env, arguments=None):
    """The task name of an id, a function, an environment or a vector environment, with the arguments of the environment."""
    arguments = dict(arguments or {})
    if not isinstance(env, str) and not callable(env):
        env, own = _origin(env)
        arguments = {**own, **arguments}
    name = PREFIX + (env.removeprefix(PREFIX) if isinstance(env, str) else CALL + _place(env))
    for key, value in arguments.items():
        if not isinstance(value, str) and _value(repr(value)) != value:
            raise SettingError(f"env_args: {key}={value!r} has no plain form; give a function that makes the environment")
    written = "&".join(f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in arguments.items())
    if written:
        name += ("&" if "?" in name else "?") + written
    if callable(env):
        register_function(name, env)
    return name


def _place(function):
    """Where a function is found again."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def _origin(env):
    """What makes an environment like this one, and with which arguments: its id, or a function."""
    gymnasium = _gymnasium()
    if not isinstance(env, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        raise SettingError(
            f"env={env!r}: expected Gymnasium's id of an environment, an environment, or a function that returns one"
        )
    functions = getattr(env, "env_fns", None)
    if env.spec is None and functions:
        return functions[0], {}
    if env.spec is None or env.spec.additional_wrappers or env.spec.kwargs.get("wrappers"):
        raise SettingError(f"env={env}: it does not say how it was made; give a function that returns such an environment")
    limit = {} if env.spec.max_episode_steps is None else {"max_episode_steps": env.spec.max_episode_steps}
    arguments = {key: value for key, value in env.spec.kwargs.items() if key not in OF_VECTORS}
    return env.spec.id, {**limit, **arguments}


def parse(name):
    """The part of a task name that names the environment, and its arguments."""
    target, _, query = name.removeprefix(PREFIX).partition("?")
    pairs = [part.partition("=") for part in query.split("&") if part]
    return target, {key: _value(text) for key, _, text in pairs}


def _value(text):
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def use_source(name, source, arguments):
    """In a worker, what `source_of` returned in the process that started it."""
    _sources[name] = source, arguments


def source_of(name):
    """What a worker needs to make the environment: something that cloudpickle can send, and its arguments."""
    if name in _sources:
        return _sources[name]
    target, arguments = parse(name)
    for own in OURS:
        arguments.pop(own, None)
    if name in _functions:
        return _functions[name], arguments
    if target.startswith(CALL):
        return _imported(target.removeprefix(CALL)), arguments
    gymnasium = _gymnasium()
    try:
        # The whole spec, since an id may have been registered in this process alone.
        return gymnasium.spec(target), arguments
    except gymnasium.error.Error as error:
        raise SettingError(f"there is no environment '{target}': {error}") from None


def _imported(place):
    module, _, path = place.partition(":")
    try:
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise SettingError(
            f"the function {place} that makes the environment cannot be imported ({error}); "
            "give it again, as env=FUNCTION"
        ) from None
    return found


def _gymnasium():
    try:
        import gymnasium
    except ImportError:
        raise ImportError("environments of Gymnasium need the package gymnasium: pip install gymnasium") from None
    return gymnasium


def make(source, arguments, **more):
    """The environment of a source."""
    gymnasium = _gymnasium()
    arguments = {**arguments, **more}
    if isinstance(source, gymnasium.envs.registration.EnvSpec):
        return gymnasium.make(source, disable_env_checker=True, **arguments)
    limit = arguments.pop("max_episode_steps", None)
    env = source(**arguments)
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise SettingError("a function that makes a vector environment: return a single one; workers make it parallel")
    if not isinstance(env, gymnasium.Env):
        raise SettingError(f"the function that makes the environment returned {env!r}, which is not a gymnasium.Env")
    return gymnasium.wrappers.TimeLimit(env, limit) if limit is not None else env


class World:
    """One environment as the rollouts drive it.

    Args:
        env: The environment.
        limit: The steps after which the caller ends an episode, if it counts them.
    """

    def __init__(self, env, limit=None):
        self._env = env if limit is None else _below_counters(env, limit)
        self.step = self._env.step
        self.render = self._env.render
        self.rate = float(env.metadata.get("render_fps") or 30)
        self.close = env.close
        self.flatten, self.observation_size = _observations(env.observation_space)
        self.to_action, self.low, self.high = _actions(env.action_space)

    def reset(self, seed):
        """The first observation of the episode of a seed, given in decimal digits because it may be of any size."""
        observation, _ = self._env.reset(seed=None if seed is None else int(seed))
        return observation


def _below_counters(env, limit):
    """The environment without the wrappers that `gymnasium.make` puts around every one.

    Whoever resets first and counts the steps needs neither, and each costs a call at every step.
    """
    wrappers = _gymnasium().wrappers
    while type(env) is wrappers.OrderEnforcing or (
        type(env) is wrappers.TimeLimit and env.get_wrapper_attr("_max_episode_steps") >= limit
    ):
        env = env.env
    return env


def _observations(space):
    """A function from an observation to a vector, if one is needed, and the vector's length."""
    spaces = _gymnasium().spaces
    if isinstance(space, spaces.Box):
        size = int(np.prod(space.shape))
        plain = len(space.shape) == 1
        return (None if plain else lambda given: np.asarray(given, np.float64).ravel()), size
    if isinstance(space, spaces.Dict) and all(isinstance(part, (spaces.Box, spaces.Dict)) for part in space.values()):
        return lambda given: np.asarray(spaces.flatten(space, given), np.float64), int(spaces.flatdim(space))
    raise SettingError(f"the observation space {space} is not a Box or a Dict of Boxes; wrap it (FlattenObservation)")


def _actions(space):
    """A function from a policy's output to an action, if one is needed, and the bounds of the output."""
    spaces = _gymnasium().spaces
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        return (lambda output: start + int(output.argmax())), [-1.0] * int(space.n), [1.0] * int(space.n)
    if not isinstance(space, spaces.Box):
        raise SettingError(f"the action space {space} is neither a Box nor Discrete; wrap it (TransformAction)")
    if not np.isfinite(space.low).all() or not np.isfinite(space.high).all():
        raise SettingError(f"the action space {space} has no finite bounds; wrap it (RescaleAction, TransformAction)")
    low, high = space.low.astype(float).ravel().tolist(), space.high.astype(float).ravel().tolist()
    plain = len(space.shape) == 1 and space.dtype == np.float32
    shape, dtype = space.shape, space.dtype
    return (None if plain else lambda output: output.reshape(shape).astype(dtype)), low, high


def make_world(name):
    """An environment of a task, for rollouts in this process."""
    source, arguments = source_of(name)
    env = make(source, arguments)
    return World(env, _limit(env, arguments))


def make_pictured(name):
    """An environment of a task that draws itself; nothing if it cannot, or the packages that it draws with are missing."""
    source, arguments = source_of(name)
    try:
        env = make(source, arguments, render_mode="rgb_array")
    except Exception:  # A function without this argument, or a mode that the environment does not know.
        return None
    if env.render_mode == "rgb_array":
        try:
            env.reset()
            if isinstance(env.render(), np.ndarray):
                return World(env, _limit(env, arguments))
        except ImportError:
            pass
    env.close()
    return None


def describe(name):
    """Sizes, bounds and limits of a task; kept, because an environment has to be made to know them."""
    if name not in _facts:
        source, arguments = source_of(name)
        env = make(source, arguments)
        try:
            world = World(env)
            limit = _limit(env, arguments)
            _facts[name] = {
                "observation_size": world.observation_size,
                "action_size": len(world.low),
                "action_low": world.low,
                "action_high": world.high,
                "max_episode_steps": limit,
                "objective_min": _objective_min(name, env, limit),
                "measures": [],
            }
        finally:
            env.close()
    return _facts[name]


def _limit(env, arguments):
    """Steps after which an episode ends."""
    found = [arguments.get("max_episode_steps"), env.spec.max_episode_steps if env.spec else None]
    if env.has_wrapper_attr("_max_episode_steps"):
        found.append(env.get_wrapper_attr("_max_episode_steps"))
    limit = next((limit for limit in found if limit is not None), None)
    if limit is None:
        raise SettingError("the environment has no limit of steps; give one, for instance max_episode_steps=1000")
    return int(limit)


def _objective_min(name, env, limit):
    """The lowest return that counts: what was given, or the lowest of a few episodes of random actions less their spread."""
    given = parse(name)[1].get("objective_min")
    if given is not None:
        return float(given)
    env.action_space.seed(0)
    returns = []
    for seed in range(RANDOM_EPISODES):
        env.reset(seed=seed)
        total = 0.0
        for _ in range(limit):
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            total += float(reward)
            if terminated or truncated:
                break
        returns.append(total)
    lowest = min(returns) - (max(returns) - min(returns))
    return lowest if np.isfinite(lowest) else 0.0


def explain(error, place=None):
    """What an exception says, with the place in the environment's code where it was raised."""
    if isinstance(error, (Error, ImportError)):
        return str(error)
    frames = traceback.extract_tb(place or error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def render(name, act, seed):
    """Frames of one episode of a policy, its frames per second, and its return."""
    source, arguments = source_of(name)
    env = make(source, arguments, render_mode="rgb_array")
    try:
        world = World(env)
        to_action = world.to_action or (lambda output: output)
        flatten = world.flatten or (lambda given: given)
        observation, limit = world.reset(seed), _limit(env, arguments)
        frames, total = [env.render()], 0.0
        for _ in range(limit):
            output = act(np.asarray(flatten(observation), np.float64))
            observation, reward, terminated, truncated, _ = env.step(to_action(output))
            frames.append(env.render())
            total += float(reward)
            if terminated or truncated:
                break
        rate = world.rate
    finally:
        env.close()
    if not isinstance(frames[0], np.ndarray):
        raise SettingError(f"{name}: render_mode='rgb_array' gave no picture, but {type(frames[0]).__name__}")
    return np.asarray(frames, np.uint8), rate, total
