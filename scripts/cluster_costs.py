#!/usr/bin/env python3
"""Measures what scripts/cluster_scale.py simulates with, into docs/notes/cluster-costs.json.

    python3 scripts/cluster_costs.py

Two kinds of figures, all of them processor time, so that a machine that does other things too gives about the same ones:

* how long chunks of candidates of real searches take, for chunks of 1 to 32 candidates: a search runs on a stand-in for the
  cluster that answers in this process and keeps the times;
* what Ray and this process need for a chunk: calls of actors with the messages of a search, waiting for many of them, and
  asking and telling.
"""

import argparse
import json
import os
import pathlib
import platform
import tempfile
import time

import autoqd
from autoqd import _native, _ray, local_cluster

OUT = pathlib.Path(__file__).parents[1] / "docs/notes/cluster-costs.json"
LENGTHS = [1, 2, 4, 8, 16, 32]


class Local:
    """Stands for a cluster, and answers in this process."""

    def __init__(self):
        self.chunks, self.bytes = [], []
        self._folders = []

    def job(self, name, content, canary):
        self._folders.append(tempfile.TemporaryDirectory())
        self._answerer = _native.JobAnswerer(content, self._folders[-1].name)
        return self

    def plan(self, candidates):
        return [1] * candidates if self._length is None else lengths(candidates, self._length)

    def set_length(self, length):
        self._length = length

    def answers(self, probes, requests, lengths):
        found = []
        for request, length in zip(requests, lengths):
            began = time.process_time()
            answer = self._answerer.answer(request, probes)
            self.chunks.append((length, time.process_time() - began))
            self.bytes.append((length, len(request), len(answer)))
            found.append(answer)
        return found

    def news(self):
        return []

    def inexact(self):
        return None

    def release(self):
        pass


def lengths(candidates, length):
    """Chunks of one length, and what is left."""
    rest = candidates % length
    return [length] * (candidates // length) + ([rest] if rest else [])


def search(task, iterations, per_emitter):
    """Times of chunks in a search: one iteration, after some that are not measured, for each length of chunks."""
    local = Local()
    before, _ray.connect = _ray.connect, lambda **options: local
    local.set_length(16)
    found, driver, last = {}, [], [time.process_time()]

    def measure(report):
        number, now = report["iteration"], time.process_time()
        if number > iterations:
            found[LENGTHS[number - iterations - 1]] = local.chunks
            driver.append(now - last[0] - sum(seconds for _, seconds in local.chunks))
        local.chunks, last[0] = [], now
        if iterations <= number < iterations + len(LENGTHS):
            local.set_length(LENGTHS[number - iterations])

    try:
        with tempfile.TemporaryDirectory() as folder:
            autoqd.run(task, preset="paper", batch_size=per_emitter, iterations=iterations + len(LENGTHS), engine="ray",
                       out=f"{folder}/run", progress=False, callbacks=[measure], update_schedule=[max(2, iterations // 2)],
                       checkpoint_every=1000)
    finally:
        _ray.connect = before
    sizes = {length: (sent, back) for length, sent, back in local.bytes}
    short, long = min(sizes), max(sizes)
    each = [(b - a) / (long - short) for a, b in zip(sizes[short], sizes[long])]
    return {
        "candidate_seconds": [round(seconds, 6) for _, seconds in found[1]],
        "seconds_per_candidate": {
            length: round(sum(s for _, s in chunks) / sum(n for n, _ in chunks), 6) for length, chunks in found.items()
        },
        # Asking, telling, and making and reading messages, on one thread.
        "driver_seconds_per_candidate": sorted(driver)[len(driver) // 2] / (5 * per_emitter),
        "request_bytes": [round(sizes[short][0] - each[0] * short), round(each[0])],
        "answer_bytes": [round(sizes[short][1] - each[1] * short), round(each[1])],
    }


class Echo:
    """An actor that answers at once."""

    def answer(self, number, boxed, probes, request):
        return "k", request[: len(request) // 4], 0.0


def ray_costs():
    """Processor seconds of the driver for a call with its answer, for a byte of it, and for waiting per call waited for."""
    with local_cluster.start(nodes=1, cpus=2) as cluster:
        ray = _ray.load()
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        actors = [ray.remote(num_cpus=1)(Echo).remote() for _ in range(2)]
        found, probes = {}, ray.put(os.urandom(80_000))
        for kilobytes in (7, 56, 448):
            request, count = os.urandom(kilobytes * 1000), 1500
            ray.get([actor.answer.remote(1, [], probes, request) for actor in actors])
            began = time.process_time()
            refs = [actors[i % 2].answer.remote(1, [], probes, request) for i in range(count)]
            for ref in refs:
                ray.get(ref)
            found[kilobytes] = (time.process_time() - began) / count
        # One call after the other, the shortest of many: what a message and its answer take on their way.
        trips = []
        for _ in range(400):
            began = time.perf_counter()
            ray.get(actors[0].answer.remote(1, [], probes, b"x"))
            trips.append(time.perf_counter() - began)
        waits = {}
        for count in (2, 64, 512, 4096):
            refs = [ray.put(b"x") for _ in range(count)]
            began, times = time.process_time(), 5 if count > 1000 else 50
            for _ in range(times):
                ray.wait(refs, num_returns=count, timeout=0)
            waits[count] = (time.process_time() - began) / times
        ray.shutdown()
    return {"call_seconds_by_kilobytes": found, "round_trip_seconds": sorted(trips)[len(trips) // 10], "wait_seconds": waits}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=["ant", "hopper"])
    parser.add_argument("--iterations", type=int, default=4, help="before those that are measured")
    parser.add_argument("--per-emitter", type=int, default=16)
    options = parser.parse_args()
    found = {"machine": platform.processor() or platform.machine(), "autoqd": autoqd.__version__, "ray": ray_costs()}
    print(json.dumps(found), flush=True)
    for task in options.tasks:
        found[task] = search(task, options.iterations, options.per_emitter)
        print(task, json.dumps({k: v for k, v in found[task].items() if k != "candidate_seconds"}), flush=True)
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
