"""docs/performance.md from docs/performance.json; `scripts/bench.py` measures, and calls this."""

INTRO = """# Performance

<!-- Made from performance.json by scripts/bench.py --page; do not edit. -->

What every part of a search costs, what it is compared with, and how far it is from what the machine allows. `make bench`
measures all of it again, `python scripts/bench.py --quick` in about a third of the time. The numbers are in
[performance.json](performance.json); how the simulator works is in [physics.md](physics.md).

Rates are per second of processor time unless a table says otherwise, ratios are medians of turns taken alternately in the same
minutes. Ratios can be compared between machines, rates cannot. A core that shares its vector units with another busy one, as
on rented machines, gives the lanes engine less of a lead than a core of its own.
"""


def table(head, rows):
    """Lines of a table whose first column is text."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def shown(value, digits=0, unit=""):
    return "–" if value is None or value != value else f"{value:,.{digits}f}{unit}".replace(",", " ")


def ratio(value, of, digits=1):
    return "–" if not value or not of else f"{value / of:.{digits}f} ×"


def where(section):
    made = section["made"]
    quick = ", few rounds" if made["quick"] else ""
    return (
        f"*{made['cpu']}, {made['cores']} cores, load {made['load']}, {made['date']}, {made['commit']}{quick}.*"
    )


def limits(section):
    rows = section["rows"]
    return (
        "## What the machine can do\n\n"
        f"One core: {rows['double_gflops']:.0f} GFLOP/s in double and {rows['single_gflops']:.0f} in single precision (numpy's matrix "
        f"product), {rows['copy_gbytes']:.1f} GB/s in a long copy, read and written. These are the peaks that tables below compare with. "
        "The matrix product multiplies and adds in one instruction; policies and features may not, because their bits are those "
        "of plain arithmetic on every CPU. Where products and sums have units of their own, as on Zen 4, that costs nothing at the "
        "peak; elsewhere half of it."
    )


def search(section, parts):
    rows = section["rows"]
    text = [
        "## Whole searches",
        "Steps per second of processor time, times the threads, of a search with the paper's settings from iteration 20 on: on "
        "libmujoco or Box2D, and on lanes; on the simulator alone, that is `mj_step` with recorded actions and nothing else. "
        "BipedalWalker has one simulator, which a search steps in batches. *Waits* is how much of its time a "
        "thread had no core or no work.",
    ]
    head = ["task", "candidates", "simulator alone", "search on it", "over it", "search on lanes", "over the search on it", "goal", "waits"]
    body = []
    for task, r in rows.items():
        body.append([
            task, f"5 × {r['batch_size']}", shown(r["simulator"]), shown(r["search"]), shown(r["search_over_simulator"], 2, " ×"),
            shown(r["lanes"]),
            shown(r["lanes_over_search"], 1, " ×"), shown(r["goal"]), shown(r["lanes_waits_percent"], 0, " %"),
        ])
    text.append(table(head, body))
    first = next(iter(rows.values()))
    text.append(f"{first['threads']} threads. {where(section)}")
    text += missed(rows, parts)
    glued = {task: r for task, r in rows.items() if r["glued"]}
    if glued:
        text.append(
            "The same search put together from pyribs, Gymnasium and a pool of processes (`scripts/glued_search.py`), from the first "
            "iteration on, by the clock:"
        )
        body = [
            [task, shown(r["glued"]), shown(r["search_over_glued"], 1, " ×"), shown(r["default_over_glued"], 1, " ×")]
            for task, r in glued.items()
        ]
        text.append(table(["task", "glued", "ours, same simulator", "ours, as it comes"], body))
    return "\n\n".join(text)


def missed(rows, parts):
    """What stands against the goals that were not reached."""
    short = {t: r for t, r in rows.items() if r["goal"] and (r["lanes_over_search"] or 0) < r["goal"]}
    if not short:
        return []
    lines = ["What stands against the goals that were not reached, by the profile of the search on lanes:"]
    items = []
    for task, r in short.items():
        shares = (parts or {}).get(task)
        text = "no profile: `perf` is not installed"
        if shares:
            largest = sorted(shares.items(), key=lambda item: -item[1])[:5]
            text = ", ".join(f"{name} {share * 100:.0f} %" for name, share in largest)
            # What the rest would have to cost for the goal.
            text += f"; the goal asks for {(1 - r['lanes_over_search'] / r['goal']) * 100:.0f} % less in all"
        items.append(f"* {task}: {text}.")
    return lines + ["\n".join(items)]


def engine(section):
    rows = section["rows"]
    names = [name for name in next(iter(rows.values())) if name != "libmujoco"]
    head = ["task", "libmujoco"] + [text for name in names for text in (name, "over it")]
    body = [
        [task, shown(r["libmujoco"])] + [c for n in names for c in (shown(r.get(n)), ratio(r.get(n), r["libmujoco"]))]
        for task, r in rows.items()
    ]
    return (
        "## The lanes engine\n\nSteps of the task per second on one core under random actions, observations, rewards and resets "
        f"included.\n\n{table(head, body)}\n\n{where(section)}"
    )


def environments(section):
    head = ["task", "simulator alone", "ours", "over it", "Gymnasium", "over it", "EnvPool", "over it", "two threads over one"]
    body = [
        [
            task, shown(r["simulator"]), shown(r["ours"]), shown(r["ratio"], 2, " ×"), shown(r["gymnasium"]),
            ratio(r["ours"], r["gymnasium"]), shown(r["envpool"]), shown(r["over_envpool"], 2, " ×"), shown(r["gain"], 2, " ×"),
        ]
        for task, r in section["rows"].items()
    ]
    return (
        "## Single environments on the reference simulators\n\nRandom actions, one world on one thread; ours over EnvPool is the "
        f"smaller of one and two threads, by the clock.\n\n{table(head, body)}\n\n{where(section)}"
    )


def walkers(section):
    body = [
        [name, shown(r["length"]), shown(r["box2d"]), shown(r["batch"]), ratio(r["batch"], r["box2d"])]
        for name, r in section["rows"].items()
    ]
    head = ["actions", "mean length", "Box2D alone", "in a search", "over it"]
    return (
        "## BipedalWalker\n\nSteps per second on one core, over Box2D without lidar and reward. Bits are Box2D's in both.\n\n"
        f"{table(head, body)}\n\n{where(section)}"
    )


# Inputs and outputs of the policies, and inputs of the features.
SIZES = {
    "Swimmer": (8, 2), "Hopper": (11, 3), "HalfCheetah": (17, 6), "Walker2d": (17, 6), "BipedalWalker": (24, 4), "Ant": (105, 8),
}


def kernels(section, machine):
    """Each beside the time that its products and sums take at the peak."""
    per_nanosecond = machine["single_gflops"] if machine else None
    rows, body = section["rows"], []
    for title, times in rows.items():
        for task, time in times.items():
            n, m = SIZES[task]
            operations = 2 * 100 * (n + m) if "features" in title else 2 * (n * 128 + 128 * 128 + 128 * m)
            least = operations / per_nanosecond if per_nanosecond else None
            share = least / time * 100 if least else None
            body.append([title, task, shown(time), shown(least), shown(share, 0, " %")])
    head = ["what", "task", "nanoseconds", "at the peak", "reached"]
    return (
        "## Policy and features\n\nNanoseconds of one step on the widest instruction set, and what products and sums alone would "
        "take at the single-precision peak: hyperbolic tangents, cosines and sums in double precision come on top. "
        f"One pass for several worlds would save loads of weights, but no product.\n\n{table(head, body)}\n\n{where(section)}"
    )


def parts(section):
    rows = section["rows"]
    if not rows:
        return "## Parts of a step\n\nNo profile: `perf` was not installed."
    names = next(iter(rows.values()))
    body = [[name] + [shown(shares[name] * 100, 1, " %") for shares in rows.values()] for name in names]
    return (
        "## Parts of a step\n\nWhere a search on lanes spends its time, on one thread, by samples; what is inlined counts where it "
        f"ended up.\n\n{table(['part', *rows], body)}\n\n{where(section)}"
    )


def algorithms(section):
    body = [
        [name, shown(r["ms"], 4), shown(r["cpu_ms"], 4), shown(r["pyribs_times"], 1, " ×")]
        for name, r in section["rows"].items()
    ]
    head = ["work", "ms by the clock", "ms of processor time", "pyribs takes"]
    return f"## Archives and emitters\n\n{table(head, body)}\n\n{where(section)}"


TITLES = {
    "iterations": "iterations", "archive": "cells of the archive", "batch": "candidates per iteration", "threads": "threads",
    "parameters": "hidden layers of the policy",
}


def growth(section):
    text = [
        "## Growth",
        "Microseconds of processor time per step of a Swimmer search on lanes, evaluation, archives, emitters, refits and "
        "checkpoints included, as one thing grows and the others stay: 80 candidates, 10 000 cells, one thread, 128-128. The "
        "time that every run costs is taken away, by the difference of two runs. Swimmer has the cheapest steps, so what a search "
        "adds shows most here.",
    ]
    for name, series in section["rows"].items():
        first = next(iter(series.values()))
        body = [["µs per step", *[shown(t, 3) for t in series.values()]]]
        body.append(["relative to the first", *[shown(t / first, 2) for t in series.values()]])
        text.append(table([TITLES[name], *series], body))
    steady = [section["rows"][name] for name in ("iterations", "archive", "threads")]
    changes = [max(abs(t / next(iter(s.values())) - 1) for t in s.values()) * 100 for s in steady]
    text.append(
        f"The cost of a step depends on the iteration, the size of the archive and the number of threads by at most {changes[0]:.0f}, "
        f"{changes[1]:.0f} and {changes[2]:.0f} %, what the noise of a busy machine adds included. The number of parameters "
        "is arithmetic: a policy of 256-256 has four times the products of one of 128-128."
    )
    text.append(where(section))
    return "\n\n".join(text)


def page(figures):
    """The page of the figures that there are."""
    machine = figures.get("limits", {}).get("rows")
    profile = figures.get("parts", {}).get("rows")
    sections = {
        "limits": limits, "search": lambda s: search(s, profile), "engine": engine, "environments": environments,
        "walkers": walkers, "parts": parts, "kernels": lambda s: kernels(s, machine), "growth": growth, "algorithms": algorithms,
    }
    texts = [INTRO.strip()] + [make(figures[name]) for name, make in sections.items() if name in figures]
    return "\n\n".join(texts) + "\n"
