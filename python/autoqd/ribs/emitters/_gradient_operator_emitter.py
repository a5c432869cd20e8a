"""Elites moved along their gradients."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import validate_batch
from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase, VariationEmitter
from autoqd.ribs.emitters._gradient_arborescence_emitter import normalized
from autoqd.ribs.typing import BatchData, Float, Int


class GradientOperatorEmitter(VariationEmitter):
    """Varies elites, asks for their gradients and moves them along: OG-MAP-Elites and OMG-MEGA (Fontaine and
    Nikolaidis 2021).

    Args:
        archive: The archive that the elites come from.
        sigma: The standard deviation of the noise on elites.
        sigma_g: The length of the step along the gradient of the objective, or, with ``measure_gradients``, the
            standard deviation of the random coefficients of all gradients.
        initial_solutions: Instead of ``x0``: what to emit while the archive is empty.
        x0: Where to start while the archive is empty.
        line_sigma: The standard deviation of moves along the line to another elite.
        measure_gradients: Whether to use the gradients of the measures too.
        normalize_grad: Whether gradients are scaled to length 1.
        epsilon: What is added to the length of a gradient before dividing by it.
        operator_type: ``"isotropic"`` or ``"iso_line_dd"``, which also moves along lines.
        bounds: A pair of bounds per parameter; varied elites are clipped to them.
        lower_bounds: Instead of ``bounds``: all lower bounds.
        upper_bounds: Instead of ``bounds``: all upper bounds.
        batch_size: How many solutions are emitted.
        seed: The seed of the noise.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        sigma: Float | ArrayLike,
        sigma_g: Float,
        initial_solutions: ArrayLike | None = None,
        x0: ArrayLike | None = None,
        line_sigma: Float = 0.0,
        measure_gradients: bool = False,
        normalize_grad: bool = False,
        epsilon: Float = 1e-8,
        operator_type: Literal["isotropic", "iso_line_dd"] = "isotropic",
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
        self._sigma, self._sigma_g = np.asarray(sigma, dtype=dtype), np.asarray(sigma_g, dtype=dtype)
        self._line_sigma = line_sigma
        self._use_isolinedd = operator_type != "isotropic"
        self._measure_gradients = measure_gradients
        self._normalize_grad = normalize_grad
        self._epsilon = epsilon
        self._rng = np.random.default_rng(seed)
        self._jacobian_batch = None
        self._varied = None

    @property
    def sigma(self) -> Float | np.ndarray:
        """The standard deviation of the noise on elites."""
        return self._sigma

    @property
    def batch_size_dqd(self) -> Int:
        """How many solutions :meth:`ask_dqd` returns."""
        return self._batch_size

    @property
    def epsilon(self) -> Float:
        """What is added to the length of a gradient before dividing by it."""
        return self._epsilon

    def _draw(self, scale, shape) -> np.ndarray:
        return self._rng.normal(scale=scale, size=shape).astype(self._archive.dtypes["solution"])

    def ask_dqd(self) -> np.ndarray:
        """Varied elites whose gradients are wanted; none while the initial solutions are due."""
        if self._at_start:
            return np.empty((0, *self._solution_shape), dtype=self._archive.dtypes["solution"])
        parents = self._parents(self._batch_size)
        varied = parents + self._draw(self._sigma, (self._batch_size, self._solution_dim))
        if self._use_isolinedd:
            directions = self._parents(self._batch_size) - parents
            varied += self._draw(self._line_sigma, (self._batch_size, 1)) * directions
        self._varied = self._clip(varied)
        return self._varied

    def ask(self) -> np.ndarray:
        """The solutions of :meth:`ask_dqd` moved along their gradients; at first the initial solutions.

        Raises:
            RuntimeError: the gradients were not told yet.
        """
        if self._at_start:
            return self._initial_solutions
        if self._jacobian_batch is None:
            raise RuntimeError("Please call ask_dqd() and tell_dqd() before calling ask().")
        if not self._measure_gradients:
            return self._varied + self._jacobian_batch[:, 0] * self._sigma_g
        coefficients = self._rng.normal(scale=self._sigma_g, size=self._jacobian_batch.shape[:2])
        # Never down the gradient of the objective.
        coefficients[:, 0] = np.abs(coefficients[:, 0])
        return self._varied + np.sum(self._jacobian_batch * coefficients[:, :, None], axis=1)

    def tell_dqd(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        jacobian: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Tells the gradients at the solutions of :meth:`ask_dqd`.

        Args:
            solution: The solutions.
            objective: Their objectives.
            measures: Their measures.
            jacobian: The gradients, of shape ``(n, 1 + measure_dim, solution_dim)``.
            add_info: What the archive's ``add`` returned.
            fields: Their extra fields.
        """
        data = {"solution": solution, "objective": objective, "measures": measures, **fields}
        _, _, jacobian = validate_batch(self._archive, data, add_info, jacobian)
        self._jacobian_batch = normalized(jacobian, self._epsilon) if self._normalize_grad else jacobian
