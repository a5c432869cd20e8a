"""A grid over the measures."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autoqd.ribs._utils import check_batch_shape, check_is_1d
from autoqd.ribs.archives._archive_base import ArchiveBase
from autoqd.ribs.archives._array_store import ArrayStore
from autoqd.ribs.archives._cell_archive import CellArchive
from autoqd.ribs.archives._utils import parse_all_dtypes, parse_ranges, validate_cma_mae_settings
from autoqd.ribs.typing import FieldDesc, Float, Int


def check_dims(dims, ranges) -> None:
    """Refuses another number of ranges than of numbers of cells."""
    if len(dims) != len(ranges):
        raise ValueError(f"dims (length {len(dims)}) and ranges (length {len(ranges)}) must be the same length")


class GridIndices:
    """Cells of a grid have a number and one index per measure."""

    def grid_to_int_index(self, grid_indices: ArrayLike) -> np.ndarray:
        """Numbers of cells from their indices in the grid, one row per cell."""
        grid_indices = np.asarray(grid_indices)
        check_batch_shape(grid_indices, "grid_indices", self.measure_dim, "measure_dim")
        return np.ravel_multi_index(grid_indices.T, self._dims).astype(np.int32)

    def int_to_grid_index(self, int_indices: ArrayLike) -> np.ndarray:
        """Indices in the grid from the numbers of cells, one row per cell."""
        int_indices = np.asarray(int_indices)
        check_is_1d(int_indices, "int_indices")
        return np.asarray(np.unravel_index(int_indices, self._dims), dtype=np.int32).T


class GridArchive(GridIndices, CellArchive):
    """A grid over the measures; each cell holds one elite.

    Args:
        solution_dim: The number of parameters of a solution, or its shape.
        dims: The number of cells along each measure.
        ranges: Lower and upper end of each measure. Measures outside belong to the cell at the border.
        learning_rate: How far a threshold moves towards a solution that enters its cell (CMA-MAE).
        threshold_min: The threshold of empty cells (CMA-MAE).
        epsilon: A small number that keeps measures at a boundary from falling into the cell below it by rounding.
        qd_score_offset: What is subtracted from each objective in the QD score.
        seed: The seed of :meth:`sample_elites`.
        solution_dtype: The type of solutions.
        objective_dtype: The type of objectives.
        measures_dtype: The type of measures.
        dtype: The type of all three.
        extra_fields: Shape and type of further fields: ``{"object": ((), object)}``.

    Raises:
        ValueError: arguments do not fit together.

    >>> archive = GridArchive(solution_dim=3, dims=[10, 20], ranges=[(-1, 1), (-2, 2)])
    >>> archive.add_single([1.0, 2.0, 3.0], 4.0, [0.25, 0.25])["value"]
    np.float64(4.0)
    >>> len(archive), archive.cells
    (1, np.int64(200))
    """

    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        dims: Collection[Int],
        ranges: Collection[tuple[Float, Float]],
        learning_rate: Float | None = None,
        threshold_min: Float = -np.inf,
        epsilon: Float = 1e-6,
        qd_score_offset: Float = 0.0,
        seed: Int | None = None,
        solution_dtype: DTypeLike = None,
        objective_dtype: DTypeLike = None,
        measures_dtype: DTypeLike = None,
        dtype: DTypeLike = None,
        extra_fields: FieldDesc | None = None,
    ) -> None:
        self._dims = np.array(dims, dtype=np.int32)
        check_dims(dims, ranges)
        ArchiveBase.__init__(self, solution_dim=solution_dim, objective_dim=(), measure_dim=len(self._dims))
        self._open_store(
            dtypes=parse_all_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            capacity=np.prod(self._dims),
            extra_fields=extra_fields,
            qd_score_offset=qd_score_offset,
            seed=seed,
            threshold=True,
        )
        self._lower_bounds, self._upper_bounds = parse_ranges(ranges, self.dtypes["measures"])
        self._interval_size = self._upper_bounds - self._lower_bounds
        self._epsilon = np.asarray(epsilon, dtype=self.dtypes["measures"])
        self._learning_rate, self._threshold_min = validate_cma_mae_settings(
            learning_rate, threshold_min, self.dtypes["threshold"]
        )

    @property
    def dims(self) -> np.ndarray:
        """The number of cells along each measure."""
        return self._dims

    @property
    def lower_bounds(self) -> np.ndarray:
        """The lower end of each measure."""
        return self._lower_bounds

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper end of each measure."""
        return self._upper_bounds

    @property
    def interval_size(self) -> np.ndarray:
        """The width of the range of each measure."""
        return self._interval_size

    @property
    def boundaries(self) -> list[np.ndarray]:
        """The boundaries of the cells along each measure, one more than cells."""
        ends = zip(self._lower_bounds, self._upper_bounds, self._dims, strict=True)
        return [np.linspace(lower, upper, cells + 1) for lower, upper, cells in ends]

    @property
    def epsilon(self) -> float:
        """A small number that keeps measures at a boundary from falling into the cell below it by rounding."""
        return self._epsilon

    def index_of(self, measures: ArrayLike) -> np.ndarray:
        """The number of the cell of each row of measures; that of the nearest cell outside the ranges.

        Raises:
            ValueError: the measures have the wrong shape or are not finite.
        """
        measures = self._check_measures(measures)
        along = (self._dims * (measures - self._lower_bounds) + self._epsilon) / self._interval_size
        # Before they become integers, whose range far measures would leave.
        along = np.clip(along, 0, self._dims - 1).astype(np.int32)
        return np.ravel_multi_index(along.T, self._dims).astype(np.int32)

    def retessellate(self, new_dims: Collection[int]) -> None:
        """Cuts the same ranges into another number of cells and adds the elites again.

        Raises:
            ValueError: the archive has thresholds, or there is another number of measures.
        """
        if not np.isclose(self._learning_rate, 1):
            raise ValueError("Cannot retessellate an archive with learning rate not equal to 1.")
        if len(new_dims) != self.measure_dim:
            raise ValueError(
                f"`new_dims` has {len(new_dims)} entries, but this archive has {self.measure_dim} measures."
            )
        elites = self.data(self._store.field_list)
        del elites["threshold"]
        self._dims = np.array(new_dims, dtype=np.int32)
        self._store = ArrayStore(self._store.field_desc, np.prod(self._dims))
        self._stats = None
        if len(elites["objective"]) > 0:
            self.add(**elites)
