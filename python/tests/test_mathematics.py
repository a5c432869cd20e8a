"""Embeddings, distances, axes and scores against plain numpy."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import autoqd

rng = np.random.default_rng(5)


def rollouts(count=6, size=4, actions=2, longest=300):
    lengths = rng.integers(1, longest, count)
    return [(rng.normal(2.0, 3.0, (t, size)), rng.uniform(-1, 1, (t, actions)).astype(np.float32)) for t in lengths]


def plain_psi(embedding, rollout):
    """Eq. 3 and Eq. 6 of the paper as they are printed."""
    observations, actions = rollout
    x = np.concatenate([(observations - embedding.mean) / embedding.std, actions], axis=1)
    phi = np.sqrt(2 / embedding.dimension) * np.cos(x @ embedding.weights.T + embedding.phases)
    discounts = embedding.gamma ** np.arange(len(x))
    return (1 - embedding.gamma) * discounts @ phi


def test_psi_is_the_papers_formula():
    data = rollouts()
    embedding = autoqd.Embedding(data, dimension=200, gamma=0.99, seed=3)
    every = np.concatenate([observations for observations, _ in data])
    np.testing.assert_allclose(embedding.mean, every.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(embedding.std, every.std(axis=0), rtol=1e-12)
    # Features are computed in single precision.
    np.testing.assert_allclose(embedding(data), [plain_psi(embedding, one) for one in data], atol=2e-7)
    np.testing.assert_array_equal(autoqd.embed(data, dimension=200, gamma=0.99, seed=3), embedding(data))


def test_several_rollouts_of_a_policy_are_averaged():
    data = rollouts()
    embedding = autoqd.Embedding(data)
    single = embedding(data)
    together = embedding([data[:2], data[2], data[3:]])
    np.testing.assert_allclose(together, [single[:2].mean(axis=0), single[2], single[3:].mean(axis=0)], rtol=1e-12)


def test_rollouts_come_in_many_forms():
    observations, actions = rollouts(1, longest=50)[0]
    embedding = autoqd.Embedding([(observations, actions)])
    expected = embedding([(observations, actions)])
    wide = np.zeros((2 * len(observations), 8))
    wide[::2, ::2] = observations
    frozen = actions.copy()
    frozen.setflags(write=False)
    last = np.concatenate([observations, observations[-1:]])
    same = [
        {"observations": observations, "actions": actions},
        (observations.tolist(), actions.tolist()),
        (np.asfortranarray(observations), frozen),
        (wide[::2, ::2], actions.astype(np.float64)),
        (last, actions),
    ]
    for one in same:
        np.testing.assert_array_equal(embedding([one]), expected)


def test_distances_of_embeddings_approach_the_kernels_mmd():
    a, b = rollouts(2, longest=60)
    embedding = autoqd.Embedding([a, b], dimension=20_000, gamma=0.95, sampling="orthogonal")

    def weighted(rollout):
        x = np.concatenate([(rollout[0] - embedding.mean) / embedding.std, rollout[1]], axis=1)
        return x, 0.05 * 0.95 ** np.arange(len(x))

    def mean_kernel(p, q):
        (x, u), (y, v) = p, q
        squares = ((x[:, None] - y[None]) ** 2).sum(axis=2)
        return u @ np.exp(-squares / (2 * x.shape[1])) @ v

    p, q = weighted(a), weighted(b)
    exact = np.sqrt(mean_kernel(p, p) + mean_kernel(q, q) - 2 * mean_kernel(p, q))
    psi = embedding([a, b])
    assert autoqd.mmd(psi[0], psi[1]) == pytest.approx(exact, rel=0.03)


def test_mmd_is_the_distance_of_rows():
    a, b = rng.normal(size=(5, 33)), rng.normal(size=(4, 33))
    expected = np.linalg.norm(a[:, None] - b[None], axis=2)
    np.testing.assert_allclose(autoqd.mmd(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(autoqd.mmd(a[0], b), expected[0], rtol=1e-12)
    np.testing.assert_allclose(autoqd.mmd(a, b[1]), expected[:, 1], rtol=1e-12)
    assert autoqd.mmd(a[2], b[3]) == pytest.approx(expected[2, 3])
    assert (np.diag(autoqd.mmd(a)) == 0).all()


def plain_cwpca(psi, objectives, k):
    """Appendix C of the paper."""
    shares = np.maximum((objectives - objectives.min()) / np.ptp(objectives), 1 / len(psi))
    weights = shares / shares.sum()
    mean = weights @ psi
    covariance = (psi - mean).T @ ((psi - mean) * weights[:, None])
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, ::-1][:, :k].T
    axes = axes * np.sign(axes[np.arange(k), np.abs(axes).argmax(axis=1)])[:, None]
    low, high = np.quantile((psi - mean) @ axes.T, [0.05, 0.95], axis=0)
    return 2 * ((psi - mean) @ axes.T - low) / (high - low) - 1, values[::-1][:k]


def test_cwpca_is_appendix_c():
    psi = rng.normal(size=(120, 15)) @ np.diag(np.linspace(3, 0.1, 15)) @ rng.normal(size=(15, 15))
    objectives = rng.normal(size=120) * 100
    axes = autoqd.cwpca(psi, objectives, 3)
    measures, variance = plain_cwpca(psi, objectives, 3)
    np.testing.assert_allclose(axes(psi), measures, atol=1e-9)
    np.testing.assert_allclose(axes(psi[7]), measures[7], atol=1e-9)
    np.testing.assert_allclose(axes.variance, variance, rtol=1e-9)
    np.testing.assert_allclose(axes.a @ psi[0] + axes.b, measures[0], atol=1e-9)
    assert 0 < axes.explained.sum() <= 1
    again = pickle.loads(pickle.dumps(axes))
    np.testing.assert_array_equal(again(psi), axes(psi))


def test_cwpca_follows_an_earlier_map():
    psi = rng.normal(size=(400, 5)) * [5.0, 4.9, 0.1, 0.1, 0.1]
    before = autoqd.cwpca(psi)
    turned = -psi[:, [1, 0, 2, 3, 4]]
    after = autoqd.cwpca(turned[:, [1, 0, 2, 3, 4]], previous=before)
    assert (np.einsum("kd,kd->k", before.components, after.components) > 0.9).all()


def plain_vendi(kernel):
    values = np.linalg.eigvalsh(kernel / len(kernel))
    values = values[values > 0] / values[values > 0].sum()
    return np.exp(-(values * np.log(values)).sum())


def test_the_vendi_score_is_the_exponential_of_the_entropy():
    psi = rng.normal(size=(80, 7))
    squares = autoqd.mmd(psi) ** 2
    gamma = autoqd.vendi_bandwidth(psi)
    assert gamma == pytest.approx(np.log(2) / np.median(squares[np.triu_indices(80, 1)]))
    kernel = np.exp(-gamma * squares)
    assert autoqd.vendi_score(psi) == pytest.approx(plain_vendi(kernel), rel=1e-9)
    assert autoqd.vendi_score(kernel=kernel) == pytest.approx(plain_vendi(kernel), rel=1e-9)
    unit = psi / np.linalg.norm(psi, axis=1, keepdims=True)
    assert autoqd.vendi_score(psi, kernel="cosine") == pytest.approx(plain_vendi(unit @ unit.T), rel=1e-9)


def test_the_vendi_score_of_known_populations():
    assert autoqd.vendi_score(np.ones((9, 3)), gamma=2.0) == pytest.approx(1)
    assert autoqd.vendi_score(1e3 * np.eye(9), gamma=2.0) == pytest.approx(9)
    # Ten policies whose pairs are all half alike.
    half = np.full((10, 10), 0.5) + 0.5 * np.eye(10)
    assert autoqd.vendi_score(kernel=half) == pytest.approx(5.349, abs=1e-3)
    assert autoqd.vendi_bandwidth(np.ones((4, 2))) == 1.0


def test_a_large_population_has_a_bracket():
    centres = rng.normal(size=(10, 3)) * 20
    psi = centres[rng.integers(0, 10, 3100)] + 0.05 * rng.normal(size=(3100, 3))
    score, lower, upper = autoqd.vendi_score(psi, gamma=0.1, return_bounds=True)
    assert lower <= score <= upper <= 1.01 * lower
    assert autoqd.vendi_score(psi[:800], gamma=0.1) == pytest.approx(score, rel=0.02)


def test_the_toeplitz_policy_is_a_network_of_diagonals():
    size, low, high, hidden = 5, np.array([-1.0, -2.0]), np.array([1.0, 0.5]), (7, 6)
    count = len(autoqd.toeplitz_policy(size, low, high, hidden=hidden).parameters)
    parameters = rng.normal(size=count) * 0.3
    policy = autoqd.toeplitz_policy(size, low, high, parameters, hidden=hidden)
    x, rest = rng.normal(size=size), parameters
    observation = x
    for layer, outputs in enumerate((*hidden, 2)):
        inputs = len(x)
        diagonals, rest = rest[: inputs + outputs - 1], rest[inputs + outputs - 1 :]
        matrix = np.array([[diagonals[i - j + inputs - 1] for j in range(inputs)] for i in range(outputs)])
        biases, rest = (rest[:outputs], rest[outputs:]) if layer < len(hidden) else (0.0, rest)
        x = np.tanh(matrix @ x + biases)
    assert len(rest) == 0
    np.testing.assert_allclose(policy(observation), (low + high) / 2 + (high - low) / 2 * x, atol=1e-6)


def test_an_embedding_can_be_pickled():
    data = rollouts()
    embedding = autoqd.Embedding(data, length_normalized=True, scales=[0.5, 2.0])
    again = pickle.loads(pickle.dumps(embedding))
    np.testing.assert_array_equal(again(data), embedding(data))


GOOD = (np.zeros((3, 2)), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: autoqd.embed([]), "no trajectories"),
        (lambda: autoqd.embed(GOOD), "a list with a rollout"),
        (lambda: autoqd.embed([GOOD, (np.zeros((3, 4)), np.zeros((3, 1)))]), "rollout 1 has 4 numbers"),
        (lambda: autoqd.embed([(np.zeros((3, 2)), np.zeros((5, 1)))]), "3 observations and 5 actions"),
        (lambda: autoqd.embed([(np.zeros(3), np.zeros((3, 1)))]), "shape (3,)"),
        (lambda: autoqd.embed([(np.zeros((3, 0)), np.zeros((3, 1)))]), "0 numbers per observation"),
        (lambda: autoqd.embed([(np.full((3, 2), np.nan), np.zeros((3, 1)))]), "number at (0, 0) is nan"),
        (lambda: autoqd.embed([(np.zeros((3, 2), complex), np.zeros((3, 1)))]), "real numbers"),
        (lambda: autoqd.embed([GOOD], gamma=1.0), "gamma"),
        (lambda: autoqd.embed([GOOD], gamma="high"), "not a number"),
        (lambda: autoqd.embed([GOOD], dimension=0), "dimension = 0"),
        (lambda: autoqd.embed([GOOD], bandwidth=-1), "bandwidth"),
        (lambda: autoqd.embed([{"obs": 1}]), "expected 'observations'"),
        (lambda: autoqd.mmd([1.0, 2.0], [1.0]), "cannot be compared"),
        (lambda: autoqd.mmd([[1.0, np.inf]]), "number at (0, 1) is inf"),
        (lambda: autoqd.cwpca(np.zeros((0, 3))), "elites"),
        (lambda: autoqd.cwpca(np.zeros((4, 3)), np.zeros(3)), "3 objectives for 4"),
        (lambda: autoqd.cwpca(np.zeros((4, 3)), quantiles=(0.9, 0.1)), "quantiles"),
        (lambda: autoqd.cwpca(np.zeros((4, 3)), measures=0), "measures = 0"),
        (lambda: autoqd.vendi_score(), "give embeddings"),
        (lambda: autoqd.vendi_score(np.zeros((3, 2)), kernel="linear"), "'gaussian', 'cosine'"),
        (lambda: autoqd.vendi_score(kernel=np.zeros((3, 3))), "ones on the diagonal"),
        (lambda: autoqd.vendi_score(kernel=np.zeros((3, 2))), "not square"),
        (lambda: autoqd.vendi_score(np.zeros((3, 2)), gamma=-1), "gamma = -1"),
        (lambda: autoqd.vendi_score(["a"]), "real numbers"),
        (lambda: autoqd.toeplitz_policy(3, [-1], [1], [0.0] * 5), "5"),
        (lambda: autoqd.toeplitz_policy(3, [1], [-1]), "low < high"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((ValueError, TypeError)) as refused:
        call()
    assert message in str(refused.value)


def test_scores_are_computed_in_a_forked_process():
    code = """
import os, numpy, autoqd
psi = numpy.random.default_rng(0).normal(size=(200, 5))
here = autoqd.vendi_score(psi)
child = os.fork()
if child == 0:
    os._exit(0 if autoqd.vendi_score(psi) == here else 1)
print(os.waitpid(child, 0)[1])
"""
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, env=os.environ)
    assert found.stdout.strip() == "0", found.stderr
