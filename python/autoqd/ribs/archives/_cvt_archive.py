"""Voronoi cells over the measures."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd._native import NearestPoint
from autoqd.ribs._utils import check_batch_shape
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._cell_archive import CellArchive
from autoqd.ribs.archives._distances import search_by
from autoqd.ribs.archives._k_means import k_means_centroids
from autoqd.ribs.archives._utils import parse_all_dtypes, parse_ranges, validate_cma_mae_settings
from autoqd.ribs.typing import FieldDesc, Float, Int

_REMOVED = {
    "cells": "centroids",
    "custom_centroids": "centroids",
    "centroid_method": "centroids that you make yourself",
    "use_kd_tree": "nearest_neighbors",
    "ckdtree_kwargs": "kdtree_kwargs",
}


class CVTArchive(CellArchive):
    """Voronoi cells around centroids, whose number does not grow with the number of measures.

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        centroids: How many, found by k-means; or one row per centroid; or a file of NumPy with them.
        ranges: Lower and upper end of each measure, in which k-means samples.
        learning_rate: How far a threshold moves towards a solution that enters its cell (CMA-MAE).
        threshold_min: The threshold of empty cells (CMA-MAE).
        qd_score_offset: What is subtracted from each objective in the QD score.
        seed: The seed of k-means and :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures.
        dtype: The type of all three.
        extra_fields: Shape and type of further fields.
        samples: How many samples k-means uses, or the samples themselves.
        k_means_kwargs: Arguments of ``sklearn.cluster.k_means``, which is then used and must be installed.
        nearest_neighbors: One of pyribs' ways to find the nearest centroid. All of them are the same native search,
            unless the arguments of the way ask for another distance: then it is SciPy's or scikit-learn's.
        kdtree_kwargs: Arguments of ``scipy.spatial.KDTree``; ``boxsize`` has an effect.
        kdtree_query_kwargs: Arguments of its ``query``; ``p`` and ``distance_upper_bound`` have an effect.
        chunk_size: No effect.
        sklearn_nn_kwargs: Arguments of ``sklearn.neighbors.NearestNeighbors``; those of the metric have an effect.
        cells: Not accepted any more, like the four after it; the error says what to use.
        custom_centroids: Not accepted any more.
        centroid_method: Not accepted any more.
        use_kd_tree: Not accepted any more.
        ckdtree_kwargs: Not accepted any more.
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        centroids: Int | ArrayLike | str | Path,
        ranges: Collection[tuple[Float, Float]],
        learning_rate: Float | None = None,
        threshold_min: Float = -np.inf,
        qd_score_offset: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
        samples: Int | ArrayLike = 100_000,
        k_means_kwargs: dict | None = None,
        nearest_neighbors: Literal["scipy_kd_tree", "brute_force", "sklearn_nn"] = "scipy_kd_tree",
        kdtree_kwargs: dict | None = None,
        kdtree_query_kwargs: dict | None = None,
        chunk_size: Int = None,
        sklearn_nn_kwargs: dict | None = None,
        cells: None = None,
        custom_centroids: None = None,
        centroid_method: None = None,
        use_kd_tree: None = None,
        ckdtree_kwargs: None = None,
    ) -> None:
        removed = (cells, custom_centroids, centroid_method, use_kd_tree, ckdtree_kwargs)
        for (name, successor), value in zip(_REMOVED.items(), removed, strict=True):
            if value is not None:
                raise ValueError(f"`{name}` is deprecated in pyribs 0.9.0; use {successor} instead.")
        if nearest_neighbors not in ("scipy_kd_tree", "brute_force", "sklearn_nn"):
            raise ValueError(f"Unknown value `{nearest_neighbors}` for nearest_neighbors.")
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=len(ranges))
        dtypes = parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype)
        if isinstance(centroids, numbers.Integral):
            centroids, _ = k_means_centroids(
                centroids=centroids,
                ranges=ranges,
                samples=samples,
                dtype=dtypes[2],
                seed=seed,
                k_means_kwargs=k_means_kwargs,
            )
        elif isinstance(centroids, (str, Path)):
            centroids = np.load(centroids)
        self._centroids = np.asarray(centroids, dtype=dtypes[2])
        check_batch_shape(
            self._centroids, "centroids", self.measure_dim, "measure_dim", batch_name="num_centroids"
        )
        self._way = (nearest_neighbors, kdtree_kwargs, kdtree_query_kwargs, sklearn_nn_kwargs)
        self._find = self._search()
        self._open_store(
            dtypes=dtypes,
            capacity=len(self._centroids),
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
            threshold=True,
        )
        self._lower_bounds, self._upper_bounds = parse_ranges(ranges, self.dtypes["measures"])
        self._interval_size = self._upper_bounds - self._lower_bounds
        self._learning_rate, self._threshold_min = validate_cma_mae_settings(
            learning_rate, threshold_min, self.dtypes["threshold"]
        )

    def _search(self):
        way, *arguments = self._way
        return search_by(way, self._centroids, *arguments) or NearestPoint(self._centroids).find

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "_find"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._find = self._search()

    @property
    def lower_bounds(self) -> np.ndarray:
        """The lower end of each measure."""
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper end of each measure."""
        return self._upper_bounds

    @property
    def interval_size(self) -> np.ndarray:
        """The width of the range of each measure."""
        return self._interval_size

    @property
    def centroids(self) -> np.ndarray:
        """The centroids, one row per cell."""
        return self._centroids

    @property
    def samples(self) -> None:
        """Not stored any more; ``k_means_centroids`` returns them."""
        raise ValueError("CVTArchive.samples is deprecated in pyribs 0.9.0; k_means_centroids returns the samples.")

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the centroid nearest to each row of measures.

        Raises:
            ValueError: the measures have the wrong shape or are not finite.
        """
        return self._find(self._check_measures(measures)).astype(np.int32, copy=False)
