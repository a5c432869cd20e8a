"""Rows of named fields of any type, some of which are occupied."""

from __future__ import annotations

import importlib
import numbers
from collections.abc import Collection, Iterator
from functools import cached_property
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from autoqd.ribs._utils import arr_readonly
from autoqd.ribs.typing import Array, Device, DType, FieldDesc, Int, SingleData


def _array_library(xp: ModuleType | None) -> ModuleType:
    """NumPy, or another library by the names of the array standard."""
    if xp is None or xp is np:
        return np
    from array_api_compat import array_namespace

    return array_namespace(xp.empty(0))


def _to_numpy(array: Array) -> np.ndarray:
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):  # a tensor of PyTorch, which may be on another device and have a gradient
        array = array.detach().cpu()
    return array.get() if hasattr(array, "get") else np.asarray(array)


class ArrayStoreIterator:
    """The rows of a store, in the order in which they were first occupied."""

    def __init__(self, store: ArrayStore) -> None:
        self.store = store
        self.iter_idx = 0
        self.state = store._updates.copy()

    def __iter__(self) -> Iterator[SingleData]:
        return self

    def __next__(self) -> SingleData:
        if self.state != self.store._updates:
            raise RuntimeError("ArrayStore was modified by add() or clear() during iteration.")
        if self.iter_idx >= len(self.store):
            raise StopIteration
        index = self.store._occupied_list[self.iter_idx]
        self.iter_idx += 1
        return {"index": index, **{name: values[index] for name, values in self.store._fields.items()}}


class ArrayStore:
    """Rows of named fields of any type, some of which are occupied.

    Args:
        field_desc: Shape and type of each field: ``{"objective": ((), np.float32), "measures": (2, np.float32)}``.
        capacity: The number of rows.
        xp: The array library, NumPy unless told otherwise.
        device: Where that library keeps its arrays.

    Raises:
        ValueError: a field is named ``index`` or has a name that is no identifier.
    """

    def __init__(
        self, field_desc: FieldDesc, capacity: Int, xp: ModuleType | None = None, device: Device = None
    ) -> None:
        self._xp = _array_library(xp)
        self._where = {} if device is None else {"device": device}
        self._capacity = capacity
        self._n_occupied = 0
        self._occupied = self._xp.zeros(capacity, dtype=bool, **self._where)
        self._occupied_list = self._xp.empty(capacity, dtype=self._xp.int32, **self._where)
        # Calls of add and of clear, by which an iterator sees that the store has changed under it.
        self._updates = [0, 0]
        self._fields = {}
        for name, (shape, dtype) in field_desc.items():
            if name == "index":
                raise ValueError("`index` is a reserved field name.")
            if not name.isidentifier():
                raise ValueError(f"Field names must be valid identifiers, but one is `{name}`.")
            shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
            self._fields[name] = self._xp.empty((capacity, *shape), dtype=dtype, **self._where)

    def __getstate__(self) -> dict:
        # Modules cannot be pickled.
        return self.__dict__ | {"_xp": self._xp.__name__}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _xp=importlib.import_module(state["_xp"]))

    def __len__(self) -> int:
        """The number of occupied rows."""
        return self._n_occupied

    def __iter__(self) -> Iterator[SingleData]:
        """The occupied rows, each as a dictionary of its fields."""
        return ArrayStoreIterator(self)

    @property
    def capacity(self) -> int:
        """The number of rows."""
        return self._capacity

    @property
    def occupied(self) -> Array:
        """Which rows are occupied (read-only)."""
        return arr_readonly(self._occupied, view=True)

    @property
    def occupied_list(self) -> Array:
        """The numbers of the occupied rows, in the order in which they were first occupied (read-only)."""
        return arr_readonly(self._occupied_list[: self._n_occupied])

    @cached_property
    def field_desc(self) -> FieldDesc:
        """Shape and type of each field."""
        return {name: (tuple(values.shape[1:]), values.dtype) for name, values in self._fields.items()}

    @cached_property
    def dtypes(self) -> dict[str, DType]:
        """The type of each field."""
        return {name: values.dtype for name, values in self._fields.items()}

    @cached_property
    def dtypes_with_index(self) -> dict[str, DType]:
        """The type of each field and of ``index``."""
        return self.dtypes | {"index": self._xp.int32}

    @cached_property
    def field_list(self) -> list[str]:
        """The names of the fields."""
        return list(self._fields)

    @cached_property
    def field_list_with_index(self) -> list[str]:
        """The names of the fields and ``index``."""
        return [*self._fields, "index"]

    def _gather(self, name: str, indices: Array) -> Array:
        if name == "index":
            return indices + 0  # a copy in every array library
        if name not in self._fields:
            raise ValueError(f"`{name}` is not a field in this ArrayStore.")
        return self._fields[name][indices]

    def _data_frame(self, fields: dict[str, Array]):
        from autoqd.ribs.archives._archive_data_frame import ArchiveDataFrame

        columns = {}
        for name, values in fields.items():
            values = _to_numpy(values)
            if values.ndim > 2:
                raise ValueError(
                    f"Field `{name}` has shape {values.shape[1:]}; only fields of at most one axis fit a data frame."
                )
            if values.ndim == 1:
                columns[name] = values
            else:
                columns.update((f"{name}_{i}", values[:, i]) for i in range(values.shape[1]))
        return ArchiveDataFrame(columns, copy=False)

    def retrieve(
        self,
        indices: ArrayLike,
        fields: None | Collection[str] | str = None,
        return_type: None | Literal["dict", "tuple", "pandas"] = None,
    ) -> tuple:
        """Which of the rows are occupied, and copies of their fields.

        Args:
            indices: Numbers of rows.
            fields: Which fields, ``index`` among them; all when left out.
            return_type: ``"dict"``, ``"tuple"`` or ``"pandas"``. When left out: the array itself for a single name,
                a dictionary otherwise.

        Raises:
            ValueError: no such field or return type, or a field with too many axes for pandas.
        """
        if return_type not in (None, "dict", "tuple", "pandas"):
            raise ValueError(f"Invalid return_type {return_type}; use 'dict', 'tuple' or 'pandas'.")
        indices = self._xp.asarray(indices, dtype=self._xp.int32, **self._where)
        occupied = self._occupied[indices]
        if isinstance(fields, str):
            if return_type is None:
                return occupied, self._gather(fields, indices)
            fields = [fields]
        names = self.field_list_with_index if fields is None else fields
        if return_type == "tuple":
            return occupied, tuple(self._gather(name, indices) for name in names)
        found = {name: self._gather(name, indices) for name in names}
        if return_type == "pandas":
            return _to_numpy(occupied), self._data_frame(found)
        return occupied, found

    def data(
        self,
        fields: None | Collection[str] | str = None,
        return_type: None | Literal["dict", "tuple", "pandas"] = None,
    ):
        """Copies of the fields of all occupied rows; the arguments are those of :meth:`retrieve`."""
        return self.retrieve(self.occupied_list, fields, return_type)[1]

    def add(self, indices: ArrayLike, data: dict[str, ArrayLike]) -> None:
        """Writes rows, which are occupied from then on. Where a row is named twice the last one stays.

        Args:
            indices: Numbers of rows.
            data: Their fields, all of them.

        Raises:
            ValueError: fields are missing or unknown, or have another number of rows.
        """
        self._updates[0] += 1
        if len(indices) == 0:
            return
        for name, values in data.items():
            if len(values) != len(indices):
                raise ValueError(f"`{name}` has length {len(values)}, but there are {len(indices)} indices.")
        if data.keys() != self._fields.keys():
            raise ValueError(
                f"`data` has the fields {list(data)}, but this ArrayStore has {self.field_list}. Pass every one of "
                "the archive's extra_fields to archive.add() or scheduler.tell(), and no others; an archive and its "
                "result_archive need the same extra_fields."
            )
        where = self._xp.asarray(indices, dtype=self._xp.int32, **self._where)
        fresh = self._xp.unique(where[~self._occupied[where]])
        end = self._n_occupied + len(fresh)
        self._occupied[fresh] = True
        self._occupied_list[self._n_occupied : end] = fresh
        self._n_occupied = end
        for name, values in self._fields.items():
            values[where] = self._xp.asarray(data[name], dtype=values.dtype, **self._where)

    def clear(self) -> None:
        """Makes all rows unoccupied."""
        self._updates[1] += 1
        self._n_occupied = 0
        self._occupied[:] = False

    def resize(self, capacity: Int) -> None:
        """Appends rows.

        Raises:
            ValueError: the new capacity is not larger.
        """
        if capacity <= self._capacity:
            raise ValueError(
                f"The new capacity ({capacity}) must be greater than the current one ({self._capacity})."
            )

        def longer(values, fill):
            grown = fill((capacity, *values.shape[1:]), dtype=values.dtype, **self._where)
            grown[: self._capacity] = values
            return grown

        self._occupied = longer(self._occupied, self._xp.zeros)
        self._occupied_list = longer(self._occupied_list, self._xp.empty)
        self._fields = {name: longer(values, self._xp.empty) for name, values in self._fields.items()}
        self._capacity = capacity
