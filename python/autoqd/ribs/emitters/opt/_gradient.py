"""Gradient optimisers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.typing import Float


class GradientOptBase(ABC):
    """The base of all gradient optimisers, which go uphill.

    Args:
        theta0: The first point.
        lr: The learning rate.
    """

    def __init__(self, theta0: ArrayLike, lr: Float) -> None:
        pass

    @property
    @abstractmethod
    def theta(self) -> np.ndarray:
        """The current point."""

    @abstractmethod
    def reset(self, theta0: ArrayLike) -> None:
        """Starts again at another point."""

    @abstractmethod
    def step(self, gradient: ArrayLike) -> None:
        """Makes a step uphill."""


class AdamOpt(GradientOptBase):
    """Adam (Kingma and Ba 2015).

    Args:
        theta0: The first point.
        lr: The learning rate.
        beta1: The decay of the mean of gradients.
        beta2: The decay of the mean of their squares.
        epsilon: What is added to the root of the latter.
        l2_coeff: The strength of the pull towards 0.
    """

    def __init__(
        self,
        theta0: ArrayLike,
        lr: Float = 0.001,
        beta1: Float = 0.9,
        beta2: Float = 0.999,
        epsilon: Float = 1e-8,
        l2_coeff: Float = 0.0,
    ):
        self._lr = lr
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._l2_coeff = l2_coeff
        self.reset(theta0)

    @property
    def theta(self) -> np.ndarray:
        """The current point."""
        return self._theta

    def reset(self, theta0: ArrayLike) -> None:
        """Starts again at another point and forgets past gradients."""
        self._theta = np.array(theta0)
        self._m = np.zeros_like(self._theta)
        self._v = np.zeros_like(self._theta)
        self._t = 0

    def step(self, gradient: ArrayLike) -> None:
        """Makes a step uphill."""
        descent = self._l2_coeff * self._theta - np.asarray(gradient)
        self._t += 1
        self._m = self._beta1 * self._m + (1 - self._beta1) * descent
        self._v = self._beta2 * self._v + (1 - self._beta2) * np.square(descent)
        rate = self._lr * np.sqrt(1 - self._beta2**self._t) / (1 - self._beta1**self._t)
        self._theta -= rate * self._m / (np.sqrt(self._v) + self._epsilon)


class GradientAscentOpt(GradientOptBase):
    """Steps of the gradient times the learning rate.

    Args:
        theta0: The first point.
        lr: The learning rate.
    """

    def __init__(self, theta0: ArrayLike, lr: Float) -> None:
        self._lr = lr
        self.reset(theta0)

    @property
    def theta(self) -> np.ndarray:
        """The current point."""
        return self._theta

    def reset(self, theta0: ArrayLike) -> None:
        """Starts again at another point."""
        self._theta = np.array(theta0)

    def step(self, gradient: ArrayLike) -> None:
        """Makes a step uphill."""
        self._theta += self._lr * np.asarray(gradient)
