"""An archive of measures alone, which knows how dense they are."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd.ribs._utils import arr_readonly, check_batch_shape, check_finite
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._utils import parse_all_dtypes
from autoqd.ribs.typing import BatchData, Float, Int


class DensityArchive(ArchiveBase):
    """Keeps a uniform sample of all measures that were added and estimates the density of others by it, as in density
    descent search (Lee et al. 2024).

    Args:
        measure_dim: The number of measures.
        buffer_size: The size of the sample.
        density_method: ``"kde"``, a sum of Gaussian kernels, or ``"kde_sklearn"``, the logarithm of the density by
            ``sklearn.neighbors.KernelDensity``, which must be installed. pyribs' third method, ``"cnf"``, is not here.
        bandwidth: The width of the kernels.
        sklearn_kwargs: Further arguments of ``KernelDensity``.
        cnf_kwargs: For ``"cnf"``, like those after it.
        cnf_lr: For ``"cnf"``.
        cnf_train_steps: For ``"cnf"``.
        cnf_batch_size: For ``"cnf"``.
        cnf_min_buffer_size: For ``"cnf"``.
        cnf_device: For ``"cnf"``.
        seed: The seed of the sample.
        measures_dtype: The type of measures.
        dtype: The same.
    """

    def __init__(
        self,
        *,
        measure_dim: Int,
        buffer_size: Int = 10_000,
        density_method: Literal["kde", "kde_sklearn", "cnf"] = "kde",
        bandwidth: Float | None = None,
        sklearn_kwargs: dict | None = None,
        cnf_kwargs: dict | None = None,
        cnf_lr: Float = 1e-3,
        cnf_train_steps: Int = 5,
        cnf_batch_size: Int = 32,
        cnf_min_buffer_size: Int = 128,
        cnf_device="cpu",
        seed: Int | None = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        if density_method == "cnf":
            raise ImportError('density_method="cnf" needs normalising flows, which autoqd.ribs does not have.')
        if density_method not in ("kde", "kde_sklearn"):
            raise ValueError(f"Unknown density_method '{density_method}'; use 'kde' or 'kde_sklearn'.")
        ArchiveBase.__init__(self, solution_dim=0, objective_dim=(), measure_dim=measure_dim)
        self._rng = np.random.default_rng(seed)
        self._measures_dtype = parse_all_dtypes(dtype, None, None, measures_dtype)[2]
        self._density_method = density_method
        self._bandwidth = bandwidth
        self._sklearn_kwargs = dict(sklearn_kwargs or {})
        self._buffer = np.empty((buffer_size, measure_dim), dtype=self._measures_dtype)
        self._n_occupied = 0
        self._w = 1.0
        self._next_gap()

    def _next_gap(self) -> None:
        """Draws how many measures pass before one enters the full buffer (algorithm L of Li 1994)."""
        self._w *= np.exp(np.log(self._rng.uniform()) / len(self._buffer))
        self._n_skip = int(np.log(self._rng.uniform()) / np.log(1 - self._w))

    @property
    def empty(self) -> bool:
        """Always ``False``: emitters may start from their own points."""
        return False

    @property
    def buffer(self) -> np.ndarray:
        """The sample, one row each (read-only)."""
        return arr_readonly(self._buffer[: self._n_occupied])

    def compute_density(self, measures: ArrayLike) -> np.ndarray:
        """The density of each row of measures; for ``"kde_sklearn"`` its logarithm."""
        measures = np.asarray(measures, dtype=self._measures_dtype)
        if self._n_occupied == 0:
            return np.zeros(len(measures), dtype=self._measures_dtype)
        if self._density_method == "kde_sklearn":
            from sklearn.neighbors import KernelDensity

            kernels = KernelDensity(bandwidth=self._bandwidth, **self._sklearn_kwargs).fit(self.buffer)
            return kernels.score_samples(measures).astype(self._measures_dtype)
        squares = sum(
            np.square(np.subtract.outer(mine, theirs))
            for mine, theirs in zip(measures.T, self.buffer.T, strict=True)
        )
        kernels = np.exp(-0.5 * squares / self._bandwidth**2) / np.sqrt(2.0 * np.pi)
        return (np.sum(kernels, axis=1) / (self._n_occupied * self._bandwidth)).astype(self._measures_dtype)

    def add(
        self,
        solution: ArrayLike | None,
        objective: ArrayLike | None,
        measures: ArrayLike,
        **fields: ArrayLike | None,
    ) -> BatchData:
        """Adds the measures; everything else is ignored.

        Returns:
            ``"status"``, which is always 2, and ``"density"``, the density at the measures before they were added.
        """
        measures = np.asarray(measures, dtype=self._measures_dtype)
        check_batch_shape(measures, "measures", self.measure_dim, "measure_dim")
        check_finite(measures, "measures")
        add_info = {
            "status": np.full(len(measures), 2, dtype=np.int32),
            "density": self.compute_density(measures),
        }
        room = min(len(self._buffer) - self._n_occupied, len(measures))
        self._buffer[self._n_occupied : self._n_occupied + room] = measures[:room]
        self._n_occupied += room
        row = room + self._n_skip
        while row < len(measures):
            self._buffer[self._rng.integers(len(self._buffer))] = measures[row]
            self._next_gap()
            row += 1 + self._n_skip
        self._n_skip = row - len(measures) if room < len(measures) else self._n_skip
        return add_info
