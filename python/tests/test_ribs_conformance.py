"""`autoqd.ribs` beside pyribs: the same calls on both, and everything that can be seen compared.

A scenario gets one of the two packages and reports named observations. Random streams are NumPy's in both, so most
random results are compared number by number too.
"""

import dataclasses
import importlib
import inspect
import pickle
import sys
import warnings
from pathlib import Path

import array_api_compat.numpy
import numpy as np
import pandas as pd
import pytest
import ribs
import ribs.visualize
from ribs_differences import DIFFERENCES

import autoqd.ribs
import autoqd.ribs.visualize

PAGE = Path(__file__).parents[2] / "docs" / "coming-from-pyribs.md"
MODULES = ["archives", "emitters", "emitters.opt", "emitters.operators", "emitters.rankers", "schedulers", "visualize"]
NOT_OFFERED = {"DiscountArchive", "BayesianOptimizationEmitter", "BayesianOptimizationScheduler"}
SCENARIOS = []


def scenario(function):
    """Registers a function that takes a package and yields pairs of name and observation."""
    SCENARIOS.append(function)
    return function


class Package:
    """One of the two packages; its modules are attributes."""

    def __init__(self, root):
        name = root.__name__
        for module in MODULES:
            setattr(self, module.split(".")[-1], importlib.import_module(f"{name}.{module}"))


def outcome(call, *args, **kwargs):
    """What a call returns, or the type of the error it raises."""
    try:
        return call(*args, **kwargs)
    except Exception as error:  # whatever it is, it is to be the same
        return f"raises {type(error).__name__}"


def batch(rng, n=40, solution_dim=3, measure_dim=2, spread=1.2):
    """Solutions, objectives and measures, some of which lie outside of the usual ranges."""
    return (
        rng.normal(size=(n, solution_dim)),
        rng.normal(size=n),
        rng.uniform(-spread, spread, size=(n, measure_dim)),
    )


def state(archive):
    """Everything that can be read from an archive without changing it."""
    found = {
        "len": len(archive),
        "empty": archive.empty,
        "stats": dataclasses.asdict(archive.stats),
        "data": archive.data(),
        "elites": list(archive),
        "field_list": archive.field_list,
        "dtypes": {name: np.dtype(dtype) for name, dtype in archive.dtypes.items()},
        "qd_score_offset": archive.qd_score_offset,
        "cells": archive.cells,
        "solution_dim": archive.solution_dim,
        "objective_dim": archive.objective_dim,
        "measure_dim": archive.measure_dim,
    }
    for name in ("best_elite", "learning_rate", "threshold_min", "epsilon", "dims", "lower_bounds", "upper_bounds"):
        if hasattr(archive, name) and type(archive).__name__ != "DNSArchive":
            found[name] = getattr(archive, name)
    for name in ("interval_size", "boundaries", "k_neighbors", "capacity", "novelty_threshold", "categories"):
        if hasattr(archive, name):
            found[name] = getattr(archive, name)
    return found


def use(archive, rng, measures_of=None, **fields):
    """Adds, reads, clears: the life of an archive. ``measures_of`` makes measures from uniform ones."""
    measures_of = measures_of or (lambda measures: measures)
    dim, shape = archive.measure_dim, archive.solution_dim

    def fresh(n):
        solution, objective, measures = batch(rng, n, shape, dim)
        return solution, objective, measures_of(measures)

    def extra(n):
        return {name: [make(i) for i in range(n)] for name, make in fields.items()}

    yield "new", state(archive)
    yield "sample_empty", outcome(archive.sample_elites, 1)
    for i in range(4):
        solution, objective, measures = fresh(30)
        yield f"add_{i}", archive.add(solution, objective, measures, **extra(30))
        yield f"after_{i}", state(archive)
    solution, objective, measures = fresh(10)
    for i in range(10):
        one = {name: make(i) for name, make in fields.items()}
        yield f"single_{i}", archive.add_single(solution[i], objective[i] + 1.0, measures[i], **one)
    yield "after_single", state(archive)
    yield "add_nothing", outcome(archive.add, solution[:0], objective[:0], measures[:0], **extra(0))
    query = measures_of(rng.uniform(-1.5, 1.5, size=(20, dim)))
    yield "index_of", archive.index_of(query)
    yield "index_of_single", archive.index_of_single(query[0])
    yield "retrieve", archive.retrieve(query)
    yield "retrieve_single", [archive.retrieve_single(one) for one in query]
    yield "sample", archive.sample_elites(7)
    yield "sample_different", archive.sample_elites(5, replace=False)
    yield "sample_too_many", outcome(archive.sample_elites, 10_000, replace=False)
    for fields_wanted in (None, "objective", ["index", "measures"], "index"):
        for return_type in (None, "dict", "tuple", "pandas"):
            yield f"data_{fields_wanted}_{return_type}", archive.data(fields_wanted, return_type)
    frame = archive.data(return_type="pandas")
    yield "iterelites", list(frame.iterelites())
    yield "get_field", [frame.get_field(name) for name in ("solution", "objective", "index")]
    yield "no_field", [outcome(archive.data, "nothing"), outcome(frame.get_field, "nothing")]
    yield "no_return_type", outcome(archive.data, "objective", "list")
    yield "pickled", state(pickle.loads(pickle.dumps(archive)))
    yield "changed_while_iterating", outcome(lambda: [archive.clear() for _ in archive])
    yield "cleared", state(archive)
    solution, objective, measures = fresh(5)
    yield "again", archive.add(solution, objective, measures, **extra(5))
    yield "after_again", state(archive)


def refusals(archive):
    """Bad arguments."""
    good = ([[1.0, 2.0, 3.0]], [1.0], [[0.0, 0.0]])
    bad = {
        "solution": [[[1.0, 2.0]], [1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]] * 2, "abc"],
        "objective": [[1.0, 2.0], [[1.0]], [np.nan], [np.inf], None, ["x"]],
        "measures": [[[0.0]], [0.0, 0.0], [[np.nan, 0.0]], [[np.inf, 0.0]], [[0.0, 0.0]] * 2],
    }
    for i, (name, values) in enumerate(bad.items()):
        for j, value in enumerate(values):
            arguments = [*good[:i], value, *good[i + 1 :]]
            yield f"add_{name}_{j}", outcome(archive.add, *arguments)
            singles = [a[0] if a is not None and len(a) else a for a in arguments]
            yield f"single_{name}_{j}", outcome(archive.add_single, *singles)
    yield "unknown_field", [
        outcome(archive.add, *good, surprise=[1]),
        outcome(archive.add_single, *(a[0] for a in good), surprise=1),
    ]
    for name in ("index_of", "retrieve"):
        for j, value in enumerate([[0.0, 0.0], [[0.0]], [[np.nan, 0.0]]]):
            yield f"{name}_{j}", outcome(getattr(archive, name), value)
            yield f"{name}_single_{j}", outcome(getattr(archive, f"{name}_single"), np.ravel(value)[:1])


RANGES = [(-1.0, 1.0), (-1.0, 1.0)]


def grid(package, **settings):
    """A grid archive of 8 by 6 cells."""
    return package.archives.GridArchive(
        **{"solution_dim": 3, "dims": [8, 6], "ranges": RANGES, "seed": 5, **settings}
    )


VARIANTS = {
    "elitist": {},
    "offset": {"qd_score_offset": -3.0},
    "annealing": {"learning_rate": 0.3, "threshold_min": -2.0},
    "frozen": {"learning_rate": 0.0, "threshold_min": -1.0},
    "float32": {"dtype": np.float32},
    "mixed": {"solution_dtype": np.float32, "objective_dtype": np.float64, "measures_dtype": np.float64},
}


@scenario
def grid_archives(package):
    for name, settings in VARIANTS.items():
        for label, seen in use(grid(package, **settings), np.random.default_rng(1)):
            yield f"grid.{name}.{label}", seen
    fields = {"extra_fields": {"thing": ((), object), "pair": ((2,), np.int32)}}
    rows = {"thing": lambda i: {"row": i}, "pair": lambda i: [i, -i]}
    for label, seen in use(grid(package, **fields), np.random.default_rng(2), **rows):
        yield f"grid.fields.{label}", seen
    for label, seen in refusals(grid(package)):
        yield f"grid.refuses.{label}", seen


@scenario
def grid_details(package):
    archive = grid(package, extra_fields={"tag": ((), np.int64)})
    archive.add(*batch(np.random.default_rng(3), 60), tag=np.arange(60))
    yield "grid.to_int", archive.grid_to_int_index([[0, 0], [7, 5], [3, 2]])
    yield "grid.to_grid", archive.int_to_grid_index([0, 47, 20])
    yield "grid.bad_indices", [
        outcome(archive.grid_to_int_index, [[8, 0]]),
        outcome(archive.grid_to_int_index, [0, 0]),
        outcome(archive.int_to_grid_index, [[0]]),
        outcome(archive.int_to_grid_index, [48]),
    ]
    yield "grid.missing_field", outcome(archive.add, *batch(np.random.default_rng(4)))
    archive.retessellate([4, 3])
    yield "grid.retessellated", [archive.data(), archive.dims, archive.boundaries, archive.best_elite]
    yield "grid.retessellated_sum", float(archive.stats.qd_score)
    yield "grid.retessellate_wrong", outcome(archive.retessellate, [4])
    annealing = grid(package, learning_rate=0.1, threshold_min=0.0)
    yield "grid.retessellate_annealing", outcome(annealing.retessellate, [4, 4])
    yield "grid.far_measures", archive.index_of([[1e300, 0.0]])
    images = package.archives.GridArchive(solution_dim=(2, 2), dims=[4], ranges=[(0, 1)])
    yield "grid.shaped", images.add(np.ones((3, 2, 2)), [1.0, 2.0, 3.0], [[0.1], [0.9], [0.95]])
    yield "grid.shaped_data", [images.data(), outcome(images.data, None, "pandas")]
    thresholds = package.archives.GridArchive._compute_thresholds
    indices = np.array([0, 0, 3, 3, 3, 1])
    yield "grid.thresholds", [
        thresholds(indices, np.arange(6.0), np.full(6, -1.0), rate, np.float64) for rate in (0.0, 0.01, 0.5, 1.0)
    ]
    yield "grid.no_thresholds", thresholds(indices[:0], np.empty(0), np.empty(0), 0.1, np.float32)
    for i, wrong in enumerate(
        [
            {"ranges": RANGES * 2},
            {"threshold_min": 0.0},
            {"learning_rate": 0.5},
            {"extra_fields": {"objective": ((), float)}},
            {"extra_fields": {"not a name": ((), float)}},
            {"dtype": {"solution": float}},
            {"dtype": np.float32, "solution_dtype": np.float32},
            {"solution_dim": "three"},
        ]
    ):
        yield f"grid.refused_{i}", outcome(lambda wrong=wrong: len(grid(package, **wrong)))
    drifting = grid(package, dtype=np.float32)
    for i in range(50):
        drifting.add([[0.0] * 3], [1e6 * 1.7**i % 1e7 + i], [[0.0, 0.0]])
        drifting.add([[0.0] * 3], [0.1 * i], [[0.5, 0.5]])
    yield "grid.float32_sum", float(drifting.stats.qd_score)


OTHER_DISTANCES = [
    ("scipy_kd_tree", {"kdtree_query_kwargs": {"p": 1}}),
    ("scipy_kd_tree", {"kdtree_query_kwargs": {"p": 2, "workers": 2}, "kdtree_kwargs": {"leafsize": 3}}),
    ("sklearn_nn", {"sklearn_nn_kwargs": {"metric": "cosine"}}),
    ("sklearn_nn", {"sklearn_nn_kwargs": {"p": 1}}),
    ("sklearn_nn", {"sklearn_nn_kwargs": {"metric": "euclidean", "leaf_size": 7}}),
]


@scenario
def cvt_archives(package):
    centroids = np.random.default_rng(6).uniform(-1, 1, size=(50, 2))
    for name, settings in VARIANTS.items():
        archive = package.archives.CVTArchive(
            solution_dim=3, centroids=centroids, ranges=RANGES, seed=5, **settings
        )
        for label, seen in use(archive, np.random.default_rng(7)):
            yield f"cvt.{name}.{label}", seen
        yield f"cvt.{name}.centroids", archive.centroids
    for label, seen in refusals(archive):
        yield f"cvt.refuses.{label}", seen
    for way in ("scipy_kd_tree", "brute_force", "sklearn_nn"):
        archive = package.archives.CVTArchive(
            solution_dim=3, centroids=centroids, ranges=RANGES, nearest_neighbors=way, chunk_size=7
        )
        yield f"cvt.{way}", archive.index_of(np.random.default_rng(8).uniform(-2, 2, size=(500, 2)))
    for way, given in OTHER_DISTANCES:
        archive = package.archives.CVTArchive(
            solution_dim=3, centroids=4 * centroids, ranges=RANGES, nearest_neighbors=way, **given
        )
        queries = np.random.default_rng(9).uniform(-2, 2, size=(200, 2))
        yield f"cvt.distance.{given}", [archive.index_of(queries), pickle.loads(pickle.dumps(archive)).index_of(queries)]
        yield f"cvt.distance_of_nothing.{given}", archive.index_of(queries[:0])
    k_means = package.archives.CVTArchive(solution_dim=0, centroids=30, ranges=RANGES, samples=2000, seed=9)
    yield "cvt.k_means", k_means.centroids
    yield "cvt.samples", outcome(lambda: k_means.samples)
    for i, wrong in enumerate(
        [
            {"cells": 5},
            {"custom_centroids": centroids},
            {"centroid_method": "random"},
            {"use_kd_tree": True},
            {"ckdtree_kwargs": {}},
            {"nearest_neighbors": "guess"},
            {"centroids": np.zeros((4, 3))},
            {"centroids": 5, "samples": np.zeros((9, 3))},
            {"centroids": 5, "samples": np.zeros((3, 2))},
        ]
    ):
        given = {"solution_dim": 3, "centroids": centroids, "ranges": RANGES, **wrong}
        yield f"cvt.refused_{i}", outcome(lambda given=given: len(package.archives.CVTArchive(**given)))


@scenario
def centroids_by_k_means(package):
    k_means = package.archives.k_means_centroids
    for dtype in (np.float64, np.float32):
        points, samples = k_means(centroids=20, ranges=RANGES, samples=800, seed=3, dtype=dtype)
        yield f"k_means.{np.dtype(dtype).name}", [points.dtype, samples]
        # float32 samples are averaged in float32 by one and in float64 by the other.
        yield f"k_means.points_{np.dtype(dtype).name}", np.round(points.astype(float), 3)
    corners = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]]
    yield "k_means.given", k_means(centroids=4, ranges=RANGES, samples=corners, seed=1)
    elkan = k_means(centroids=5, ranges=RANGES, samples=100, seed=2, k_means_kwargs={"algorithm": "elkan"})
    yield "k_means.kwargs", elkan
    yield "k_means.wrong", outcome(k_means, centroids=5, ranges=RANGES, samples=np.zeros((10, 3)))


@scenario
def categorical_archives(package):
    categories = [["a", "b", "c"], ["x", "y"]]

    def choose(measures):
        first = np.where(measures[:, 0] > 0.4, "a", np.where(measures[:, 0] > -0.4, "b", "c"))
        return np.stack((first, np.where(measures[:, 1] > 0, "x", "y")), axis=1).astype(object)

    for name in ("elitist", "annealing"):
        archive = package.archives.CategoricalArchive(
            solution_dim=3, categories=categories, seed=5, **VARIANTS[name]
        )
        for label, seen in use(archive, np.random.default_rng(10), choose):
            yield f"categorical.{name}.{label}", seen
    yield "categorical.to_int", archive.grid_to_int_index([[0, 1], [2, 0]])
    yield "categorical.to_grid", archive.int_to_grid_index([1, 4])
    yield "categorical.unknown", outcome(archive.index_of, [["a", "z"]])
    yield "categorical.wrong", [outcome(archive.index_of, [["a"]]), outcome(archive.retrieve_single, ["a"])]


@scenario
def sliding_boundaries_archives(package):
    for name in ("elitist", "offset", "float32"):
        archive = package.archives.SlidingBoundariesArchive(
            solution_dim=3, dims=[5, 4], ranges=RANGES, seed=5, remap_frequency=45, buffer_capacity=70, **VARIANTS[name]
        )
        rng = np.random.default_rng(11)
        yield f"sliding.{name}.properties", [archive.remap_frequency, archive.buffer_capacity]
        for i in range(6):
            yield f"sliding.{name}.add_{i}", archive.add(*batch(rng, 30))
            yield f"sliding.{name}.boundaries_{i}", [
                [bounds.copy() for bounds in archive.boundaries],
                archive.lower_bounds,
                archive.upper_bounds,
                archive.interval_size,
            ]
            yield f"sliding.{name}.elites_{i}", archive.data(return_type="pandas").sort_values("index").to_numpy()
            yield f"sliding.{name}.stats_{i}", dataclasses.asdict(archive.stats)
        yield f"sliding.{name}.best", archive.best_elite
        if name == "elitist":
            yield "sliding.order", archive.data("index")
    for label, seen in refusals(archive):
        yield f"sliding.refuses.{label}", seen
    fresh = package.archives.SlidingBoundariesArchive(
        solution_dim=3, dims=[5, 4], ranges=RANGES, seed=5, remap_frequency=1000
    )
    for label, seen in use(fresh, np.random.default_rng(12)):
        yield f"sliding.fresh.{label}", seen
    yield "sliding.to_int", fresh.grid_to_int_index([[0, 1], [2, 0]])
    yield "sliding.to_grid", fresh.int_to_grid_index([1, 4])


@scenario
def proximity_archives(package):
    for name, settings in {
        "novelty": {},
        "competition": {"local_competition": True},
        "decay": {"threshold_decay_rate": 0.5, "threshold_decay_itrs": 2, "threshold_decay_min": 0.05},
        "float32": {"dtype": np.float32},
    }.items():
        threshold = 0.3 if name != "decay" else 5.0
        archive = package.archives.ProximityArchive(
            solution_dim=3,
            measure_dim=2,
            k_neighbors=3,
            novelty_threshold=threshold,
            initial_capacity=4,
            seed=5,
            **settings,
        )
        yield f"proximity.{name}.no_elites", outcome(archive.index_of, [[0.0, 0.0]])
        for label, seen in use(archive, np.random.default_rng(13)):
            yield f"proximity.{name}.{label}", seen
        measures = np.random.default_rng(14).uniform(-1, 1, size=(9, 2))
        yield f"proximity.{name}.novelty", archive.compute_novelty(measures)
        yield f"proximity.{name}.competition", archive.compute_novelty(measures, np.arange(9.0) - 4.0)
        yield f"proximity.{name}.no_objective", outcome(archive.add, np.ones((2, 3)), None, measures[:2])
        yield f"proximity.{name}.no_objective_single", outcome(archive.add_single, np.ones(3), None, measures[3])
        yield f"proximity.{name}.local_competition", archive.local_competition
    torus = package.archives.ProximityArchive(
        solution_dim=3, measure_dim=2, k_neighbors=2, novelty_threshold=0.05, kdtree_kwargs={"boxsize": 1.0}
    )
    rng = np.random.default_rng(15)
    for i in range(3):
        measures = rng.uniform(size=(20, 2))
        yield f"proximity.torus.{i}", [torus.add(np.ones((20, 3)), np.ones(20), measures), torus.index_of(measures[::-1])]
    for label, seen in refusals(archive):
        # Without local competition a missing objective is 0.
        if "objective_4" not in label:
            yield f"proximity.refuses.{label}", seen
    for i, wrong in enumerate(
        [
            {"initial_capacity": 0},
            {"ckdtree_kwargs": {}},
            {"threshold_decay_rate": 0.0},
            {"threshold_decay_rate": 1.1},
            {"threshold_decay_rate": 0.5, "threshold_decay_itrs": 0},
            {"threshold_decay_rate": 0.5, "threshold_decay_min": -1.0},
        ]
    ):
        given = {"solution_dim": 3, "measure_dim": 2, "k_neighbors": 1, "novelty_threshold": 1.0, **wrong}
        yield f"proximity.refused_{i}", outcome(lambda given=given: len(package.archives.ProximityArchive(**given)))


@scenario
def dns_archives(package):
    archive = package.archives.DNSArchive(solution_dim=3, measure_dim=2, capacity=25, k_neighbors=3, seed=5)
    yield "dns.no_elites", outcome(archive.index_of, [[0.0, 0.0]])
    for label, seen in use(archive, np.random.default_rng(15)):
        yield f"dns.{label}", plain(seen)
    torus = package.archives.DNSArchive(
        solution_dim=3, measure_dim=2, capacity=9, k_neighbors=3, kdtree_kwargs={"boxsize": 1.0}
    )
    rng = np.random.default_rng(16)
    torus.add(np.ones((20, 3)), rng.normal(size=20), rng.uniform(size=(20, 2)))
    yield "dns.torus", torus.index_of(rng.uniform(size=(50, 2)))
    yield "dns.compute", archive.compute_dns(rng.normal(size=(12, 2)), rng.normal(size=12))
    yield "dns.best_elite", archive.best_elite
    yield "dns.refused", outcome(
        lambda: len(package.archives.DNSArchive(solution_dim=3, measure_dim=2, capacity=0, k_neighbors=3))
    )
    for label, seen in refusals(archive):
        if "objective_4" not in label:
            yield f"dns.refuses.{label}", plain(seen)


def plain(seen):
    """Statistics without their types: those of a DNSArchive are Python's in one package and NumPy's in the other."""
    if isinstance(seen, dict) and "stats" in seen:
        stats = {key: None if value is None else float(value) for key, value in seen["stats"].items()}
        return {**seen, "stats": stats}
    return seen


@scenario
def density_archives(package):
    rng = np.random.default_rng(17)
    for method in ("kde", "kde_sklearn"):
        archive = package.archives.DensityArchive(
            measure_dim=2, buffer_size=50, density_method=method, bandwidth=0.3, seed=1
        )
        measures = rng.normal(size=(20, 2))
        yield f"density.{method}.empty", [archive.empty, archive.buffer, archive.compute_density(measures)]
        yield f"density.{method}.add", [archive.add(None, None, measures), archive.add(None, None, measures[:5])]
        yield f"density.{method}.buffer", archive.buffer.copy()
        yield f"density.{method}.dense", archive.compute_density(measures)
    archive.add(None, None, np.arange(400.0).reshape(200, 2))
    yield "density.full_buffer", archive.buffer
    yield "density.full", archive.buffer.shape
    yield "density.wrong", [
        outcome(archive.add, None, None, [[1.0]]),
        outcome(archive.add, None, None, [[np.nan, 1.0]]),
        outcome(lambda: package.archives.DensityArchive(measure_dim=2, density_method="guess").empty),
        outcome(lambda: package.archives.DensityArchive(measure_dim=2, density_method="cnf").empty),
        outcome(lambda: archive.stats),
    ]


@scenario
def bases(package):
    class Bare(package.archives.ArchiveBase):
        pass

    archive = Bare(solution_dim=3, objective_dim=(), measure_dim=2)
    yield "bare.dims", [archive.solution_dim, archive.objective_dim, archive.measure_dim]
    for name in ("field_list", "dtypes", "stats", "empty"):
        yield f"bare.{name}", outcome(getattr, archive, name)
    for name, arguments in {
        "__len__": (),
        "__iter__": (),
        "add": (1, 2, 3),
        "add_single": (1, 2, 3),
        "clear": (),
        "retrieve": (1,),
        "retrieve_single": (1,),
        "data": (),
        "sample_elites": (1,),
    }.items():
        yield f"bare.{name}", outcome(getattr(archive, name), *arguments)

    class Idle(package.emitters.EmitterBase):
        pass

    emitter = Idle(grid(package), solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)
    yield "idle", [emitter.ask(), emitter.ask_dqd(), emitter.tell([], [], [], {}), emitter.lower_bounds]
    yield "idle.dqd", emitter.tell_dqd([], [], [], [], {})
    yield "idle.properties", [emitter.solution_dim, emitter.upper_bounds, len(emitter.archive)]
    yield "status", [(one.name, int(one)) for one in package.archives.AddStatus]
    yield "abstract", [
        outcome(lambda one=one: one(1, 2).nothing)
        for one in (package.rankers.RankerBase, package.opt.EvolutionStrategyBase, package.opt.GradientOptBase)
    ]


@scenario
def array_stores(package):
    for name, library in {"default": {}, "standard": {"xp": array_api_compat.numpy, "device": "cpu"}}.items():
        for label, seen in use_store(package, library):
            yield f"store.{name}.{label}", seen


def use_store(package, library):
    """Adds, reads, grows, clears: the life of a store."""
    fields = {"objective": ((), np.float32), "pair": (2, np.int64), "any": ((), object)}
    store = package.archives.ArrayStore(fields, 10, **library)

    def rows(n):
        return {"objective": np.arange(n) + 0.5, "pair": [[i, i * i] for i in range(n)], "any": list("abcdefgh")[:n]}

    def seen():
        return {
            "len": len(store),
            "capacity": store.capacity,
            "occupied": store.occupied,
            "list": store.occupied_list,
            "writeable": [store.occupied.flags.writeable, store.occupied_list.flags.writeable],
            "desc": store.field_desc,
            "dtypes": store.dtypes,
            "with_index": {key: np.dtype(value) for key, value in store.dtypes_with_index.items()},
            "fields": [store.field_list, store.field_list_with_index],
            "rows": list(store),
            "data": store.data(),
        }

    yield "new", seen()
    store.add([7, 2, 5], rows(3))
    yield "added", seen()
    store.add([2, 2, 9, 0], rows(4))
    yield "more", seen()
    store.add([], {})
    for fields in (None, "pair", ["any", "index"]):
        for return_type in (None, "dict", "tuple", "pandas"):
            yield f"retrieve_{fields}_{return_type}", store.retrieve([2, 9, 2], fields, return_type)
    yield "refused", [
        outcome(store.add, [1], rows(2)),
        outcome(store.add, [1], {"objective": [1.0]}),
        outcome(store.retrieve, [1], "nothing"),
        outcome(store.retrieve, [1], None, "list"),
        outcome(store.retrieve, [11]),
        outcome(store.resize, 10),
        outcome(lambda: len(package.archives.ArrayStore({"index": ((), float)}, 3))),
        outcome(lambda: len(package.archives.ArrayStore({"a b": ((), float)}, 3))),
    ]
    store.resize(14)
    yield "resized", seen()
    yield "changed", outcome(lambda: [store.add([3], rows(1)) for _ in store])
    store = pickle.loads(pickle.dumps(store))
    yield "pickled", seen()
    store.clear()
    yield "cleared", seen()


@scenario
def cqd_scores(package):
    archive = grid(package)
    archive.add(*batch(np.random.default_rng(18), 60))
    targets = np.random.default_rng(19).uniform(-1, 1, size=(3, 10, 2))
    settings = {"iterations": 3, "target_points": targets, "obj_min": -3.0, "obj_max": 3.0, "dist_max": 2.9}
    for penalties in (5, [0.1, 0.7]):
        for order in (None, 1, np.inf):
            result = package.archives.cqd_score(archive, **settings, penalties=penalties, dist_ord=order)
            yield f"cqd.{penalties}.{order}", dataclasses.asdict(result)
    yield "cqd.wrong", [
        outcome(package.archives.cqd_score, archive, **{**settings, "iterations": 2}, penalties=5),
        outcome(package.archives.cqd_score, archive, **settings, penalties=[[1.0]]),
    ]


def sphere(x):
    """The negative sphere and two measures."""
    return -np.sum(np.square(x), axis=1), x[:, :2]


def drive(package, make_emitters, iterations=12, **settings):
    """Runs a scheduler and reports every batch of solutions."""
    archive = grid(package, **{"solution_dim": 12, "learning_rate": 0.3, "threshold_min": -100.0, **settings})
    scheduler = package.schedulers.Scheduler(archive, make_emitters(archive))
    trace = []
    for _ in range(iterations):
        x = scheduler.ask()
        trace.append(np.array(x))
        scheduler.tell(*sphere(x))
    return archive, scheduler.emitters, trace


@scenario
def variation_emitters(package):
    emitters = package.emitters
    makers = {
        "gaussian": lambda a, **k: emitters.GaussianEmitter(a, sigma=0.2, **k),
        "gaussian_each": lambda a, **k: emitters.GaussianEmitter(a, sigma=np.linspace(0.1, 0.4, 12), **k),
        "isoline": lambda a, **k: emitters.IsoLineEmitter(a, iso_sigma=0.1, line_sigma=0.3, **k),
        "ga_gaussian": lambda a, **k: emitters.GeneticAlgorithmEmitter(
            a, operator="gaussian", operator_kwargs={"sigma": 0.2}, **k
        ),
        "ga_isoline": lambda a, **k: emitters.GeneticAlgorithmEmitter(
            a, operator="isoline", operator_kwargs={"iso_sigma": 0.1, "line_sigma": 0.3}, **k
        ),
    }
    starts = {
        "x0": {"x0": np.full(12, 0.1)},
        "initial": {"initial_solutions": np.random.default_rng(20).normal(size=(9, 12))},
        "bounded": {"x0": np.zeros(12), "bounds": [(-0.2, 0.3)] * 11 + [None]},
        "lower": {"x0": np.zeros(12), "lower_bounds": np.full(12, -0.1), "batch_size": 5},
    }
    for name, make in makers.items():
        for start, settings in starts.items():
            for dtype in (np.float64, np.float32):
                archive, (emitter,), trace = drive(
                    package, lambda a, m=make, s=settings: [m(a, seed=3, **s)], 4, dtype=dtype
                )
                label = f"{name}.{start}.{np.dtype(dtype).name}"
                yield f"{label}.trace", trace
                yield f"{label}.properties", [
                    emitter.x0,
                    emitter.initial_solutions,
                    emitter.batch_size,
                    emitter.solution_dim,
                    emitter.lower_bounds,
                    emitter.upper_bounds,
                    len(emitter.archive),
                ]
                for value in ("sigma", "iso_sigma", "line_sigma"):
                    if hasattr(emitter, value):
                        yield f"{label}.{value}", getattr(emitter, value)
        for i, wrong in enumerate(
            [
                {},
                {"x0": [0.0] * 12, "initial_solutions": [[0.0] * 12]},
                {"x0": [0.0]},
                {"initial_solutions": [0.0] * 12},
                {"x0": [0.0] * 12, "bounds": [(0, 1)]},
                {"x0": [0.0] * 12, "bounds": [(0, 1, 2)] * 12},
                {"x0": [0.0] * 12, "bounds": [(0, 1)] * 12, "lower_bounds": [0.0] * 12},
                {"x0": [0.0] * 12, "upper_bounds": [0.0]},
            ]
        ):
            archive = grid(package, solution_dim=12)
            yield f"{name}.refused_{i}", outcome(lambda m=make, a=archive, w=wrong: m(a, **w).batch_size)
    archive = grid(package)
    for operator in ("crossover", 3):
        make = package.emitters.GeneticAlgorithmEmitter
        yield f"ga.{operator}", outcome(lambda m=make, o=operator: m(archive, operator=o, x0=[0.0] * 3).batch_size)
    parents = np.random.default_rng(21).normal(size=(2, 5, 3))
    gaussian = package.operators.GaussianOperator(sigma=0.5, seed=1)
    isoline = package.operators.IsoLineOperator(iso_sigma=0.5, line_sigma=0.1, seed=1)
    yield "operators", [gaussian.parent_type, isoline.parent_type, gaussian.ask(parents[0]), isoline.ask(parents)]


def es_settings(es):
    return {"x0": np.full(12, 0.3), "sigma0": 0.4, "es": es, "batch_size": 8, "seed": 7}


@scenario
def strategy_emitters(package):
    make = package.emitters.EvolutionStrategyEmitter
    for es in ("sep_cma_es", "lm_ma_es", "openai_es"):
        for ranker in ("imp", "2imp", "obj", "2obj", "rd", "2rd"):
            for name, rules in {
                "filter": {},
                "mu": {"selection_rule": "mu", "restart_rule": "basic"},
                "every": {"selection_rule": "mu", "restart_rule": 4},
            }.items():
                archive, (emitter,), trace = drive(
                    package, lambda a, e=es, r=ranker, k=rules: [make(a, ranker=r, **es_settings(e), **k)]
                )
                yield f"{es}.{ranker}.{name}", trace
                yield f"{es}.{ranker}.{name}.counts", [emitter.restarts, emitter.itrs, emitter.batch_size, emitter.x0]
        _, _, trace = drive(package, lambda a, e=es: [make(a, **es_settings(e))], dtype=np.float32)
        yield f"{es}.float32_type", trace[0].dtype
        yield f"{es}.float32", trace
    bounds = {"bounds": [(-0.5, 1.0)] * 12}
    for es in ("sep_cma_es", "lm_ma_es"):
        _, (emitter,), trace = drive(package, lambda a, e=es: [make(a, **es_settings(e), **bounds)])
        yield f"{es}.bounds", [trace, emitter.lower_bounds, emitter.upper_bounds]
    openai = {"mirror_sampling": False, "lr": 0.1, "beta1": 0.8, "l2_coeff": 0.01}
    bounded = {**es_settings("openai_es"), "es_kwargs": openai, **bounds}
    yield "openai_es.bounds", outcome(lambda: len(drive(package, lambda a: [make(a, **bounded)])[2]))
    _, _, trace = drive(package, lambda a: [make(a, **es_settings("openai_es"), es_kwargs=openai)])
    yield "openai_es.kwargs", trace
    vectors = {"n_vectors": 3}
    _, _, trace = drive(package, lambda a: [make(a, **es_settings("lm_ma_es"), es_kwargs=vectors)])
    yield "lm_ma_es.kwargs", trace
    _, _, trace = drive(package, lambda a: [make(a, **es_settings("cma_es"))], 1)
    yield "cma_es.first", trace
    archive, (emitter,), trace = drive(package, lambda a: [make(a, **es_settings("cma_es"))], 30)
    yield "cma_es.trace", trace
    yield "cma_es.shape", [trace[-1].shape, emitter.itrs]
    _, (emitter,), _ = drive(package, lambda a: [make(a, x0=np.zeros(12), sigma0=1, es="cma_es")], 2)
    yield "cma_es.batch_size", emitter.batch_size
    copy = pickle.loads(pickle.dumps(emitter))
    yield "cma_es.pickled", bool(np.all(copy.ask() == emitter.ask()))


@scenario
def strategies_of_cma(package):
    make = package.emitters.EvolutionStrategyEmitter
    for ranker in ("imp", "2imp"):
        _, (emitter,), trace = drive(package, lambda a, r=ranker: [make(a, ranker=r, **es_settings("pycma_es"))])
        yield f"pycma_es.{ranker}", [trace, emitter.batch_size, emitter.restarts]


@scenario
def strategy_refusals(package):
    make = package.emitters.EvolutionStrategyEmitter
    for i, wrong in enumerate(
        [
            {"x0": [0.0]},
            {"es": "newton"},
            {"es": 3},
            {"es": lambda **_: None},
            {"ranker": "best"},
            {"ranker": 3},
            {"ranker": lambda _: None},
            {"selection_rule": "best"},
            {"restart_rule": "never"},
            {"es": "lm_ma_es", "batch_size": 20},
            {"es": "openai_es", "batch_size": 1},
            {"es": "openai_es", "batch_size": 5},
            {"es": "openai_es", "bounds": [(0, 1)] * 3},
            {"es": "openai_es", "es_kwargs": {"momentum": 1}},
            {"es": "cma_es", "es_kwargs": {"momentum": 1}},
            {"ranker": "imp", "bounds": [(0, 1)]},
        ]
    ):
        given = {"x0": [0.0] * 3, "sigma0": 0.1, **wrong}
        yield f"es.refused_{i}", outcome(lambda g=given: make(grid(package), **g).batch_size)
    archive = grid(package)
    emitter = make(archive, x0=[0.0] * 3, sigma0=0.1, batch_size=6)
    x = emitter.ask()
    yield "es.read_only", x.flags.writeable
    objective, measures = sphere(x)
    info = archive.add(x, objective, measures)
    for name, arguments in {
        "solution": (x[:, :2], objective, measures, info),
        "objective": (x, objective[:-1], measures, info),
        "measures": (x, objective, measures[:, :1], info),
        "status": (x, objective, measures, {**info, "status": info["status"][1:]}),
        "value": (x, objective, measures, {**info, "value": info["value"][:, None]}),
        "other": (x, objective, measures, {**info, "other": [1]}),
    }.items():
        yield f"es.tell_{name}", outcome(emitter.tell, *arguments)
    strict = grid(package, learning_rate=0.1, threshold_min=1e9)
    emitter = make(strict, x0=[0.0] * 3, sigma0=0.1, batch_size=6)
    x = emitter.ask()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "es.restart_empty", outcome(emitter.tell, x, *sphere(x), strict.add(x, *sphere(x)))


STRATEGIES = {
    "CMAEvolutionStrategy": {},
    "SeparableCMAEvolutionStrategy": {},
    "LMMAEvolutionStrategy": {"n_vectors": 4},
    "OpenAIEvolutionStrategy": {"lr": 0.05},
}


@scenario
def strategies(package):
    for name, options in STRATEGIES.items():
        es = getattr(package.opt, name)(sigma0=0.5, solution_dim=10, batch_size=6, seed=3, **options)
        es.reset(np.arange(10.0))
        ranking = np.array([3, 1, 0, 5, 2, 4])
        for i in range(3):
            # Full CMA-ES draws other numbers once its covariance is no multiple of the identity.
            exact = name != "CMAEvolutionStrategy" or i == 0
            x = es.ask()
            yield f"{name}.ask_{i}", x if exact else x.shape
            es.tell(ranking, np.arange(6.0), 3)
            values = np.arange(6.0)[ranking]
            yield f"{name}.stop_{i}", [bool(es.check_stop(values)), bool(es.check_stop(np.zeros((6, 2))))]
            for attribute in ("mean", "sigma", "ps", "pc", "current_eval", "m", "last_update_ratio"):
                if hasattr(es, attribute) and (exact or attribute == "current_eval") and "OpenAI" not in name:
                    yield f"{name}.{attribute}_{i}", as_float(getattr(es, attribute))
            if hasattr(es, "cov") and exact:
                yield f"{name}.cov_{i}", as_float(es.cov.cov)
        for attribute in ("batch_size", "sigma0", "solution_dim", "lower_bounds", "upper_bounds"):
            yield f"{name}.{attribute}", getattr(es, attribute)
        es.tell(ranking, np.arange(6.0), 0)
        yield f"{name}.default_size", getattr(package.opt, name)(sigma0=0.5, solution_dim=30).batch_size
    es = package.opt.SeparableCMAEvolutionStrategy(sigma0=0.5, solution_dim=10, batch_size=6, seed=3)
    es.reset(np.zeros(10))
    yield "es.ask_other_size", outcome(lambda: es.ask(4).shape)
    tight = package.opt.CMAEvolutionStrategy(
        sigma0=0.5, solution_dim=1, batch_size=4, seed=3, lower_bounds=1.35, upper_bounds=1.4
    )
    tight.reset(np.zeros(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = tight.ask()
    yield "es.bounds_tight", [bool(np.all((x >= 1.35) & (x <= 1.4))), len(caught) > 0]


def as_float(value):
    return np.asarray(value, dtype=float)


@scenario
def gradient_optimisers(package):
    for name, make in {
        "adam": lambda: package.opt.AdamOpt(np.ones(4), lr=0.1, beta1=0.8, l2_coeff=0.01),
        "ascent": lambda: package.opt.GradientAscentOpt([1.0, 2.0, 3.0, 4.0], lr=0.1),
    }.items():
        optimiser = make()
        for i in range(5):
            optimiser.step(np.array([1.0, -2.0, 0.0, 0.5]) * (i - 2))
            yield f"{name}.{i}", optimiser.theta.copy()
        optimiser.reset(np.zeros(4))
        optimiser.step([1.0, 1.0, 1.0, 1.0])
        yield f"{name}.reset", optimiser.theta


@scenario
def every_ranker(package):
    rng = np.random.default_rng(22)
    data = {"objective": rng.normal(size=9), "measures": rng.normal(size=(9, 2)), "genotypic_diversity": rng.random(9)}
    add_info = {
        "status": np.array([0, 1, 2, 2, 1, 0, 0, 1, 2], dtype=np.int32),
        "value": rng.normal(size=9),
        "novelty": np.round(rng.random(9), 1),
        "density": rng.random(9),
        "local_competition": rng.integers(0, 4, size=9),
    }
    archive = grid(package)
    for name in package.rankers.__all__:
        if name == "RankerBase":
            continue
        ranker = getattr(package.rankers, name)(5)
        yield f"{name}.before", outcome(ranker.rank, None, archive, data, add_info)
        ranker.reset(None, archive)
        yield f"{name}.rank", ranker.rank(None, archive, data, add_info)
        if hasattr(ranker, "target_measure_dir"):
            yield f"{name}.direction", ranker.target_measure_dir
            ranker.target_measure_dir = [0.0, 1.0]
            yield f"{name}.set", ranker.rank(None, archive, data, add_info)
    ranker = package.rankers.NSLCRanker(1, diversity_field="objective")
    yield "nslc.field", [ranker.diversity_field, ranker.rank(None, archive, data, add_info)]
    yield "nslc.classic", package.rankers.NSLCClassicRanker(1).diversity_field
    for i, (some_data, some_info) in enumerate(
        [
            (data, {"novelty": [1.0]}),
            (data, {"local_competition": [1.0]}),
            (data, {**add_info, "novelty": [1.0]}),
            ({}, add_info),
            ({"objective": [1.0]}, add_info),
        ]
    ):
        yield f"nslc.wrong_{i}", outcome(ranker.rank, None, archive, some_data, some_info)


def jacobian_of(x):
    """Gradients of the negative sphere and of the first two parameters."""
    jacobian = np.zeros((len(x), 3, x.shape[1]))
    jacobian[:, 0] = -2.0 * x
    jacobian[:, 1, 0] = jacobian[:, 2, 1] = 1.0
    return jacobian


def drive_dqd(package, make, iterations=8):
    archive = grid(package, solution_dim=12)
    scheduler = package.schedulers.Scheduler(archive, [make(archive)])
    trace = []
    for _ in range(iterations):
        x = scheduler.ask_dqd()
        trace.append(np.array(x))
        scheduler.tell_dqd(*sphere(x), jacobian_of(x))
        x = scheduler.ask()
        trace.append(np.array(x))
        scheduler.tell(*sphere(x))
    return archive, scheduler.emitters[0], trace


@scenario
def gradient_emitters(package):
    make = package.emitters.GradientArborescenceEmitter
    start = {"x0": np.full(12, 0.4), "sigma0": 0.3, "lr": 0.1, "seed": 3, "batch_size": 6}
    for name, settings in {
        "adam": {"es": "sep_cma_es"},
        "ascent": {"es": "sep_cma_es", "grad_opt": "gradient_ascent", "normalize_grad": False},
        "every": {"es": "sep_cma_es", "restart_rule": 3, "selection_rule": "mu"},
        "kwargs": {"es": "openai_es", "grad_opt_kwargs": {"beta1": 0.5}, "es_kwargs": {"lr": 0.1}, "ranker": "imp"},
    }.items():
        archive, emitter, trace = drive_dqd(package, lambda a, s=settings: make(a, **start, **s))
        yield f"arborescence.{name}", trace
        yield f"arborescence.{name}.properties", [
            emitter.x0,
            emitter.batch_size,
            emitter.batch_size_dqd,
            emitter.restarts,
            emitter.itrs,
            emitter.epsilon,
        ]
    for i, wrong in enumerate(
        [
            {"bounds": [(0, 1)] * 12},
            {"lower_bounds": [0] * 12},
            {"grad_opt": "newton"},
            {"grad_opt": lambda **_: None},
            {"grad_opt": 3},
            {"x0": [0.0]},
        ]
    ):
        given = {**start, **wrong}
        yield f"arborescence.refused_{i}", outcome(lambda g=given: make(grid(package, solution_dim=12), **g).itrs)
    archive = grid(package, solution_dim=12)
    emitter = make(archive, **start)
    x = emitter.ask_dqd()
    info = archive.add(x, *sphere(x))
    yield "arborescence.early", [outcome(emitter.ask), outcome(emitter.tell, x, *sphere(x), info)]
    yield "arborescence.wrong", [
        outcome(emitter.tell_dqd, x, *sphere(x), np.zeros((1, 2, 12)), info),
        outcome(emitter.tell_dqd, x, *sphere(x), np.full((1, 3, 12), np.nan), info),
    ]
    jacobian = jacobian_of(x)
    emitter.tell_dqd(x, *sphere(x), jacobian, info)
    yield "arborescence.jacobian_after", jacobian
    make = package.emitters.GradientOperatorEmitter
    for name, settings in {
        "isotropic": {"x0": np.full(12, 0.4)},
        "initial": {"initial_solutions": np.random.default_rng(23).normal(size=(7, 12))},
        "measures": {"x0": np.full(12, 0.4), "measure_gradients": True, "normalize_grad": True},
        "bounded": {"x0": np.full(12, 0.4), "bounds": [(-0.5, 0.5)] * 12},
        "lines": {
            "initial_solutions": np.random.default_rng(24).normal(size=(7, 12)),
            "operator_type": "iso_line_dd",
            "line_sigma": 0.2,
        },
    }.items():
        _, emitter, trace = drive_dqd(
            package, lambda a, s=settings: make(a, sigma=0.1, sigma_g=0.2, batch_size=5, seed=3, **s), 4
        )
        yield f"operator.{name}", trace
        yield f"operator.{name}.properties", [
            emitter.x0,
            emitter.initial_solutions,
            emitter.sigma,
            emitter.batch_size,
            emitter.batch_size_dqd,
            emitter.epsilon,
        ]
    early = make(grid(package, solution_dim=12), sigma=0.1, sigma_g=0.2, x0=np.zeros(12))
    yield "operator.early", outcome(early.ask)
    yield "operator.refused", outcome(lambda: make(grid(package), sigma=0.1, sigma_g=0.2).batch_size)


@scenario
def schedulers(package):
    make = package.emitters.GaussianEmitter

    def emitters(archive, n=3):
        return [make(archive, sigma=0.1, x0=[0.0] * 3, batch_size=2 + i, seed=i) for i in range(n)]

    for mode in ("batch", "single"):
        fields = {"extra_fields": {"tag": ((), object)}}
        archive, result = grid(package, **VARIANTS["annealing"], **fields), grid(package, **fields)
        scheduler = package.schedulers.Scheduler(archive, emitters(archive), result, add_mode=mode)
        for i in range(4):
            x = scheduler.ask()
            yield f"scheduler.{mode}.ask_{i}", x
            scheduler.tell(*sphere(x), tag=[f"{i}.{k}" for k in range(len(x))])
        yield f"scheduler.{mode}.archives", [state(archive), state(result)]
        yield f"scheduler.{mode}.same", [scheduler.archive is archive, scheduler.result_archive is result]
        yield f"scheduler.{mode}.pickled", pickle.loads(pickle.dumps(scheduler)).ask()
    archive = grid(package)
    scheduler = package.schedulers.Scheduler(archive, emitters(archive))
    yield "scheduler.no_result", scheduler.result_archive is archive
    yield "scheduler.order", [
        outcome(scheduler.tell, None, None),
        outcome(scheduler.tell_dqd, None, None, None),
        outcome(scheduler.ask),
        outcome(scheduler.ask),
        outcome(scheduler.ask_dqd),
        outcome(scheduler.tell_dqd, None, None, None),
        outcome(scheduler.tell, np.zeros(3), np.zeros((9, 2))),
        outcome(scheduler.tell, np.zeros(9), np.zeros((9, 2))),
        outcome(scheduler.ask_dqd),
        outcome(scheduler.tell_dqd, [], np.zeros((0, 2)), np.zeros((0, 3, 3))),
    ]
    scheduler.ask()
    yield "scheduler.short", outcome(scheduler.tell, np.zeros(9), np.zeros((8, 2)))
    scheduler = package.schedulers.Scheduler(archive, emitters(archive))
    scheduler.ask()
    yield "scheduler.short_field", outcome(scheduler.tell, np.zeros(9), np.zeros((9, 2)), tag=[1])
    other = grid(package, solution_dim=4)
    wrong = make(other, sigma=0.1, x0=[0.0] * 4)
    for i, arguments in enumerate([[], emitters(archive)[:1] * 2, 5, [*emitters(archive), wrong]]):
        yield f"scheduler.refused_{i}", outcome(lambda a=arguments: package.schedulers.Scheduler(archive, a).emitters)
        bandit = package.schedulers.BanditScheduler
        yield f"bandit.refused_{i}", outcome(lambda a=arguments: bandit(archive, a, num_active=1).active)
    yield "scheduler.mode", outcome(package.schedulers.Scheduler, archive, emitters(archive), add_mode="both")
    yield "scheduler.twice", outcome(package.schedulers.Scheduler, archive, emitters(archive), archive)
    high = grid(package, learning_rate=0.1, threshold_min=1e6)
    for kind, settings in (("Scheduler", {}), ("BanditScheduler", {"num_active": 2})):
        scheduler = getattr(package.schedulers, kind)(grid(package), emitters(archive), high, **settings)
        x = scheduler.ask()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scheduler.tell(*sphere(x))
        yield f"scheduler.warns_{kind}", [one.category.__name__ for one in caught]


@scenario
def bandits(package):
    def pool(archive):
        first = [
            package.emitters.GaussianEmitter(archive, sigma=0.05 * (i + 1), x0=[0.0] * 3, batch_size=4, seed=i)
            for i in range(4)
        ]
        more = [
            package.emitters.EvolutionStrategyEmitter(
                archive, x0=[0.1] * 3, sigma0=0.2, es="sep_cma_es", batch_size=4, seed=i
            )
            for i in range(3)
        ]
        return first + more

    for reselect in ("terminated", "all"):
        for mode in ("batch", "single"):
            archive, result = grid(package), grid(package)
            scheduler = package.schedulers.BanditScheduler(
                archive, pool(archive), result, num_active=3, reselect=reselect, zeta=0.1, add_mode=mode
            )
            for i in range(10):
                x = scheduler.ask()
                yield f"bandit.{reselect}.{mode}.ask_{i}", [x, scheduler.active]
                scheduler.tell(*sphere(x))
            yield f"bandit.{reselect}.{mode}.state", state(result)
            yield f"bandit.{reselect}.{mode}.pool", [
                len(scheduler.emitter_pool),
                scheduler.archive is archive,
                scheduler.result_archive is result,
                scheduler.active.flags.writeable,
            ]
    yield "bandit.order", [
        outcome(scheduler.ask_dqd),
        outcome(scheduler.tell_dqd, None, None, None),
        outcome(scheduler.tell, None, None),
        outcome(lambda: scheduler.ask().shape),
        outcome(scheduler.ask),
    ]
    make = package.schedulers.BanditScheduler
    for i, wrong in enumerate([{"num_active": 0}, {"num_active": 9}, {"reselect": "some"}, {"add_mode": "both"}]):
        yield f"bandit.wrong_{i}", outcome(lambda w=wrong: make(archive, pool(archive), **{"num_active": 2, **w}).active)


@scenario
def far_bounds(package):
    # pyribs would draw for ever.
    if package.archives.GridArchive.__module__.startswith("ribs."):
        yield "es.bounds_far_away", "never ends"
        return
    es = package.opt.CMAEvolutionStrategy(
        sigma0=0.1, solution_dim=2, batch_size=4, seed=3, lower_bounds=100.0, upper_bounds=101.0
    )
    es.reset(np.zeros(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "es.bounds_far_away", es.ask()


# --- Comparing.


def same(one, other):
    """Whether two observations are equal: types, shapes, order of keys, and numbers to 1e-9."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and list(one) == list(other)
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, pd.DataFrame):
        return list(one.columns) == list(other.columns) and same(
            [one[column].to_numpy() for column in one], [other[column].to_numpy() for column in other]
        )
    if isinstance(one, (np.ndarray, np.generic, float)):
        if type(one) is not type(other) or np.shape(one) != np.shape(other):
            return False
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype:
            return False
        if np.issubdtype(one.dtype, np.floating):
            tolerance = 1e-9 if one.dtype == np.float64 else 1e-5
            return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))
        return bool(np.all(one == other))
    return type(one) is type(other) and one == other


def observations(root):
    package, seen = Package(root), {}
    for function in SCENARIOS:
        for name, value in function(package):
            assert name not in seen, name
            seen[name] = value
    return seen


class Calls:
    """Which methods of which classes were called."""

    def __init__(self):
        self.seen = set()

    def __call__(self, frame, event, argument):
        if event == "call" and "autoqd/ribs" in frame.f_code.co_filename:
            self.seen.add((type(frame.f_locals.get("self")), frame.f_code))


@pytest.fixture(scope="module")
def both():
    calls = Calls()
    sys.setprofile(calls)
    try:
        ours = observations(autoqd.ribs)
    finally:
        sys.setprofile(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = observations(ribs)
    return ours, theirs, calls.seen


def listed():
    return {name for difference in DIFFERENCES for name in difference.seen_in if not name.startswith("names.")}


def test_everything_that_can_be_seen_is_the_same_or_listed(both):
    ours, theirs, _ = both
    assert list(ours) == list(theirs)
    differing = [name for name in ours if not same(ours[name], theirs[name])]
    unlisted = {name: (ours[name], theirs[name]) for name in differing if name not in listed()}
    assert not unlisted, "\n".join(f"{name}:\n  ours   {a}\n  pyribs {b}" for name, (a, b) in unlisted.items())
    assert listed() <= set(differing), "listed, but not found any more"
    assert len(ours) > 1500


def test_the_page_lists_the_differences():
    page = " ".join(PAGE.read_text().split())
    missing = [difference.text for difference in DIFFERENCES if difference.text not in page]
    assert not missing, missing


def public_names(one):
    # A constant of pyribs' mixin for pickling, which is no part of what it offers.
    return [name for name in dir(one) if not name.startswith("_") and name != "XP_NAME"]


def offered_classes():
    for module in MODULES:
        theirs, ours = Package(ribs), Package(autoqd.ribs)
        short = module.split(".")[-1]
        for name in getattr(theirs, short).__all__:
            if name not in NOT_OFFERED:
                yield name, getattr(getattr(theirs, short), name), getattr(getattr(ours, short), name)


def test_the_same_names():
    assert autoqd.ribs.__version__ == ribs.__version__
    assert sorted(autoqd.ribs.__all__) == sorted(ribs.__all__)
    for module in MODULES:
        short = module.split(".")[-1]
        ours, theirs = getattr(Package(autoqd.ribs), short), getattr(Package(ribs), short)
        assert ours.__all__ == theirs.__all__
        assert all(hasattr(ours, name) for name in ours.__all__)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("autoqd.ribs.discount_models")
    for name in NOT_OFFERED:
        place = next(m for m in (autoqd.ribs.archives, autoqd.ribs.emitters, autoqd.ribs.schedulers) if hasattr(m, name))
        with pytest.raises(NotImplementedError, match=name):
            getattr(place, name)()


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def shown(found):
    """Parameters in a form that compares, as NaN and functions do not."""
    return [(name, kind.name, repr(default)) for name, kind, default in found]


def test_the_same_signatures():
    wrong = {}
    for name, theirs, ours in offered_classes():
        if not inspect.isclass(theirs):
            if shown(parameters(theirs)) != shown(parameters(ours)):
                wrong[name] = (shown(parameters(theirs)), shown(parameters(ours)))
            continue
        for method in ("__init__", *public_names(theirs)):
            theirs_one, ours_one = inspect.getattr_static(theirs, method), inspect.getattr_static(ours, method, None)
            if ours_one is None:
                wrong[f"{name}.{method}"] = "missing"
            elif inspect.isfunction(theirs_one) and method in vars(theirs) and not issubclass(theirs, pd.DataFrame):
                if shown(parameters(theirs_one)) != shown(parameters(ours_one)):
                    wrong[f"{name}.{method}"] = (shown(parameters(theirs_one)), shown(parameters(ours_one)))
            elif isinstance(theirs_one, property):
                assert isinstance(ours_one, property), f"{name}.{method}"
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def code_of(member):
    if isinstance(member, property):
        member = member.fget
    member = getattr(member, "func", member)
    return getattr(member, "__code__", None)


def test_every_public_method_was_called(both):
    _, _, calls = both
    called = {(kind.__name__, code) for kind, code in calls}
    by_anyone = {code for _, code in calls}
    missing = []
    for name, theirs, ours in offered_classes():
        if not inspect.isclass(theirs) or inspect.isabstract(theirs):
            continue
        for method in public_names(theirs):
            code = code_of(inspect.getattr_static(ours, method))
            if code is None or "autoqd/ribs" not in code.co_filename:
                continue
            # What a class only inherits from the base was called through another one.
            inherited = code.co_filename.endswith(("_archive_base.py", "_emitter_base.py", "_stored_archive.py"))
            if (name, code) not in called and not (inherited and code in by_anyone):
                missing.append(f"{name}.{method}")
    assert not missing, missing
