"""Rankers for novelty search with local competition, which order solutions by several numbers at once."""

from __future__ import annotations

import numpy as np

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase
from autoqd.ribs.emitters._rankers import RankerBase
from autoqd.ribs.typing import BatchData, Int


def _fast_non_dominated_sort(costs: np.ndarray) -> list[np.ndarray]:
    """Rows in fronts: the first has those that no row dominates, the second those that only the first dominates, ...

    Within a front they come in the order in which the algorithm of NSGA-II (Deb et al. 2002) finds them: when the last
    of the rows that dominate them has been visited.
    """
    no_worse = (costs[:, None] <= costs[None, :]).all(axis=2)
    better = (costs[:, None] < costs[None, :]).any(axis=2)
    dominates = no_worse & better
    fronts, left = [], np.ones(len(costs), dtype=bool)
    while left.any():
        front = np.flatnonzero(left & ~dominates[left].any(axis=0))
        left[front] = False
        if fronts:
            latest_first = dominates[fronts[-1][::-1]][:, front]
            front = front[np.argsort(-np.argmax(latest_first, axis=0), kind="stable")]
        fronts.append(front)
    return fronts


def _crowding_distance(costs: np.ndarray) -> np.ndarray:
    """How much room each row has among the others: the sum over columns of the distance between its two neighbours
    relative to the whole range, infinite at the ends (Deb et al. 2002)."""
    distance = np.zeros(len(costs))
    for column in costs.T:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        distance[order[[0, -1]]] = np.inf
        width = ordered[-1] - ordered[0]
        if width > 0:
            distance[order[1:-1]] += (ordered[2:] - ordered[:-2]) / width
    return distance


class NSLCRanker(RankerBase):
    """By fronts of novelty and local competition, within a front by crowding distance, ``"nslc"``.

    Args:
        seed: Not used.
        diversity_field: A field of ``add_info`` or of the solutions that counts as a third number to maximise.
    """

    def __init__(self, seed: Int | None = None, diversity_field: str | None = None) -> None:
        super().__init__(seed)
        self._diversity_field = diversity_field

    @property
    def diversity_field(self) -> str | None:
        """The field that counts as a third number."""
        return self._diversity_field

    def _columns(self, data, add_info) -> list[np.ndarray]:
        names = ["novelty", "local_competition"]
        for name in names:
            if name not in add_info:
                raise KeyError(
                    f"{type(self).__name__} requires a '{name}' field in add_info; ProximityArchive with "
                    "local_competition=True has it."
                )
        columns = [add_info[name] for name in names]
        name = self._diversity_field
        if name is not None:
            if name not in add_info and name not in data:
                raise KeyError(f"diversity_field='{name}' is neither in add_info nor a field of the solutions.")
            names.append(name)
            columns.append(add_info[name] if name in add_info else data[name])
        columns = [np.asarray(column, dtype=np.float64) for column in columns]
        for name, column in zip(names, columns, strict=True):
            if column.shape != columns[0].shape:
                what = "diversity_field '{name}'" if name == self._diversity_field else "'{name}'"
                raise ValueError(
                    f"{what.format(name=name)} has shape {column.shape}; expected {columns[0].shape}: it must have the "
                    "same shape as 'novelty'."
                )
        return columns

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by fronts, within a front by crowding distance.

        Raises:
            KeyError: novelty, local competition or the diversity field are missing.
            ValueError: their shapes differ.
        """
        ranking_values = np.stack(self._columns(data, add_info), axis=-1)
        order = [
            front[np.argsort(-_crowding_distance(-ranking_values[front]), kind="stable")]
            for front in _fast_non_dominated_sort(-ranking_values)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *order]), ranking_values


class NSLCClassicRanker(NSLCRanker):
    """The same with the field ``genotypic_diversity`` as the third number, ``"nslc_classic"`` (Lehman and Stanley
    2011)."""

    def __init__(self, seed: Int | None = None) -> None:
        super().__init__(seed, diversity_field="genotypic_diversity")
