"""The pictures of `autoqd.ribs.visualize` are pyribs', pixel by pixel."""

from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import ribs
import ribs.visualize
import shapely

import autoqd.ribs
import autoqd.ribs.visualize

TWO = [(-1.0, 1.0), (-2.0, 2.0)]


def elites(measure_dim, n=40):
    rng = np.random.default_rng(measure_dim)
    measures = rng.uniform(-1, 1, size=(n, measure_dim)) * np.arange(1, measure_dim + 1)
    return rng.normal(size=(n, 2)), rng.normal(size=n), measures


def fill(archive, measure_dim):
    archive.add(*elites(measure_dim))
    return archive


def grid(package, dims=(6, 4)):
    ranges = [(-1.0 - i, 1.0 + i) for i in range(len(dims))]
    return fill(package.archives.GridArchive(solution_dim=2, dims=dims, ranges=ranges), len(dims))


def cvt(package, measure_dim=2, cells=20):
    rng = np.random.default_rng(5)
    ranges = [(-1.0 - i, 1.0 + i) for i in range(measure_dim)]
    centroids = rng.uniform(-1, 1, size=(cells, measure_dim)) * np.arange(1, measure_dim + 1)
    return fill(package.archives.CVTArchive(solution_dim=2, centroids=centroids, ranges=ranges), measure_dim)


def sliding(package):
    archive = package.archives.SlidingBoundariesArchive(
        solution_dim=2, dims=[5, 4], ranges=TWO, remap_frequency=20, seed=1
    )
    return fill(archive, 2)


def proximity(package):
    archive = package.archives.ProximityArchive(
        solution_dim=2, measure_dim=2, k_neighbors=2, novelty_threshold=0.1
    )
    return fill(archive, 2)


def repertoire(measure_dim):
    rng = np.random.default_rng(6)
    centroids = rng.uniform(-1, 1, size=(12, measure_dim))
    fitnesses = np.where(rng.random(12) < 0.3, -np.inf, rng.normal(size=12))[:, None]
    return SimpleNamespace(centroids=centroids, fitnesses=fitnesses, descriptors=centroids)


def frame(archive):
    return archive.data(return_type="pandas").iloc[::2]


TRIANGLE = shapely.Polygon([(-0.8, -1.5), (0.9, -1.0), (0.0, 1.8)])
HEATMAP = {
    "plain": {},
    "transposed": {"transpose_measures": True},
    "colors": {"cmap": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "vmin": -1.0, "vmax": 0.5},
    "aspect": {"aspect": "equal", "cbar": None, "rasterized": True},
    "bar": {"cbar_kwargs": {"orientation": "horizontal"}, "vmin": 0.0},
}
PICTURES = {
    **{f"grid {name}": ("grid_archive_heatmap", grid, k) for name, k in HEATMAP.items()},
    "grid 1d": ("grid_archive_heatmap", lambda p: grid(p, (7,)), {"pcm_kwargs": {"alpha": 0.5}}),
    "grid edges": ("grid_archive_heatmap", grid, {"pcm_kwargs": {"edgecolor": "black"}, "vmax": 0.0}),
    **{f"cvt {name}": ("cvt_archive_heatmap", cvt, k) for name, k in HEATMAP.items()},
    "cvt 1d": ("cvt_archive_heatmap", lambda p: cvt(p, 1), {"plot_centroids": True, "lw": 2.0, "ec": "red"}),
    "cvt centroids": ("cvt_archive_heatmap", cvt, {"plot_centroids": True, "ms": 3.0, "lw": 0.1}),
    "cvt clipped": ("cvt_archive_heatmap", cvt, {"clip": True}),
    "cvt polygon": ("cvt_archive_heatmap", cvt, {"clip": TRIANGLE}),
    **{f"sliding {name}": ("sliding_boundaries_archive_heatmap", sliding, k) for name, k in HEATMAP.items()},
    "sliding boundaries": ("sliding_boundaries_archive_heatmap", sliding, {"boundary_lw": 0.5, "ms": 3.0}),
    **{f"proximity {name}": ("proximity_archive_plot", proximity, k) for name, k in HEATMAP.items()},
    "proximity bounds": (
        "proximity_archive_plot",
        proximity,
        {"lower_bounds": [-1, -1], "upper_bounds": [1, 1], "ms": 9.0},
    ),
    "parallel": ("parallel_axes_plot", lambda p: grid(p, (4, 4, 4)), {}),
    "parallel cvt": ("parallel_axes_plot", lambda p: cvt(p, 4), {"sort_archive": True, "alpha": 0.3, "vmax": 1.0}),
    "parallel order": ("parallel_axes_plot", lambda p: grid(p, (4, 4, 4)), {"measure_order": [2, 0]}),
    "parallel names": ("parallel_axes_plot", proximity, {"measure_order": [(1, "one"), (0, "nought")], "cbar": None}),
    "3d": ("cvt_archive_3d_plot", lambda p: cvt(p, 3, 8), {}),
    "3d elites": (
        "cvt_archive_3d_plot",
        lambda p: cvt(p, 3, 8),
        {"plot_elites": True, "plot_centroids": True, "cell_alpha": 0.3, "measure_order": [1, 2, 0]},
    ),
    "histogram": ("archive_histogram", grid, {"bins": 12}),
    "histogram colors": ("archive_histogram", cvt, {"bins": 9, "cmap": "magma", "vmin": -2.0, "ylim": 20}),
    "ecdf": ("archive_ecdf", grid, {"complementary": True, "stat": "count"}),
    "cdf": ("aggregate_cdf", lambda p: [grid(p), grid(p, (5, 9)), cvt(p)], {}),
    "cdf median": (
        "aggregate_cdf",
        lambda p: [grid(p), grid(p, (5, 9)), cvt(p)],
        {"estimator": "median", "errorbar": "iqr", "cumulative": -1, "bins": 20},
    ),
    "cdf error": ("aggregate_cdf", lambda p: [grid(p), grid(p, (5, 9))], {"errorbar": "se", "show_edges": False}),
    "cdf alone": ("aggregate_cdf", lambda p: [grid(p)], {"errorbar": None, "cumulative": False}),
    "qdax": ("qdax_repertoire_heatmap", lambda p: repertoire(2), {"ranges": [(-1, 1)] * 2}),
    "qdax 3d": ("qdax_repertoire_3d_plot", lambda p: repertoire(3), {"ranges": [(-1, 1)] * 3}),
}


def pixels(package, function, subject, settings):
    figure = plt.figure(figsize=(4, 3), dpi=60)
    try:
        getattr(package.visualize, function)(subject, **settings)
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba()).copy()
    finally:
        plt.close(figure)


@pytest.mark.parametrize("name", PICTURES)
def test_the_same_picture(name):
    function, make, settings = PICTURES[name]
    ours = pixels(autoqd.ribs, function, make(autoqd.ribs), settings)
    theirs = pixels(ribs, function, make(ribs), settings)
    assert np.ptp(ours) > 0
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["grid plain", "cvt plain", "sliding plain", "proximity plain", "parallel", "3d"])
def test_the_same_picture_of_a_data_frame(name):
    function, make, settings = PICTURES[name]
    ours, theirs = make(autoqd.ribs), make(ribs)
    drawn = pixels(autoqd.ribs, function, ours, {**settings, "df": frame(ours)})
    assert np.array_equal(drawn, pixels(ribs, function, theirs, {**settings, "df": frame(theirs)}))
    assert not np.array_equal(drawn, pixels(autoqd.ribs, function, ours, settings))


@pytest.mark.parametrize("name", ["grid plain", "cvt plain", "sliding plain", "proximity plain", "parallel", "histogram"])
def test_an_empty_archive(name):
    function, make, settings = PICTURES[name]
    ours, theirs = make(autoqd.ribs), make(ribs)
    ours.clear()
    theirs.clear()
    drawn = pixels(autoqd.ribs, function, ours, settings)
    assert np.array_equal(drawn, pixels(ribs, function, theirs, settings))


def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error)
    finally:
        plt.close("all")
    return None


@pytest.mark.parametrize(
    "function, make, settings",
    [
        ("grid_archive_heatmap", lambda p: grid(p, (2, 2, 2)), {}),
        ("grid_archive_heatmap", grid, {"aspect": "wide"}),
        ("grid_archive_heatmap", grid, {"cbar": "right"}),
        ("grid_archive_heatmap", grid, {"vmin": 1.0, "vmax": 0.0}),
        ("cvt_archive_heatmap", lambda p: cvt(p, 3), {}),
        ("cvt_archive_heatmap", cvt, {"plot_samples": True}),
        ("sliding_boundaries_archive_heatmap", sliding, {"cbar": 1}),
        ("proximity_archive_plot", proximity, {"aspect": 1}),
        ("parallel_axes_plot", grid, {"measure_order": [0, 5]}),
        ("parallel_axes_plot", grid, {"measure_order": [-1, 0]}),
        ("parallel_axes_plot", grid, {"measure_order": [("a", 0)]}),
        ("cvt_archive_3d_plot", cvt, {}),
        ("cvt_archive_3d_plot", lambda p: cvt(p, 3), {"measure_order": [0, 1, 1]}),
        ("cvt_archive_3d_plot", lambda p: cvt(p, 3), {"plot_samples": True}),
        ("archive_histogram", lambda p: p.archives.DensityArchive(measure_dim=1), {}),
        ("archive_ecdf", lambda p: p.archives.DensityArchive(measure_dim=1), {}),
        ("aggregate_cdf", lambda p: [p.archives.DensityArchive(measure_dim=1)], {}),
        ("aggregate_cdf", lambda p: [grid(p)], {"estimator": "mode"}),
        ("aggregate_cdf", lambda p: [grid(p)], {"errorbar": "all"}),
        ("aggregate_cdf", lambda p: [grid(p)], {"dfs": []}),
    ],
)
def test_the_same_refusals(function, make, settings):
    theirs = error_of(lambda: getattr(ribs.visualize, function)(make(ribs), **settings))
    ours = error_of(lambda: getattr(autoqd.ribs.visualize, function)(make(autoqd.ribs), **settings))
    assert theirs is not None
    assert ours is theirs


def test_the_colour_bar_can_be_drawn_elsewhere():
    figure, (left, right) = plt.subplots(1, 2)
    autoqd.ribs.visualize.grid_archive_heatmap(grid(autoqd.ribs), ax=left, cbar=right)
    assert len(figure.axes) == 3
    plt.close(figure)
