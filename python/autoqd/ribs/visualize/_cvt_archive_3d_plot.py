"""Voronoi cells in three dimensions."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from autoqd.ribs.visualize._utils import (
    colors_of,
    compute_vmin_vmax,
    elite_fields,
    retrieve_cmap,
    set_cbar,
    validate_heatmap_visual_args,
)


def _voronoi_faces(centroids, lower, upper) -> tuple[list[np.ndarray], np.ndarray]:
    """The faces of all cells within the box, and the number of each face's centroid."""
    from scipy.spatial import Voronoi

    # Mirror images of the centroids make the sides of the box boundaries between cells.
    points = [centroids]
    for end in (lower, upper):
        for axis in range(3):
            mirrored = centroids.copy()
            mirrored[:, axis] = 2.0 * end[axis] - centroids[:, axis]
            points.append(mirrored)
    voronoi = Voronoi(np.concatenate(points))
    faces, owners = [], []
    for neighbors, corners in zip(voronoi.ridge_points, voronoi.ridge_vertices, strict=True):
        inside = [number for number in neighbors if number < len(centroids)]
        faces += [voronoi.vertices[corners]] * len(inside)
        owners += inside
    return faces, np.array(owners, dtype=int)


def cvt_archive_3d_plot(
    archive,
    ax=None,
    *,
    df=None,
    measure_order=None,
    cmap="magma",
    lw=0.5,
    ec=(0.0, 0.0, 0.0, 0.1),
    cell_alpha=1.0,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    plot_elites=False,
    elite_ms=100,
    elite_alpha=0.5,
    plot_centroids=False,
    ms=1,
    plot_samples=None,
) -> None:
    """The cells of a ``CVTArchive`` with three measures, coloured by their objectives.

    Args:
        archive: The archive.
        ax: Where to draw, axes in three dimensions; new ones when left out.
        df: Elites to draw instead of those in the archive.
        measure_order: The measures of the three axes: a permutation of 0, 1 and 2.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        lw: The width of the edges of cells.
        ec: The colour of the edges of cells.
        cell_alpha: The opacity of cells.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.
        plot_elites: Whether to draw the elites as points.
        elite_ms: The size of the elites.
        elite_alpha: The opacity of the elites.
        plot_centroids: Whether to draw the centroids.
        ms: The size of the centroids.
        plot_samples: Not accepted any more.

    Raises:
        ValueError: the archive has another number of measures, or an argument is invalid.
    """
    if plot_samples is not None:
        raise ValueError("`plot_samples` is deprecated in pyribs 0.9.0, as archives do not store samples.")
    message = "This plot can only be made for a 3D CVTArchive"
    validate_heatmap_visual_args(None, cbar, archive.measure_dim, [3], message)
    order = [0, 1, 2] if measure_order is None else list(measure_order)
    if sorted(order) != [0, 1, 2]:
        raise ValueError(f"measure_order should be a permutation of [0, 1, 2] but received {measure_order}")
    cmap = retrieve_cmap(cmap)
    index, measures, objective = elite_fields(archive, df, "index", "measures", "objective")
    lower, upper = archive.lower_bounds[order], archive.upper_bounds[order]
    centroids, measures = archive.centroids[:, order], measures[:, order]
    vmin, vmax = compute_vmin_vmax(vmin, vmax, objective)
    ax = plt.axes(projection="3d") if ax is None else ax
    for set_limits, least, most in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), lower, upper, strict=True):
        set_limits(least, most)
    objectives = np.full(archive.cells, np.nan)
    objectives[index] = objective
    faces, owners = _voronoi_faces(centroids, lower, upper)
    colors = colors_of(cmap, objectives[owners], vmin, vmax)
    colors[~np.isnan(objectives[owners]), 3] = cell_alpha
    ax.add_collection(Poly3DCollection(faces, edgecolor=[ec] * len(faces), facecolor=colors, lw=lw))
    if plot_elites:
        ax.scatter(
            *measures.T, s=elite_ms, c=objective, cmap=cmap, vmin=vmin, vmax=vmax, lw=0.0, alpha=elite_alpha
        )
    if plot_centroids:
        ax.plot(*centroids.T, "o", c="black", ms=ms)
    mappable = ScalarMappable(cmap=cmap)
    mappable.set_clim(vmin, vmax)
    set_cbar(mappable, ax, cbar, cbar_kwargs)
