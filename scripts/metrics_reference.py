"""Reference values of other people's implementations for the tests of the metrics.

    python scripts/metrics_reference.py golden > tests/golden/metrics.json
    python scripts/metrics_reference.py score < kernels.json

Needs `pip install vendi-score scipy`. `golden` writes random kernels and samples with their scores; `score` reads a
list of kernels and answers with a list of Vendi scores.
"""

import json
import sys

import numpy as np
from scipy.stats import mannwhitneyu
from vendi_score import vendi


def gaussian_kernel(rng, n, d):
    x = rng.normal(size=(n, d))
    distances = ((x[:, None] - x[None]) ** 2).sum(-1)
    gamma = np.log(2) / np.median(distances[np.triu_indices(n, 1)])
    return np.exp(-gamma * distances)


def linear_kernel(rng, n, d):
    x = rng.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    kernel = x @ x.T
    np.fill_diagonal(kernel, 1.0)
    return kernel


def kernels():
    rng = np.random.default_rng(7)
    sizes = [(2, 1), (5, 2), (9, 3), (16, 4), (25, 10)]
    for make in (gaussian_kernel, linear_kernel):
        for n, d in sizes:
            kernel = make(rng, n, d)
            yield {"kernel": kernel.tolist(), "vendi": float(vendi.score_K(kernel))}


def rank_tests():
    rng = np.random.default_rng(8)
    for n, m, shift in [(3, 3, 2.0), (8, 8, 0.7), (8, 8, 2.0), (5, 12, 0.5), (20, 20, 0.3)]:
        a, b = rng.normal(size=n), rng.normal(size=m) + shift
        test = mannwhitneyu(a, b, method="exact")
        yield {"a": a.tolist(), "b": b.tolist(), "u": float(test.statistic), "p": float(test.pvalue)}
    for n, m, levels in [(30, 25, 6), (60, 60, 10)]:
        a, b = rng.integers(0, levels, n) + 0.0, rng.integers(1, levels + 1, m) + 0.0
        test = mannwhitneyu(a, b, method="asymptotic")
        yield {"a": a.tolist(), "b": b.tolist(), "u": float(test.statistic), "p": float(test.pvalue)}


def main():
    if sys.argv[1:] == ["golden"]:
        json.dump({"kernels": list(kernels()), "rank_tests": list(rank_tests())}, sys.stdout)
    elif sys.argv[1:] == ["score"]:
        json.dump([float(vendi.score_K(np.array(kernel))) for kernel in json.load(sys.stdin)], sys.stdout)
    else:
        sys.exit(__doc__)


main()
