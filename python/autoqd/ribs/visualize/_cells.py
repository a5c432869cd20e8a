"""Heat maps of archives with cells."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection

from autoqd.ribs.visualize._utils import (
    archive_heatmap_1d,
    colors_of,
    compute_vmin_vmax,
    elite_fields,
    retrieve_cmap,
    set_cbar,
    validate_heatmap_visual_args,
)


def _prepare_axes(ax, lower, upper, aspect):
    ax = plt.gca() if ax is None else ax
    ax.set_xlim(lower[0], upper[0])
    ax.set_ylim(lower[1], upper[1])
    ax.set_aspect(aspect)
    return ax


def _default_aspect(archive, aspect):
    if aspect is not None:
        return aspect
    return 0.5 if archive.measure_dim == 1 else "auto"


def grid_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
    pcm_kwargs=None,
) -> None:
    """A heat map of the objectives in a ``GridArchive`` with one or two measures.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to draw instead of those in the archive.
        transpose_measures: Whether the first measure goes upwards.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        aspect: ``"auto"``, ``"equal"`` or a number.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.
        rasterized: Whether the cells become pixels in vector formats.
        pcm_kwargs: Arguments of ``Axes.pcolormesh``.

    Raises:
        ValueError: the archive has more measures, or an argument is invalid.
    """
    validate_heatmap_visual_args(
        aspect, cbar, archive.measure_dim, [1, 2], "Heatmap can only be plotted for a 1D or 2D GridArchive"
    )
    aspect, cmap = _default_aspect(archive, aspect), retrieve_cmap(cmap)
    index, objective = elite_fields(archive, df, "index", "objective")
    cells = np.full(tuple(archive.dims), np.nan)
    cells[tuple(archive.int_to_grid_index(index).T)] = objective
    if archive.measure_dim == 1:
        archive_heatmap_1d(
            archive,
            cell_boundaries=archive.boundaries[0],
            cell_objectives=cells,
            ax=ax,
            cmap=cmap,
            aspect=aspect,
            vmin=vmin,
            vmax=vmax,
            cbar=cbar,
            cbar_kwargs=cbar_kwargs,
            rasterized=rasterized,
            pcm_kwargs=pcm_kwargs,
        )
        return
    lower, upper, (x_bounds, y_bounds) = archive.lower_bounds, archive.upper_bounds, archive.boundaries
    # Rows of the picture are the second measure.
    cells = cells.T
    if transpose_measures:
        x_bounds, y_bounds, lower, upper, cells = y_bounds, x_bounds, lower[::-1], upper[::-1], cells.T
    ax = _prepare_axes(ax, lower, upper, aspect)
    vmin, vmax = compute_vmin_vmax(vmin, vmax, objective)
    mesh = ax.pcolormesh(
        x_bounds, y_bounds, cells, cmap=cmap, vmin=vmin, vmax=vmax, rasterized=rasterized, **(pcm_kwargs or {})
    )
    set_cbar(mesh, ax, cbar, cbar_kwargs)


def _strip_of_centroids(archive, index, objective) -> tuple[np.ndarray, np.ndarray]:
    """Boundaries and objectives of cells along one measure, in ascending order."""
    order = np.argsort(archive.centroids[:, 0])
    centers = archive.centroids[order, 0]
    middles = (centers[:-1] + centers[1:]) / 2.0
    boundaries = np.concatenate((archive.lower_bounds[:1], middles, archive.upper_bounds[:1]))
    objectives = np.full(archive.cells, np.nan)
    objectives[index] = objective
    return boundaries, objectives[order]


def _voronoi_polygons(centroids, lower, upper):
    """The corners of every finite Voronoi cell, and the number of its centroid (-1 for auxiliary points)."""
    from scipy.spatial import Voronoi

    # Points far outside close the cells at the border.
    far = 1000.0 * (upper - lower)
    corners = [upper + far, upper + far * [-1, 1], lower - far, lower + far * [1, -1]]
    voronoi = Voronoi(np.append(centroids, corners, axis=0))
    owner = np.full(len(voronoi.regions), -1)
    owner[voronoi.point_region[: len(centroids)]] = np.arange(len(centroids))
    return [
        (voronoi.vertices[region], number)
        for region, number in zip(voronoi.regions, owner, strict=True)
        if len(region) > 0 and -1 not in region
    ]


def _clip_polygon(corners, area) -> list[np.ndarray]:
    """The parts of a polygon inside an area of shapely."""
    import shapely

    inside = shapely.Polygon(corners).intersection(area)
    parts = inside.geoms if isinstance(inside, shapely.MultiPolygon) else [inside]
    return [np.asarray(part.exterior.coords) for part in parts if not part.is_empty]


def cvt_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    lw=0.5,
    ec="black",
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
    clip=False,
    plot_centroids=False,
    ms=1,
    pcm_kwargs=None,
    plot_samples=None,
) -> None:
    """A heat map of the objectives in a ``CVTArchive`` with one or two measures.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to draw instead of those in the archive.
        transpose_measures: Whether the first measure goes upwards.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        aspect: ``"auto"``, ``"equal"`` or a number.
        lw: The width of the edges of cells.
        ec: The colour of the edges of cells.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.
        rasterized: Whether the cells become pixels in vector formats.
        clip: Whether to cut cells at the ranges of the archive, or a polygon of shapely to cut them at.
        plot_centroids: Whether to draw the centroids.
        ms: The size of the centroids.
        pcm_kwargs: Arguments of ``Axes.pcolormesh``, for one measure.
        plot_samples: Not accepted any more.

    Raises:
        ValueError: the archive has more measures, or an argument is invalid.
    """
    if plot_samples is not None:
        raise ValueError("`plot_samples` is deprecated in pyribs 0.9.0, as archives do not store samples.")
    validate_heatmap_visual_args(
        aspect, cbar, archive.measure_dim, [1, 2], "Heatmap can only be plotted for a 1D or 2D CVTArchive"
    )
    aspect, cmap = _default_aspect(archive, aspect), retrieve_cmap(cmap)
    index, objective = elite_fields(archive, df, "index", "objective")
    if archive.measure_dim == 1:
        boundaries, objectives = _strip_of_centroids(archive, index, objective)
        ax = archive_heatmap_1d(
            archive,
            cell_boundaries=boundaries,
            cell_objectives=objectives,
            ax=ax,
            cmap=cmap,
            aspect=aspect,
            vmin=vmin,
            vmax=vmax,
            cbar=cbar,
            cbar_kwargs=cbar_kwargs,
            rasterized=rasterized,
            pcm_kwargs={**(pcm_kwargs or {}), "linewidth": lw, "edgecolor": ec},
        )
        if plot_centroids:
            ax.plot(archive.centroids[:, 0], np.full(len(archive.centroids), 0.5), "o", c="black", ms=ms)
        return
    lower, upper, centroids = archive.lower_bounds, archive.upper_bounds, archive.centroids
    if transpose_measures:
        lower, upper, centroids = lower[::-1], upper[::-1], centroids[:, ::-1]
    ax = _prepare_axes(ax, lower, upper, aspect)
    vmin, vmax = compute_vmin_vmax(vmin, vmax, objective)
    # One more, for the auxiliary points, whose number is -1.
    objectives = np.full(archive.cells + 1, np.nan)
    objectives[index] = objective
    polygons = _voronoi_polygons(centroids, lower, upper)
    if clip:
        area = clip
        if clip is True:
            from shapely import box

            area = box(lower[0], lower[1], upper[0], upper[1])
        polygons = [(part, number) for corners, number in polygons for part in _clip_polygon(corners, area)]
    numbers = np.array([number for _, number in polygons], dtype=int)
    cells = PolyCollection(
        [corners for corners, _ in polygons],
        edgecolors=ec,
        facecolors=colors_of(cmap, objectives[numbers], vmin, vmax),
        linewidths=lw,
        rasterized=rasterized,
    )
    ax.add_collection(cells)
    if plot_centroids:
        ax.plot(centroids[:, 0], centroids[:, 1], "o", c="black", ms=ms)
    mappable = ScalarMappable(cmap=cmap)
    mappable.set_clim(vmin, vmax)
    set_cbar(mappable, ax, cbar, cbar_kwargs)
