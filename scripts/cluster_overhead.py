#!/usr/bin/env python3
"""What the engine `ray` costs on one machine: CPU time per iteration with it and without, in turns.

    python3 scripts/cluster_overhead.py ant --iterations 3 --rounds 3

Both sides do the same search with the same number of workers. The processor time is that of this process and everything
it has started, Ray's own processes among it, from the end of the first iteration to the end of the last, so that neither
starting nor loading counts. What CPU time does not show is waiting: the times by the clock are printed too, and mean
something on a machine that does nothing else.

Ray's processes take their share of a processor whether there is work or not, so that they take the more of it for an iteration the
longer the search waits for processors that others hold. That share is measured after each search, while its workers are idle, and
the last ratio is without what it took in the time that was waited: what a machine gives that does nothing else.
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import time

import autoqd
from autoqd import _ray, local_cluster

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds():
    """User and system time of this process and all below it, also of those that have ended."""
    below, total = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(folder.name))
        total[int(folder.name)] = sum(int(field) for field in fields[11:15]) / TICKS
    found, todo = 0.0, [os.getpid()]
    while todo:
        process = todo.pop()
        found += total.get(process, 0.0)
        todo += below.get(process, [])
    return found


def once(task, settings, workers, engine):
    """CPU and wall seconds per iteration after the first, the archive, and the share of a processor that idling takes."""
    marks, idle = [], 0.0

    def mark(report):
        marks.append((processor_seconds(), time.perf_counter()))

    with tempfile.TemporaryDirectory() as folder:
        if engine is None:
            autoqd.run(task, out=f"{folder}/run", progress=False, callbacks=[mark], threads=workers, **settings)
        else:
            with local_cluster.start(nodes=1, cpus=workers) as cluster:
                autoqd.run(task, out=f"{folder}/run", progress=False, callbacks=[mark], engine=engine, address=cluster.address,
                           **settings)
                idle = idling()
                _ray.disconnect()
        archive = pathlib.Path(f"{folder}/run/archive.parquet").read_bytes()
        notices = pathlib.Path(f"{folder}/run/notices.log")
        if notices.exists():
            print("".join(f"  {line}\n" for line in notices.read_text().splitlines() if "issued again" in line), end="")
    count = len(marks) - 1
    return (marks[-1][0] - marks[0][0]) / count, (marks[-1][1] - marks[0][1]) / count, archive, idle


def idling():
    """The share of a processor that all processes take while the workers wait for the next search."""
    time.sleep(1.0)
    began, before = time.perf_counter(), processor_seconds()
    time.sleep(0.7 * _ray.IDLE)
    return (processor_seconds() - before) / (time.perf_counter() - began)


def without_waiting(spent, wall, idle, workers):
    """CPU seconds of an iteration on a machine where `workers` processors are free."""
    return (spent - idle * wall) / (1 - idle / workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", nargs="?", default="ant")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    settings = dict(preset=options.preset, iterations=options.iterations)
    ratios, free = [], []
    for number in range(options.rounds):
        here = once(options.task, settings, options.workers, None)
        there = once(options.task, settings, options.workers, "ray")
        assert here[2] == there[2], "the archives differ"
        spent, wall, _, idle = there
        ratios.append(spent / here[0])
        free.append(without_waiting(spent, wall, idle, options.workers) / here[0])
        print(f"round {number + 1}: {here[0]:.2f} s of CPU time per iteration in this process, {spent:.2f} s with Ray: "
              f"{ratios[-1]:.3f} times; wall {here[1]:.2f} and {wall:.2f} s; idle, Ray takes {100 * idle:.1f} % of a CPU; "
              f"without waiting {free[-1]:.3f} times", flush=True)
    print(f"median {statistics.median(ratios):.3f}, without waiting {statistics.median(free):.3f}")


if __name__ == "__main__":
    main()
