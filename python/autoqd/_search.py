"""Ask and tell: a search whose evaluations are yours."""

import hashlib
import json
import os
import pathlib

import numpy as np

from autoqd import _frames, _native
from autoqd._errors import Error, SettingError
from autoqd._reading import Policy

MAGIC = b"AQDASK01"
"""What a saved search starts with, with the version of its form."""


class Search:
    """A search that you advance: ask for candidates, evaluate them however you like, tell what happened.

    Emitters, descriptor, refits and archives are those of `autoqd.run`. Candidates are parameters of policies;
    `policy` makes one of them callable. With a method that learns its measures ("autoqd", "aurora", "lstm-aurora") you
    tell the episodes; with hand-designed measures ("regular") you tell the measures.

    Args:
        observation_size: Length of an observation.
        action_low, action_high: Bounds of the actions, one number per component.
        measures: For method="regular", a list of ranges (low, high), one per measure.
        objective_min: The lowest objective that counts: where the thresholds of the search archive start, what an elite
            must exceed, and the offset of the QD score.
        method, preset, seed, config, **settings: As for `autoqd.run`. `iterations` has no meaning here.

    Example:
        >>> import autoqd, numpy
        >>> search = autoqd.Search(2, [-1.0], [1.0], objective_min=-1000, emitters=2, batch_size=4)
        >>> for _ in range(3):
        ...     candidates = search.ask()
        ...     episodes = []
        ...     for parameters in candidates:
        ...         policy, observations = search.policy(parameters), numpy.random.rand(11, 2)
        ...         episodes.append({"observations": observations, "actions": policy(observations[:-1])})
        ...     report = search.tell(objectives=-(candidates**2).sum(axis=1), episodes=episodes)
        >>> search.iteration, len(search.archive) > 0
        (3, True)
    """

    def __init__(
        self,
        observation_size,
        action_low,
        action_high,
        *,
        measures=(),
        objective_min=0.0,
        method="autoqd",
        preset="quick",
        seed=0,
        config=None,
        **settings,
    ):
        low, high = _vector("action_low", action_low), _vector("action_high", action_high)
        ranges = np.asarray(measures, dtype=np.float64).reshape(-1, 2) if len(measures) else np.zeros((0, 2))
        self._facts = {
            "observation_size": int(observation_size),
            "action_size": len(low),
            "action_low": low.tolist(),
            "action_high": high.tolist(),
            "max_episode_steps": 2**31,
            "objective_min": float(objective_min),
            "measures": [(f"measure {i}", float(a), float(b)) for i, (a, b) in enumerate(ranges)],
        }
        settings = {**settings, "method": method, "seed": seed}
        self._native = _native.Search(self._facts, preset, config, settings)

    def ask(self):
        """The candidates of this iteration, one per row. The same ones until they are told."""
        return self._native.ask()

    @property
    def seeds(self):
        """Seeds for the episodes of the candidates asked for, a row of `episodes` each: derived from the seed of the search,
        the iteration, the candidate and the episode, so that a search can be repeated."""
        return self._native.seeds()

    def policy(self, parameters):
        """The policy with these parameters, as a callable `Policy`."""
        return Policy._of(self._native.policy(_vector("parameters", parameters).tolist()), None)

    def tell(self, objectives=None, *, measures=None, episodes=None):
        """Ends the iteration: describes the candidates, fills the archives and teaches the emitters.

        Args:
            objectives: One number per candidate, higher is better. By default the mean return of its episodes. NaN, here
                or in the episodes, means that the evaluation failed: the candidate is not stored.
            measures: One row per candidate, for method="regular".
            episodes: What happened, one entry per candidate: an episode or a list of them. An episode is a dict with
                "observations" of shape (T, n) or (T + 1, n), "actions" of shape (T, m), and perhaps "rewards" of shape (T,)
                and "terminated", whether the task ended it.

        Returns:
            The numbers of the iteration, as `callbacks` of `autoqd.run` get them.
        """
        count = len(self.ask())
        given = measures if measures is not None else objectives
        if episodes is None:
            if given is None:
                raise SettingError("tell: give objectives and measures, or episodes")
            episodes = [self._nothing()] * len(given)
        if len(episodes) != count:
            raise SettingError(f"{len(episodes)} candidates were told, but {count} were asked for")
        rows = [[self._episode(i, own) for own in _list(entry)] for i, entry in enumerate(episodes)]
        if objectives is not None:
            objectives = _vector("objectives", objectives).tolist()
        elif any(len(own[2]) == 0 for row in rows for own in row):
            raise SettingError("tell: give objectives, or the rewards of every episode")
        if measures is not None:
            measures = _matrix("measures", measures, np.float64).tolist()
        elif self._facts["measures"]:
            raise SettingError(f"tell: give the {len(self._facts['measures'])} measures of every candidate")
        return self._native.tell(objectives, measures, rows)

    def step(self, evaluate):
        """One iteration with a function of yours: ``evaluate(candidates, seeds)`` returns the arguments of `tell` as a dict.

        Example:
            >>> import autoqd
            >>> search = autoqd.Search(2, [-1.0], [1.0], method="regular", measures=[(-1, 1), (-1, 1)], batch_size=4)
            >>> def evaluate(candidates, seeds):
            ...     return {"objectives": 1 - (candidates**2).sum(axis=1), "measures": candidates[:, :2]}
            >>> search.step(evaluate)["iteration"]
            1.0
        """
        candidates = self.ask()
        return self.tell(**evaluate(candidates, self.seeds))

    @property
    def iteration(self):
        """Iterations done."""
        return self._native.iteration

    @property
    def config(self):
        """The complete configuration, as a dict."""
        return self._native.config

    @property
    def stats(self):
        """Numbers of the archive: num_elites, coverage, qd_score, obj_max, obj_mean."""
        return self._native.stats()

    @property
    def archive(self):
        """The elites as a data frame, as `Run.archive`."""
        return self.frame()

    def frame(self, format=None, parameters=False):
        """The elites in the form you name, as `Run.frame`."""
        columns = self._native.columns()
        return _frames.frame({n: c for n, c in columns.items() if parameters or c.ndim == 1}, format)

    @property
    def parameters(self):
        """Parameters of all elites, one row each, in the order of the archive."""
        return self._native.columns()["parameters"]

    def save(self, path):
        """Writes the complete state into a file. Not possible between `ask` and `tell`."""
        facts = json.dumps(self._facts).encode()
        content = len(facts).to_bytes(8, "little") + facts + self._native.save()
        path = pathlib.Path(path)
        part = path.with_name(path.name + ".tmp")
        with open(part, "wb") as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    @classmethod
    def load(cls, path):
        """Continues from a file that `save` wrote, to the same bytes as if the search had never stopped."""
        stored = pathlib.Path(path).read_bytes()
        digest, content = stored[len(MAGIC) : len(MAGIC) + 32], stored[len(MAGIC) + 32 :]
        if not stored.startswith(MAGIC) or hashlib.sha256(content).digest() != digest:
            raise Error(f"{path}: this is not a saved search, or it is damaged")
        end = 8 + int.from_bytes(content[:8], "little")
        search = cls.__new__(cls)
        search.__setstate__({"facts": json.loads(content[8:end]), "state": content[end:]})
        return search

    def __getstate__(self):
        return {"facts": self._facts, "state": self._native.save()}

    def __setstate__(self, state):
        self._facts = state["facts"]
        self._native = _native.Search.load(self._facts, state["state"])

    def __repr__(self):
        stats = self.stats
        return f"<Search: iteration {self.iteration}, {stats['num_elites']} elites, QD score {stats['qd_score']:.6g}>"

    def _nothing(self):
        """An episode of which nothing is known."""
        return {"observations": np.zeros((1, self._facts["observation_size"])), "actions": np.zeros((1, self._facts["action_size"]))}

    def _episode(self, candidate, given):
        try:
            observations, actions = given["observations"], given["actions"]
        except (TypeError, KeyError, IndexError):
            message = f"candidate {candidate}: an episode is a dict with observations and actions, not {type(given).__name__}"
            raise SettingError(message) from None
        rewards = given.get("rewards")
        place = f"candidate {candidate}: "
        return (
            _matrix(place + "observations", observations, np.float64),
            _matrix(place + "actions", actions, np.float32),
            np.zeros(0) if rewards is None else _vector(place + "rewards", rewards),
            bool(given.get("terminated", False)),
        )


def _list(entry):
    return entry if isinstance(entry, (list, tuple)) else [entry]


def _matrix(name, values, dtype):
    return _array(name, values, dtype, 2)


def _vector(name, values):
    return _array(name, values, np.float64, 1)


def _array(name, values, dtype, dimensions):
    try:
        array = np.asarray(values, dtype=dtype, order="C")
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name}: expected numbers ({error})") from None
    if array.ndim != dimensions:
        raise SettingError(f"{name} of shape {array.shape}: expected {dimensions} dimension{'s' * (dimensions > 1)}")
    return array
