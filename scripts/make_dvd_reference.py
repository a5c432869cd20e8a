"""Records what DvD-ES makes of given rollouts, computed plainly with numpy from the definition of the algorithm.

    python scripts/make_dvd_reference.py > crates/autoqd-learn/src/dvd_es/reference.json

Three iterations of three agents with four antithetic pairs each. Returns, perturbations and actions are random; the
weights after every iteration are the answer, for Adam with and without memory.
"""

import json

import numpy as np

AGENTS, PAIRS, WEIGHTS, FEATURES = 3, 4, 5, 6
LAMBDAS = [0.0, 0.5, 0.5]
RATE, BETAS, EPSILON = 0.05, (0.9, 0.999), 1e-8


def standardized(values, axis=None):
    mean = values.mean(axis=axis, keepdims=axis is not None)
    return (values - mean) / (values.std(axis=axis, keepdims=axis is not None) + 1e-8)


def determinant(actions):
    """Of one embedding per agent."""
    u = np.clip(standardized(actions, axis=0), -2.0, 2.0)
    squares = ((u[:, None, :] - u[None, :, :]) ** 2).sum(axis=2)
    return np.linalg.det(np.exp(-squares / actions.shape[1]))


def gradient(returns, determinants, noise, weight):
    shared = standardized(determinants)
    rows = []
    for agent in range(AGENTS):
        joint = weight * shared + (1.0 - weight) * standardized(returns[agent])
        rows.append(((joint[:, 0] - joint[:, 1])[:, None] * noise[agent]).mean(axis=0))
    g = np.concatenate(rows)
    return g / (np.linalg.norm(g) / WEIGHTS + 1e-8)


def main():
    random = np.random.default_rng(20)
    start = random.normal(size=AGENTS * WEIGHTS)
    weights = {"fixed": start.copy(), "released": start.copy()}
    moments = {variant: [np.zeros_like(start), np.zeros_like(start)] for variant in weights}
    iterations = []
    for t, weight in enumerate(LAMBDAS, start=1):
        noise = random.normal(size=(AGENTS, PAIRS, WEIGHTS))
        returns = random.normal(100.0, 30.0, size=(AGENTS, PAIRS, 2))
        actions = random.uniform(-1.0, 1.0, size=(AGENTS, PAIRS, 2, FEATURES)).astype(np.float32)
        wide = actions.astype(np.float64)
        determinants = np.array(
            [[determinant(wide[:, i, sign]) for sign in range(2)] for i in range(PAIRS)]
        )
        g = gradient(returns, determinants, noise, weight)
        for variant in weights:
            m, v = moments[variant]
            m = BETAS[0] * m + (1 - BETAS[0]) * g
            v = BETAS[1] * v + (1 - BETAS[1]) * g * g
            corrected = m / (1 - BETAS[0] ** t), v / (1 - BETAS[1] ** t)
            weights[variant] = weights[variant] + RATE * corrected[0] / (np.sqrt(corrected[1]) + EPSILON)
            # The released code loses the moments.
            moments[variant] = [m, v] if variant == "fixed" else [0 * m, 0 * v]
        iterations.append(
            {
                "lambda": weight,
                "noise": noise.reshape(AGENTS, -1).tolist(),
                "returns": returns.reshape(AGENTS, -1).tolist(),
                "actions": wide.reshape(AGENTS, 2 * PAIRS, FEATURES).tolist(),
                "determinants": determinants.reshape(-1).tolist(),
                "fixed": weights["fixed"].tolist(),
                "released": weights["released"].tolist(),
            }
        )
    print(json.dumps({"start": start.tolist(), "iterations": iterations}))


if __name__ == "__main__":
    main()
