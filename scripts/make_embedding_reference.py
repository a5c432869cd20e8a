#!/usr/bin/env python3
"""Reference results for policies, embedding and calibrated weighted PCA, computed with numpy alone.

    python3 scripts/make_embedding_reference.py --out crates/autoqd/tests/data/embedding_reference.json

The file holds inputs and results; the tests of the autoqd crate compare with it, and where numpy is installed
also with a fresh one from another seed. Nothing here is taken from the Rust code but the formulas: the paper's
in double precision, and the documented order of single-precision operations.
"""

import argparse
import json

import numpy as np

F = np.float32


# Single precision, in the documented order of operations.

TANH_P = [F(c) for c in (1.0, 1.3450629e-1, 3.5790023e-3, 2.2023414e-5, 1.5428213e-8)]
TANH_Q = [F(c) for c in (1.0, 4.6783957e-1, 2.6192278e-2, 3.4236672e-4, 8.598877e-7)]
PI_PARTS = [F(c) for c in (3.140625, 9.675026e-4, 1.509958e-7)]
SINE = [F(c) for c in (-1.6666657e-1, 8.333016e-3, -1.9806548e-4, 2.5999032e-6)]


def horner(coefficients, u):
    total = np.full_like(u, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * u + c
    return total


def tanh32(x):
    x = np.clip(x, F(-7.9), F(7.9))
    u = x * x
    return x * horner(TANH_P, u) / horner(TANH_Q, u)


def cos32(x):
    s = (x * F(1 / np.pi) + F(0.5)) + F(12582912)
    h = (s - F(12582912)) - F(0.5)
    r = x
    for part in PI_PARTS:
        r = r - h * part
    u = r * r
    y = r + (r * u) * horner(SINE, u)
    y = np.where(s.view(np.uint32) & 1, -y, y)
    return np.clip(y, F(-1), F(1))


# Policies.


def matrices(kind, sizes, parameters):
    """Weights and biases per layer from the flat parameter vector."""
    at = 0
    for n, m in zip(sizes[:-1], sizes[1:]):
        if kind == "toeplitz":
            diagonals = parameters[at : at + n + m - 1]
            w = np.array([[diagonals[i - j + n - 1] for j in range(n)] for i in range(m)])
            at += n + m - 1
        else:
            w = parameters[at : at + n * m].reshape(m, n)
            at += n * m
        yield w, parameters[at : at + m]
        at += m
    assert at == len(parameters)


def parameter_count(kind, sizes):
    pairs = list(zip(sizes[:-1], sizes[1:]))
    return sum((n + m - 1 if kind == "toeplitz" else n * m) + m for n, m in pairs)


def act32(kind, sizes, parameters, observation, low, high):
    x = observation.astype(F)
    for w, b in matrices(kind, sizes, parameters):
        w, b = w.astype(F), b.astype(F)
        if len(b) <= 16:
            sums = [b] + [np.zeros_like(b)] * 3
            for j, xj in enumerate(x):
                sums[j % 4] = sums[j % 4] + xj * w[:, j]
            total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        else:
            total = b
            for j in sorted(range(len(x)), key=lambda j: (j % 16, j)):
                total = total + x[j] * w[:, j]
        x = tanh32(total)
    action = ((low + high) / 2).astype(F) + ((high - low) / 2).astype(F) * x
    return np.clip(action, low.astype(F), high.astype(F))


def act64(kind, sizes, parameters, observation, low, high):
    x = observation
    for w, b in matrices(kind, sizes, parameters):
        x = np.tanh(w @ x + b)
    return (low + high) / 2 + (high - low) / 2 * x


def policy_case(rng, kind, sizes, scale, asymmetric):
    parameters = rng.normal(0, scale, parameter_count(kind, sizes))
    low, high = -np.ones(sizes[-1]), np.ones(sizes[-1])
    if asymmetric:
        low, high = rng.uniform(-2, -0.5, sizes[-1]), rng.uniform(0.5, 3, sizes[-1])
    observations = rng.normal(0, 2, (3, sizes[0]))
    return dict(
        kind=kind, sizes=sizes, low=low, high=high, parameters=parameters, observations=observations,
        actions_f32=[act32(kind, sizes, parameters, o, low, high) for o in observations],
        actions_f64=[act64(kind, sizes, parameters, o, low, high) for o in observations],
    )


# Embedding.


def normalized(observations, mean, std):
    flat = std < 1e-6
    return (observations - mean) * np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, std))


def psi(features, observations, actions, mean, std, w, b, gamma, length_normalized):
    """Eq. 6 of the paper for one trajectory, with the given feature function."""
    total, discount = np.zeros(len(b)), 1.0
    for s, a in zip(normalized(observations, mean, std), actions):
        total = total + discount * features(s, a, w, b)
        discount *= gamma
    weight = (1 - gamma) / (1 - discount) if length_normalized else 1 - gamma
    return weight * np.sqrt(2 / len(b)) * total


def features64(s, a, w, b):
    return np.cos(w @ np.concatenate([s, a.astype(float)]) + b)


def features32(s, a, w, b):
    w, angle = w.astype(F), b.astype(F)
    for i, x in enumerate(np.concatenate([s.astype(F), a])):
        angle = angle + x * w[:, i]
    return cos32(angle).astype(float)


def embedding_case(rng, d_s, d_a, dimension, steps, gamma, length_normalized):
    sigma = np.sqrt(d_s + d_a)
    observations = rng.normal(rng.normal(0, 3, d_s), rng.uniform(0.1, 4, d_s), (steps, d_s))
    observations[:, 0] = 0.7  # a dimension without variation
    actions = rng.uniform(-1, 1, (steps, d_a)).astype(F)
    mean, std = observations.mean(0), observations.std(0)
    w, b = rng.normal(0, 1 / sigma, (dimension, d_s + d_a)), rng.uniform(0, 2 * np.pi, dimension)
    arguments = (observations, actions, mean, std, w, b, gamma, length_normalized)
    return dict(
        observations=observations, actions=actions, mean=mean, std=std, weights=w, phases=b, gamma=gamma,
        length_normalized=length_normalized,
        psi_f64=psi(features64, *arguments), psi_f32=psi(features32, *arguments),
    )


# Calibrated weighted PCA (Appendix C).


def cwpca(embeddings, objectives, k, weighted):
    m = len(objectives)
    share = np.maximum((objectives - objectives.min()) / (objectives.max() - objectives.min()), 1 / m)
    weights = share / share.sum() if weighted else np.full(m, 1 / m)
    mean = weights @ embeddings
    centred = embeddings - mean
    _, singular, vectors = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)
    p = vectors[:k].copy()
    p *= np.sign(p[np.arange(k), np.abs(p).argmax(1)])[:, None]
    projections = centred @ p.T
    low, high = np.quantile(projections, 0.05, axis=0), np.quantile(projections, 0.95, axis=0)
    scale = 2 / (high - low)
    a = scale[:, None] * p
    return dict(
        weights=weights, mean=mean, components=p, scale=scale, a=a, b=-1 - scale * low - a @ mean,
        variance=singular[:k] ** 2, total_variance=(singular**2).sum(),
        measures=embeddings @ a.T + (-1 - scale * low - a @ mean),
    )


def elites(rng, m, dimension):
    spread = np.exp(-0.5 * np.arange(dimension)) * 0.05
    basis = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]
    return rng.normal(0, 0.05, dimension) + (rng.normal(size=(m, dimension)) * spread) @ basis.T


def cwpca_case(rng, m, dimension, k, weighted):
    embeddings, objectives = elites(rng, m, dimension), rng.normal(100, 40, m)
    result = cwpca(embeddings, objectives, k, weighted)
    return dict(embeddings=embeddings, objectives=objectives, k=k, weighted=weighted, **result)


def turn_case(rng, m, dimension, k):
    """Two fits and the principal angles between their spaces."""
    embeddings, objectives = elites(rng, m, dimension), rng.normal(100, 40, m)
    moved = embeddings + rng.normal(0, 0.005, embeddings.shape)
    old, new = cwpca(embeddings, objectives, k, True), cwpca(moved, objectives, k, True)
    cosines = np.linalg.svd(old["components"] @ new["components"].T)[1]
    return dict(
        before=embeddings, after=moved, objectives=objectives, k=k,
        principal_degrees=np.degrees(np.arccos(np.clip(cosines, -1, 1))),
    )


def statistics_case(rng, rows, size):
    chunks = [rng.normal(rng.normal(1e3, 1, size), 2, (n, size)) for n in rows]
    together = np.concatenate(chunks)
    return dict(chunks=chunks, mean=together.mean(0), variance=together.var(0))


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


def reference(seed):
    rng = np.random.default_rng(seed)
    return dict(
        seed=seed,
        numpy=np.__version__,
        policies=[
            policy_case(rng, "toeplitz", [8, 128, 128, 2], 0.3, False),
            policy_case(rng, "toeplitz", [17, 33, 6], 0.5, True),
            policy_case(rng, "toeplitz", [5, 3], 1.0, False),
            policy_case(rng, "dense", [6, 21, 18, 3], 0.3, True),
            policy_case(rng, "dense", [7, 16, 17], 0.3, False),
        ],
        embeddings=[
            embedding_case(rng, 5, 2, 20, 57, 0.97, False),
            embedding_case(rng, 5, 2, 20, 3, 0.999, True),
            embedding_case(rng, 11, 3, 33, 16, 0.9, True),
        ],
        cwpca=[
            cwpca_case(rng, 40, 12, 4, True),
            cwpca_case(rng, 40, 12, 4, False),
            cwpca_case(rng, 9, 12, 3, True),
        ],
        turns=[turn_case(rng, 30, 10, 3)],
        statistics=[statistics_case(rng, [1, 7, 4], 3)],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(plain(reference(options.seed)), file)
        file.write("\n")


if __name__ == "__main__":
    main()
