"""Cells for measures that are categories."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._cell_archive import CellArchive
from autoqd.ribs.archives._grid_archive import GridIndices
from autoqd.ribs.archives._utils import parse_all_dtypes, validate_cma_mae_settings
from autoqd.ribs.typing import FieldDesc, Float, Int


class CategoricalArchive(GridIndices, CellArchive):
    """One cell for each combination of categories.

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        categories: The categories of each measure: ``[["red", "green"], ["small", "large"]]``.
        learning_rate: How far a threshold moves towards a solution that enters its cell (CMA-MAE).
        threshold_min: The threshold of empty cells (CMA-MAE).
        qd_score_offset: What is subtracted from each objective in the QD score.
        seed: The seed of :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures, ``object`` when left out.
        dtype: The type of solutions and objectives.
        extra_fields: Shape and type of further fields.
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        categories: Collection[Collection[Hashable]],
        learning_rate: Float | None = None,
        threshold_min: Float = -np.inf,
        qd_score_offset: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
    ) -> None:
        self._categories = [list(names) for names in categories]
        self._dims = np.array([len(names) for names in self._categories], dtype=np.int32)
        self._category_to_idx = [{name: i for i, name in enumerate(names)} for names in self._categories]
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=len(self._dims))
        dtypes = parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype)
        self._open_store(
            dtypes=(*dtypes[:2], object if measures_dtype is None else measures_dtype),
            capacity=np.prod(self._dims),
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
            threshold=True,
        )
        self._learning_rate, self._threshold_min = validate_cma_mae_settings(
            learning_rate, threshold_min, self.dtypes["threshold"]
        )

    @property
    def categories(self) -> list[list[Hashable]]:
        """The categories of each measure."""
        return self._categories

    @property
    def dims(self) -> np.ndarray:
        """The number of categories of each measure."""
        return self._dims

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the cell of each row of categories.

        Raises:
            ValueError: the measures have the wrong shape.
            KeyError: there is no such category.
        """
        rows = self._check_measures(measures)
        grid = [[places[name] for places, name in zip(self._category_to_idx, row, strict=True)] for row in rows]
        return self.grid_to_int_index(np.asarray(grid, dtype=np.int32).reshape(len(rows), self.measure_dim))
