"""Rankers order solutions by what became of them, the best first."""

from autoqd.ribs.emitters._pareto import (  # noqa: F401 (the functions are here in pyribs too)
    NSLCClassicRanker,
    NSLCRanker,
    _crowding_distance,
    _fast_non_dominated_sort,
)
from autoqd.ribs.emitters._rankers import (
    DensityRanker,
    ImprovementRanker,
    NoveltyRanker,
    ObjectiveRanker,
    RandomDirectionRanker,
    RankerBase,
    TwoStageImprovementRanker,
    TwoStageObjectiveRanker,
    TwoStageRandomDirectionRanker,
)

__all__ = [
    "DensityRanker",
    "ImprovementRanker",
    "NoveltyRanker",
    "NSLCRanker",
    "NSLCClassicRanker",
    "ObjectiveRanker",
    "RandomDirectionRanker",
    "TwoStageImprovementRanker",
    "TwoStageObjectiveRanker",
    "TwoStageRandomDirectionRanker",
    "RankerBase",
]

_ABBREVIATIONS = {
    "density": DensityRanker,
    "imp": ImprovementRanker,
    "nov": NoveltyRanker,
    "nslc": NSLCRanker,
    "nslc_classic": NSLCClassicRanker,
    "obj": ObjectiveRanker,
    "rd": RandomDirectionRanker,
    "2imp": TwoStageImprovementRanker,
    "2obj": TwoStageObjectiveRanker,
    "2rd": TwoStageRandomDirectionRanker,
}
_RANKERS = _ABBREVIATIONS | {ranker.__name__: ranker for ranker in _ABBREVIATIONS.values()}


def _get_ranker(klass, seed) -> RankerBase:
    """The ranker of that name, or the one that the callable makes from a seed."""
    if isinstance(klass, str):
        if klass not in _RANKERS:
            raise ValueError(
                f"`{klass}` is not the full or abbreviated name of a valid ranker; the names are {list(_RANKERS)}"
            )
        return _RANKERS[klass](seed)
    if not callable(klass):
        raise ValueError(f"`{klass}` is neither a callable nor a string")
    ranker = klass(seed)
    if not isinstance(ranker, RankerBase):
        raise ValueError(f"Callable `{klass}` did not return an instance of RankerBase.")
    return ranker
