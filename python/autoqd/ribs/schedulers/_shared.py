"""What the schedulers share."""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np


class ArchiveKeeper:
    """The part of a scheduler that checks what it is given and writes to the archives."""

    def _keep(self, archive, emitters, result_archive, add_mode) -> None:
        """Checks the arguments that schedulers share and takes them over."""
        if len({id(emitter) for emitter in emitters}) != len(emitters):
            raise ValueError(
                "Not all emitters passed in were unique. [Emitter(...)] * n repeats a single one; use "
                "[Emitter(...) for _ in range(n)] to make n of them."
            )
        self._solution_dim = emitters[0].solution_dim
        for i, emitter in enumerate(emitters):
            if emitter.solution_dim != self._solution_dim:
                raise ValueError(
                    f"All emitters must have the same solution dim, but Emitter {i} has {emitter.solution_dim} and "
                    f"Emitter 0 has {self._solution_dim}."
                )
        if add_mode not in ("batch", "single"):
            raise ValueError(f"add_mode must either be 'batch' or 'single', but it was '{add_mode}'.")
        if archive is result_archive:
            raise ValueError(
                "`archive` has same id as `result_archive`; leave out result_archive to use the archive for both."
            )
        self._archive = archive
        self._result_archive = result_archive
        self._add_mode = add_mode
        self._last_called = None
        self._cur_solutions = []

    @property
    def archive(self):
        """The archive that drives the search."""
        return self._archive

    @property
    def result_archive(self):
        """The archive that keeps the results; the other one if none was given."""
        return self._archive if self._result_archive is None else self._result_archive

    def _join(self, solutions: list) -> np.ndarray:
        self._cur_solutions = np.concatenate(solutions, axis=0)
        return self._cur_solutions

    def _check_length(self, name, values) -> None:
        if len(values) != len(self._cur_solutions):
            raise ValueError(
                f"{name} should have length {len(self._cur_solutions)}, the number of solutions of the last ask, but "
                f"has length {len(values)}."
            )

    def _validate_tell_data(self, data: dict) -> dict:
        for name, values in data.items():
            if values is not None:
                self._check_length(name, values)
                data[name] = np.asarray(values)
        return {**data, "solution": self._cur_solutions}

    def _add_to_archives(self, data: dict) -> dict:
        archives = {"archive": self._archive}
        if self._result_archive is not None:
            archives["result_archive"] = self._result_archive
        empty = [name for name, archive in archives.items() if archive.empty]
        add = self._add_batch if self._add_mode == "batch" else self._add_one_by_one
        add_info, *_ = [add(archive, data) for archive in archives.values()]
        for name in empty:
            if archives[name].empty:
                warnings.warn(
                    f"`{name}` was empty before adding solutions, and it is still empty after adding solutions. "
                    "Perhaps its `threshold_min` is above all objectives.",
                    stacklevel=3,
                )
        return add_info

    @staticmethod
    def _add_batch(archive, data) -> dict:
        return archive.add(**data)

    def _add_one_by_one(self, archive, data) -> dict:
        columns = defaultdict(list)
        for i in range(len(self._cur_solutions)):
            added = archive.add_single(
                **{name: None if values is None else values[i] for name, values in data.items()}
            )
            for name, value in added.items():
                columns[name].append(value)
        return {name: np.asarray(values) for name, values in columns.items()}


def rows_of(data: dict, rows: slice) -> dict:
    """Some rows of every field; ``None`` stays."""
    return {name: None if values is None else values[rows] for name, values in data.items()}
