"""Pictures with a point per elite."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from autoqd.ribs.visualize._utils import (
    compute_vmin_vmax,
    elite_fields,
    retrieve_cmap,
    set_cbar,
    validate_heatmap_visual_args,
)

# Room around the outermost elites of archives without ranges.
MARGIN = 0.01


def extent(measures, measure_dim) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of a picture that has all measures in it."""
    if len(measures) == 0:
        measures = np.zeros((1, measure_dim))
    return np.min(measures, axis=0) - MARGIN, np.max(measures, axis=0) + MARGIN


def _scatter(ax, measures, objective, lower, upper, transpose, aspect, cmap, vmin, vmax, ms, rasterized):
    x, y = measures.T[::-1] if transpose else measures.T
    ax = plt.gca() if ax is None else ax
    ax.set_xlim(lower[0], upper[0])
    ax.set_ylim(lower[1], upper[1])
    ax.set_aspect("auto" if aspect is None else aspect)
    vmin, vmax = compute_vmin_vmax(vmin, vmax, objective)
    points = ax.scatter(x, y, s=ms, c=objective, cmap=cmap, vmin=vmin, vmax=vmax, rasterized=rasterized)
    return ax, points


def sliding_boundaries_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    ms=None,
    boundary_lw=0,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
) -> None:
    """The elites of a ``SlidingBoundariesArchive`` with two measures, as points coloured by their objectives.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to draw instead of those in the archive.
        transpose_measures: Whether the first measure goes upwards.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        aspect: ``"auto"``, ``"equal"`` or a number.
        ms: The size of the points.
        boundary_lw: The width of the boundaries between cells; 0 draws none.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.
        rasterized: Whether the points become pixels in vector formats.

    Raises:
        ValueError: the archive has another number of measures, or an argument is invalid.
    """
    message = "Heatmap can only be plotted for a 2D SlidingBoundariesArchive"
    validate_heatmap_visual_args(aspect, cbar, archive.measure_dim, [2], message)
    measures, objective = elite_fields(archive, df, "measures", "objective")
    turn = slice(None, None, -1 if transpose_measures else 1)
    lower, upper = archive.lower_bounds[turn], archive.upper_bounds[turn]
    x_boundary, y_boundary = archive.boundaries[turn]
    cmap = retrieve_cmap(cmap)
    ax, points = _scatter(
        ax, measures, objective, lower, upper, transpose_measures, aspect, cmap, vmin, vmax, ms, rasterized
    )
    if boundary_lw > 0.0:
        style = {"color": "k", "linewidth": boundary_lw, "rasterized": rasterized}
        ax.vlines(x_boundary, lower[1], upper[1], **style)
        ax.hlines(y_boundary, lower[0], upper[0], **style)
    set_cbar(points, ax, cbar, cbar_kwargs)


def proximity_archive_plot(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    ms=None,
    lower_bounds=None,
    upper_bounds=None,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
) -> None:
    """The elites of a ``ProximityArchive`` with two measures, as points coloured by their objectives.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to draw instead of those in the archive.
        transpose_measures: Whether the first measure goes upwards.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        aspect: ``"auto"``, ``"equal"`` or a number.
        ms: The size of the points.
        lower_bounds: The lower ends of the picture; those of the elites when left out.
        upper_bounds: The upper ends of the picture; those of the elites when left out.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.
        rasterized: Whether the points become pixels in vector formats.

    Raises:
        ValueError: the archive has another number of measures, or an argument is invalid.
    """
    message = "Plot can only be made for a 2D ProximityArchive"
    validate_heatmap_visual_args(aspect, cbar, archive.measure_dim, [2], message)
    measures, objective = elite_fields(archive, df, "measures", "objective")
    least, most = extent(measures, archive.measure_dim)
    turn = slice(None, None, -1 if transpose_measures else 1)
    lower = (least if lower_bounds is None else np.asarray(lower_bounds))[turn]
    upper = (most if upper_bounds is None else np.asarray(upper_bounds))[turn]
    cmap = retrieve_cmap(cmap)
    ax, points = _scatter(
        ax, measures, objective, lower, upper, transpose_measures, aspect, cmap, vmin, vmax, ms, rasterized
    )
    set_cbar(points, ax, cbar, cbar_kwargs)
