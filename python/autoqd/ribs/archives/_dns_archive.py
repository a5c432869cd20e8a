"""Dominated novelty search: a population of fixed size without cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd._native import dominated_novelty, nearest_neighbors
from autoqd.ribs._utils import check_shape, validate_batch, validate_single
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._distances import neighbors_by_tree, wraps_around
from autoqd.ribs.archives._stored_archive import StoredArchive
from autoqd.ribs.archives._utils import parse_all_dtypes
from autoqd.ribs.typing import BatchData, FieldDesc, Float, Int, SingleData


class DNSArchive(StoredArchive):
    """Keeps the solutions that are far from all better ones (Bahlous-Boldi et al. 2025).

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        measure_dim: The number of measures.
        capacity: The number of elites.
        k_neighbors: The number of better neighbours whose distances are averaged.
        qd_score_offset: What is subtracted from each objective in the QD score.
        seed: The seed of :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures.
        dtype: The type of all three.
        extra_fields: Shape and type of further fields.
        kdtree_kwargs: Arguments of ``scipy.spatial.KDTree``. ``boxsize`` has an effect; otherwise the search for
            neighbours is native and exact.
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        measure_dim: Int,
        capacity: Int,
        k_neighbors: Int,
        qd_score_offset: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
        kdtree_kwargs: dict | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1.")
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        self._open_store(
            dtypes=parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            capacity=capacity,
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
        )
        self._k_neighbors = int(k_neighbors)
        self._kdtree_kwargs = dict(kdtree_kwargs or {})

    @property
    def k_neighbors(self) -> int:
        """The number of better neighbours whose distances are averaged."""
        return self._k_neighbors

    @property
    def capacity(self) -> int:
        """The number of elites there is room for."""
        return self._store.capacity

    @property
    def cells(self) -> int:
        """The number of elites there is room for."""
        return self.capacity

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the elite nearest to each row of measures.

        Raises:
            RuntimeError: the archive is empty.
            ValueError: the measures have the wrong shape or are not finite.
        """
        measures = self._check_measures(measures)
        if self.empty:
            raise RuntimeError("index_of finds the nearest elite, and there is none; add a solution first.")
        elites = self._store._fields["measures"][: len(self)]
        if wraps_around(self._kdtree_kwargs):
            return neighbors_by_tree(elites, measures, 1, self._kdtree_kwargs)[1][:, 0].astype(np.int32)
        return nearest_neighbors(elites, measures, 1)[1][:, 0].astype(np.int32)

    def index_of_single(self, measures: ArrayLike) -> Int:
        """The number of the elite nearest to some measures."""
        return int(super().index_of_single(measures))

    def retrieve_single(self, measures: ArrayLike) -> tuple[bool, SingleData]:
        """The elite nearest to the given measures, and ``True``."""
        occupied, data = super().retrieve_single(self._check_measures(measures, check_shape))
        return bool(occupied), data

    def compute_dns(self, measures: ArrayLike, objectives: ArrayLike) -> np.ndarray:
        """The dominated novelty of each row: its mean distance to its nearest rows that are at least as good, infinite
        for the best."""
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        objectives = np.asarray(objectives, dtype=self.dtypes["objective"])
        return dominated_novelty(measures, objectives, self._k_neighbors)

    def add(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData:
        """Joins a batch of solutions with the archive and keeps those with the largest dominated novelty.

        Args:
            solution: One row per solution.
            objective: One number per solution; zeros when ``None``.
            measures: One row per solution.
            fields: The extra fields of the archive, one row per solution.

        Returns:
            ``"status"``, 2 for solutions that were kept, and ``"dns"``, their dominated novelty.
        """
        if objective is None:
            objective = np.zeros(len(solution), dtype=self.dtypes["objective"])
        data = validate_batch(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        before, names = len(self), self._store.field_list
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f"The fields {missing} of the archive were not given; pass all of them.")
        elites = self._store.data(names)
        joined = {name: np.concatenate((elites[name], data[name])) for name in names}
        novelty = self.compute_dns(joined["measures"], joined["objective"])
        kept = np.arange(len(novelty))
        if len(novelty) > self.capacity:
            kept = np.argpartition(novelty, -self.capacity)[-self.capacity :]
            kept = kept[np.argsort(novelty[kept])]
        status = np.zeros(len(novelty), dtype=np.int32)
        status[kept] = 2
        self._store.clear()
        self._forget()
        self._store.add(np.arange(len(kept)), {name: values[kept] for name, values in joined.items()})
        if len(kept) > 0:
            self._note_added(np.arange(len(kept)), joined["objective"][kept])
        return {"status": status[before:], "dns": novelty[before:]}

    def add_single(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData:
        """Offers one solution; the values of the result are arrays with one element."""
        objective = 0.0 if objective is None else objective
        data = validate_single(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        return self.add(**{name: [value] for name, value in data.items()})
