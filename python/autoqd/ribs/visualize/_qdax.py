"""Pictures of repertoires of QDax."""

from __future__ import annotations

import numpy as np

from autoqd.ribs.archives import CVTArchive
from autoqd.ribs.visualize._cells import cvt_archive_heatmap
from autoqd.ribs.visualize._cvt_archive_3d_plot import cvt_archive_3d_plot


def _as_archive(repertoire, ranges) -> CVTArchive:
    fitnesses = np.asarray(repertoire.fitnesses)
    if fitnesses.shape[1:] != (1,):
        raise ValueError("Only repertoires with one fitness per cell can be drawn.")
    fitnesses = fitnesses[:, 0]
    occupied = fitnesses != -np.inf
    archive = CVTArchive(solution_dim=0, centroids=np.asarray(repertoire.centroids), ranges=ranges)
    solutions = np.empty((np.count_nonzero(occupied), 0))
    archive.add(solutions, fitnesses[occupied], np.asarray(repertoire.descriptors)[occupied])
    return archive


def qdax_repertoire_heatmap(repertoire, ranges, *args, **kwargs) -> None:
    """A heat map of a MAP-Elites repertoire of QDax with one or two descriptors.

    Args:
        repertoire: The repertoire.
        ranges: Lower and upper end of each descriptor.
        args: Arguments of :func:`cvt_archive_heatmap`.
        kwargs: Arguments of :func:`cvt_archive_heatmap`.
    """
    cvt_archive_heatmap(_as_archive(repertoire, ranges), *args, **kwargs)


def qdax_repertoire_3d_plot(repertoire, ranges, *args, **kwargs) -> None:
    """The cells of a MAP-Elites repertoire of QDax with three descriptors.

    Args:
        repertoire: The repertoire.
        ranges: Lower and upper end of each descriptor.
        args: Arguments of :func:`cvt_archive_3d_plot`.
        kwargs: Arguments of :func:`cvt_archive_3d_plot`.
    """
    cvt_archive_3d_plot(_as_archive(repertoire, ranges), *args, **kwargs)
