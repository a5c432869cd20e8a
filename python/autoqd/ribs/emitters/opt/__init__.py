"""Evolution strategies and gradient optimisers that emitters follow."""

from __future__ import annotations

from autoqd.ribs.emitters.opt._evolution_strategy_base import EvolutionStrategyBase
from autoqd.ribs.emitters.opt._gradient import AdamOpt, GradientAscentOpt, GradientOptBase
from autoqd.ribs.emitters.opt._native_es import (
    CMAEvolutionStrategy,
    LMMAEvolutionStrategy,
    OpenAIEvolutionStrategy,
    SeparableCMAEvolutionStrategy,
)
from autoqd.ribs.emitters.opt._pycma_es import PyCMAEvolutionStrategy

__all__ = [
    "CMAEvolutionStrategy",
    "LMMAEvolutionStrategy",
    "OpenAIEvolutionStrategy",
    "PyCMAEvolutionStrategy",
    "SeparableCMAEvolutionStrategy",
    "EvolutionStrategyBase",
    "AdamOpt",
    "GradientAscentOpt",
    "GradientOptBase",
]

_GRADIENT_OPTIMISERS = {"adam": AdamOpt, "gradient_ascent": GradientAscentOpt}
_STRATEGIES = {
    "cma_es": CMAEvolutionStrategy,
    "sep_cma_es": SeparableCMAEvolutionStrategy,
    "lm_ma_es": LMMAEvolutionStrategy,
    "openai_es": OpenAIEvolutionStrategy,
    "pycma_es": PyCMAEvolutionStrategy,
}


def _make(klass, names: dict, base: type, what: str, kwargs: dict):
    """An instance of ``base`` from a name or a callable."""
    if isinstance(klass, str):
        names = names | {one.__name__: one for one in names.values()}
        if klass not in names:
            raise ValueError(
                f"`{klass}` is not the full or abbreviated name of a valid {what}; the names are {list(names)}"
            )
        klass = names[klass]
    if not callable(klass):
        raise ValueError(f"`{klass}` is neither a callable nor a string")
    made = klass(**kwargs)
    if not isinstance(made, base):
        raise ValueError(f"Callable `{klass}` did not return an instance of {base.__name__}.")
    return made


def _get_grad_opt(klass, **grad_opt_kwargs) -> GradientOptBase:
    return _make(klass, _GRADIENT_OPTIMISERS, GradientOptBase, "gradient optimizer", grad_opt_kwargs)


def _get_es(klass, **es_kwargs) -> EvolutionStrategyBase:
    return _make(klass, _STRATEGIES, EvolutionStrategyBase, "evolution strategy", es_kwargs)
