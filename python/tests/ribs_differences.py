"""Where `autoqd.ribs` differs from pyribs on purpose.

The page docs/coming-from-pyribs.md has the same list; test_ribs_conformance.py fails when the page lacks an entry, when
a difference is found that is not listed, and when a listed one is not found any more.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Difference:
    """One deliberate difference."""

    text: str
    """The sentence of the page that begins the entry."""
    seen_in: tuple[str, ...] = field(default=())
    """The observations of test_ribs_conformance.py in which it shows."""


DIFFERENCES = [
    Difference(
        "**Left out**: `DiscountArchive` and `ribs.discount_models`",
        ("names.ribs.discount_models",),
    ),
    Difference("**Full CMA-ES draws other numbers** from the same seed", ("cma_es.trace",)),
    Difference("**Strategies compute in float64**", ("openai_es.float32",)),
    Difference("**One batch size per strategy**", ("es.ask_other_size",)),
    Difference("**Tight bounds**", ("es.bounds_far_away",)),
    Difference("**OpenAI-ES within bounds**", ("openai_es.bounds",)),
    Difference("**Empty archive at a restart**", ("es.restart_empty",)),
    Difference("**Far measures** in a grid", ("grid.far_measures",)),
    Difference(
        "**Empty batches** in a `CategoricalArchive`",
        ("categorical.elitist.add_nothing", "categorical.annealing.add_nothing"),
    ),
    Difference("**Best elite of a `DNSArchive`**", ("dns.best_elite",)),
    Difference("**Sample of a `DensityArchive`**", ("density.full_buffer",)),
    Difference("**Statistics** are summed from the contents", ("grid.float32_sum", "grid.retessellated_sum")),
    Difference("**Gradients told** are not scaled in place", ("arborescence.jacobian_after",)),
    # These two cannot be seen in results.
    Difference("**Arguments for search trees**"),
    Difference("**Messages** of errors are ours"),
]
