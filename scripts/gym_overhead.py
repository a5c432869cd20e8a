#!/usr/bin/env python3
"""What a search in a Gymnasium environment costs beside the environment, as a share of the processor time.

    python3 scripts/gym_overhead.py                          # LunarLander-v3 with continuous actions
    python3 scripts/gym_overhead.py --env CartPole-v1 --rounds 9

A short search with two workers says what it asks them and what it needs itself. Then this process takes turns: it answers the
requests as a worker does, and it plays the same episodes, the same actions from the same seeds, in the environment alone. What
answering takes longer, and what the process of the search took, is outside of the environment.
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import time

import autoqd
from autoqd import _gym, _native, _workers


def search(options, arguments):
    """The requests of a search to its workers, with what starts one, and the processor seconds of its own process for them."""
    asked, marks = [], []
    answers = _workers.Pool.answers

    def listen(pool, requests):
        asked.append(list(requests))
        return answers(pool, requests)

    def start(pool, name, policy, workers):
        made.append((name, policy))
        return begin(pool, name, policy, workers)

    made, begin = [], _workers.Pool.__init__
    _workers.Pool.answers, _workers.Pool.__init__ = listen, start
    try:
        with tempfile.TemporaryDirectory() as folder:
            autoqd.run(env=options.env, env_args=arguments, out=pathlib.Path(folder, "run"), progress=False, threads=2,
                       iterations=options.iterations, preset=options.preset,
                       callbacks=[lambda report: marks.append((time.process_time(), len(asked)))])
    finally:
        _workers.Pool.answers, _workers.Pool.__init__ = answers, begin
    # Without the first iteration, in which much is loaded.
    (began, first), (ended, last) = marks[0], marks[-1]
    return made[0], [request for batch in asked[first:last] for request in batch], ended - began


class Recorded(_gym.World):
    """An environment that keeps what it was asked for: seeds and actions."""

    episodes = []

    def __init__(self, env, limit=None):
        super().__init__(env, limit)
        step = self.step

        def recorded(action):
            self.episodes[-1][1].append(action)
            return step(action)

        self.step = recorded

    def reset(self, seed):
        self.episodes.append((int(seed), []))
        return super().reset(seed)


def play(env, episodes):
    """The episodes in the environment alone."""
    for seed, actions in episodes:
        env.reset(seed=seed)
        for action in actions:
            env.step(action)


def timed(work, *arguments):
    began = time.process_time()
    work(*arguments)
    return time.process_time() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--env", default="LunarLander-v3")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    (name, policy), requests, own = search(options, {"continuous": True} if options.env.startswith("LunarLander") else {})

    world, _gym.World = _gym.World, Recorded
    recorder = _native.Answerer(name, _gym.describe(name), policy)
    Recorded.episodes.clear()
    [recorder.answer(request) for request in requests]
    _gym.World = world
    episodes, steps = Recorded.episodes, sum(len(actions) for _, actions in Recorded.episodes)

    answerer = _native.Answerer(name, _gym.describe(name), policy)
    source, arguments = _gym.source_of(name)
    whole = _gym.make(source, arguments)
    environments = {"as gymnasium.make returns it": whole, "without its wrappers": whole.unwrapped}
    print(f"{len(episodes)} episodes of {steps} steps; the process of the search took {1e6 * own / steps:.2f} us for each")
    found = {said: [] for said in environments}
    for _ in range(options.rounds):
        answered = timed(lambda: [answerer.answer(request) for request in requests])
        for said, env in environments.items():
            alone = timed(play, env, episodes)
            found[said].append((1 - alone / (answered + own), alone / steps, (answered + own) / steps))
    for said, turns in found.items():
        share, alone, everything = (statistics.median(column) for column in zip(*turns))
        every = ", ".join(f"{100 * turn[0]:.1f}" for turn in turns)
        print(f"the environment {said}: {1e6 * alone:.1f} us a step of {1e6 * everything:.1f}; outside {100 * share:.1f} % ({every})")


if __name__ == "__main__":
    main()
