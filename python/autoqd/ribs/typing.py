"""Names of types that appear in signatures."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from numpy.typing import DTypeLike

Int = Union[int, np.integer]
Float = Union[float, np.floating]

Array = Any
"""An array of NumPy, or of another library in an :class:`~autoqd.ribs.archives.ArrayStore`."""

DType = Any
Device = Any

BatchData = dict[str, np.ndarray]
"""One array per field, one row per solution."""

SingleData = dict[str, Any]
"""One value per field, for one solution."""

FieldDesc = dict[str, tuple[Union[Int, tuple[Int, ...]], DTypeLike]]
"""Shape and type of each field."""
