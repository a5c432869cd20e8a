#!/usr/bin/env python3
"""How much faster a search is with 2 to 4096 workers on a cluster, by simulation: docs/images/cluster-scale.svg.

    python3 scripts/cluster_scale.py            # needs matplotlib; about ten minutes

What hands out the chunks is the code that does so on a cluster, `autoqd._ray` and `autoqd._ray_evaluations`, on a clock that
is simulated: Ray is replaced by workers that answer after times drawn from those that scripts/cluster_costs.py measured. The
processor time that the code itself needs counts as it is. Assumed, because one machine cannot show it: a message takes half a
millisecond beyond what was measured here, one chunk in a hundred takes four times as long as it should, and a worker is lost
once in a day, which is noticed after four seconds.
"""

import argparse
import heapq
import itertools
import json
import pathlib
import random
import time
import types

from autoqd import _ray, _ray_evaluations

ROOT = pathlib.Path(__file__).parents[1]
COSTS = ROOT / "docs/notes/cluster-costs.json"
FIGURE = ROOT / "docs/images/cluster-scale.svg"
TABLE = ROOT / "docs/notes/cluster-scale.csv"
WORKERS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
NETWORK = 0.0005
SLOW_SHARE, SLOW_TIMES = 0.01, 4.0
LOST_EVERY, NOTICED = 86_400.0, 4.0
STARTUP = 5.0
CPUS_PER_NODE = 32


class Clock:
    """Simulated time, to which the processor time of this process is added. Stands for the module `time`."""

    def __init__(self):
        self._base, self._mark = 0.0, time.process_time()

    def monotonic(self):
        return self._base + time.process_time() - self._mark

    def advance(self, seconds):
        self._base += seconds

    def until(self, moment):
        self._base += max(0.0, moment - self.monotonic())

    def sleep(self, seconds):
        self.advance(seconds)


class Lost(Exception):
    """What Ray raises for an actor that is gone."""


class Ref:
    """What will be answered, and when."""

    __slots__ = ("at", "value", "lost")

    def __init__(self, at, value, lost=False):
        self.at, self.value, self.lost = at, value, lost


class Ray:
    """As much of Ray as the engine uses, with workers that take simulated times."""

    class exceptions:
        RayTaskError, RayError = type("RayTaskError", (Exception,), {}), Lost

    util = types.SimpleNamespace(
        scheduling_strategies=types.SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
    )

    def __init__(self, workers, costs, chunk_seconds, faults, seed):
        self.clock, self._costs, self._chunk_seconds, self._faults = Clock(), costs, chunk_seconds, faults
        self._random = random.Random(seed)
        whole, rest = divmod(workers, CPUS_PER_NODE)
        self._nodes = [
            {"NodeID": f"node{i}", "Alive": True, "Resources": {"CPU": cpus}}
            for i, cpus in enumerate([CPUS_PER_NODE] * whole + [rest] * (rest > 0))
        ]
        waits = costs["ray"]["wait_seconds"]
        self._wait_each = waits["4096"] / 4096
        calls = {int(size) * 1000: seconds for size, seconds in costs["ray"]["call_seconds_by_kilobytes"].items()}
        small, large = min(calls), max(calls)
        self._byte = (calls[large] - calls[small]) / (large - small)
        self._call = calls[small] - self._byte * small
        self._latency = costs["ray"]["round_trip_seconds"] / 2 + NETWORK
        self.lost = 0

    def is_initialized(self):
        return True

    def nodes(self):
        return self._nodes

    def remote(self, **_):
        return lambda worker: self

    def options(self, scheduling_strategy):
        return types.SimpleNamespace(remote=lambda: Actor(self))

    def put(self, value):
        return value

    def kill(self, actor, no_restart):
        pass

    def wait(self, refs, num_returns, timeout):
        self.clock.advance(self._wait_each * len(refs))
        now, count = self.clock.monotonic(), 0
        if timeout:
            moment = heapq.nsmallest(num_returns, (ref.at for ref in refs))[-1]
            self.clock.until(min(moment, now + timeout))
            now = self.clock.monotonic()
        ready = [ref for ref in refs if ref.at <= now]
        return ready[:num_returns], [ref for ref in refs if ref.at > now]

    def get(self, ref, timeout):
        if ref.lost:
            raise Lost
        return ref.value

    # For actors.

    def answer_at(self, seconds, value):
        moment = self.clock.monotonic() + 2 * self._latency + seconds
        if self._faults and self._random.random() < seconds / LOST_EVERY:
            self.lost += 1
            return Ref(moment + NOTICED, None, lost=True)
        return Ref(moment, value)

    def _bytes(self, candidates):
        (fixed, each), (fixed_back, each_back) = self._costs["request_bytes"], self._costs["answer_bytes"]
        return fixed + fixed_back + (each + each_back) * candidates

    def chunk(self, request):
        """A chunk is a range of candidates."""
        self.clock.advance(self._call + self._byte * self._bytes(len(request)))
        seconds = self._chunk_seconds(request)
        slow = SLOW_TIMES if self._faults and self._random.random() < SLOW_SHARE else 1.0
        return self.answer_at(seconds * slow, ("k", b"", seconds * slow))


class Actor:
    """A worker."""

    def __init__(self, ray):
        self.admit = self._method(lambda full: ray.answer_at(STARTUP, FACTS))
        self.prepare = self._method(lambda number, boxed: ray.answer_at(0.1, ("k", "canary")))
        self.answer = self._method(lambda number, boxed, probes, request: ray.chunk(request))

    @staticmethod
    def _method(call):
        return types.SimpleNamespace(remote=call)


FACTS = {"version": _ray._native.__version__, "pid": 1, "host": "node", "digests": {}}


class Scenario:
    """A search: how long its candidates take, and how many there are in an iteration."""

    def __init__(self, name, costs, task, candidates, factor=1.0, together=1):
        self.name, self.candidates, self.together = name, candidates, together
        self.costs = {**costs[task], "ray": costs["ray"]}
        draw = random.Random(7)
        measured = costs[task]["candidate_seconds"]
        # Candidates of one emitter resemble each other and follow each other: neighbours stay neighbours.
        starts = [draw.randrange(len(measured)) for _ in range(-(-candidates * together // 16))]
        self._seconds = [factor * measured[(s + i) % len(measured)] for s in starts for i in range(16)]
        self._sums = [0.0, *itertools.accumulate(self._seconds)]
        shares = {int(n): s for n, s in costs[task]["seconds_per_candidate"].items()}
        # Worlds that are simulated together are cheaper, so that a short chunk costs more per candidate.
        self._shares = sorted((n, share / shares[1]) for n, share in shares.items())
        self.serial = candidates * costs[task]["driver_seconds_per_candidate"]

    def chunk_seconds(self, request):
        share = max((n, share) for n, share in self._shares if n <= len(request))[1]
        return share * (self._sums[request.stop] - self._sums[request.start])

    def alone(self):
        """Seconds of an iteration in one process with one thread."""
        return self.serial + self._shares[-1][1] * self._sums[self.candidates * self.together] / self.together

    def speed_up(self, workers, faults, iterations):
        """How many times faster an iteration is than alone, in the mean over some after the workers have joined."""
        ray = Ray(workers, self.costs, self.chunk_seconds, faults, seed=workers)
        kept = _ray.load, _ray.time, _ray_evaluations.time
        _ray.load, _ray.time, _ray_evaluations.time = lambda: ray, ray.clock, ray.clock
        try:
            cluster = _ray.Cluster("simulated")
            cluster.begin(False, None, None)
            cluster._expected = {}
            evaluations = cluster.job("simulated", b"", "canary")
            for number in range(-3, iterations):
                if number == 0:
                    began, evaluations_before = ray.clock.monotonic(), ray.lost
                self._iterate(evaluations, ray)
            return iterations * self.together * self.alone() / (ray.clock.monotonic() - began)
        finally:
            _ray.load, _ray.time, _ray_evaluations.time = kept

    def _iterate(self, evaluations, ray):
        ray.clock.advance(self.serial * self.together)
        lengths = evaluations.plan(self.candidates * self.together)
        stops = list(itertools.accumulate(lengths))
        requests = [range(stop - length, stop) for stop, length in zip(stops, lengths)]
        evaluations.answers(b"", requests, lengths)
        evaluations.news()


def scenarios(costs):
    """What is simulated: the name, and how it is drawn."""
    return [
        (Scenario("Ant, 320 candidates (the paper's batch)", costs, "ant", 320), "tab:blue", "-"),
        (Scenario("Ant, 4096 candidates", costs, "ant", 4096), "tab:blue", "--"),
        (Scenario("Ant, 320 candidates, without a barrier", costs, "ant", 320, together=32), "tab:blue", ":"),
        (Scenario("Hopper, 320 candidates", costs, "hopper", 320), "tab:green", "-"),
        (Scenario("50 times as slow, 320 candidates", costs, "ant", 320, factor=50.0), "tab:red", "-"),
        (Scenario("50 times as slow, 4096 candidates", costs, "ant", 4096, factor=50.0), "tab:red", "--"),
    ]


def draw(results, styles):
    """The figure."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "autoqd"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
    axes.plot(WORKERS, WORKERS, color="0.8", lw=1, label="as many times as workers")
    for name, (color, line) in styles.items():
        with_faults = [results[name, workers][1] for workers in WORKERS]
        without = [results[name, workers][0] for workers in WORKERS]
        axes.plot(WORKERS, with_faults, line, color=color, label=name)
        axes.plot(WORKERS, without, line, color=color, alpha=0.25, lw=1)
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="times as fast as one worker", xticks=WORKERS)
    axes.set_xticks(WORKERS, [str(workers) for workers in WORKERS])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(FIGURE, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--iterations", type=int, default=8)
    options = parser.parse_args()
    costs = json.loads(COSTS.read_text())
    results, styles, lines = {}, {}, ["search,workers,speed_up,speed_up_with_faults"]
    for scenario, color, line in scenarios(costs):
        styles[scenario.name] = color, line
        print(f"{scenario.name}: {scenario.alone():.1f} s for an iteration alone", flush=True)
        for workers in WORKERS:
            iterations = 1 if scenario.together > 1 else options.iterations
            found = [scenario.speed_up(workers, faults, iterations) for faults in (False, True)]
            results[scenario.name, workers] = found
            lines.append(f'"{scenario.name}",{workers},{found[0]:.1f},{found[1]:.1f}')
            print(f"  {workers:5} workers: {found[0]:8.1f} times as fast, {found[1]:8.1f} with faults", flush=True)
    TABLE.write_text("\n".join(lines) + "\n")
    draw(results, styles)


if __name__ == "__main__":
    main()
