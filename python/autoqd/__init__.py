"""Finds many policies for a control task that are each good and all different."""

from autoqd import _library

_library.load()

from autoqd._native import __version__  # noqa: E402

__all__ = ["__version__"]
