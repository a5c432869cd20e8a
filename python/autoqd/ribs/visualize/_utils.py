"""What the pictures share."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

# Half the width of the colour range when there is only one objective, or none.
_HALF_WIDTH = 0.1


def retrieve_cmap(cmap):
    """A colour map from its name or a list of colours."""
    if isinstance(cmap, str):
        return plt.get_cmap(cmap)
    return ListedColormap(cmap) if isinstance(cmap, Sequence) else cmap


def validate_heatmap_visual_args(aspect, cbar, measure_dim, valid_dims, error_msg_measure_dim) -> None:
    """Refuses arguments that make no picture."""
    if not (aspect is None or isinstance(aspect, float) or aspect in ("auto", "equal")):
        raise ValueError(f"Invalid arg aspect='{aspect}'; must be 'auto', 'equal', or float")
    if measure_dim not in valid_dims:
        raise ValueError(error_msg_measure_dim)
    if not (cbar is None or isinstance(cbar, Axes) or cbar == "auto"):
        raise ValueError(f"Invalid arg cbar={cbar}; must be 'auto', None, or matplotlib.axes.Axes")


def validate_df(df):
    """The table as one of elites."""
    from autoqd.ribs.archives import ArchiveDataFrame

    return df if isinstance(df, ArchiveDataFrame) else ArchiveDataFrame(df)


def elite_fields(archive, df, *names) -> list[np.ndarray]:
    """Fields of the elites, from the table where one was given."""
    if df is None:
        return [archive.data(name) for name in names]
    df = validate_df(df)
    return [df.get_field(name) for name in names]


def set_cbar(t, ax, cbar, cbar_kwargs) -> None:
    """Draws the colour bar, on the axes themselves or on those given for it."""
    target = ax if isinstance(cbar, str) else cbar
    if target is not None:
        target.figure.colorbar(t, ax=target, **(cbar_kwargs or {}))


def compute_vmin_vmax(vmin, vmax, objectives) -> tuple[float, float]:
    """The ends of the colour range: those given, otherwise those of the objectives, never equal.

    Raises:
        ValueError: ``vmax`` is below ``vmin``.
    """
    if vmin is not None and vmax is not None and vmax < vmin:
        raise ValueError(f"vmax ({vmax}) must be greater than or equal to vmin ({vmin})")
    least, most = (np.min(objectives), np.max(objectives)) if len(objectives) > 0 else (None, None)
    if vmin is None and vmax is None:
        low, high = (0.0, 0.0) if least is None else (least, most)
    elif vmax is None:
        return (vmin, most) if most is not None and vmin < most else (vmin, vmin + 2.0 * _HALF_WIDTH)
    elif vmin is None:
        return (least, vmax) if least is not None and least < vmax else (vmax - 2.0 * _HALF_WIDTH, vmax)
    else:
        low, high = vmin, vmax
    return (low - _HALF_WIDTH, high + _HALF_WIDTH) if low == high else (low, high)


def colors_of(cmap, objectives, vmin, vmax) -> np.ndarray:
    """A colour per objective; transparent white where there is none (NaN)."""
    objectives = np.asarray(objectives, dtype=float)
    colors = np.full((len(objectives), 4), (1.0, 1.0, 1.0, 0.0))
    known = ~np.isnan(objectives)
    colors[known] = cmap(np.clip((objectives[known] - vmin) / (vmax - vmin), 0.0, 1.0))
    return colors


def archive_heatmap_1d(
    archive,
    *,
    cell_boundaries,
    cell_objectives,
    ax,
    cmap,
    aspect,
    vmin,
    vmax,
    cbar,
    cbar_kwargs,
    rasterized,
    pcm_kwargs,
) -> Axes:
    """A strip of cells along one measure."""
    ax = plt.gca() if ax is None else ax
    ax.set_xlim(archive.lower_bounds[0], archive.upper_bounds[0])
    ax.set_aspect(aspect)
    ax.set_yticks([])
    vmin, vmax = compute_vmin_vmax(vmin, vmax, cell_objectives[~np.isnan(cell_objectives)])
    mesh = ax.pcolormesh(
        cell_boundaries,
        np.array([0, 1]),
        cell_objectives[None, :],
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        rasterized=rasterized,
        **(pcm_kwargs or {}),
    )
    set_cbar(mesh, ax, cbar, cbar_kwargs)
    return ax
