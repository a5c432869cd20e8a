"""Records one generation of PGA-MAP-Elites, computed plainly with numpy from the definition of the algorithm.

    python scripts/make_pga_reference.py > crates/autoqd-learn/src/policy_gradient/reference.json

Elites, critics, greedy actor, a replay buffer that is nearly full, and everything drawn at random are given; what the
candidates earn is too, because a generation does not care where it comes from. The answer is: the candidates (elites
improved by the critic, the greedy actor, elites varied by iso+line), the elites of the grid after all were added, and
critics, greedy actor and their slow copies after the updates of TD3 on the buffer with the new transitions in it.
"""

import json

import numpy as np

OBSERVATION, ACTION, HIDDEN, CRITIC = 3, 2, [5], [6, 6]
ELITES, IMPROVED, VARIED, GRADIENT_STEPS, UPDATES, BATCH = 4, 3, 3, 3, 4, 8
CAPACITY, STORED, EPISODE = 40, 36, 3
CELLS, RANGE = 4, (0.0, 1.0)
RATE, CRITIC_RATE, GAMMA, TAU, DELAY, NOISE, CLIP = 1e-3, 3e-4, 0.99, 0.005, 2, 0.2, 0.5
ISO, LINE = 0.005, 0.05
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Network:
    """Layers of weights (a row per output) and bias."""

    def __init__(self, layers, hidden, last):
        self.layers = [[w.copy(), b.copy()] for w, b in layers]
        self.activations = [hidden] * (len(layers) - 1) + [last]

    def forward(self, x):
        self.seen = [x]
        for (w, b), activation in zip(self.layers, self.activations):
            y = self.seen[-1] @ w.T + b
            self.seen.append({"tanh": np.tanh, "relu": lambda y: np.maximum(y, 0.0), "none": lambda y: y}[activation](y))
        return self.seen[-1]

    def backward(self, gradient):
        """Gradients by all weights and biases, and by the inputs."""
        answer = []
        for i in reversed(range(len(self.layers))):
            y = self.seen[i + 1]
            gradient = gradient * {"tanh": 1.0 - y * y, "relu": y > 0.0, "none": 1.0}[self.activations[i]]
            answer.insert(0, [gradient.T @ self.seen[i], gradient.sum(axis=0)])
            gradient = gradient @ self.layers[i][0]
        return answer, gradient

    def copy(self):
        return Network(self.layers, self.activations[0], self.activations[-1])

    def follow(self, other):
        for own, its in zip(self.layers, other.layers):
            for k in range(2):
                own[k] = (1.0 - TAU) * own[k] + TAU * its[k]

    def flat(self):
        return np.concatenate([part.ravel() for layer in self.layers for part in layer])


class Adam:
    def __init__(self, network, rate):
        self.rate, self.t = rate, 0
        self.m = [[np.zeros_like(part) for part in layer] for layer in network.layers]
        self.v = [[np.zeros_like(part) for part in layer] for layer in network.layers]

    def step(self, network, gradients):
        self.t += 1
        for i, layer in enumerate(gradients):
            for k, g in enumerate(layer):
                self.m[i][k] = BETAS[0] * self.m[i][k] + (1.0 - BETAS[0]) * g
                self.v[i][k] = BETAS[1] * self.v[i][k] + (1.0 - BETAS[1]) * g * g
                m, v = self.m[i][k] / (1.0 - BETAS[0] ** self.t), self.v[i][k] / (1.0 - BETAS[1] ** self.t)
                network.layers[i][k] = network.layers[i][k] - self.rate * m / (np.sqrt(v) + EPSILON)


def single(x):
    """What single precision keeps, in double precision."""
    return np.asarray(x, dtype=np.float32).astype(np.float64)


def random_network(random, sizes, hidden, last):
    layers = [
        [single(random.uniform(-1, 1, (o, i)) / np.sqrt(i)), single(random.uniform(-1, 1, o) / np.sqrt(i))]
        for i, o in zip(sizes, sizes[1:])
    ]
    return Network(layers, hidden, last)


def policy(random):
    return random_network(random, [OBSERVATION, *HIDDEN, ACTION], "tanh", "tanh")


def policy_of(flat):
    layers, start = [], 0
    for i, o in zip([OBSERVATION, *HIDDEN], [*HIDDEN, ACTION]):
        layers.append([flat[start : start + i * o].reshape(o, i), flat[start + i * o : start + i * o + o]])
        start += i * o + o
    return Network(layers, "tanh", "tanh")


def climb(actor, adam, critic, observations):
    """One step up the mean value that the first critic sees."""
    actions = actor.forward(observations)
    critic.forward(np.hstack([observations, actions]))
    _, by_input = critic.backward(np.full((len(observations), 1), -1.0 / len(observations)))
    gradients, _ = actor.backward(by_input[:, OBSERVATION:])
    adam.step(actor, gradients)


def transitions(random, count):
    return {
        "observations": single(random.normal(size=(count, OBSERVATION))),
        "actions": single(random.uniform(-1, 1, (count, ACTION))),
        "rewards": single(random.normal(size=count)),
        "next_observations": single(random.normal(size=(count, OBSERVATION))),
        "terminated": (random.random(count) < 0.2).astype(float),
    }


def main():
    random = np.random.default_rng(21)
    elites = np.array([policy(random).flat() for _ in range(ELITES)])
    objectives = random.normal(10.0, 3.0, ELITES)
    # One cell per elite, in a grid of 4 x 4.
    cells = [0, 3, 6, 13]
    measures = np.array([[(c // CELLS + 0.5) / CELLS, (c % CELLS + 0.5) / CELLS] for c in cells])
    greedy, slow_greedy = policy(random), policy(random)
    make_critic = lambda: random_network(random, [OBSERVATION + ACTION, *CRITIC, 1], "relu", "none")
    critics, targets = [make_critic(), make_critic()], [make_critic(), make_critic()]
    buffer = transitions(random, STORED)
    networks = lambda: {
        "actor": greedy.flat().tolist(),
        "target_actor": slow_greedy.flat().tolist(),
        "critics": [[part.ravel().tolist() for layer in c.layers for part in layer] for c in critics],
        "targets": [[part.ravel().tolist() for layer in c.layers for part in layer] for c in targets],
    }
    record = {
        "elites": elites.tolist(),
        "objectives": objectives.tolist(),
        "measures": measures.tolist(),
        "start": networks(),
        "buffer": {name: column.ravel().tolist() for name, column in buffer.items()},
    }

    # Candidates.
    parents = random.integers(ELITES, size=IMPROVED)
    states = random.integers(STORED, size=(GRADIENT_STEPS, BATCH))
    candidates = []
    for parent in parents:
        actor = policy_of(elites[parent])
        adam = Adam(actor, RATE)
        for rows in states:
            climb(actor, adam, critics[0], buffer["observations"][rows])
        candidates.append(actor.flat())
    candidates.append(greedy.flat())
    pairs = random.integers(ELITES, size=(VARIED, 2))
    normals, steps = random.normal(size=(VARIED, elites.shape[1])), random.normal(size=VARIED)
    for (a, b), normal, step in zip(pairs, normals, steps):
        candidates.append(elites[a] + ISO * normal + LINE * step * (elites[b] - elites[a]))
    record |= {
        "parents": parents.tolist(),
        "states": states.tolist(),
        "pairs": pairs.tolist(),
        "normals": normals.tolist(),
        "steps": steps.tolist(),
        "candidates": [c.tolist() for c in candidates],
    }

    # What they earn: some in cells of elites, two in one cell, one with as much as its elite and therefore refused.
    count = len(candidates)
    earned = random.normal(10.0, 3.0, count)
    places = random.uniform(*RANGE, (count, 2))
    places[0], earned[0] = measures[1], objectives[1]
    places[1], earned[1] = measures[2], objectives[2] + 1.0
    places[3], earned[3] = places[2], earned[2] + 0.5
    # Who is in a cell: -1 - e for the elite e of before, otherwise the candidate.
    grid = {cell: (-1 - e, objectives[e]) for e, cell in enumerate(cells)}
    for i in range(count):
        row, column = (min(int(x * CELLS), CELLS - 1) for x in places[i])
        cell = row * CELLS + column
        if cell not in grid or earned[i] > grid[cell][1]:
            grid[cell] = (i, earned[i])
    record |= {
        "earned": earned.tolist(),
        "places": places.tolist(),
        "grid": sorted([cell, who] for cell, (who, _) in grid.items()),
    }

    # Their transitions go into the buffer, the oldest leave it.
    new = transitions(random, EPISODE * count)
    record["new"] = {name: column.ravel().tolist() for name, column in new.items()}
    everything = {name: np.concatenate([buffer[name], new[name]]) for name in buffer}
    held = {name: np.empty((CAPACITY, *column.shape[1:])) for name, column in everything.items()}
    for name, column in everything.items():
        for number, row in enumerate(column):
            held[name][number % CAPACITY] = row

    # Critics and greedy actor learn.
    actor_adam = Adam(greedy, CRITIC_RATE)
    critic_adams = [Adam(critic, CRITIC_RATE) for critic in critics]
    updates = []
    for t in range(1, UPDATES + 1):
        rows = random.integers(CAPACITY, size=BATCH)
        noise = single(random.normal(size=(BATCH, ACTION)))
        s, a, r, s_next, end = (held[name][rows] for name in held)
        a_next = np.clip(slow_greedy.forward(s_next) + np.clip(NOISE * noise, -CLIP, CLIP), -1.0, 1.0)
        x_next = np.hstack([s_next, a_next])
        y = r + GAMMA * (1.0 - end) * np.minimum(*(target.forward(x_next)[:, 0] for target in targets))
        loss = 0.0
        for critic, adam in zip(critics, critic_adams):
            errors = critic.forward(np.hstack([s, a]))[:, 0] - y
            loss += (errors**2).mean()
            gradients, _ = critic.backward(2.0 * errors[:, None] / BATCH)
            adam.step(critic, gradients)
        if t % DELAY == 0:
            climb(greedy, actor_adam, critics[0], s)
            for target, critic in zip(targets, critics):
                target.follow(critic)
            slow_greedy.follow(greedy)
        updates.append({"rows": rows.tolist(), "noise": noise.ravel().tolist(), "loss": loss})
    record |= {"updates": updates, "after": networks()}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
