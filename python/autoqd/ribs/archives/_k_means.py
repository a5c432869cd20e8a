"""Centroids of cells of nearly equal size."""

from __future__ import annotations

import numbers
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd._native import NearestPoint
from autoqd.ribs._utils import check_batch_shape
from autoqd.ribs.archives._utils import parse_ranges
from autoqd.ribs.typing import Float, Int

_MAX_STEPS = 300
# Lloyd's algorithm ends when the squared moves of all centroids sum to less than this share of the samples' variance.
_TOLERANCE = 1e-4


def _lloyd(samples: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Moves centroids to the means of the samples nearest to them until they hardly move.

    A centroid without samples stays where it is.
    """
    small = _TOLERANCE * np.mean(np.var(samples, axis=0))
    for _ in range(_MAX_STEPS):
        nearest = NearestPoint(centroids).find(samples)
        counts = np.bincount(nearest, minlength=len(centroids))
        sums = np.stack([np.bincount(nearest, axis, minlength=len(centroids)) for axis in samples.T], axis=1)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centroids)
        shift = np.sum(np.square(moved - centroids))
        centroids = moved
        if shift <= small:
            break
    return centroids


def _k_means(samples: np.ndarray, centroids: int, seed) -> np.ndarray:
    if len(samples) < centroids:
        raise ValueError(f"{len(samples)} samples are too few for {centroids} centroids; use at least one for each.")
    # As scikit-learn draws the first centroids, so that a seed gives the centroids that it gives in pyribs.
    chance = np.full(len(samples), 1.0 / len(samples))
    start = np.random.RandomState(seed).choice(len(samples), size=centroids, replace=False, p=chance)
    points = samples.astype(np.float64)
    return _lloyd(points, points[start])


def k_means_centroids(
    *,
    centroids: Int,
    ranges: Collection[tuple[Float, Float]],
    samples: Int | ArrayLike = 100_000,
    dtype: DTypeLike = np.float64,
    seed: Int | None = None,
    k_means_kwargs: dict | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Centroids of cells of nearly equal size, by k-means of uniform samples.

    Args:
        centroids: How many.
        ranges: Lower and upper end of each measure.
        samples: How many samples, or the samples themselves.
        dtype: The type of centroids and samples.
        seed: The seed of samples and first centroids.
        k_means_kwargs: Arguments of ``sklearn.cluster.k_means``, which is then used and must be installed.

    Returns:
        The centroids and the samples, one row each.

    Raises:
        ValueError: the samples have the wrong shape or are fewer than the centroids.
    """
    lower, upper = parse_ranges(ranges, dtype)
    if isinstance(samples, numbers.Integral):
        rng = np.random.default_rng(seed)
        samples = rng.uniform(lower, upper, size=(samples, len(lower))).astype(dtype)
    else:
        samples = np.asarray(samples, dtype=dtype)
        check_batch_shape(samples, "samples", len(lower), "measure_dim", batch_name="num_samples")
    if k_means_kwargs is None:
        return _k_means(samples, centroids, seed).astype(dtype), samples
    from sklearn.cluster import k_means

    usual = {"n_init": 1, "init": "random", "algorithm": "lloyd", "random_state": seed}
    return k_means(samples, centroids, **{**usual, **k_means_kwargs})[0], samples
