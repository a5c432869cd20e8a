"""Measures how fast everything is, writes docs/performance.json, and makes docs/performance.md of it: `make bench`.

    python scripts/bench.py                      # all, about half an hour on two free cores
    python scripts/bench.py --quick              # fewer rounds and smaller batches, about ten minutes
    python scripts/bench.py engine growth        # these parts only; the others keep their figures
    python scripts/bench.py search --task ant    # this task only, in parts that have tasks
    python scripts/bench.py --page               # the page again, from the figures that are there
    python scripts/bench.py --check              # whether the page is what the figures give

Rates are per second of processor time wherever that is possible, and what is compared is measured in turns, so that other
programs on the machine disturb little. AUTOQD_PYTHON is a Python with Gymnasium, pyribs and EnvPool; what it lacks is left out.
AUTOQD_PROGRAM is an `autoqd` to run in place of this checkout's. Needs nothing but the standard library, and numpy for the
limits of the machine.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import performance_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "performance.json"
PAGE = ROOT / "docs" / "performance.md"
VERSION = 1
LANES_TASKS = ["ant", "half-cheetah", "hopper", "swimmer", "walker2d"]

# From the functions that a profile names to the parts of a step, the first that fits.
PARTS = [
    ("kinematics, inertia, bias forces, unconstrained accelerations", r"Kernels>::(smooth|factors_of)\b"),
    ("contacts and limits", r"Kernels>::(constrain|push)\b|Spatial.*collide|Outside"),
    ("solver: factors of the Hessian", r"Kernels>::(factor_hessian|factor)\b"),
    ("solver: the rest", r"Kernels>::(resolve|solve|multiply|extra)\b"),
    ("integration and range checks", r"Kernels>::(integrate|check)\b"),
    ("copies of memory", r"mem(move|cpy|set)"),
    ("policy", r"kernels::network|policy::network|policy::parameters"),
    ("features and statistics", r"kernels::fourier|embedding|StatisticsProbe|normalizer"),
    ("observations, rewards and measures", r"autoqd_env::|Pose|Frames|contact_wrenches|body_pose|autoqd_lanes"),
    ("the search and the rest of the program", r""),
]


def run(command, **more):
    """The output of a command of this checkout; its errors go to the terminal."""
    environment = os.environ | {"AUTOQD_PYTHON": python()} | more
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def python():
    """The Python with what we compare ourselves with."""
    own = ROOT / ".venv" / "bin" / "python"
    return os.environ.get("AUTOQD_PYTHON") or (str(own) if own.exists() else sys.executable)


def bench(package, name, *arguments, **environment):
    return run(["cargo", "bench", "-q", "-p", package, "--bench", name, "--", *arguments], **environment)


def program():
    if given := os.environ.get("AUTOQD_PROGRAM"):
        return given
    run(["cargo", "build", "-q", "--release", "--bin", "autoqd"])
    return str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "autoqd")


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


# What the machine can do.


def limits(quick, _tasks):
    """Floating-point operations per second of one core, by numpy's matrix product, and bytes per second of a long copy."""
    code = """
import json, time, numpy as np
def best(f, rounds):
    times = []
    for _ in range(rounds):
        start = time.process_time(); f(); times.append(time.process_time() - start)
    return min(times)
out = {}
for name, kind in (("double_gflops", np.float64), ("single_gflops", np.float32)):
    a = np.ones((768, 768), kind); c = np.empty_like(a); np.matmul(a, a, out=c)
    out[name] = 2 * 768**3 / best(lambda: np.matmul(a, a, out=c), ROUNDS) / 1e9
a = np.ones(32_000_000); b = np.zeros_like(a)
out["copy_gbytes"] = 2 * a.nbytes / best(lambda: np.copyto(b, a), ROUNDS) / 1e9
print(json.dumps(out))
""".replace("ROUNDS", "5" if quick else "20")
    return json.loads(run([python(), "-c", code], OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"))


# Beside other programs.


def engine(_quick, tasks):
    """The lanes engine over libmujoco, one core."""
    binary, rows = program(), {}
    for task in [name for name in LANES_TASKS if not tasks or name in tasks]:
        lines = [line.split() for line in run([binary, "physics", "speed", task]).splitlines()]
        rows[task] = {words[0]: float(words[1]) for words in lines if len(words) > 1 and number(words[1])}
    return rows


def search(quick, tasks):
    """The whole search, over bare simulators, itself on libmujoco, and the same search glued together from other packages."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows"
        iterations = "2" if quick else "4"
        bench("autoqd", "search", *tasks, AUTOQD_BENCH_BATCH="16", AUTOQD_BENCH_ITERATIONS=iterations, AUTOQD_BENCH_OUT=str(out))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    return {row.pop("task"): row for row in rows}


def environments(quick, tasks):
    """Single environments on the reference simulators, beside Gymnasium and EnvPool."""
    text = bench("autoqd-env", "steps", *tasks, AUTOQD_BENCH_ROUNDS="3" if quick else "9")
    names = ["simulator", "ours", "ratio", "goal", "two_threads", "gain", "gymnasium", "over_gymnasium", "envpool",
             "envpool_two_threads", "over_envpool"]
    table = [line.split() for line in text.splitlines()]
    rows = [words for words in table if len(words) == len(names) + 1 and words[0] != "task"]
    return {words[0]: dict(zip(names, map(number, words[1:]), strict=True)) for words in rows}


def walkers(quick, _tasks):
    """BipedalWalker in a search over bare Box2D."""
    rows = {}
    for line in bench("autoqd-env", "walkers", ROUNDS="1" if quick else "3").splitlines()[1:]:
        *actions, length, bare, batch, _ = line.split()
        rows[" ".join(actions)] = {"length": float(length), "box2d": float(bare), "batch": float(batch)}
    return rows


# Parts of a step.


def kernels(_quick, _tasks):
    """Nanoseconds of a policy and of the features of a step, on the widest instruction set."""
    rows, title = {}, None
    for line in bench("autoqd", "kernels").splitlines():
        if line.endswith("(ns)"):
            title = line.removesuffix(" (ns)")
            rows[title] = {}
        elif "(" in line:
            rows[title][line.split()[0]] = float(re.findall(r"([\d.]+) \(", line)[-1])
    return rows


def parts(quick, tasks):
    """Where a search spends its time, by samples; without `perf` nothing is known."""
    if not shutil.which("perf"):
        return {}
    binary, rows = program(), {}
    for task in [name for name in LANES_TASKS if not tasks or name in tasks]:
        with tempfile.TemporaryDirectory() as folder:
            samples = f"{folder}/samples"
            # The first episodes of those that can fall are short.
            iterations = (20 if task in ("hopper", "walker2d") else 2) * (1 if quick else 2)
            command = [binary, "run", task, "--threads", "1", "--iterations", str(iterations), "--out", f"{folder}/run"]
            command += ["--set", "batch_size=16", "--set", "physics=lanes"]
            record = ["perf", "record", "-q", "-F", "499", "-e", "cpu-clock", "-o", samples, "--"]
            subprocess.run(record + command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            report = ["perf", "report", "-q", "--no-children", "-i", samples, "--sort", "dso,symbol", "-F", "overhead,dso,symbol"]
            lines = subprocess.run(report, check=True, capture_output=True, text=True).stdout.splitlines()
        shares = dict.fromkeys([name for name, _ in PARTS], 0.0)
        for line in lines:
            found = re.match(r"\s*([\d.]+)%\s+(\S+)\s+(.*)", line)
            # libmujoco checks the engine before the search begins.
            if found and "libmujoco" not in found[2] and "kernel" not in found[2]:
                name = next(name for name, pattern in PARTS if re.search(pattern, found[3]))
                shares[name] += float(found[1])
        total = sum(shares.values())
        rows[task] = {name: round(share / total, 4) for name, share in shares.items()}
    return rows


def algorithms(_quick, _tasks):
    """Milliseconds of ask and tell and of archives, and how long pyribs takes for the same."""
    rows = {}
    for line in bench("autoqd-qd", "speed").splitlines():
        words = line.split()
        if len(words) > 1 and "/" in words[0] and number(words[1]) is not None:
            times = re.search(r"pyribs takes ([\d.]+) / ([\d.]+)", line)
            cpu = number(words[2]) if len(words) > 2 else None
            rows[words[0]] = {"ms": float(words[1]), "cpu_ms": cpu, "pyribs_times": float(times[2]) if times else None}
    return rows


# Growth.


class Runs:
    """Searches of one task whose processor time is compared."""

    def __init__(self, binary, folder, task):
        self.binary, self.folder, self.task, self.count = binary, folder, task, 0

    def cost(self, iterations, threads=1, **settings):
        """Processor seconds, seconds and steps of a search from nothing."""
        self.count += 1
        out = f"{self.folder}/{self.count}"
        command = [self.binary, "run", self.task, "--iterations", str(iterations), "--threads", str(threads), "--out", out]
        for key, value in {"episodes": 1, "batch_size": 16, "physics": '"lanes"', **settings}.items():
            command += ["--set", f"{key}={value}"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        header, *_, last = pathlib.Path(out, "metrics.csv").read_text().splitlines()
        steps = int(dict(zip(header.split(","), last.split(","), strict=True))["env_steps"])
        shutil.rmtree(out)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return processor, time.perf_counter() - start, steps

    def per_step(self, first, last, **settings):
        """Microseconds of processor time per step of the iterations from `first` to `last`: what every run costs besides
        falls out of the difference."""
        a, b = self.cost(first, **settings), self.cost(last, **settings)
        return (b[0] - a[0]) / (b[2] - a[2]) * 1e6


# The name of a series: its values, the first being what others are compared with, and the setting each stands for.
SERIES = {
    "iterations": [(f"{first} to {2 * first}", (first, 2 * first), {}) for first in (10, 20, 40)],
    "archive": [(str(n**4), (10, 30), {"cells": f"[{n},{n},{n},{n}]"}) for n in (10, 4, 18)],
    "batch": [(str(5 * n), (max(2, 160 // n), max(4, 480 // n)), {"batch_size": n}) for n in (16, 4, 64, 160)],
    "threads": [(str(n), (10, 30), {"threads": n}) for n in sorted({1, 2, os.cpu_count() or 1})],
    "parameters": [(f"{n}-{n}", (10, 30), {"policy.hidden": f"[{n},{n}]"}) for n in (128, 32, 64, 256)],
}


def growth(quick, _tasks):
    """Cost of a step of a Swimmer search, the cheapest there is, as one thing after the other grows; in turns."""
    binary, rounds = program(), 1 if quick else 3
    times = {name: {label: [] for label, _, _ in series} for name, series in SERIES.items()}
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(binary, folder, "swimmer")
        for _ in range(rounds):
            for name, series in SERIES.items():
                for label, (first, last), settings in series:
                    times[name][label].append(runs.per_step(first, last, **settings))
    return {name: {label: statistics.median(t) for label, t in series.items()} for name, series in times.items()}


SECTIONS = {f.__name__: f for f in (limits, engine, search, environments, walkers, kernels, parts, algorithms, growth)}


def made(quick):
    """Where and when."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else []
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit,
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "quick": quick,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="part", help=", ".join(SECTIONS))
    parser.add_argument("--task", action="append", default=[], help="may be repeated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true", help="only make the page")
    parser.add_argument("--check", action="store_true", help="only compare the page with the figures")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    figures = read()
    if options.check:
        if PAGE.read_text() != performance_page.page(figures):
            sys.exit(f"{PAGE} is not what {FIGURES} gives: run python3 scripts/bench.py --page")
        return
    for name in [] if options.page else options.sections or SECTIONS:
        print(f"{name} ...", flush=True)
        start, facts = time.perf_counter(), made(options.quick)
        rows = SECTIONS[name](options.quick, options.task)
        # Read again: another part may have been measured meanwhile.
        figures = read()
        before = figures.get(name, {}).get("rows", {}) if options.task else {}
        figures[name] = {"made": facts, "rows": before | rows}
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        replace(FIGURES, json.dumps(figures, indent=1) + "\n")
    replace(PAGE, performance_page.page(figures))


def read():
    """The figures that there are."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"version": VERSION}
    if figures["version"] != VERSION:
        sys.exit(f"{FIGURES} has version {figures['version']}, this script writes {VERSION}; delete it to begin again")
    return figures


def replace(path, text):
    """Writes a file at once."""
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)


if __name__ == "__main__":
    main()
