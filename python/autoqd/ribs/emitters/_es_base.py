"""What the emitters share that follow an evolution strategy."""

from __future__ import annotations

import numbers

import numpy as np

from autoqd.ribs.emitters._emitter_base import EmitterBase


class StrategyFollower(EmitterBase):
    """Counts iterations and decides on restarts."""

    def _follow(self, selection_rule, restart_rule, seed) -> list[np.random.SeedSequence]:
        """Checks the rules; returns seeds for strategy and ranker."""
        if selection_rule not in ("mu", "filter"):
            raise ValueError(f"Invalid selection_rule {selection_rule}; use 'mu' or 'filter'.")
        every = isinstance(restart_rule, numbers.Integral) and restart_rule > 0
        if not every and restart_rule not in ("no_improvement", "basic"):
            raise ValueError(
                f"Invalid restart_rule {restart_rule}; use 'no_improvement', 'basic' or a number of iterations."
            )
        self._selection_rule = selection_rule
        self._restart_rule = restart_rule
        self._restarts = 0
        self._itrs = 0
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        return sequence.spawn(2)

    @property
    def batch_size(self):
        """How many solutions ``ask`` returns."""
        return self._batch_size

    @property
    def restarts(self) -> int:
        """How often the emitter started again."""
        return self._restarts

    @property
    def itrs(self) -> int:
        """How often ``tell`` was called."""
        return self._itrs

    def _check_restart(self, num_parents) -> bool:
        if isinstance(self._restart_rule, numbers.Integral):
            return self._itrs % self._restart_rule == 0
        return self._restart_rule == "no_improvement" and num_parents == 0

    def _learn(self, data, add_info) -> tuple[np.ndarray, int, bool]:
        """Ranks the solutions and tells the strategy. Returns the ranking, the number of parents, and whether to start
        again."""
        self._itrs += 1
        entered = np.count_nonzero(add_info["status"])
        ranking, values = self._ranker.rank(self, self._archive, data, add_info)
        num_parents = entered if self._selection_rule == "filter" else self._batch_size // 2
        self._opt.tell(ranking, values, num_parents)
        stop = self._opt.check_stop(values[ranking]) or self._check_restart(entered)
        return ranking, num_parents, stop

    def _new_start(self) -> np.ndarray:
        self._restarts += 1
        return self._x0 if self._archive.empty else self._archive.sample_elites(1)["solution"][0]
