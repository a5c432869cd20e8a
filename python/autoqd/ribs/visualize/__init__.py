"""Pictures of archives, with matplotlib.

Needs matplotlib; the pictures of Voronoi cells need SciPy, :func:`archive_ecdf` needs seaborn, and clipped cells need
shapely. ``pip install matplotlib scipy seaborn shapely`` brings them all.
"""

from autoqd.ribs.visualize._cells import cvt_archive_heatmap, grid_archive_heatmap
from autoqd.ribs.visualize._cvt_archive_3d_plot import cvt_archive_3d_plot
from autoqd.ribs.visualize._distributions import aggregate_cdf, archive_ecdf, archive_histogram
from autoqd.ribs.visualize._parallel_axes_plot import parallel_axes_plot
from autoqd.ribs.visualize._points import proximity_archive_plot, sliding_boundaries_archive_heatmap
from autoqd.ribs.visualize._qdax import qdax_repertoire_3d_plot, qdax_repertoire_heatmap

__all__ = [
    "aggregate_cdf",
    "archive_ecdf",
    "archive_histogram",
    "cvt_archive_3d_plot",
    "cvt_archive_heatmap",
    "grid_archive_heatmap",
    "parallel_axes_plot",
    "proximity_archive_plot",
    "sliding_boundaries_archive_heatmap",
    "qdax_repertoire_3d_plot",
    "qdax_repertoire_heatmap",
]
