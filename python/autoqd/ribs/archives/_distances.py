"""Nearest points under distances that are not Euclidean: by SciPy or scikit-learn, whose arguments ask for them.

The native search is exact and Euclidean. Arguments that only tune how a search is done need nothing from here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")


def wraps_around(kdtree_kwargs: dict | None) -> bool:
    """Whether the measures of a k-d tree lie on a torus."""
    return (kdtree_kwargs or {}).get("boxsize") is not None


def neighbors_by_tree(points, measures, k: int, kdtree_kwargs: dict) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the ``k`` nearest points, as many as there are, and the numbers of these points."""
    from scipy.spatial import KDTree

    nearest = np.arange(1, min(k, len(points)) + 1)
    distances, indices = KDTree(points, **kdtree_kwargs).query(measures, k=nearest)
    return distances.astype(measures.dtype), indices


def search_by(
    way: str,
    points: np.ndarray,
    kdtree_kwargs: dict | None,
    kdtree_query_kwargs: dict | None,
    sklearn_nn_kwargs: dict | None,
) -> Callable[[np.ndarray], np.ndarray] | None:
    """What finds the nearest point by the way that was asked for, or ``None`` where that is the native search's answer."""
    query = dict(kdtree_query_kwargs or {})
    if way == "scipy_kd_tree" and (query.get("p", 2) != 2 or "distance_upper_bound" in query or wraps_around(kdtree_kwargs)):
        from scipy.spatial import KDTree

        tree = KDTree(points, **(kdtree_kwargs or {}))
        return lambda measures: tree.query(measures, **query)[1]
    given = dict(sklearn_nn_kwargs or {})
    metric = given.get("metric", "minkowski")
    euclidean = metric in _EUCLIDEAN or (metric == "minkowski" and given.get("p", 2) == 2)
    if way == "sklearn_nn" and (not euclidean or given.get("metric_params")):
        from sklearn.neighbors import NearestNeighbors

        model = NearestNeighbors(**given).fit(points)
        return lambda measures: (
            model.kneighbors(measures, n_neighbors=1, return_distance=False)[:, 0] if len(measures) else np.empty(0)
        )
    return None
