"""The scheduler that chooses among its emitters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import arr_readonly
from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters import EmitterBase
from autoqd.ribs.schedulers._shared import ArchiveKeeper, rows_of
from autoqd.ribs.typing import Float, Int


class BanditScheduler(ArchiveKeeper):
    """Keeps some emitters of a pool active, those with the largest upper confidence bound (UCB1) on the share of their
    solutions that enter the archive (Cully 2021).

    Args:
        archive: The archive that drives the search.
        emitter_pool: The emitters, all with the same number of parameters.
        result_archive: A further archive that gets everything, for results when ``archive`` forgets.
        num_active: How many emitters are active at a time.
        reselect: ``"terminated"`` chooses anew for emitters that have restarted (and those that never restart),
            ``"all"`` for all of them in each iteration.
        zeta: The weight of exploration.
        add_mode: ``"batch"`` adds all solutions at once, ``"single"`` one after the other.

    Raises:
        TypeError: ``emitter_pool`` is no list.
        ValueError: there are too few emitters, the same one twice, or they do not fit together.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        emitter_pool: Sequence[EmitterBase],
        result_archive: ArchiveBase | None = None,
        *,
        num_active: Int,
        reselect: Literal["terminated", "all"] = "terminated",
        zeta: Float = 0.05,
        add_mode: Literal["batch", "single"] = "batch",
    ) -> None:
        if num_active < 1:
            raise ValueError("num_active cannot be less than 1.")
        if not hasattr(emitter_pool, "__len__"):
            raise TypeError("`emitter_pool` must be a list of emitter objects.")
        if len(emitter_pool) < num_active:
            raise ValueError(
                f"The emitter pool must contain at least num_active emitters, but it has {len(emitter_pool)}."
            )
        if reselect not in ("terminated", "all"):
            raise ValueError(f"reselect must either be 'terminated' or 'all', but it was '{reselect}'.")
        self._keep(archive, emitter_pool, result_archive, add_mode)
        size = len(emitter_pool)
        self._emitter_pool = np.empty(size, dtype=object)
        self._emitter_pool[:] = list(emitter_pool)
        self._num_active = num_active
        self._reselect = reselect
        self._zeta = zeta
        self._active_arr = np.zeros(size, dtype=bool)
        # Solutions of each emitter that entered the archive, and all of them.
        self._success = np.zeros(size)
        self._selection = np.zeros(size)
        self._restarts = np.zeros(size, dtype=int)
        self._num_emitted = np.zeros(size, dtype=int)

    @property
    def emitter_pool(self) -> Sequence[EmitterBase]:
        """The emitters."""
        return self._emitter_pool

    @property
    def active(self) -> np.ndarray:
        """Which emitters are active (read-only)."""
        return arr_readonly(self._active_arr, view=True)

    def ask_dqd(self) -> None:
        """Not supported by this scheduler."""
        raise NotImplementedError("ask_dqd() is not supported by BanditScheduler.")

    def tell_dqd(
        self,
        objective: ArrayLike | None,
        measures: ArrayLike,
        jacobian: ArrayLike,
        **fields: ArrayLike | None,
    ) -> None:
        """Not supported by this scheduler."""
        raise NotImplementedError("tell_dqd() is not supported by BanditScheduler.")

    def _due(self) -> np.ndarray:
        """Which emitters may lose their place."""
        if self._reselect == "all":
            return self._active_arr.copy()
        restarts = np.array([getattr(emitter, "restarts", -1) for emitter in self._emitter_pool])
        due = (restarts > self._restarts) | (restarts < 0)
        self._restarts = restarts
        return due

    def _upper_confidence_bounds(self) -> np.ndarray:
        bounds = np.full(len(self._emitter_pool), np.inf)
        tried = self._selection != 0
        if tried.any():
            selection = self._selection[tried]
            spread = np.sqrt(np.log(max(self._success.sum(), 1.0)) / selection)
            bounds[tried] = self._success[tried] / selection + self._zeta * spread
        return bounds

    def _choose_active(self) -> None:
        due = self._due()
        # At the start there are free places; the first emitters get them and keep them for this iteration.
        missing = self._num_active - np.count_nonzero(self._active_arr)
        if missing > 0:
            newcomers = np.flatnonzero(~self._active_arr)[:missing]
            due[: newcomers[-1] + 1] = False
            self._active_arr[newcomers] = True
        self._active_arr[due] = False
        free = self._num_active - np.count_nonzero(self._active_arr)
        if free > 0:
            order = np.argsort(self._upper_confidence_bounds())[::-1]
            self._active_arr[order[~self._active_arr[order]][:free]] = True

    def ask(self) -> np.ndarray:
        """Solutions to evaluate, one row each.

        Raises:
            RuntimeError: the last solutions were not told yet.
        """
        if self._last_called == "ask":
            raise RuntimeError("ask cannot be called immediately after ask")
        self._last_called = "ask"
        self._choose_active()
        solutions = [emitter.ask() for emitter in self._emitter_pool[self._active_arr]]
        self._num_emitted[self._active_arr] = [len(emitted) for emitted in solutions]
        return self._join(solutions)

    def tell(self, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike | None) -> None:
        """Tells the values of the solutions of :meth:`ask`.

        Args:
            objective: One number per solution; ``None`` for archives that need none.
            measures: One row per solution.
            fields: The extra fields of the archive, one row per solution.

        Raises:
            RuntimeError: :meth:`ask` was not called before.
            ValueError: an array has the wrong length.
        """
        if self._last_called != "ask":
            raise RuntimeError("tell() was called without calling ask().")
        self._last_called = "tell"
        data = self._validate_tell_data({"objective": objective, "measures": measures, **fields})
        add_info = self._add_to_archives(data)
        end = 0
        for i in np.flatnonzero(self._active_arr):
            rows = slice(end, end + self._num_emitted[i])
            self._selection[i] += self._num_emitted[i]
            self._success[i] += np.count_nonzero(add_info["status"][rows])
            self._emitter_pool[i].tell(**rows_of(data, rows), add_info=rows_of(add_info, rows))
            end = rows.stop
