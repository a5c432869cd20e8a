"""An evolution strategy that follows the archive."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import check_shape, validate_batch
from autoqd.ribs.archives import ArchiveBase
from autoqd.ribs.emitters._emitter_base import EmitterBase
from autoqd.ribs.emitters._es_base import StrategyFollower
from autoqd.ribs.emitters.opt import EvolutionStrategyBase, _get_es
from autoqd.ribs.emitters.rankers import RankerBase, _get_ranker
from autoqd.ribs.typing import BatchData, Float, Int


class EvolutionStrategyEmitter(StrategyFollower):
    """Moves a search distribution towards solutions that improve the archive, and starts again from an elite when it
    makes no progress: CMA-ME, CMA-MAE and their relatives.

    Args:
        archive: The archive.
        x0: The first mean of the distribution.
        sigma0: Its first step size.
        ranker: Which solutions are good: a name such as ``"2imp"`` or ``"imp"``, or a callable that makes a ranker
            from a seed.
        es: ``"cma_es"``, ``"sep_cma_es"``, ``"lm_ma_es"``, ``"openai_es"``, ``"pycma_es"``, or a callable that makes
            an evolution strategy.
        es_kwargs: Further arguments of the strategy.
        selection_rule: Parents are those that entered the archive (``"filter"``) or the better half (``"mu"``).
        restart_rule: Start again when no solution entered the archive (``"no_improvement"``), after so many
            iterations, or only when the strategy asks for it (``"basic"``).
        bounds: A pair of bounds per parameter; solutions outside are drawn again.
        lower_bounds: Instead of ``bounds``: all lower bounds.
        upper_bounds: Instead of ``bounds``: all upper bounds.
        batch_size: How many solutions :meth:`ask` returns; chosen by the strategy when left out.
        seed: The seed of strategy and ranker.

    Raises:
        ValueError: no such ranker, strategy or rule, or a shape is wrong.
    """

    def __init__(
        self,
        archive: ArchiveBase,
        *,
        x0: ArrayLike,
        sigma0: Float,
        ranker: Callable[[Int | None], RankerBase] | str = "2imp",
        es: Callable[..., EvolutionStrategyBase] | str = "cma_es",
        es_kwargs: dict | None = None,
        selection_rule: Literal["mu", "filter"] = "filter",
        restart_rule: Literal["no_improvement", "basic"] | int = "no_improvement",
        bounds: Collection[tuple[None | Float, None | Float]] | None = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int | None = None,
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
        opt_seed, ranker_seed = self._follow(selection_rule, restart_rule, seed)
        self._x0 = np.array(x0, dtype=archive.dtypes["solution"])
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        self._sigma0 = sigma0
        self._opt = _get_es(
            es,
            sigma0=sigma0,
            batch_size=batch_size,
            solution_dim=self._solution_dim,
            seed=opt_seed,
            dtype=archive.dtypes["solution"],
            lower_bounds=self.lower_bounds,
            upper_bounds=self.upper_bounds,
            **(es_kwargs or {}),
        )
        self._opt.reset(self._x0)
        self._ranker = _get_ranker(ranker, ranker_seed)
        self._ranker.reset(self, archive)
        self._batch_size = self._opt.batch_size

    @property
    def x0(self) -> np.ndarray:
        """The first mean of the distribution."""
        return self._x0

    def ask(self) -> np.ndarray:
        """Solutions drawn from the distribution (read-only)."""
        return self._opt.ask()

    def tell(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None:
        """Moves the distribution, or starts again from an elite.

        Args:
            solution: The solutions of the last :meth:`ask`.
            objective: Their objectives.
            measures: Their measures.
            add_info: What the archive's ``add`` returned.
            fields: Their extra fields.
        """
        data = {"solution": solution, "objective": objective, "measures": measures, **fields}
        _, _, stop = self._learn(*validate_batch(self._archive, data, add_info))
        if stop:
            self._opt.reset(self._new_start())
            self._ranker.reset(self, self._archive)
