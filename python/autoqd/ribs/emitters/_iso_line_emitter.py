"""Elites moved along the line to another one."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase, VariationEmitter
from autoqd.ribs.typing import Float, Int


class IsoLineEmitter(VariationEmitter):
    """Moves elites along the line to another elite and adds isotropic noise (Vassiliades and Mouret 2018).

    Args:
        archive: The archive that the elites come from.
        iso_sigma: The standard deviation of the isotropic noise.
        line_sigma: The standard deviation of the move along the line, in units of the distance of the two elites.
        x0: Where to start while the archive is empty.
        initial_solutions: Instead of ``x0``: what to emit while the archive is empty.
        bounds: A pair of bounds per parameter; solutions are clipped to them.
        lower_bounds: Instead of ``bounds``: all lower bounds.
        upper_bounds: Instead of ``bounds``: all upper bounds.
        batch_size: How many solutions :meth:`ask` returns.
        seed: The seed of the noise.

    Raises:
        ValueError: neither or both of ``x0`` and ``initial_solutions`` were given, or a shape is wrong.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        iso_sigma: Float = 0.01,
        line_sigma: Float = 0.2,
        x0: ArrayLike | None = None,
        initial_solutions: ArrayLike | None = None,
        bounds: Collection[tuple[None | Float, None | Float]] | None = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int = 64,
        seed: Int | None = None,
    ) -> None:
        EmitterBase.__init__(
            self,
            archive,
            solution_dim=archive.solution_dim,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        self._start_from(x0, initial_solutions, batch_size)
        dtype = archive.dtypes["solution"]
        self._iso_sigma, self._line_sigma = np.asarray(iso_sigma, dtype=dtype), np.asarray(line_sigma, dtype=dtype)
        self._rng = np.random.default_rng(seed)

    @property
    def iso_sigma(self) -> np.floating:
        """The standard deviation of the isotropic noise."""
        return self._iso_sigma

    @property
    def line_sigma(self) -> np.floating:
        """The standard deviation of the move along the line."""
        return self._line_sigma

    def ask(self) -> np.ndarray:
        """Varied elites; at first ``x0`` with noise or the initial solutions."""
        if self._at_start:
            return self._clip(self._initial_solutions)
        shape = (self._batch_size, *self._solution_shape)
        elites, others = self._parents(2 * self._batch_size).reshape(2, *shape)
        noise = self._rng.normal(scale=self._iso_sigma, size=shape).astype(elites.dtype)
        along = self._rng.normal(scale=self._line_sigma, size=(shape[0], *(1 for _ in shape[1:])))
        return self._clip(elites + noise + along.astype(elites.dtype) * (others - elites))
