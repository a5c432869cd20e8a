"""What every evolution strategy has."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import DTypeLike

from autoqd.ribs.typing import Float, Int


class EvolutionStrategyBase(ABC):
    """The base of all evolution strategies.

    Args:
        sigma0: The first step size.
        solution_dim: The number of parameters.
        batch_size: How many solutions :meth:`ask` returns; chosen by the strategy when left out.
        seed: The seed of its random numbers.
        dtype: The type of solutions.
        lower_bounds: One number or one per parameter.
        upper_bounds: One number or one per parameter.
    """

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
        pass

    @abstractmethod
    def reset(self, x0: np.ndarray) -> None:
        """Starts (again) around a point; must be called before anything else."""

    @abstractmethod
    def check_stop(self, ranking_values: np.ndarray) -> bool:
        """Whether to start again, given the ranking values from best to worst."""

    @abstractmethod
    def ask(self, batch_size: Int | None = None) -> np.ndarray:
        """Solutions drawn from the distribution."""

    @abstractmethod
    def tell(self, ranking_indices: np.ndarray, ranking_values: np.ndarray, num_parents: Int) -> None:
        """Moves the distribution.

        Args:
            ranking_indices: Numbers of the solutions of the last :meth:`ask`, the best first.
            ranking_values: The values that decided, in the order of :meth:`ask`.
            num_parents: How many of the first are parents.
        """
