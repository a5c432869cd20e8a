#!/usr/bin/env python3
"""Lays learning curves of `autoqd run TASK --method sac` (or td3) beside those of scripts/sb3_curves.py.

    python3 scripts/compare_curves.py --ours RUN_FOLDER ... --theirs CURVE.csv ...

Prints a Markdown table: at equal training steps the median over seeds of the return without exploration, with lowest
and highest in brackets; then the same for the mean over all evaluations of a seed. Of that mean it prints the share of
all ways to deal the seeds to two groups whose medians are at least as far apart: the smaller, the less alike. Needs
nothing but Python.
"""

import argparse
import csv
import itertools
import pathlib
import statistics


def of_run(folder):
    """Return at each number of training steps, from a run folder."""
    rows = {}
    with open(pathlib.Path(folder) / "figures.csv", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(int(row["iteration"]), {})[row["name"]] = float(row["value"])
    return {int(row["training steps"]): row["return"] for row in rows.values()}


def of_table(path):
    """Return at each number of training steps, from a table of sb3_curves.py."""
    with open(path, newline="") as file:
        return {int(row["steps"]): float(row["return"]) for row in csv.DictReader(file)}


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f}–{max(values):.0f})"


def alike(ours, theirs):
    """Share of the divisions of all values into two such groups with medians at least as far apart."""
    together = ours + theirs

    def distance(chosen):
        other = [together[i] for i in range(len(together)) if i not in chosen]
        return abs(statistics.median([together[i] for i in chosen]) - statistics.median(other))

    ways = [distance(chosen) for chosen in itertools.combinations(range(len(together)), len(ours))]
    seen = distance(tuple(range(len(ours))))
    return sum(way >= seen - 1e-9 for way in ways) / len(ways), len(ways)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", nargs="+", required=True, metavar="RUN_FOLDER")
    parser.add_argument("--theirs", nargs="+", required=True, metavar="CURVE.csv")
    parser.add_argument("--every", type=int, default=1, help="print only every so many-th row")
    options = parser.parse_args()
    curves = [of_run(p) for p in options.ours], [of_table(p) for p in options.theirs]
    steps = sorted(set.intersection(*(set(curve) for group in curves for curve in group)))
    if not steps:
        parser.error("the curves have no number of training steps in common")
    print("| training steps | ours | Stable-Baselines3 |\n|---:|---:|---:|")
    for step in steps[options.every - 1 :: options.every]:
        print(f"| {step} | " + " | ".join(spread([c[step] for c in group]) for group in curves) + " |")
    means = [[statistics.mean(c[step] for step in steps) for c in group] for group in curves]
    print("| mean of all | " + " | ".join(map(spread, means)) + " |")
    share, ways = alike(*means)
    print(f"\nMedians at least as far apart in {share:.2f} of {ways} divisions of the seeds.")


main()
