"""Columns of numbers as data frames of the library that is there."""

import csv
import importlib.util

import numpy as np

from autoqd._errors import Error, SettingError

FORMATS = ("pandas", "polars", "pyarrow", "numpy")


def frame(columns, format=None):
    """A dict of arrays in one of the `FORMATS`; by default of the first library that is installed."""
    if format is None:
        format = next((name for name in FORMATS if importlib.util.find_spec(name)), "numpy")
    if format not in FORMATS:
        raise SettingError(f"format={format!r}: expected one of {', '.join(FORMATS)}")
    if importlib.util.find_spec(format) is None:
        raise ImportError(f"format={format!r} needs the package {format}: pip install {format}")
    return globals()[f"_{format}"](columns)


def _numpy(columns):
    return columns


def _pandas(columns):
    import pandas

    return pandas.DataFrame({name: column if column.ndim == 1 else list(column) for name, column in columns.items()})


def _polars(columns):
    import polars

    return polars.DataFrame(dict(columns))


def _pyarrow(columns):
    import pyarrow

    def array(column):
        if column.ndim == 1:
            return pyarrow.array(column)
        return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(column.ravel()), column.shape[1])

    return pyarrow.table({name: array(column) for name, column in columns.items()})


def read_log(folder, name):
    """The columns of a CSV file of a run: whole numbers where all are, else numbers, with NaN for what is missing."""
    path = folder / f"{name}.csv"
    try:
        with open(path, newline="") as file:
            header, *rows = list(csv.reader(file))
    except FileNotFoundError:
        raise Error(f"{path}: this run has no {name}") from None
    except ValueError:
        raise Error(f"{path}: the run has not logged an iteration yet") from None
    return {column: _column([row[at] for row in rows]) for at, column in enumerate(header)}


def _column(texts):
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except ValueError:
        pass
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, dtype=object)

