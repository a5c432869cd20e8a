"""Archives keep the best solutions found for each kind of behaviour."""

from autoqd.ribs._not_offered import not_offered
from autoqd.ribs.archives._add_status import AddStatus
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._archive_stats import ArchiveStats
from autoqd.ribs.archives._array_store import ArrayStore
from autoqd.ribs.archives._categorical_archive import CategoricalArchive
from autoqd.ribs.archives._cqd_score import CQDScoreResult, cqd_score
from autoqd.ribs.archives._cvt_archive import CVTArchive
from autoqd.ribs.archives._density_archive import DensityArchive
from autoqd.ribs.archives._dns_archive import DNSArchive
from autoqd.ribs.archives._grid_archive import GridArchive
from autoqd.ribs.archives._k_means import k_means_centroids
from autoqd.ribs.archives._proximity_archive import ProximityArchive
from autoqd.ribs.archives._sliding_boundaries_archive import SlidingBoundariesArchive

DiscountArchive = not_offered("DiscountArchive", __name__)

__all__ = [
    "CategoricalArchive",
    "CVTArchive",
    "DensityArchive",
    "DiscountArchive",
    "DNSArchive",
    "GridArchive",
    "ProximityArchive",
    "SlidingBoundariesArchive",
    "ArchiveBase",
    "ArrayStore",
    "AddStatus",
    "ArchiveDataFrame",
    "ArchiveStats",
    "cqd_score",
    "CQDScoreResult",
    "k_means_centroids",
]


def __getattr__(name):
    # pandas takes longer to import than everything else here together, and most searches never need it.
    if name == "ArchiveDataFrame":
        from autoqd.ribs.archives._archive_data_frame import ArchiveDataFrame

        return ArchiveDataFrame
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
