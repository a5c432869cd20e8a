"""The continuous quality-diversity score."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import check_is_1d
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.typing import Float, Int


@dataclasses.dataclass
class CQDScoreResult:
    """The continuous quality-diversity score and what it was computed with."""

    iterations: Int
    """How often it was computed."""
    mean: Float
    """The mean of the scores."""
    scores: np.ndarray
    """The scores."""
    target_points: np.ndarray
    """The target points of each of them."""
    penalties: np.ndarray
    """The penalties."""
    obj_min: Float
    """The least objective."""
    obj_max: Float
    """The largest objective."""
    dist_max: Float
    """The largest distance."""
    dist_ord: Any
    """The order of the norm; ``None`` is the Euclidean one."""


def cqd_score(
    archive: ArchiveBase,
    *,
    iterations: Int,
    target_points: ArrayLike,
    penalties: Int | ArrayLike,
    obj_min: Float,
    obj_max: Float,
    dist_max: Float,
    dist_ord: Int | Float | Literal["fro", "nuc"] = None,
) -> CQDScoreResult:
    """The continuous quality-diversity score (Kent et al. 2022).

    For each target point and penalty the elite counts that is best by objective minus penalty times distance to the
    target, both normalised.

    Args:
        archive: The archive.
        iterations: How many sets of target points there are.
        target_points: The sets, an array of shape ``(iterations, n, measure_dim)``.
        penalties: How many penalties evenly spaced between 0 and 1, or the penalties.
        obj_min: The least objective.
        obj_max: The largest objective.
        dist_max: The largest distance between measures.
        dist_ord: The order of the norm; the Euclidean one when left out.

    Raises:
        ValueError: the target points or the penalties have the wrong shape.
    """
    target_points = np.array(target_points)
    expected = (iterations, archive.measure_dim)
    if target_points.ndim != 3 or (target_points.shape[0], target_points.shape[2]) != expected:
        raise ValueError(
            f"Expected target_points to be a 3D array with shape ({iterations}, n, {archive.measure_dim}), i.e. "
            f"(iterations, n, measure_dim), but it has shape {target_points.shape}."
        )
    if np.isscalar(penalties):
        penalties = np.linspace(0, 1, penalties)
    else:
        penalties = np.array(penalties)
        check_is_1d(penalties, "penalties")
    quality = archive.data("objective") / (obj_max - obj_min)
    measures = archive.data("measures")
    scores = np.zeros(iterations)
    for i, targets in enumerate(target_points):
        distances = np.linalg.norm(measures[:, None] - targets, ord=dist_ord, axis=2) / dist_max
        for penalty in penalties:
            scores[i] += np.sum(np.max(quality[:, None] - penalty * distances, axis=0))
    return CQDScoreResult(
        iterations=iterations,
        mean=np.mean(scores),
        scores=scores,
        target_points=target_points,
        penalties=penalties,
        obj_min=obj_min,
        obj_max=obj_max,
        dist_max=dist_max,
        dist_ord=dist_ord,
    )
