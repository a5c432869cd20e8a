"""Rankers that order solutions by one or two numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase
from autoqd.ribs.typing import BatchData, Int


def _descending(values) -> tuple[np.ndarray, np.ndarray]:
    return np.flip(np.argsort(values)), values


def _by_status_and(values, add_info) -> tuple[np.ndarray, np.ndarray]:
    """New solutions before improved ones before the others; among equals by the values."""
    ranking_values = np.stack((add_info["status"], values), axis=-1)
    return np.flip(np.lexsort((ranking_values[:, 1], ranking_values[:, 0]))), ranking_values


class RankerBase(ABC):
    """The base of all rankers.

    Args:
        seed: The seed of its random numbers.
    """

    def __init__(self, seed: Int | None = None) -> None:
        self._rng = np.random.default_rng(seed)

    @abstractmethod
    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions.

        Args:
            emitter: The emitter that made them.
            archive: Its archive.
            data: The fields of the solutions.
            add_info: What became of them.

        Returns:
            The numbers of the solutions, the best first, and the values that decided, one row per solution in the
            order of ``data``.
        """

    def reset(self, emitter: EmitterBase, archive: ArchiveBase) -> None:
        """Prepares for a restart of the emitter."""


class ImprovementRanker(RankerBase):
    """By the improvement over what the archive had: CMA-MAE's ranker, ``"imp"``."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["value"]``."""
        return _descending(add_info["value"])


class TwoStageImprovementRanker(RankerBase):
    """By status, then by the improvement: CMA-ME's improvement emitter, ``"2imp"``."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["status"]``, then ``add_info["value"]``."""
        return _by_status_and(add_info["value"], add_info)


class RandomDirectionRanker(RankerBase):
    """By the projection of the measures on a random direction, ``"rd"``."""

    def __init__(self, seed: Int | None = None) -> None:
        super().__init__(seed)
        self._target_measure_dir = None

    @property
    def target_measure_dir(self) -> np.ndarray:
        """The direction; ``None`` before the first :meth:`reset`."""
        return self._target_measure_dir

    @target_measure_dir.setter
    def target_measure_dir(self, value: np.ndarray) -> None:
        self._target_measure_dir = value

    def _project(self, data: BatchData) -> np.ndarray:
        if self._target_measure_dir is None:
            raise RuntimeError("target measure direction not set; call reset() first")
        return np.dot(data["measures"], self._target_measure_dir)

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by the projection of their measures."""
        return _descending(self._project(data))

    def reset(self, emitter: EmitterBase, archive: ArchiveBase) -> None:
        """Draws a direction, isotropic when each measure is scaled to its range."""
        ranges = archive.upper_bounds - archive.lower_bounds
        self._target_measure_dir = self._rng.standard_normal(len(ranges)) * ranges


class TwoStageRandomDirectionRanker(RandomDirectionRanker):
    """By status, then by the projection on a random direction: CMA-ME's random direction emitter, ``"2rd"``."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["status"]``, then the projection of their measures."""
        return _by_status_and(self._project(data), add_info)


class ObjectiveRanker(RankerBase):
    """By the objective, ``"obj"``."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by their objective."""
        return _descending(data["objective"])


class TwoStageObjectiveRanker(RankerBase):
    """By status, then by the objective, ``"2obj"``."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["status"]``, then their objective."""
        return _by_status_and(data["objective"], add_info)


class NoveltyRanker(RankerBase):
    """By novelty, ``"nov"``; for archives that report it."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["novelty"]``."""
        return _descending(add_info["novelty"])


class DensityRanker(RankerBase):
    """By the density of the measures, the least dense first, ``"density"``; for archives that report it."""

    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders solutions by ``add_info["density"]``."""
        return np.argsort(add_info["density"]), add_info["density"]
