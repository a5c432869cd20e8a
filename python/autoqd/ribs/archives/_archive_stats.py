"""The numbers that describe an archive."""

from __future__ import annotations

import dataclasses

from autoqd.ribs.typing import Float, Int


@dataclasses.dataclass
class ArchiveStats:
    """The numbers that describe an archive."""

    num_elites: Int
    """How many elites there are."""
    coverage: Float
    """The share of cells that have one."""
    qd_score: Float
    """The sum over elites of objective minus ``qd_score_offset``."""
    norm_qd_score: Float
    """That, per cell of the archive."""
    obj_max: Float | None
    """The best objective ever seen; ``None`` while the archive is empty."""
    obj_mean: Float | None
    """The mean objective of the elites; ``None`` while the archive is empty."""
