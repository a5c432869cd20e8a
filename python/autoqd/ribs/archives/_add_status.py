"""What became of a solution that was added."""

from enum import IntEnum


class AddStatus(IntEnum):
    """What became of a solution that was added to an archive."""

    NOT_ADDED = 0
    """Something better was there."""
    IMPROVE_EXISTING = 1
    """It was better than the elite of its cell."""
    NEW = 2
    """Its cell was empty."""
