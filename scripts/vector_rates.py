"""Steps per second of autoqd.make_vec beside EnvPool and Gymnasium, under random actions, in the same minutes.

    python scripts/vector_rates.py                     # all tasks
    python scripts/vector_rates.py Ant-v5 --rounds 15

The engines take turns of a fraction of a second, and medians over the rounds are printed: by the clock, and per second of
processor time of all threads, which a busy machine disturbs less. Then the time that Python adds to a vector step. EnvPool is
left out where it is not installed (pip install envpool).
"""

import argparse
import statistics
import time

import numpy as np

TASKS = ["Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Swimmer-v5", "Walker2d-v5", "BipedalWalker-v3"]
GOALS = {"Ant-v5": 6, "HalfCheetah-v5": 8, "Walker2d-v5": 8, "Hopper-v5": 10, "Swimmer-v5": 10, "BipedalWalker-v3": 2}


class Engine:
    """Something that steps many environments, and its rates so far."""

    def __init__(self, name, step, count):
        self.name, self.step, self.count = name, step, count
        self.by_clock, self.by_processor = [], []

    def turn(self, seconds):
        """Steps for a while and keeps the rates."""
        done, clock, processor = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - clock < seconds:
            self.step()
            done += self.count
        self.by_clock.append(done / (time.perf_counter() - clock))
        self.by_processor.append(done / (time.process_time() - processor))


def stepper(envs, count, size):
    """A function that steps with the next of many random actions."""
    actions = np.random.default_rng(0).uniform(-1, 1, (50, count, size)).astype(np.float32)
    turn = iter(range(10**12))
    return lambda: envs.step(actions[next(turn) % len(actions)])


def ours(task, count, threads, physics):
    import autoqd

    envs = autoqd.make_vec(task, count, physics=physics, num_threads=threads)
    envs.reset(seed=0)
    return Engine(f"autoqd {physics}", stepper(envs, count, envs.single_action_space.shape[0]), count)


def envpools(task, count, threads):
    import envpool

    known = [id for id in (task, task.replace("-v5", "-v4")) if id in envpool.list_all_envs()]
    envs = envpool.make(known[0], env_type="gymnasium", num_envs=count, num_threads=threads)
    envs.reset()
    return Engine("envpool", stepper(envs, count, envs.action_space.shape[0]), count)


def gymnasiums(task, count, threads):
    import gymnasium

    envs = gymnasium.make_vec(task, count, vectorization_mode="sync")
    envs.reset(seed=0)
    return Engine("gymnasium", stepper(envs, count, envs.single_action_space.shape[0]), count)


def engines(task, arguments):
    """The engines that are installed."""
    count, threads = arguments.envs, arguments.threads
    found = [ours(task, count, threads, "lanes"), ours(task, count, threads, "reference")]
    for make, number in ((envpools, count), (gymnasiums, 8)):
        try:
            found.append(make(task, number, threads))
        except ImportError as error:
            print(f"left out: {error}")
    return found


def compare(task, arguments):
    """Prints the rates of all engines on a task."""
    all_engines = engines(task, arguments)
    for engine in all_engines:
        engine.turn(0.2)
        engine.by_clock.clear(), engine.by_processor.clear()
    for _ in range(arguments.rounds):
        for engine in all_engines:
            engine.turn(arguments.seconds)
    base = next((engine for engine in all_engines if engine.name == "envpool"), None)
    print(f"\n{task}: {arguments.envs} environments, {arguments.threads} threads; lanes should be {GOALS.get(task, '?')} x envpool")
    for engine in all_engines:
        line = f"  {engine.name:18}"
        for rates, reference in ((engine.by_clock, base and base.by_clock), (engine.by_processor, base and base.by_processor)):
            line += f"{statistics.median(rates):12,.0f}"
            if reference:
                ratios = [own / other for own, other in zip(rates, reference)]
                line += f" ({statistics.median(ratios):5.2f} x)"
        print(line + "   by the clock, per processor second", flush=True)


def overhead(arguments):
    """Microseconds that Python adds to a step: the whole step, less the native call alone, in turns."""
    import autoqd

    envs = autoqd.make_vec("Swimmer-v5", arguments.envs, num_threads=1)
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    arrays = (
        np.empty(envs.observation_space.shape),
        np.empty(envs.num_envs),
        np.empty(envs.num_envs, bool),
        np.empty(envs.num_envs, bool),
        np.empty(envs._infos_shape),
        np.empty(envs.num_envs, bool),
    )
    whole, native = [], []
    for _ in range(2000):
        start = time.perf_counter()
        envs.step(actions)
        middle = time.perf_counter()
        envs._worlds.step(actions, *arrays)
        whole.append(middle - start)
        native.append(time.perf_counter() - middle)
    added = 1e6 * (statistics.median(whole) - statistics.median(native))
    least = 1e6 * (min(whole) - min(native))
    print(f"\nPython adds {added:.1f} us to a step of {arguments.envs} environments (medians; {least:.1f} us between minima)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4)
    arguments = parser.parse_args()
    for task in arguments.tasks:
        compare(task, arguments)
    overhead(arguments)


if __name__ == "__main__":
    main()
