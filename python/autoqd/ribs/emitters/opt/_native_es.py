"""Evolution strategies whose arithmetic is native."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
from numpy.typing import DTypeLike

from autoqd._native import Strategy
from autoqd.ribs._utils import arr_readonly
from autoqd.ribs.emitters.opt._evolution_strategy_base import EvolutionStrategyBase
from autoqd.ribs.emitters.opt._gradient import AdamOpt
from autoqd.ribs.typing import Float, Int

# Rounds of drawing again after which the bounds are probably too tight.
_MANY_ROUNDS = 100


def _is_flat(ranking_values: np.ndarray) -> bool:
    """Whether the best and the worst rank the same."""
    if len(ranking_values) < 2:
        return False
    return bool(np.linalg.norm(ranking_values[0] - ranking_values[-1]) < 1e-12)


class _NativeStrategy(EvolutionStrategyBase):
    """What the native strategies share. They compute in float64, whatever the type of solutions.

    Args:
        sigma0: The first step size.
        solution_dim: The number of parameters.
        batch_size: How many solutions :meth:`ask` returns; ``4 + 3 ln(solution_dim)`` when left out.
        seed: The seed of its random numbers.
        dtype: The type of solutions.
        lower_bounds: One number or one per parameter. Solutions outside are drawn again.
        upper_bounds: One number or one per parameter.
    """

    _KIND: str

    def __init__(
        self,
        sigma0: Float,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Int | None = None,
        dtype: DTypeLike = np.float64,
        lower_bounds: Float | np.ndarray = -np.inf,
        upper_bounds: Float | np.ndarray = np.inf,
    ) -> None:
        self.batch_size = 4 + int(3 * np.log(solution_dim)) if batch_size is None else batch_size
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.dtype = dtype
        self.lower_bounds = np.asarray(lower_bounds, dtype=dtype)
        self.upper_bounds = np.asarray(upper_bounds, dtype=dtype)
        self._rng = np.random.default_rng(seed)
        self._native = None
        self._options = {}

    def _bounds(self) -> tuple[list[float], list[float]] | None:
        if np.all(self.lower_bounds == -np.inf) and np.all(self.upper_bounds == np.inf):
            return None
        ends = (self.lower_bounds, self.upper_bounds)
        return tuple(np.broadcast_to(end, self.solution_dim).astype(np.float64) for end in ends)

    def reset(self, x0: np.ndarray) -> None:
        """Starts (again) around ``x0``; must be called before anything else."""
        x0 = np.asarray(x0, dtype=self.dtype).astype(np.float64)
        if self._native is None:
            self._native = Strategy(
                self._KIND, x0, float(self.sigma0), int(self.batch_size), self._bounds(), **self._options
            )
        else:
            self._native.reset(x0)

    def check_stop(self, ranking_values: np.ndarray) -> bool:
        """Whether to start again, given the ranking values from best to worst."""
        return self._native.check_stop(_is_flat(ranking_values))

    def ask(self, batch_size: Int | None = None) -> np.ndarray:
        """Solutions drawn from the distribution (read-only).

        Args:
            batch_size: Must be the strategy's own when given.
        """
        if batch_size is not None and batch_size != self.batch_size:
            raise ValueError(f"This strategy draws {self.batch_size} solutions at a time, not {batch_size}.")
        solutions, rounds = self._native.ask(self._rng)
        if rounds > _MANY_ROUNDS:
            warnings.warn(
                f"Bounds: solutions were drawn again {rounds} times, and clipped if that did not help. The bounds may "
                "be too tight for the distribution.",
                stacklevel=2,
            )
        return arr_readonly(solutions.astype(self.dtype, copy=False))

    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: Int) -> None:
        """Moves the distribution.

        Args:
            ranking_indices: Numbers of the solutions of the last :meth:`ask`, the best first.
            ranking_values: Not used.
            num_parents: How many of the first are parents.
        """
        self._native.tell(ranking_indices, int(num_parents))

    @property
    def mean(self) -> np.ndarray | None:
        """The centre of the distribution; ``None`` before the first :meth:`reset`."""
        return None if self._native is None else self._native.mean.astype(self.dtype)

    @property
    def sigma(self) -> float | None:
        """The step size; ``None`` before the first :meth:`reset`."""
        return None if self._native is None else self._native.sigma

    @property
    def ps(self) -> np.ndarray | None:
        """The evolution path of the step size; ``None`` before the first :meth:`reset`."""
        return None if self._native is None else self._native.step_size_path.astype(self.dtype)


class _Covariance:
    """The part of strategies with a covariance."""

    @property
    def current_eval(self) -> int | None:
        """Solutions told since the last :meth:`reset`."""
        return None if self._native is None else self._native.evaluations

    @property
    def pc(self) -> np.ndarray | None:
        """The evolution path of the covariance; ``None`` before the first :meth:`reset`."""
        return None if self._native is None else self._native.covariance_path.astype(self.dtype)


class CMAEvolutionStrategy(_Covariance, _NativeStrategy):
    """CMA-ES with a full covariance matrix, as pyribs computes it."""

    _KIND = "cma_es"

    @property
    def cov(self) -> SimpleNamespace | None:
        """The covariance matrix, its eigenvalues and its condition number; ``None`` before the first :meth:`reset`."""
        if self._native is None:
            return None
        matrix = self._native.covariance.reshape(self.solution_dim, self.solution_dim).astype(self.dtype)
        eigenvalues = np.abs(np.linalg.eigvalsh(matrix))
        return SimpleNamespace(
            cov=matrix, eigenvalues=eigenvalues, condition_number=np.max(eigenvalues) / np.min(eigenvalues)
        )


class SeparableCMAEvolutionStrategy(_Covariance, _NativeStrategy):
    """CMA-ES with a diagonal covariance, as pyribs computes it (Ros and Hansen 2008)."""

    _KIND = "sep_cma_es"

    @property
    def cov(self) -> SimpleNamespace | None:
        """The variances, and the largest divided by the least; ``None`` before the first :meth:`reset`."""
        if self._native is None:
            return None
        variances = self._native.covariance.astype(self.dtype)
        return SimpleNamespace(
            cov=variances, eigenvalues=variances, condition_number=np.max(variances) / np.min(variances)
        )


class LMMAEvolutionStrategy(_NativeStrategy):
    """LM-MA-ES: a covariance of low rank for many parameters (Loshchilov, Glasmachers and Beyer 2019).

    Args:
        sigma0: The first step size.
        solution_dim: The number of parameters.
        batch_size: How many solutions :meth:`ask` returns, at most ``solution_dim``.
        seed: The seed of its random numbers.
        dtype: The type of solutions.
        lower_bounds: One number or one per parameter. Solutions outside are drawn again.
        upper_bounds: One number or one per parameter.
        n_vectors: The number of directions; the batch size when left out.

    Raises:
        ValueError: the batch is larger than the number of parameters.
    """

    _KIND = "lm_ma_es"

    def __init__(
        self,
        sigma0: Float,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Int | None = None,
        dtype: DTypeLike = np.float64,
        lower_bounds: Float | np.ndarray = -np.inf,
        upper_bounds: Float | np.ndarray = np.inf,
        n_vectors: Int | None = None,
    ) -> None:
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)
        if self.batch_size > self.solution_dim:
            raise ValueError(f"batch_size ({self.batch_size}) is greater than solution_dim ({self.solution_dim})")
        self.n_vectors = self.batch_size if n_vectors is None else n_vectors
        self._options = {"vectors": int(self.n_vectors)}

    @property
    def m(self) -> np.ndarray | None:
        """The directions, one row each; ``None`` before the first :meth:`reset`."""
        if self._native is None:
            return None
        return self._native.covariance.reshape(self.n_vectors, self.solution_dim)


class OpenAIEvolutionStrategy(_NativeStrategy):
    """OpenAI-ES: gradient ascent by a gradient estimated from noise (Salimans et al. 2017).

    Args:
        sigma0: The standard deviation of the noise.
        solution_dim: The number of parameters.
        batch_size: How many solutions :meth:`ask` returns, at least 2; even with mirror sampling.
        seed: The seed of its random numbers.
        dtype: The type of solutions.
        lower_bounds: One number or one per parameter; not with mirror sampling.
        upper_bounds: One number or one per parameter; not with mirror sampling.
        mirror_sampling: Whether the second half of a batch has the noise of the first with the other sign.
        adam_kwargs: Arguments of :class:`AdamOpt`.

    Raises:
        ValueError: bounds with mirror sampling, or a batch size that does not fit.
    """

    _KIND = "openai_es"

    def __init__(
        self,
        sigma0: Float,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Int | None = None,
        dtype: DTypeLike = np.float64,
        lower_bounds: Float | np.ndarray = -np.inf,
        upper_bounds: Float | np.ndarray = np.inf,
        mirror_sampling: bool = True,
        **adam_kwargs,
    ) -> None:
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)
        if batch_size is None:
            self.batch_size += self.batch_size % 2
        if mirror_sampling and self._bounds() is not None:
            raise ValueError("Bounds are not supported when using mirror_sampling in OpenAI-ES.")
        if self.batch_size <= 1:
            raise ValueError("Batch size of 1 is not supported because ranks cannot be normalised.")
        if mirror_sampling and self.batch_size % 2 != 0:
            raise ValueError("If using mirror sampling, batch_size must be an even number.")
        self.mirror_sampling = mirror_sampling
        # Takes the arguments apart, and refuses those that it does not know.
        adam = AdamOpt(np.zeros(1), **adam_kwargs)
        numbers = (adam._lr, adam._beta1, adam._beta2, adam._epsilon, adam._l2_coeff)
        self._options = {"adam": (bool(mirror_sampling), *map(float, numbers))}

    @property
    def sigma(self) -> Float:
        """The standard deviation of the noise, which does not change."""
        return self.sigma0

    @property
    def ps(self) -> None:
        """OpenAI-ES has no evolution path."""
        return None

    @property
    def last_update_ratio(self) -> float | None:
        """The length of the last step divided by that of the mean; ``None`` before the first :meth:`reset`."""
        if self._native is None:
            return None
        ratio = self._native.update_ratio
        return np.inf if ratio is None else ratio
