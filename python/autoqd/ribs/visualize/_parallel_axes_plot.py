"""A line per elite across one axis per measure."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from autoqd.ribs.visualize._points import extent
from autoqd.ribs.visualize._utils import compute_vmin_vmax, retrieve_cmap, set_cbar, validate_df


def _parse_order(measure_order, measure_dim) -> tuple[np.ndarray, list[str]]:
    """Numbers and labels of the measures, from left to right."""
    if measure_order is None:
        measure_order = range(measure_dim)
    if all(isinstance(entry, int) for entry in measure_order):
        measure_order = [(entry, f"measure_{entry}") for entry in measure_order]
    shape = (int, str)
    if not all(len(entry) == 2 and all(map(isinstance, entry, shape)) for entry in measure_order):
        raise TypeError("measure_order must be a list of ints or a list of tuples in the form (int, str)")
    columns, labels = zip(*measure_order, strict=True)
    if max(columns) >= measure_dim:
        raise ValueError(f"Invalid Measures: requested {max(columns)}, but the archive has {measure_dim} measures.")
    if min(columns) < 0:
        raise ValueError("Invalid Measures: requested a negative measure index.")
    return np.array(columns), list(labels)


def _draw_axes(host, labels, lower, upper) -> None:
    """An upright axis per measure, evenly spaced."""
    count = len(labels)
    for i, axis in enumerate([host, *(host.twinx() for _ in range(count - 1))]):
        axis.set_ylim(lower[i], upper[i])
        axis.spines["top"].set_visible(False)
        axis.spines["bottom"].set_visible(False)
        if i > 0:
            axis.spines["left"].set_visible(False)
            axis.yaxis.set_ticks_position("right")
            axis.spines["right"].set_position(("axes", i / (count - 1)))
    host.set_xlim(0, count - 1)
    host.set_xticks(range(count))
    host.set_xticklabels(labels)
    host.tick_params(axis="x", which="major", pad=7)
    host.spines["right"].set_visible(False)
    host.xaxis.tick_top()


def parallel_axes_plot(
    archive,
    ax=None,
    *,
    df=None,
    measure_order=None,
    cmap="magma",
    linewidth=1.5,
    alpha=0.8,
    vmin=None,
    vmax=None,
    sort_archive=False,
    cbar="auto",
    cbar_kwargs=None,
) -> None:
    """A line per elite across one upright axis per measure, coloured by the objective; for any number of measures.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to draw instead of those in the archive.
        measure_order: The measures from left to right, as numbers or as pairs of number and label.
        cmap: The colour map: a name, a list of colours, or one of matplotlib's.
        linewidth: The width of the lines.
        alpha: The opacity of the lines.
        vmin: The objective of the first colour; the least when left out.
        vmax: The objective of the last colour; the largest when left out.
        sort_archive: Whether better elites are drawn over worse ones.
        cbar: ``"auto"`` for a colour bar, ``None`` for none, or the axes to draw it on.
        cbar_kwargs: Arguments of ``Figure.colorbar``.

    Raises:
        TypeError: ``measure_order`` is neither of the two.
        ValueError: there is no such measure.
    """
    cmap = retrieve_cmap(cmap)
    columns, labels = _parse_order(measure_order, archive.measure_dim)
    df = archive.data(return_type="pandas") if df is None else validate_df(df)
    least, most = extent(df.get_field("measures"), archive.measure_dim)
    lower = getattr(archive, "lower_bounds", least)[columns]
    upper = getattr(archive, "upper_bounds", most)[columns]
    host = plt.gca() if ax is None else ax
    vmin, vmax = compute_vmin_vmax(vmin, vmax, df["objective"])
    if sort_archive:
        df = df.sort_values("objective")
    objective, heights = df.get_field("objective"), df.get_field("measures")[:, columns]
    # All lines are drawn on the first axis, in its units.
    width = upper - lower
    heights[:, 1:] = (heights[:, 1:] - lower[1:]) / width[1:] * width[0] + lower[0]
    _draw_axes(host, labels, lower, upper)
    colors = cmap(Normalize(vmin=vmin, vmax=vmax, clip=True)(objective))
    for line, color in zip(heights, colors, strict=True):
        host.plot(range(len(columns)), line, c=color, alpha=alpha, linewidth=linewidth)
    mappable = ScalarMappable(cmap=cmap)
    mappable.set_clim(vmin, vmax)
    set_cbar(mappable, host, cbar, {"orientation": "horizontal", "pad": 0.1, **(cbar_kwargs or {})})
