"""What every emitter has."""

from __future__ import annotations

import numbers
from abc import ABC
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import check_batch_shape, check_shape
from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.typing import BatchData, Float, Int


def _split_bounds(bounds, solution_dim, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds from one pair per parameter, in which ``None`` means unbounded."""
    if len(bounds) != solution_dim:
        raise ValueError("If it is an array-like, bounds must have length solution_dim")
    pairs = [(None, None) if pair is None else tuple(pair) for pair in bounds]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("All entries of bounds must be length 2")
    lower = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    upper = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return np.array(lower, dtype=dtype), np.array(upper, dtype=dtype)


class EmitterBase(ABC):
    """The base of all emitters. One of your own overrides :meth:`ask` and, if it learns, :meth:`tell`.

    Args:
        archive: The archive that the emitter looks at.
        solution_dim: The number of parameters of a solution, or its shape.
        bounds: A pair of bounds per parameter; ``None`` for no bound, also inside a pair.
        lower_bounds: Instead of ``bounds``: all lower bounds.
        upper_bounds: Instead of ``bounds``: all upper bounds.

    Raises:
        ValueError: bounds were given in both ways or have the wrong shape.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        solution_dim: Int | tuple[Int, ...],
        bounds: Collection[tuple[None | Float, None | Float]] | None,
        lower_bounds: ArrayLike | None,
        upper_bounds: ArrayLike | None,
    ) -> None:
        self._archive = archive
        self._solution_dim = solution_dim
        dtype = archive.dtypes["solution"]
        if bounds is not None:
            if lower_bounds is not None or upper_bounds is not None:
                raise ValueError("Cannot specify both bounds and lower_bounds/upper_bounds; give one of the two.")
            self._lower_bounds, self._upper_bounds = _split_bounds(bounds, solution_dim, dtype)
            return
        lower = np.full(solution_dim, -np.inf) if lower_bounds is None else lower_bounds
        upper = np.full(solution_dim, np.inf) if upper_bounds is None else upper_bounds
        self._lower_bounds, self._upper_bounds = np.asarray(lower, dtype=dtype), np.asarray(upper, dtype=dtype)
        check_shape(self._lower_bounds, "lower_bounds", solution_dim, "solution_dim")
        check_shape(self._upper_bounds, "upper_bounds", solution_dim, "solution_dim")

    @property
    def archive(self) -> ArchiveBase:
        """The archive that the emitter looks at."""
        return self._archive

    @property
    def solution_dim(self) -> Int | tuple[Int, ...]:
        """The number of parameters of a solution, or its shape."""
        return self._solution_dim

    @property
    def lower_bounds(self) -> np.ndarray:
        """The lower bound of each parameter."""
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper bound of each parameter."""
        return self._upper_bounds

    @property
    def _solution_shape(self) -> tuple:
        dim = self._solution_dim
        return (dim,) if isinstance(dim, numbers.Integral) else tuple(dim)

    def _clip(self, solutions: np.ndarray) -> np.ndarray:
        return np.clip(solutions, self._lower_bounds, self._upper_bounds)

    def ask(self) -> np.ndarray:
        """Solutions to evaluate, one row each; none unless overridden."""
        return np.empty((0, *self._solution_shape), dtype=self._archive.dtypes["solution"])

    def tell(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Tells what became of the solutions of :meth:`ask`; ignored unless overridden."""

    def ask_dqd(self) -> np.ndarray:
        """Solutions whose gradients are wanted, one row each; none unless overridden."""
        return np.empty((0, *self._solution_shape), dtype=self._archive.dtypes["solution"])

    def tell_dqd(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        jacobian: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Tells what became of the solutions of :meth:`ask_dqd` and their gradients; ignored unless overridden."""


class VariationEmitter(EmitterBase):
    """An emitter that varies elites; until there are any, it starts from ``x0`` or from given solutions."""

    def _start_from(self, x0, initial_solutions, batch_size) -> None:
        if x0 is None and initial_solutions is None:
            raise ValueError("Either x0 or initial_solutions must be provided.")
        if x0 is not None and initial_solutions is not None:
            raise ValueError("x0 and initial_solutions cannot both be provided.")
        dtype, dim = self._archive.dtypes["solution"], self._archive.solution_dim
        self._x0 = None
        self._initial_solutions = None
        if x0 is not None:
            self._x0 = np.array(x0, dtype=dtype)
            check_shape(self._x0, "x0", dim, "archive.solution_dim")
        else:
            self._initial_solutions = np.asarray(initial_solutions, dtype=dtype)
            check_batch_shape(self._initial_solutions, "initial_solutions", dim, "archive.solution_dim")
        self._batch_size = batch_size

    @property
    def x0(self) -> np.ndarray | None:
        """Where the emitter starts, if it does so at one point."""
        return self._x0

    @property
    def initial_solutions(self) -> np.ndarray | None:
        """The solutions that the emitter emits first, if there are any."""
        return self._initial_solutions

    @property
    def batch_size(self) -> Int:
        """How many solutions :meth:`ask` returns."""
        return self._batch_size

    @property
    def _at_start(self) -> bool:
        return self._archive.empty and self._initial_solutions is not None

    def _parents(self, count) -> np.ndarray:
        if self._archive.empty:
            return np.repeat(self._x0[None], repeats=count, axis=0)
        return self._archive.sample_elites(count)["solution"]
