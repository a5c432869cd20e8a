"""What every archive has."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.archives._archive_stats import ArchiveStats
from autoqd.ribs.typing import BatchData, Int, SingleData


def _missing(name: str) -> NotImplementedError:
    return NotImplementedError(f"`{name}` is not implemented in this archive")


class ArchiveBase(ABC):
    """The base of all archives. An archive of your own overrides what it supports; the rest is an error when called.

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        objective_dim: ``()`` for one objective.
        measure_dim: The number of measures.
    """

    def __init__(
        self, *, solution_dim: Int | tuple[Int, ...], objective_dim: tuple[()] | Int, measure_dim: Int
    ) -> None:
        self._solution_dim = solution_dim
        self._objective_dim = objective_dim
        self._measure_dim = measure_dim

    @property
    def solution_dim(self) -> Int | tuple[Int, ...]:
        """The number of parameters of a solution, or its shape."""
        return self._solution_dim

    @property
    def objective_dim(self) -> tuple[()] | Int:
        """``()`` for one objective."""
        return self._objective_dim

    @property
    def measure_dim(self) -> Int:
        """The number of measures."""
        return self._measure_dim

    @property
    def field_list(self) -> list[str]:
        """The names of the fields."""
        raise _missing("field_list")

    @property
    def dtypes(self) -> dict[str, np.dtype]:
        """The type of each field."""
        raise _missing("dtypes")

    @property
    def stats(self) -> ArchiveStats:
        """The numbers that describe the archive."""
        raise _missing("stats")

    @property
    def empty(self) -> bool:
        """Whether there is no elite."""
        raise _missing("empty")

    def __len__(self) -> int:
        """The number of elites."""
        raise _missing("__len__")

    def __iter__(self) -> Iterator[SingleData]:
        """The elites, each as a dictionary of its fields."""
        raise _missing("__iter__")

    def add(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData:
        """Offers a batch of solutions and says what became of each."""
        raise _missing("add")

    def add_single(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData:
        """Offers one solution and says what became of it."""
        raise _missing("add_single")

    def clear(self) -> None:
        """Removes all elites."""
        raise _missing("clear")

    def retrieve(self, measures: ArrayLike) -> tuple[np.ndarray, BatchData]:
        """The elites in the cells of the given measures, and which of the cells have one."""
        raise _missing("retrieve")

    def retrieve_single(self, measures: ArrayLike) -> tuple[bool, SingleData]:
        """The elite in the cell of the given measures, and whether there is one."""
        raise _missing("retrieve_single")

    def data(
        self,
        fields: None | Collection[str] | str = None,
        return_type: None | Literal["dict", "tuple", "pandas"] = None,
    ) -> np.ndarray | BatchData | tuple[np.ndarray]:
        """The fields of all elites."""
        raise _missing("data")

    def sample_elites(self, n: Int, replace: bool = True) -> BatchData:
        """Elites drawn at random."""
        raise _missing("sample_elites")
