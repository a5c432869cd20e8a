"""Checks of arguments that archives, emitters and schedulers share."""

from __future__ import annotations

import numbers

import numpy as np


def _as_shape(dim) -> tuple:
    return (dim,) if isinstance(dim, numbers.Integral) else tuple(dim)


def check_finite(x, name) -> None:
    """Refuses infinities and NaN."""
    if not np.isfinite(x).all():
        what = name if np.isscalar(x) else f"All elements of {name}"
        raise ValueError(f"{what} must be finite, but an infinity or a NaN was given.")


def check_batch_shape(array, array_name, dim, dim_name, extra_msg="", batch_name="batch_size") -> None:
    """Refuses an array that is not a batch of values of shape ``dim``."""
    shape = _as_shape(dim)
    if array.ndim == 0 or array.shape[1:] != shape:
        wanted = ", ".join(map(str, (batch_name, *shape)))
        raise ValueError(
            f"Expected {array_name} to be an array with shape ({wanted}), i.e. ({batch_name}, {dim_name}), "
            f"but it has shape {array.shape}.{extra_msg}"
        )


def check_shape(array, array_name, dim, dim_name, extra_msg="") -> None:
    """Refuses an array whose shape is not ``dim``."""
    shape = _as_shape(dim)
    if array.shape != shape:
        raise ValueError(
            f"Expected {array_name} to be an array with shape {shape}, i.e. ({dim_name},), "
            f"but it has shape {array.shape}.{extra_msg}"
        )


def check_is_1d(array, array_name, extra_msg="") -> None:
    """Refuses an array with more or less than one axis."""
    if array.ndim != 1:
        raise ValueError(f"Expected {array_name} to be a 1D array, but it has shape {array.shape}.{extra_msg}")


def check_solution_batch_dim(array, array_name, batch_size, is_1d=False, extra_msg="") -> None:
    """Refuses an array with another number of rows than there are solutions."""
    if array.ndim == 0 or array.shape[0] != batch_size:
        rest = "" if is_1d else " ..."
        raise ValueError(
            f"{array_name} does not match the batch dimension of solution: there are {batch_size} solutions, so "
            f"{array_name} should have shape ({batch_size},{rest}), but it has shape {array.shape}.{extra_msg}"
        )


def _check_column(array, name, batch_size) -> None:
    check_is_1d(array, name)
    check_solution_batch_dim(array, name, batch_size, is_1d=True)


def _validate_field(archive, name, value, batch_size, none_objective_ok):
    if name == "objective":
        if value is None:
            if none_objective_ok:
                return None
            raise ValueError("objective cannot be None")
        value = np.asarray(value, dtype=archive.dtypes["objective"])
        _check_column(value, name, batch_size)
        check_finite(value, name)
        return value
    if name == "measures":
        value = np.asarray(value, dtype=archive.dtypes["measures"])
        check_batch_shape(value, name, archive.measure_dim, "measure_dim")
        check_solution_batch_dim(value, name, batch_size)
        if np.issubdtype(value.dtype, np.number):
            check_finite(value, name)
        return value
    value = np.asarray(value)
    check_solution_batch_dim(value, name, batch_size)
    return value


def _validate_add_info(add_info, batch_size) -> None:
    for name, value in add_info.items():
        value = np.asarray(value)
        if name in ("status", "value"):
            _check_column(value, name, batch_size)
        else:
            check_solution_batch_dim(value, name, batch_size)
        if name == "status":
            check_finite(value, name)
        add_info[name] = value


def validate_batch(archive, data, add_info=None, jacobian=None, none_objective_ok=False):
    """Turns the values of a batch into arrays of the archive's types and checks their shapes.

    Returns ``data``, followed by ``add_info`` and ``jacobian`` where they were given.
    """
    solution = np.asarray(data["solution"], dtype=archive.dtypes["solution"])
    check_batch_shape(solution, "solution", archive.solution_dim, "solution_dim")
    data["solution"] = solution
    batch_size = len(solution)
    for name, value in data.items():
        if name != "solution":
            data[name] = _validate_field(archive, name, value, batch_size, none_objective_ok)
    found = [data]
    if add_info is not None:
        _validate_add_info(add_info, batch_size)
        found.append(add_info)
    if jacobian is not None:
        jacobian = np.asarray(jacobian)
        shape = (archive.measure_dim + 1, archive.solution_dim)
        check_batch_shape(jacobian, "jacobian", shape, "measure_dim + 1, solution_dim")
        check_finite(jacobian, "jacobian")
        found.append(jacobian)
    return data if len(found) == 1 else tuple(found)


def validate_single(archive, data, none_objective_ok=False):
    """The same for one solution."""
    data["solution"] = np.asarray(data["solution"], dtype=archive.dtypes["solution"])
    check_shape(data["solution"], "solution", archive.solution_dim, "solution_dim")
    if data["objective"] is not None:
        data["objective"] = np.asarray(data["objective"], dtype=archive.dtypes["objective"])
        check_finite(data["objective"], "objective")
    elif not none_objective_ok:
        raise ValueError("objective cannot be None")
    data["measures"] = np.asarray(data["measures"], dtype=archive.dtypes["measures"])
    check_shape(data["measures"], "measures", archive.measure_dim, "measure_dim")
    if np.issubdtype(data["measures"].dtype, np.number):
        check_finite(data["measures"], "measures")
    return data


def arr_readonly(arr, view=False):
    """The array (or a view of it), which cannot be written to; arrays of other libraries as they are."""
    if not isinstance(arr, np.ndarray):
        return arr
    arr = arr.view() if view else arr
    arr.flags.writeable = False
    return arr
