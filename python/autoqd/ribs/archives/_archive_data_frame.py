"""Elites as a table of pandas."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from autoqd.ribs.typing import SingleData


class ArchiveDataFrame(pd.DataFrame):
    """Elites as a :class:`pandas.DataFrame`, one per row.

    A field with several numbers has a column for each: ``measures_0``, ``measures_1``, ... :meth:`get_field` joins them
    again.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    @property
    def _constructor(self):
        return ArchiveDataFrame

    def iterelites(self) -> Iterable[SingleData]:
        """The elites, each as a dictionary of its fields."""
        names = dict.fromkeys(re.sub(r"_\d+$", "", column) for column in self)
        fields = {name: self.get_field(name) for name in names}
        return ({name: values[i] for name, values in fields.items()} for i in range(len(self)))

    def get_field(self, field: str) -> np.ndarray:
        """A copy of the values of one field, one row per elite.

        Raises:
            KeyError: there is no such field.
        """
        if field in self:
            return self[field].to_numpy(copy=True)
        columns = [column for column in self if re.fullmatch(re.escape(field) + r"_\d+", column)]
        if not columns:
            raise KeyError(f"Field '{field}' was not found in the archive.")
        return self[columns].to_numpy(copy=True)
