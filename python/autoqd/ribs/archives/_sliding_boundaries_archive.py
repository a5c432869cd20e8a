"""A grid whose boundaries follow the distribution of the measures."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd._native import best_of_groups
from autoqd.ribs._utils import validate_batch, validate_single
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._grid_archive import GridIndices, check_dims
from autoqd.ribs.archives._stored_archive import StoredArchive
from autoqd.ribs.archives._utils import parse_all_dtypes, parse_ranges
from autoqd.ribs.typing import BatchData, FieldDesc, Float, Int, SingleData


class SolutionBuffer:
    """The last solutions, whether or not they were good enough for the archive."""

    def __init__(self, buffer_capacity: Int, measure_dim: Int) -> None:
        self._queue = deque(maxlen=int(buffer_capacity))
        self._measure_dim = measure_dim

    def __iter__(self) -> Iterator[SingleData]:
        return iter(self._queue)

    def add(self, data: SingleData) -> None:
        """Appends a solution; the oldest leaves a full buffer."""
        self._queue.append(data)

    def full(self) -> bool:
        """Whether the next solution will push out another."""
        return len(self._queue) >= self._queue.maxlen

    @property
    def sorted_measures(self) -> np.ndarray:
        """The values of each measure in ascending order, one row per measure."""
        measures = [data["measures"] for data in self._queue]
        return np.sort(np.array(measures, dtype=np.float64).reshape(-1, self._measure_dim), axis=0).T

    @property
    def size(self) -> int:
        """How many solutions there are."""
        return len(self._queue)

    @property
    def capacity(self) -> Int:
        """How many solutions there can be."""
        return self._queue.maxlen


class SlidingBoundariesArchive(GridIndices, StoredArchive):
    """A grid whose boundaries are moved now and then so that equal numbers of recent solutions fall between them
    (Fontaine et al. 2019).

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        dims: The number of cells along each measure.
        ranges: Lower and upper end of each measure, before the boundaries move.
        epsilon: A small number that keeps measures at a boundary from falling into the cell below it by rounding.
        qd_score_offset: What is subtracted from each objective in the QD score.
        seed: The seed of :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures.
        dtype: The type of all three.
        extra_fields: Shape and type of further fields.
        remap_frequency: After how many solutions the boundaries move.
        buffer_capacity: How many recent solutions decide where to.
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        dims: Collection[Int],
        ranges: Collection[tuple[Float, Float]],
        epsilon: Float = 1e-6,
        qd_score_offset: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
        remap_frequency: Int = 100,
        buffer_capacity: Int = 1000,
    ) -> None:
        self._dims = np.array(dims)
        check_dims(dims, ranges)
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=len(self._dims))
        self._open_store(
            dtypes=parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            capacity=np.prod(self._dims),
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
        )
        number = self.dtypes["measures"]
        self._lower_bounds, self._upper_bounds = parse_ranges(ranges, number)
        self._interval_size = self._upper_bounds - self._lower_bounds
        self._epsilon = np.asarray(epsilon, dtype=number)
        ends = zip(self._lower_bounds, self._upper_bounds, self._dims, strict=True)
        self._boundaries = [np.linspace(lower, upper, n + 1, dtype=number) for lower, upper, n in ends]
        self._remap_frequency = remap_frequency
        self._buffer = SolutionBuffer(buffer_capacity, self.measure_dim)
        self._total_num_sol = 0

    @property
    def dims(self) -> np.ndarray:
        """The number of cells along each measure."""
        return self._dims

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self._store.capacity

    @property
    def lower_bounds(self) -> np.ndarray:
        """The lowest boundary of each measure."""
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        """The highest boundary of each measure."""
        return self._upper_bounds

    @property
    def interval_size(self) -> np.ndarray:
        """The distance between the two."""
        return self._interval_size

    @property
    def epsilon(self) -> float:
        """A small number that keeps measures at a boundary from falling into the cell below it by rounding."""
        return self._epsilon

    @property
    def remap_frequency(self) -> Int:
        """After how many solutions the boundaries move."""
        return self._remap_frequency

    @property
    def buffer_capacity(self) -> Int:
        """How many recent solutions decide where to."""
        return self._buffer.capacity

    @property
    def boundaries(self) -> list[np.ndarray]:
        """The boundaries of the cells along each measure, one more than cells."""
        return list(self._boundaries)

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the cell of each row of measures; that of the nearest cell outside the boundaries.

        Raises:
            ValueError: the measures have the wrong shape or are not finite.
        """
        measures = self._check_measures(measures) + self._epsilon
        measures = np.clip(measures, self._lower_bounds, self._upper_bounds - self._epsilon)
        columns = zip(self._boundaries, measures.T, strict=True)
        along = [np.maximum(np.searchsorted(bounds[:-1], values) - 1, 0) for bounds, values in columns]
        return np.ravel_multi_index(along, self._dims).astype(np.int32)

    def _remap(self) -> SingleData:
        """Moves the boundaries, fills the cells anew from the elites and the buffer, and says what became of the last
        solution."""
        for i, (values, dim) in enumerate(zip(self._buffer.sorted_measures, self._dims, strict=True)):
            quantiles = (np.arange(dim) * self._buffer.size / dim).astype(int)
            self._boundaries[i] = np.append(values[quantiles], values[-1]).astype(self.dtypes["measures"])
        elites = self._store.data(self._store.field_list)
        *recent, last = self._buffer
        self.clear()
        candidates = {name: self._joined(name, old, recent) for name, old in elites.items()}
        if len(candidates["objective"]) > 0:
            indices = self.index_of(candidates["measures"])
            best = best_of_groups(indices, candidates["objective"])
            self._store.add(indices[best], {name: values[best] for name, values in candidates.items()})
            # In the order in which they would have been occupied one after the other.
            cells, first = np.unique(indices, return_index=True)
            self._store._occupied_list[: len(cells)] = cells[np.argsort(first)]
            self._note_added(indices[best], candidates["objective"][best])
        return self._insert(last)

    def _joined(self, name, old, recent) -> np.ndarray:
        new = np.empty((len(recent), *old.shape[1:]), dtype=old.dtype)
        for i, data in enumerate(recent):
            new[i] = data[name]
        return np.concatenate((old, new))

    def _insert(self, data: SingleData) -> SingleData:
        index, objective = self.index_of_single(data["measures"]), data["objective"]
        occupied, current = self._store.retrieve([index], "objective")
        current = current[0] if occupied[0] else np.zeros((), dtype=self.dtypes["objective"])
        status = 0
        if not occupied[0] or objective > current:
            status, cell = (1 if occupied[0] else 2), index[None]
            self._store.add(cell, {name: np.expand_dims(value, axis=0) for name, value in data.items()})
            self._note_added(cell, np.expand_dims(objective, axis=0))
        return {"status": np.int32(status), "value": objective - current}

    def add(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData:
        """Offers solutions one after the other; the boundaries may move between two of them.

        Returns:
            ``"status"``, an :class:`~autoqd.ribs.archives.AddStatus` per solution, and ``"value"``, the objective
            minus that of the elite that was there (or the objective, in an empty cell).
        """
        data = validate_batch(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        count = len(data["solution"])
        added = [self._add_checked({name: values[i] for name, values in data.items()}) for i in range(count)]
        if count == 0:
            return {}
        return {name: np.array([info[name] for info in added]) for name in added[0]}

    def add_single(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData:
        """Offers one solution; arguments and result are those of :meth:`add` for one solution."""
        data = {"solution": solution, "objective": objective, "measures": measures, **fields}
        return self._add_checked(validate_single(self, data))

    def _add_checked(self, data: SingleData) -> SingleData:
        self._buffer.add(data)
        self._total_num_sol += 1
        if self._total_num_sol % self._remap_frequency != 0:
            return self._insert(data)
        add_info = self._remap()
        self._lower_bounds = np.array([bounds[0] for bounds in self._boundaries])
        self._upper_bounds = np.array([bounds[-1] for bounds in self._boundaries])
        self._interval_size = self._upper_bounds - self._lower_bounds
        return add_info
