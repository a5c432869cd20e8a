"""Archives with a fixed number of cells, each of which holds one elite and a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from autoqd._native import best_of_groups, sums_of_groups
from autoqd.ribs._utils import validate_batch, validate_single
from autoqd.ribs.archives._stored_archive import StoredArchive
from autoqd.ribs.typing import BatchData, Int, SingleData


class CellArchive(StoredArchive):
    """What archives with cells have in common: a solution enters a cell when it beats the cell's threshold.

    Without a learning rate the threshold is the objective of the elite. With one it follows the solutions that
    enter only slowly, as in CMA-MAE (Fontaine and Nikolaidis 2023).
    """

    @property
    def cells(self) -> Int:
        """The number of cells."""
        return self._store.capacity

    @property
    def learning_rate(self) -> float:
        """How far a threshold moves towards the objective of a solution that enters."""
        return self._learning_rate

    @property
    def threshold_min(self) -> float:
        """The threshold of empty cells."""
        return self._threshold_min

    @property
    def _elitist(self) -> bool:
        return self._threshold_min == -np.inf

    @staticmethod
    def _compute_thresholds(indices, objective, cur_threshold, learning_rate, dtype) -> np.ndarray:
        """The threshold of each row's cell after all rows have entered theirs at once.

        ``cur_threshold`` has a row per solution too. Equation 5 of the CMA-MAE paper, with the mean of the
        objectives that enter a cell in place of a single one.
        """
        if len(indices) == 0:
            return np.empty(0, dtype=dtype)
        sizes, sums = sums_of_groups(indices, objective)
        kept = (1.0 - np.float64(learning_rate)) ** sizes
        return (kept * cur_threshold + sums / sizes * (1.0 - kept)).astype(dtype)

    def add(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData:
        """Offers a batch of solutions. All are compared with the archive as it was before; of those that enter the
        same cell the best stays, the first on ties.

        Args:
            solution: One row per solution.
            objective: One number per solution.
            measures: One row per solution.
            fields: The extra fields of the archive, one row per solution.

        Returns:
            ``"status"``, an :class:`~autoqd.ribs.archives.AddStatus` per solution, and ``"value"``, the objective
            minus the threshold of the cell (or the objective, in an empty cell of an archive without thresholds).

        Raises:
            ValueError: shapes do not fit, an objective or a measure is not finite, or fields are missing.
        """
        data = validate_batch(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        indices, objective = self.index_of(data["measures"]), data["objective"]
        occupied, threshold = self._store.retrieve(indices, "threshold")
        vacant = ~occupied
        threshold[vacant] = self._threshold_min
        enters = objective > threshold
        if self._elitist:
            threshold[vacant] = 0.0
        status = np.zeros(len(indices), dtype=np.int32)
        status[enters] = np.where(occupied[enters], 1, 2)
        add_info = {"status": status, "value": objective - threshold}
        if enters.any():
            self._insert(indices, data, threshold, np.flatnonzero(enters))
        return add_info

    def _insert(self, indices, data, threshold, entering) -> None:
        """Writes the best of the rows ``entering`` to their cells."""
        indices, objective = indices[entering], data["objective"][entering]
        if self._elitist:
            threshold = objective
        else:
            threshold = self._compute_thresholds(
                indices, objective, threshold[entering], self._learning_rate, self.dtypes["threshold"]
            )
        best = best_of_groups(indices, objective)
        rows = entering[best]
        chosen = {name: values[rows] for name, values in data.items()}
        chosen["threshold"] = threshold[best]
        self._store.add(indices[best], chosen)
        self._note_added(indices[best], chosen["objective"])

    def add_single(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData:
        """Offers one solution; arguments and result are those of :meth:`add` for one solution."""
        data = validate_single(
            self, {"solution": solution, "objective": objective, "measures": measures, **fields}
        )
        index, objective = self.index_of_single(data["measures"]), data["objective"]
        occupied, threshold = self._store.retrieve([index], "threshold")
        if occupied[0]:
            threshold = threshold[0]
            enters = objective > threshold
        else:
            enters = objective > self._threshold_min
            threshold = np.zeros((), self.dtypes["threshold"]) if self._elitist else self._threshold_min
        if enters:
            rate = self._learning_rate
            data["threshold"] = threshold * (1.0 - rate) + objective * rate
            cell = index[None]
            self._store.add(cell, {name: np.expand_dims(value, axis=0) for name, value in data.items()})
            self._note_added(cell, objective[None])
        status = (1 if occupied[0] else 2) if enters else 0
        return {"status": np.int32(status), "value": objective - threshold}
