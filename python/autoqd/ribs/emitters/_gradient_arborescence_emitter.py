"""An evolution strategy over combinations of gradients."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import check_shape, validate_batch
from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase
from autoqd.ribs.emitters._es_base import StrategyFollower
from autoqd.ribs.emitters.opt import EvolutionStrategyBase, GradientOptBase, _get_es, _get_grad_opt
from autoqd.ribs.emitters.rankers import RankerBase, _get_ranker
from autoqd.ribs.typing import BatchData, Float, Int


def normalized(jacobian: np.ndarray, epsilon: float) -> np.ndarray:
    """Gradients of length 1; ``epsilon`` keeps those of length 0 finite."""
    return jacobian / (np.linalg.norm(jacobian, axis=2, keepdims=True) + epsilon)


class GradientArborescenceEmitter(StrategyFollower):
    """Branches from a point by combinations of the gradients of objective and measures, whose coefficients an evolution
    strategy adapts, and moves the point to the better branches: CMA-MEGA and CMA-MAEGA.

    Args:
        archive: The archive.
        x0: The first point.
        sigma0: The first step size of the coefficients.
        lr: The learning rate of the gradient optimiser that moves the point.
        ranker: Which solutions are good: a name such as ``"2imp"``, or a callable that makes a ranker from a seed.
        selection_rule: Parents are those that entered the archive (``"filter"``) or the better half (``"mu"``).
        restart_rule: Start again when no solution entered the archive (``"no_improvement"``), after so many
            iterations, or only when the strategy asks for it (``"basic"``).
        grad_opt: ``"adam"``, ``"gradient_ascent"``, or a callable that makes a gradient optimiser.
        grad_opt_kwargs: Further arguments of the gradient optimiser.
        es: The evolution strategy of the coefficients, as in ``EvolutionStrategyEmitter``.
        es_kwargs: Further arguments of the strategy.
        normalize_grad: Whether gradients are scaled to length 1.
        bounds: Not supported, like the two after it.
        lower_bounds: Not supported.
        upper_bounds: Not supported.
        batch_size: How many solutions :meth:`ask` returns; chosen by the strategy when left out.
        epsilon: What is added to the length of a gradient before dividing by it.
        seed: The seed of strategy and ranker.

    Raises:
        ValueError: bounds were given; no such ranker, strategy, optimiser or rule; or a shape is wrong.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        x0: ArrayLike,
        sigma0: Float,
        lr: Float,
        ranker: Callable[[Int | None], RankerBase] | str = "2imp",
        selection_rule: Literal["mu", "filter"] = "filter",
        restart_rule: Literal["no_improvement", "basic"] | int = "no_improvement",
        grad_opt: Callable[..., GradientOptBase] | str = "adam",
        grad_opt_kwargs: dict | None = None,
        es: Callable[..., EvolutionStrategyBase] | str = "cma_es",
        es_kwargs: dict | None = None,
        normalize_grad: bool = True,
        bounds: Collection[tuple[None | Float, None | Float]] | None = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int | None = None,
        epsilon: Float = 1e-8,
        seed: Int | None = None,
    ) -> None:
        if any(given is not None for given in (bounds, lower_bounds, upper_bounds)):
            raise ValueError(
                "bounds, lower_bounds, and upper_bounds must be None: this emitter cannot keep branches within bounds."
            )
        EmitterBase.__init__(
            self,
            archive,
            solution_dim=archive.solution_dim,
            bounds=None,
            lower_bounds=None,
            upper_bounds=None,
        )
        opt_seed, ranker_seed = self._follow(selection_rule, restart_rule, seed)
        self._epsilon = epsilon
        self._x0 = np.array(x0, dtype=archive.dtypes["solution"])
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        self._sigma0 = sigma0
        self._normalize_grads = normalize_grad
        self._jacobian_batch = None
        self._ranker = _get_ranker(ranker, ranker_seed)
        self._ranker.reset(self, archive)
        self._grad_opt = _get_grad_opt(grad_opt, theta0=self._x0, lr=lr, **(grad_opt_kwargs or {}))
        # One coefficient for the gradient of the objective and one for that of each measure.
        self._num_coefficients = archive.measure_dim + 1
        self._opt = _get_es(
            es,
            sigma0=sigma0,
            batch_size=batch_size,
            solution_dim=self._num_coefficients,
            seed=opt_seed,
            dtype=archive.dtypes["solution"],
            lower_bounds=-np.inf,
            upper_bounds=np.inf,
            **(es_kwargs or {}),
        )
        self._opt.reset(np.zeros(self._num_coefficients))
        self._batch_size = self._opt.batch_size

    @property
    def x0(self) -> np.ndarray:
        """The first point."""
        return self._x0

    @property
    def batch_size_dqd(self) -> Int:
        """How many solutions :meth:`ask_dqd` returns: one."""
        return 1

    @property
    def epsilon(self) -> Float:
        """What is added to the length of a gradient before dividing by it."""
        return self._epsilon

    def ask_dqd(self) -> np.ndarray:
        """The point whose gradients are wanted, as a batch of one."""
        return self._grad_opt.theta[None]

    def ask(self) -> np.ndarray:
        """Branches from the point.

        Raises:
            RuntimeError: the gradients were not told yet.
        """
        if self._jacobian_batch is None:
            raise RuntimeError("Please call ask_dqd() and tell_dqd() before calling ask().")
        coefficients = self._opt.ask()[:, :, None]
        return self._grad_opt.theta + np.sum(self._jacobian_batch * coefficients, axis=1)

    def tell_dqd(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        jacobian: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Tells the gradients at the point of :meth:`ask_dqd`.

        Args:
            solution: The point.
            objective: Its objective.
            measures: Its measures.
            jacobian: The gradients, of shape ``(1, 1 + measure_dim, solution_dim)``.
            add_info: What the archive's ``add`` returned.
            fields: Its extra fields.
        """
        data = {"solution": solution, "objective": objective, "measures": measures, **fields}
        _, _, jacobian = validate_batch(self._archive, data, add_info, jacobian)
        self._jacobian_batch = normalized(jacobian, self._epsilon) if self._normalize_grads else jacobian

    def tell(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Moves the point towards the better branches and adapts the coefficients, or starts again from an elite.

        Raises:
            RuntimeError: the gradients were not told yet.
        """
        data = {"solution": solution, "objective": objective, "measures": measures, **fields}
        data, add_info = validate_batch(self._archive, data, add_info)
        if self._jacobian_batch is None:
            raise RuntimeError("Please call ask_dqd(), tell_dqd(), and ask() before calling tell().")
        ranking, num_parents, stop = self._learn(data, add_info)
        weights = np.log(num_parents + 0.5) - np.log(np.arange(1, num_parents + 1))
        weights /= np.sum(weights)
        mean = np.sum(data["solution"][ranking[:num_parents]] * weights[:, None], axis=0)
        self._grad_opt.step(mean - self._grad_opt.theta)
        if stop:
            self._grad_opt.reset(self._new_start())
            self._opt.reset(np.zeros(self._num_coefficients))
            self._ranker.reset(self, self._archive)
