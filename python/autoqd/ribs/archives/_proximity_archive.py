"""An archive without cells, which a solution enters when it is far from those that are there."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd._native import best_of_groups, nearest_neighbors
from autoqd.ribs._utils import validate_batch, validate_single
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._distances import neighbors_by_tree, wraps_around
from autoqd.ribs.archives._stored_archive import StoredArchive
from autoqd.ribs.archives._utils import parse_all_dtypes
from autoqd.ribs.typing import BatchData, FieldDesc, Float, Int, SingleData


class ProximityArchive(StoredArchive):
    """A solution enters when the mean distance of its measures to those of its nearest neighbours, its novelty, is
    large enough. The archive grows as needed.

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        measure_dim: The number of measures.
        k_neighbors: The number of neighbours in the novelty.
        novelty_threshold: The novelty that a solution needs.
        local_competition: Whether a solution that is not novel replaces its nearest neighbour when it is better.
        initial_capacity: The number of elites there is room for at first.
        qd_score_offset: What is subtracted from each objective in the QD score.
        threshold_decay_rate: Factor on the novelty threshold after a while without a novel solution.
        threshold_decay_itrs: How many calls of :meth:`add` that while is.
        threshold_decay_min: Where the threshold stops.
        seed: The seed of :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures.
        dtype: The type of all three.
        extra_fields: Shape and type of further fields.
        kdtree_kwargs: Arguments of ``scipy.spatial.KDTree``. ``boxsize`` has an effect; otherwise the search for
            neighbours is native and exact.
        ckdtree_kwargs: Not accepted any more.
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        measure_dim: Int,
        k_neighbors: Int,
        novelty_threshold: Float,
        local_competition: bool = False,
        initial_capacity: Int = 128,
        qd_score_offset: Float = 0.0,
        threshold_decay_rate: Float | None = None,
        threshold_decay_itrs: Int = 1,
        threshold_decay_min: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
        kdtree_kwargs: dict | None = None,
        ckdtree_kwargs: None = None,
    ) -> None:
        if ckdtree_kwargs is not None:
            raise ValueError("`ckdtree_kwargs` is deprecated in pyribs 0.9.0; use `kdtree_kwargs` instead.")
        if initial_capacity < 1:
            raise ValueError("initial_capacity must be at least 1.")
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        self._open_store(
            dtypes=parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            capacity=initial_capacity,
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
        )
        self._k_neighbors = int(k_neighbors)
        self._kdtree_kwargs = dict(kdtree_kwargs or {})
        self._novelty_threshold = np.asarray(novelty_threshold, dtype=self.dtypes["measures"])
        self._local_competition = local_competition
        self._decay = None
        self._itrs_without_novel = 0
        if threshold_decay_rate is not None:
            if not 0.0 < threshold_decay_rate <= 1.0:
                raise ValueError("threshold_decay_rate must be above 0.0 and at most 1.0.")
            if threshold_decay_itrs <= 0:
                raise ValueError("threshold_decay_itrs must be a positive integer.")
            if threshold_decay_min < 0.0:
                raise ValueError("threshold_decay_min must not be negative.")
            self._decay = (float(threshold_decay_rate), int(threshold_decay_itrs), float(threshold_decay_min))

    @property
    def k_neighbors(self) -> int:
        """The number of neighbours in the novelty."""
        return self._k_neighbors

    @property
    def novelty_threshold(self) -> float:
        """The novelty that a solution needs."""
        return self._novelty_threshold

    @property
    def local_competition(self) -> bool:
        """Whether a solution that is not novel replaces its nearest neighbour when it is better."""
        return self._local_competition

    @property
    def capacity(self) -> int:
        """The number of elites there is room for at present."""
        return self._store.capacity

    @property
    def cells(self) -> int:
        """The number of elites: the archive has no empty cells."""
        return len(self)

    def _neighbors(self, measures, k) -> tuple[np.ndarray, np.ndarray]:
        # Elites occupy the first rows, in the order in which they came.
        elites = self._store._fields["measures"][: len(self)]
        if wraps_around(self._kdtree_kwargs):
            return neighbors_by_tree(elites, measures, k, self._kdtree_kwargs)
        return nearest_neighbors(elites, measures, k)

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the elite nearest to each row of measures.

        Raises:
            RuntimeError: the archive is empty.
            ValueError: the measures have the wrong shape or are not finite.
        """
        measures = self._check_measures(measures)
        if self.empty:
            raise RuntimeError("index_of finds the nearest elite, and there is none; add a solution first.")
        return self._neighbors(measures, 1)[1][:, 0].astype(np.int32)

    def compute_novelty(
        self, measures: ArrayLike, local_competition: ArrayLike | None = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The mean distance of each row of measures to its nearest neighbours in the archive.

        Args:
            measures: One row per solution.
            local_competition: The objectives of the solutions. The result then has a second array: how many of the
                neighbours are worse.
        """
        measures = np.asarray(measures)
        if self.empty:
            novelty = np.full(len(measures), self._novelty_threshold, dtype=self.dtypes["measures"])
            worse = np.zeros(len(measures), dtype=np.int32)
        else:
            distances, neighbors = self._neighbors(measures, self._k_neighbors)
            novelty = np.mean(distances, axis=1)
            if local_competition is not None:
                objectives = self._store._fields["objective"][neighbors]
                beaten = objectives < np.asarray(local_competition)[:, None]
                worse = np.sum(beaten, axis=1, dtype=np.int32)
        return novelty if local_competition is None else (novelty, worse)

    def _make_room(self, count: int) -> None:
        capacity = self.capacity
        while capacity < count:
            capacity *= 2
        if capacity > self.capacity:
            self._store.resize(capacity)

    def _update_threshold(self, any_novel: bool) -> None:
        if self._decay is None:
            return
        rate, itrs, lowest = self._decay
        self._itrs_without_novel = 0 if any_novel else self._itrs_without_novel + 1
        if self._itrs_without_novel >= itrs:
            lower = max(lowest, self._novelty_threshold * rate)
            self._novelty_threshold = np.asarray(lower, dtype=self.dtypes["measures"])
            self._itrs_without_novel = 0

    def add(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData:
        """Offers a batch of solutions. All are compared with the archive as it was before.

        Args:
            solution: One row per solution.
            objective: One number per solution; zeros when ``None``, which local competition does not allow.
            measures: One row per solution.
            fields: The extra fields of the archive, one row per solution.

        Returns:
            ``"status"`` and ``"novelty"`` per solution; with local competition also ``"value"``, the objective minus
            that of the nearest elite for solutions that are not novel, and ``"local_competition"``, the number of
            worse neighbours.
        """
        if objective is None:
            if self._local_competition:
                raise ValueError("With local competition the objective must be given.")
            objective = np.zeros(len(solution), dtype=self.dtypes["objective"])
        data = validate_batch(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        objective = data["objective"]
        competing = objective if self._local_competition else None
        found = self.compute_novelty(data["measures"], competing)
        novelty = found[0] if self._local_competition else found
        novel = novelty >= self._novelty_threshold
        add_info = {"status": np.where(novel, 2, 0).astype(np.int32)}
        rows, indices = np.flatnonzero(novel), np.arange(len(self), len(self) + np.count_nonzero(novel))
        if self._local_competition:
            better, places = self._compete(data, ~novel, add_info)
            rows, indices = np.concatenate((better, rows)), np.concatenate((places, indices))
            add_info |= {"novelty": novelty, "local_competition": found[1]}
        else:
            add_info["novelty"] = novelty
        self._make_room(len(self) + np.count_nonzero(novel))
        if len(rows) > 0:
            self._store.add(indices, {name: values[rows] for name, values in data.items()})
            self._note_added(indices, objective[rows])
        self._update_threshold(bool(novel.any()))
        return add_info

    def _compete(self, data, familiar, add_info) -> tuple[np.ndarray, np.ndarray]:
        """Rows that replace their nearest elite, and the elites they replace. Writes status and value."""
        rows, objective = np.flatnonzero(familiar), data["objective"]
        add_info["value"] = objective.copy()
        if len(rows) == 0:
            return rows, np.empty(0, dtype=np.int32)
        places = self.index_of(data["measures"][rows])
        improvement = objective[rows] - self._store._fields["objective"][places]
        add_info["value"][rows] = improvement
        better = improvement > 0.0
        add_info["status"][rows] = better
        rows, places = rows[better], places[better]
        best = best_of_groups(places, objective[rows])
        return rows[best], places[best]

    def add_single(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData:
        """Offers one solution; the values of the result are arrays with one element."""
        if objective is None and not self._local_competition:
            objective = 0.0
        data = validate_single(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        return self.add(**{name: [value] for name, value in data.items()})
