"""Elites with Gaussian noise."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase, VariationEmitter
from autoqd.ribs.typing import Float, Int


class GaussianEmitter(VariationEmitter):
    """Adds Gaussian noise to elites drawn at random.

    Args:
        archive: The archive that the elites come from.
        sigma: The standard deviation of the noise, one number or one per parameter.
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
        sigma: Float | ArrayLike,
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
        self._sigma = np.asarray(sigma, dtype=archive.dtypes["solution"])
        self._rng = np.random.default_rng(seed)

    @property
    def sigma(self) -> np.floating | np.ndarray:
        """The standard deviation of the noise."""
        return self._sigma

    def ask(self) -> np.ndarray:
        """Elites with noise; at first ``x0`` with noise or the initial solutions."""
        if self._at_start:
            return self._clip(self._initial_solutions)
        parents = self._parents(self._batch_size)
        noise = self._rng.normal(scale=self._sigma, size=(self._batch_size, *self._solution_shape))
        return self._clip(parents + noise.astype(parents.dtype))
