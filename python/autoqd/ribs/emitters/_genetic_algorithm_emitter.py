"""Elites changed by an operator."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase, VariationEmitter
from autoqd.ribs.emitters.operators import _get_op
from autoqd.ribs.typing import Float, Int


class GeneticAlgorithmEmitter(VariationEmitter):
    """Applies an operator to elites drawn at random.

    Args:
        archive: The archive that the elites come from.
        operator: ``"gaussian"`` or ``"isoline"``.
        operator_kwargs: Arguments of the operator: ``{"sigma": 0.1}``.
        x0: Where to start while the archive is empty.
        initial_solutions: Instead of ``x0``: what to emit while the archive is empty.
        bounds: A pair of bounds per parameter; solutions are clipped to them.
        lower_bounds: Instead of ``bounds``: all lower bounds.
        upper_bounds: Instead of ``bounds``: all upper bounds.
        batch_size: How many solutions :meth:`ask` returns.
        seed: The seed of the operator.

    Raises:
        ValueError: no such operator; neither or both of ``x0`` and ``initial_solutions`` were given; or a shape is
            wrong.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        operator: str,
        operator_kwargs: dict | None = None,
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
        self._operator = _get_op(operator)(**(operator_kwargs or {}), seed=seed)

    def ask(self) -> np.ndarray:
        """Changed elites; at first ``x0`` changed or the initial solutions."""
        if self._at_start:
            return self._clip(self._initial_solutions)
        count = self._operator.parent_type
        parents = self._parents(count * self._batch_size)
        if count > 1:
            parents = parents.reshape(count, self._batch_size, -1)
        return self._clip(self._operator.ask(parents))
