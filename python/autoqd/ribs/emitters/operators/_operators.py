"""Operators that make solutions from parents."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.typing import Float, Int


class OperatorBase(ABC):
    """The base of all operators. Its property ``parent_type`` says how many parents a solution has."""

    @abstractmethod
    def ask(self, parents: ArrayLike) -> np.ndarray:
        """Solutions made from parents."""


class GaussianOperator(OperatorBase):
    """Adds Gaussian noise.

    Args:
        sigma: The standard deviation, one number or one per parameter.
        seed: The seed of the noise.
    """

    def __init__(self, sigma: Float | ArrayLike, seed: Int | None = None) -> None:
        self._sigma = sigma
        self._rng = np.random.default_rng(seed)

    @property
    def parent_type(self) -> int:
        """One parent."""
        return 1

    def ask(self, parents: ArrayLike) -> np.ndarray:
        """The parents, one row each, with noise."""
        parents = np.asarray(parents)
        return parents + self._rng.normal(scale=self._sigma, size=parents.shape).astype(parents.dtype)


class IsoLineOperator(OperatorBase):
    """Moves parents along the line to another one and adds isotropic noise.

    Args:
        iso_sigma: The standard deviation of the isotropic noise.
        line_sigma: The standard deviation of the move, in units of the distance of the two.
        seed: The seed of the noise.
    """

    def __init__(self, iso_sigma: Float, line_sigma: Float, seed: Int | None = None) -> None:
        self._iso_sigma = iso_sigma
        self._line_sigma = line_sigma
        self._rng = np.random.default_rng(seed)

    @property
    def parent_type(self) -> int:
        """Two parents."""
        return 2

    def ask(self, parents: ArrayLike) -> np.ndarray:
        """The first parents moved towards the second: an array of shape ``(2, n, solution_dim)``."""
        elites, others = np.asarray(parents)
        noise = self._rng.normal(scale=self._iso_sigma, size=elites.shape).astype(elites.dtype)
        along = self._rng.normal(scale=self._line_sigma, size=(len(elites), 1)).astype(elites.dtype)
        return elites + noise + along * (others - elites)
