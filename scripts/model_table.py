"""Tries real MJCF models: do they load, does the lanes engine take them, and if not, why?

    python3 -m pip install --no-deps --target models dm_control robosuite gymnasium-robotics playground
    python3 scripts/model_table.py --models models --autoqd target/release/autoqd > table.md

Prints a table in Markdown. A model is tried by `autoqd init`, which writes a first task and runs the self-check of the
simulators; models without actuators are left out.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

# Name, package, path inside the folder of packages.
MODELS = [
    (name, "dm_control", f"dm_control/suite/{name}.xml")
    for name in (
        "acrobot ball_in_cup cartpole cheetah dog finger fish hopper humanoid humanoid_CMU manipulator pendulum "
        "point_mass quadruped reacher stacker swimmer walker"
    ).split()
] + [
    ("spot (feet only)", "playground", "mujoco_playground/_src/locomotion/spot/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    ("go1 (feet only)", "playground", "mujoco_playground/_src/locomotion/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    ("g1 (feet only)", "playground", "mujoco_playground/_src/locomotion/g1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    ("berkeley humanoid", "playground", "mujoco_playground/_src/locomotion/berkeley_humanoid/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    ("fetch reach", "gymnasium-robotics", "gymnasium_robotics/envs/assets/fetch/reach.xml"),
    ("fetch push", "gymnasium-robotics", "gymnasium_robotics/envs/assets/fetch/push.xml"),
    ("shadow hand reach", "gymnasium-robotics", "gymnasium_robotics/envs/assets/hand/reach.xml"),
    ("point maze", "gymnasium-robotics", "gymnasium_robotics/envs/assets/point/point.xml"),
    ("franka kitchen", "gymnasium-robotics", "gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml"),
    ("panda", "robosuite", "robosuite/models/assets/robots/panda/robot.xml"),
    ("sawyer", "robosuite", "robosuite/models/assets/robots/sawyer/robot.xml"),
    ("ur5e", "robosuite", "robosuite/models/assets/robots/ur5e/robot.xml"),
    ("spot", "robosuite", "robosuite/models/assets/robots/spot/robot.xml"),
]


def attempt(autoqd, model):
    """Whether a model loads, whether lanes takes it, and what was said."""
    if not model.exists():
        return "not found", "", ""
    with tempfile.TemporaryDirectory() as folder:
        command = [autoqd, "init", str(model), "-o", f"{folder}/task.toml"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode:
        why = result.stderr.strip().splitlines()[-1].removeprefix("error: ") if result.stderr.strip() else "it ended"
        missing = re.search(r"Error opening file '(.*)'", why)
        why = f"{Path(missing.group(1)).name} is not in the package" if missing else why
        return "no", "", why.replace(str(model), model.name)
    said = re.search(r"^simulator +(.*)$", result.stdout, re.M).group(1)
    if said.startswith("lanes"):
        return "yes", "yes", ""
    return "yes", "no", said.removeprefix("libmujoco, because ").removesuffix(" is not supported by the lanes engine yet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True, help="folder that the packages were installed into")
    parser.add_argument("--autoqd", default="autoqd", help="the program")
    args = parser.parse_args()
    print("| model | from | loads | lanes | why not |\n|---|---|---|---|---|")
    for name, package, path in MODELS:
        loads, lanes, why = attempt(args.autoqd, args.models / path)
        if "has no actuators" in why:
            continue
        print(f"| {name} | {package} | {loads} | {lanes} | {why.replace('|', '/')} |", flush=True)


if __name__ == "__main__":
    main()
