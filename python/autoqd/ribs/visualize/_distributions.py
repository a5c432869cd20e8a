"""Distributions of objectives."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

from autoqd.ribs.visualize._utils import compute_vmin_vmax, retrieve_cmap, validate_df


def _objectives(archive, df, function) -> np.ndarray:
    if df is not None:
        return validate_df(df).get_field("objective")
    try:
        return archive.data("objective")
    except NotImplementedError as error:
        raise AttributeError(f"To use {function}, the archive must have the data() method.") from error


def archive_ecdf(archive, df=None, **kwargs):
    """The empirical distribution function of the objectives, drawn by ``seaborn.ecdfplot``.

    Args:
        archive: The archive.
        df: Elites to use instead of those in the archive.
        kwargs: Arguments of ``seaborn.ecdfplot``, such as ``complementary=True`` and ``stat="count"``.

    Returns:
        The axes.

    Raises:
        AttributeError: the archive has no ``data()``.
    """
    from seaborn import ecdfplot

    return ecdfplot(_objectives(archive, df, "archive_ecdf"), **kwargs)


def archive_histogram(
    archive,
    ax=None,
    *,
    df=None,
    bins=100,
    vmin=None,
    vmax=None,
    ylim=None,
    color="#7e57c2",
    cmap=None,
    rasterized=False,
    hist_kwargs=None,
) -> None:
    """A histogram of the objectives.

    Args:
        archive: The archive.
        ax: Where to draw; the current axes when left out.
        df: Elites to use instead of those in the archive.
        bins: The number of bars, or their boundaries.
        vmin: The left end; the least objective when left out.
        vmax: The right end; the largest objective when left out.
        ylim: The upper end of the upright axis.
        color: The colour of the bars.
        cmap: A colour map to colour them by their objective instead.
        rasterized: Whether the bars become pixels in vector formats.
        hist_kwargs: Arguments of ``Axes.hist``.

    Raises:
        AttributeError: the archive has no ``data()``.
    """
    objectives = _objectives(archive, df, "archive_histogram")
    vmin, vmax = compute_vmin_vmax(vmin, vmax, objectives)
    ax = plt.gca() if ax is None else ax
    ax.set_axisbelow(True)
    for side in ("right", "top", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(color="0.9", linestyle="-", axis="y")
    if ylim is not None:
        ax.set_ylim(top=ylim)
    style = {"bins": bins, "range": (vmin, vmax), "color": color, "rasterized": rasterized}
    _, edges, bars = ax.hist(objectives, **{**(hist_kwargs or {}), **style})
    if cmap is not None:
        colors = retrieve_cmap(cmap)(Normalize(vmin, vmax)(0.5 * (edges[:-1] + edges[1:])))
        for bar, shade in zip(bars, colors, strict=True):
            bar.set(facecolor=shade)


def _accumulate(counts, cumulative) -> np.ndarray:
    if cumulative > 0:
        return np.cumsum(counts, axis=1)
    return np.cumsum(counts[:, ::-1], axis=1)[:, ::-1] if cumulative < 0 else counts


def _band(counts, center, errorbar) -> tuple[np.ndarray, np.ndarray]:
    if errorbar == "iqr":
        low, high = np.percentile(counts, (25, 75), axis=0)
        return low, high
    if errorbar == "sd":
        spread = counts.std(axis=0)
    else:
        spread = counts.std(axis=0, ddof=1) / np.sqrt(len(counts))
    return center - spread, center + spread


def aggregate_cdf(
    archives,
    ax=None,
    dfs=None,
    cumulative=True,
    bins=100,
    vmin=None,
    vmax=None,
    estimator="mean",
    errorbar="sd",
    show_edges=True,
) -> tuple:
    """The number of elites up to each objective, as a mean over several archives with a band.

    Args:
        archives: The archives, for instance one per seed.
        ax: Where to draw; the current axes when left out.
        dfs: Elites to use instead of those in the archives, one table per archive.
        cumulative: ``True`` counts elites up to an objective, ``-1`` from it on, ``False`` per bin.
        bins: The number of bins, or their boundaries.
        vmin: The left end; the least objective when left out.
        vmax: The right end; the largest objective when left out.
        estimator: ``"mean"`` or ``"median"``.
        errorbar: The band: ``"sd"``, ``"se"``, ``"iqr"`` or ``None``.
        show_edges: Whether the line goes down to 0 at the ends.

    Returns:
        The line and the band (or ``None``).

    Raises:
        AttributeError: an archive has no ``data()``.
        ValueError: no such estimator or band, or another number of tables than archives.
    """
    if dfs is not None and len(dfs) != len(archives):
        raise ValueError("If passed in, the number of dfs must equal the number of archives.")
    if estimator not in ("mean", "median"):
        raise ValueError(f"Unknown estimator {estimator}; use 'mean' or 'median'.")
    if errorbar not in (None, "sd", "se", "iqr"):
        raise ValueError(f"Unknown errorbar {errorbar}; use 'sd', 'se', 'iqr' or None.")
    tables = [None] * len(archives) if dfs is None else dfs
    pairs = zip(archives, tables, strict=True)
    objectives = [_objectives(archive, df, "aggregate_cdf") for archive, df in pairs]
    ends = compute_vmin_vmax(vmin, vmax, np.concatenate(objectives))
    edges = np.histogram_bin_edges(objectives[0], bins, range=ends)
    counts = np.stack([np.histogram(one, edges)[0] for one in objectives])
    counts = _accumulate(counts, cumulative)
    center = np.mean(counts, axis=0) if estimator == "mean" else np.median(counts, axis=0)
    ax = plt.gca() if ax is None else ax
    line = ax.stairs(values=center, edges=edges, baseline=0 if show_edges else None)
    if errorbar is None:
        return line, None
    low, high = _band(counts, center, errorbar)
    band = ax.stairs(
        values=high, edges=edges, baseline=low, fill=True, alpha=0.2, color=line.get_edgecolor()
    )
    return line, band
