"""The scheduler that uses all its emitters all the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters import EmitterBase
from autoqd.ribs.schedulers._shared import ArchiveKeeper, rows_of


class Scheduler(ArchiveKeeper):
    """Asks all emitters for solutions, gives the evaluated ones to the archives, and tells the emitters.

    Args:
        archive: The archive that drives the search.
        emitters: The emitters, all with the same number of parameters.
        result_archive: A further archive that gets everything, for results when ``archive`` forgets.
        add_mode: ``"batch"`` adds all solutions at once, ``"single"`` one after the other.

    Raises:
        TypeError: ``emitters`` is no list.
        ValueError: there are no emitters, the same one twice, or they do not fit together.

    >>> from autoqd.ribs.archives import GridArchive
    >>> from autoqd.ribs.emitters import EvolutionStrategyEmitter
    >>> archive = GridArchive(solution_dim=4, dims=[20, 20], ranges=[(-1, 1)] * 2)
    >>> emitters = [EvolutionStrategyEmitter(archive, x0=[0.0] * 4, sigma0=0.1) for _ in range(3)]
    >>> scheduler = Scheduler(archive, emitters)
    >>> for _ in range(10):
    ...     solutions = scheduler.ask()
    ...     scheduler.tell(-(solutions**2).sum(axis=1), solutions[:, :2])
    >>> len(archive) > 10
    True
    """

    def __init__(
        self,
        archive: ArchiveBase,
        emitters: Sequence[EmitterBase],
        result_archive: ArchiveBase | None = None,
        *,
        add_mode: Literal["batch", "single"] = "batch",
    ) -> None:
        if not hasattr(emitters, "__len__"):
            raise TypeError("`emitters` must be a list of emitter objects.")
        if len(emitters) == 0:
            raise ValueError("Pass in at least one emitter to the scheduler.")
        self._keep(archive, emitters, result_archive, add_mode)
        self._emitters = emitters
        self._num_emitted = [None] * len(emitters)

    @property
    def emitters(self) -> Sequence[EmitterBase]:
        """The emitters."""
        return self._emitters

    def _ask(self, call: str) -> np.ndarray:
        if self._last_called in ("ask", "ask_dqd"):
            raise RuntimeError(f"{call} cannot be called immediately after {self._last_called}")
        self._last_called = call
        solutions = [getattr(emitter, call)() for emitter in self._emitters]
        self._num_emitted = [len(emitted) for emitted in solutions]
        return self._join(solutions)

    def ask_dqd(self) -> np.ndarray:
        """The solutions whose gradients the emitters want, one row each.

        Raises:
            RuntimeError: the last solutions were not told yet.
        """
        return self._ask("ask_dqd")

    def ask(self) -> np.ndarray:
        """Solutions to evaluate, one row each.

        Raises:
            RuntimeError: the last solutions were not told yet.
        """
        return self._ask("ask")

    def _tell(self, call, asked, data, **more) -> None:
        if self._last_called != asked:
            raise RuntimeError(f"{call}() was called without calling {asked}().")
        self._last_called = call
        data = self._validate_tell_data(data)
        for name, values in more.items():
            more[name] = np.asarray(values)
            self._check_length(name, more[name])
        add_info = self._add_to_archives(data)
        end = 0
        for emitter, count in zip(self._emitters, self._num_emitted, strict=True):
            rows = slice(end, end + count)
            getattr(emitter, call)(**rows_of(data, rows), **rows_of(more, rows), add_info=rows_of(add_info, rows))
            end += count

    def tell_dqd(
        self,
        objective: ArrayLike | None,
        measures: ArrayLike,
        jacobian: ArrayLike,
        **fields: ArrayLike | None,
    ) -> None:
        """Tells the values of the solutions of :meth:`ask_dqd`.

        Args:
            objective: One number per solution.
            measures: One row per solution.
            jacobian: The gradients of objective and measures, of shape ``(n, 1 + measure_dim, solution_dim)``.
            fields: The extra fields of the archive, one row per solution.

        Raises:
            RuntimeError: :meth:`ask_dqd` was not called before.
            ValueError: an array has the wrong length.
        """
        data = {"objective": objective, "measures": measures, **fields}
        self._tell("tell_dqd", "ask_dqd", data, jacobian=jacobian)

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
        self._tell("tell", "ask", {"objective": objective, "measures": measures, **fields})
