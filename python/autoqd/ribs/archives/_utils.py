"""What the constructors of archives share."""

from __future__ import annotations

import numpy as np


def parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype) -> tuple:
    """The types of solutions, objectives and measures; float64 where nothing is said.

    Raises:
        ValueError: ``dtype`` was given together with one of the others, or as a dictionary.
    """
    each = (solution_dtype, objective_dtype, measures_dtype)
    if isinstance(dtype, dict):
        raise ValueError(
            "Passing a dict as `dtype` is deprecated in pyribs 0.9.0. Use `solution_dtype`, `objective_dtype` and "
            "`measures_dtype` instead."
        )
    if dtype is None:
        return tuple(np.float64 if one is None else one for one in each)
    if any(one is not None for one in each):
        raise ValueError(
            "dtype cannot be used at the same time as solution_dtype, objective_dtype, or measures_dtype."
        )
    return (dtype, dtype, dtype)


def validate_cma_mae_settings(learning_rate, threshold_min, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Learning rate and lowest threshold as numbers of the given type.

    Raises:
        ValueError: one of them was set without the other.
    """
    if learning_rate is None:
        if threshold_min != -np.inf:
            raise ValueError(
                "threshold_min was set without setting learning_rate. It is a part of CMA-MAE and no filter for "
                "solutions; to run CMA-MAE, set learning_rate too."
            )
        learning_rate = 1.0
    if threshold_min == -np.inf and learning_rate != 1.0:
        raise ValueError("threshold_min can only be -np.inf if learning_rate is 1.0")
    return np.asarray(learning_rate, dtype=dtype), np.asarray(threshold_min, dtype=dtype)


def parse_ranges(ranges, dtype) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the ranges of the measures."""
    lower, upper = zip(*ranges, strict=True)
    return np.array(lower, dtype=dtype), np.array(upper, dtype=dtype)


def fill_sentinel_values(occupied, data) -> None:
    """Marks the rows without an elite: NaN, None, -1 for the index and 0 for other integers."""
    vacant = ~occupied
    for name, values in data.items():
        if values.dtype == object:
            sentinel = None
        elif name == "index":
            sentinel = -1
        else:
            sentinel = 0 if np.issubdtype(values.dtype, np.integer) else np.nan
        values[vacant] = sentinel
