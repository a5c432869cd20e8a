"""CMA-ES of the package `cma`."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from autoqd.ribs._utils import arr_readonly
from autoqd.ribs.emitters.opt._evolution_strategy_base import EvolutionStrategyBase
from autoqd.ribs.emitters.opt._native_es import _is_flat
from autoqd.ribs.typing import Float, Int


def _as_column(ranking_values: np.ndarray) -> np.ndarray:
    """The values as they are, without an axis of length 1."""
    single = ranking_values.ndim == 2 and ranking_values.shape[1] == 1
    return ranking_values[:, 0] if single else ranking_values


class PyCMAEvolutionStrategy(EvolutionStrategyBase):
    """CMA-ES of the package `cma`, which must be installed.

    Args:
        sigma0: The first step size.
        solution_dim: The number of parameters.
        batch_size: How many solutions :meth:`ask` returns; chosen by `cma` when left out.
        seed: The seed of its random numbers.
        dtype: The type of solutions.
        lower_bounds: One number or one per parameter.
        upper_bounds: One number or one per parameter.
        opts: Further options of `cma`.
    """

    def __init__(
        self,
        sigma0: Float,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Int | None = None,
        dtype: DTypeLike = np.float64,
        lower_bounds: Float | np.ndarray | None = None,
        upper_bounds: Float | np.ndarray | None = None,
        opts: dict | None = None,
    ) -> None:
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.dtype = dtype
        self._rng = np.random.default_rng(seed)
        self._es = None
        self._solutions = None
        self._opts = {
            "verbose": -9,
            **(opts or {}),
            "popsize": batch_size,
            "bounds": [lower_bounds, upper_bounds],
            "randn": self._normal,
            # Keeps cma from seeding the global random numbers of NumPy.
            "seed": np.nan,
        }

    def _normal(self, *shape) -> np.ndarray:
        return self._rng.standard_normal(shape)

    @property
    def batch_size(self) -> Int:
        """How many solutions :meth:`ask` returns."""
        return self._es.popsize

    def reset(self, x0: np.ndarray) -> None:
        """Starts (again) around ``x0``; must be called before anything else."""
        try:
            import cma
        except ImportError as error:
            raise ImportError("pycma must be installed: pip install cma") from error
        self._es = cma.CMAEvolutionStrategy(x0, self.sigma0, self._opts)

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        """Whether to start again, given the ranking values from best to worst."""
        ranking_values = _as_column(ranking_values)
        if ranking_values.ndim == 1:
            return self._es.stop()
        extent = self._es.sigma * np.sqrt(np.max(self._es.sm.eigenspectrum))
        return self._es.condition_number > 1e14 or extent < 1e-11 or _is_flat(ranking_values)

    def ask(self, batch_size: Int | None = None) -> np.ndarray:
        """Solutions drawn from the distribution (read-only)."""
        self._solutions = np.asarray(self._es.ask(batch_size))
        return arr_readonly(self._solutions.astype(self.dtype))

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: Int) -> None:
        """Moves the distribution; `cma` chooses the parents itself."""
        ranking_values = _as_column(ranking_values)
        if ranking_values.ndim == 1:
            self._es.tell(self._solutions, -ranking_values)
        else:
            # Several values per solution have only an order.
            self._es.tell(self._solutions[ranking_indices], np.arange(len(ranking_indices)))
