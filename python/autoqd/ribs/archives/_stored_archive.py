"""Archives whose elites are the occupied rows of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import check_batch_shape, check_finite, check_shape
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._archive_stats import ArchiveStats
from autoqd.ribs.archives._array_store import ArrayStore
from autoqd.ribs.archives._utils import fill_sentinel_values
from autoqd.ribs.typing import BatchData, Int, SingleData


class StoredArchive(ArchiveBase):
    """What archives have in common whose elites are the occupied rows of a store."""

    def _open_store(self, *, dtypes, capacity, extra_fields, qd_score_offset, seed, threshold=False) -> None:
        """Makes the store with the usual fields. ``dtypes``: those of solutions, objectives and measures."""
        solution_dtype, objective_dtype, measures_dtype = dtypes
        usual = {
            "solution": (self.solution_dim, solution_dtype),
            "objective": ((), objective_dtype),
            "measures": (self.measure_dim, measures_dtype),
        }
        if threshold:
            usual["threshold"] = ((), objective_dtype)
        extra_fields = extra_fields or {}
        reserved = [*usual, "index"]
        if not extra_fields.keys().isdisjoint(reserved):
            raise ValueError(f"The following names are not allowed in extra_fields: {reserved}")
        self._rng = np.random.default_rng(seed)
        self._store = ArrayStore({**usual, **extra_fields}, capacity)
        self._qd_score_offset = np.asarray(qd_score_offset, dtype=self.dtypes["objective"])
        self._forget()

    def _forget(self) -> None:
        self._best_elite = None
        self._stats = None

    @property
    def field_list(self) -> list[str]:
        """The names of the fields."""
        return self._store.field_list_with_index

    @property
    def dtypes(self) -> dict[str, np.dtype]:
        """The type of each field."""
        return self._store.dtypes_with_index

    @property
    def stats(self) -> ArchiveStats:
        """The numbers that describe the archive as it is now."""
        if self._stats is None:
            self._stats = self._compute_stats()
        return self._stats

    @property
    def empty(self) -> bool:
        """Whether there is no elite."""
        return len(self._store) == 0

    @property
    def best_elite(self) -> SingleData | None:
        """The elite with the best objective ever seen, which an archive with thresholds may have replaced since."""
        return self._best_elite

    @property
    def qd_score_offset(self) -> float:
        """What is subtracted from each objective in the QD score."""
        return self._qd_score_offset

    def __len__(self) -> int:
        """The number of elites."""
        return len(self._store)

    def __iter__(self) -> Iterator[SingleData]:
        """The elites, each as a dictionary of its fields."""
        return iter(self._store)

    def _compute_stats(self) -> ArchiveStats:
        count, number = len(self), self.dtypes["objective"].type
        if count == 0:
            zero = np.zeros((), dtype=number)
            return ArchiveStats(0, zero, zero, zero, None, None)
        total = np.sum(self._store.data("objective"), dtype=number)
        qd_score = number(total - number(count) * self._qd_score_offset)
        return ArchiveStats(
            num_elites=count,
            coverage=np.asarray(count / self.cells, dtype=number),
            qd_score=qd_score,
            norm_qd_score=np.asarray(qd_score / self.cells, dtype=number),
            obj_max=self._best_elite["objective"],
            obj_mean=np.asarray(total / count, dtype=number),
        )

    def _note_added(self, indices, objective) -> None:
        """Takes note of elites that have just been written to the given rows."""
        self._stats = None
        best = np.argmax(objective)
        if self._best_elite is None or objective[best] > self._best_elite["objective"]:
            _, elite = self._store.retrieve(indices[best : best + 1])
            self._best_elite = {name: values[0] for name, values in elite.items()}

    def _check_measures(self, measures: ArrayLike, check=check_batch_shape) -> np.ndarray:
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check(measures, "measures", self.measure_dim, "measure_dim")
        if np.issubdtype(measures.dtype, np.number):
            check_finite(measures, "measures")
        return measures

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the cell of each row of measures."""
        raise NotImplementedError("`index_of` is not implemented in this archive")

    def index_of_single(self, measures: ArrayLike) -> Int:
        """The number of the cell of some measures.

        Raises:
            ValueError: the measures have the wrong shape or are not finite.
        """
        return self.index_of(self._check_measures(measures, check_shape)[None])[0]

    def clear(self) -> None:
        """Removes all elites."""
        self._store.clear()
        self._forget()

    def retrieve(self, measures: ArrayLike) -> tuple[np.ndarray, BatchData]:
        """The elites in the cells of the given measures, one per row.

        Returns:
            Which of the cells have an elite, and the fields of the elites. Where there is none they are NaN, ``None``
            for objects, -1 for ``index`` and 0 for other integers.

        Raises:
            ValueError: the measures have the wrong shape or are not finite.
        """
        occupied, data = self._store.retrieve(self.index_of(self._check_measures(measures)))
        fill_sentinel_values(occupied, data)
        return occupied, data

    def retrieve_single(self, measures: ArrayLike) -> tuple[bool, SingleData]:
        """The elite in the cell of the given measures, and whether there is one."""
        occupied, data = self.retrieve(self._check_measures(measures, check_shape)[None])
        return occupied[0], {name: values[0] for name, values in data.items()}

    def data(
        self,
        fields: None | Collection[str] | str = None,
        return_type: None | Literal["dict", "tuple", "pandas"] = None,
    ) -> np.ndarray | BatchData | tuple[np.ndarray]:
        """Copies of the fields of all elites.

        Args:
            fields: Which fields; all when left out.
            return_type: ``"dict"``, ``"tuple"`` or ``"pandas"`` (an ``ArchiveDataFrame``). When left out: the array
                itself for a single name, a dictionary otherwise.
        """
        return self._store.data(fields, return_type)

    def sample_elites(self, n: Int, replace: bool = True) -> BatchData:
        """Elites drawn at random.

        Args:
            n: How many.
            replace: Whether an elite may be drawn more than once.

        Raises:
            IndexError: the archive is empty.
            ValueError: ``n`` different ones were asked for and there are fewer.
        """
        if self.empty:
            raise IndexError("No elements in archive; add solutions before sampling.")
        if not replace and n > len(self):
            raise ValueError(
                f"Cannot take a larger sample than the number of elites in the archive ({n} of {len(self)}) without "
                "drawing some twice; use replace=True."
            )
        chosen = self._rng.choice(len(self), size=n, replace=replace)
        return self._store.retrieve(self._store.occupied_list[chosen])[1]
