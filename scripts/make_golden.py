"""Records Gymnasium's own rollouts as golden files that `autoqd env check` replays.

    python3 -m venv .venv && .venv/bin/pip install -r scripts/requirements.txt
    .venv/bin/python scripts/make_golden.py --out /tmp/golden --seeds 7 8 9
    autoqd env check /tmp/golden/*.json.gz

The format is that of tests/golden/envs (see the README there). Every rollout has a newly built environment.
"""

import argparse
import gzip
import json
import platform
from importlib.metadata import version
from pathlib import Path

import gymnasium
import numpy as np

FEET = {
    "Ant-v5": ["left_ankle_geom", "right_ankle_geom", "third_ankle_geom", "fourth_ankle_geom"],
    "HalfCheetah-v5": ["bfoot", "ffoot"],
    "Hopper-v5": ["foot_geom"],
    "Humanoid-v5": ["right_foot", "left_foot"],
    "HumanoidStandup-v5": ["right_foot", "left_foot"],
    "InvertedDoublePendulum-v5": [],
    "InvertedPendulum-v5": [],
    "Pusher-v5": [],
    "Reacher-v5": [],
    "Swimmer-v5": [],
    "Walker2d-v5": ["foot_geom", "foot_left_geom"],
    "BipedalWalker-v3": ["legs[1]", "legs[3]"],
}
MODEL_ARRAYS = (
    "qpos0 body_parentid body_mass body_inertia body_pos body_ipos body_iquat dof_armature dof_damping jnt_type "
    "jnt_range jnt_stiffness jnt_solimp jnt_solref geom_bodyid geom_type geom_size geom_pos geom_quat geom_friction "
    "geom_margin geom_solimp geom_solref geom_condim actuator_ctrlrange"
).split()


def single(values):
    """The shortest decimals of single-precision numbers."""
    return [float(str(np.float32(x))) for x in values]


class Bipedal:
    """BipedalWalker, with its ground friction or its masses changed."""

    def __init__(self, friction=2.5, mass=1.0):
        import gymnasium.envs.box2d.bipedal_walker as module

        module.FRICTION = friction
        for fixture, density in ((module.HULL_FD, 5.0), (module.LEG_FD, 1.0), (module.LOWER_FD, 1.0)):
            fixture.density = density * mass
        self.env = gymnasium.make("BipedalWalker-v3")
        self.walker = self.env.unwrapped

    def numbers(self, observation):
        return single(observation)

    def hull(self):
        return single(self.walker.hull.position)

    def start(self):
        return {"terrain_y": [float(y) for y in self.walker.terrain_y], "hull0": self.hull()}

    def after_step(self):
        return {"feet": [int(self.walker.legs[i].ground_contact) for i in (1, 3)], "hull": self.hull()}

    def descriptor(self, steps):
        return np.mean([s["feet"] for s in steps], axis=0).tolist()


class Mujoco:
    """A task on MuJoCo."""

    def __init__(self, name):
        self.env = gymnasium.make(name)
        self.model, self.data = self.env.unwrapped.model, self.env.unwrapped.data
        self.feet = [self.model.geom(foot).id for foot in FEET[name]]

    def numbers(self, observation):
        return observation.tolist()

    def start(self):
        self.qpos0 = self.data.qpos.tolist()
        return {"qpos0": self.qpos0, "qvel0": self.data.qvel.tolist()}

    def after_step(self):
        state = {"qpos": self.data.qpos.tolist(), "qvel": self.data.qvel.tolist()}
        if self.feet:
            touching = [set(c.geom) for c in self.data.contact[: self.data.ncon] if c.efc_address >= 0]
            state["feet"] = [int({0, foot} in touching) for foot in self.feet]
        return state

    def descriptor(self, steps):
        if self.feet:
            return np.mean([s["feet"] for s in steps], axis=0).tolist()
        if self.env.spec.id != "Swimmer-v5":
            return None
        return swimmer_descriptor(np.array([self.qpos0] + [s["qpos"] for s in steps]))

    def constants(self):
        m = self.model
        out = {name: getattr(m, name).flatten().tolist() for name in MODEL_ARRAYS}
        out |= {"actuator_joint": m.actuator_trnid[:, 0].tolist(), "actuator_gear": m.actuator_gear[:, 0].tolist()}
        skip = self.env.unwrapped.frame_skip
        out |= {"timestep": m.opt.timestep, "frame_skip": skip, "dt": m.opt.timestep * skip}
        out |= {"integrator": m.opt.integrator, "density": m.opt.density, "viscosity": m.opt.viscosity}
        out |= {name: getattr(m, name) for name in ("nq", "nv", "nu", "nbody", "ngeom")}
        names = [m.geom(i).name for i in range(m.ngeom)]
        if "floor" in names:
            out["floor_geom"] = names.index("floor")
        return out | {"feet_geoms": self.feet}


def swimmer_descriptor(q):
    """Angular span, phase coordination, straightness."""
    angles, path = q[1:, 3:5].T.copy(), q[:, :2]
    span = np.mean(np.ptp(angles, axis=1) / (2 * np.deg2rad(100)))
    a, b = (angle - angle.mean() for angle in angles)
    still = min(a @ a, b @ b) <= 1e-12 * len(a)
    rho = 0.0 if still else (a @ b) / np.sqrt((a @ a) * (b @ b))
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    straight = 0.0 if length < 1e-9 else np.linalg.norm(path[-1] - path[0]) / length
    return [float(np.clip(x, 0, 1)) for x in (span, (1 + rho) / 2, straight)]


def actions(kind, high, steps, rng):
    """Random sinusoids with noise, or (wild) noise that exceeds the action box."""
    size = len(high)
    if kind == "wild":
        return high * rng.uniform(-1.3, 1.3, (steps, size))
    rate, phase = rng.uniform(0.05, 0.4, size), rng.uniform(0, 2 * np.pi, size)
    wave = np.sin(np.outer(np.arange(steps), rate) + phase) + rng.normal(0, 0.2, (steps, size))
    return (high * np.clip(wave, -1, 1)).astype(np.float32 if kind == "float32" else np.float64)


def generator_state(env):
    state = env.unwrapped.np_random.bit_generator.state
    words = {key: f"{state['state'][key]:032x}" for key in ("state", "inc")}
    return words | {"has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}


def episode(task, seed, all_actions):
    env = task.env
    observation, _ = env.reset(seed=seed)
    out = {"reset_seed": seed, "rng_after_reset": generator_state(env), "obs0": task.numbers(observation)}
    out |= task.start()
    steps, info_rows = [], []
    for action in all_actions:
        observation, reward, terminated, truncated, info = env.step(action)
        row = {"action": single(action) if action.dtype == np.float32 else action.tolist()}
        row |= {"obs": task.numbers(observation), "reward": float(reward)}
        row |= {"terminated": int(terminated), "truncated": int(truncated)} | task.after_step()
        steps.append(row)
        info_rows.append({k: float(v) for k, v in info.items() if k.startswith("reward_") or k in ("x_velocity", "y_velocity")})
        if terminated or truncated:
            break
    total = 0.0
    for row in steps:
        total += row["reward"]
    out |= {"steps": len(steps), "return": total}
    if (descriptor := task.descriptor(steps)) is not None:
        out["descriptor"] = descriptor
    out |= {key: [row[key] for row in steps] for key in steps[0]}
    if info_rows[0]:
        out["info"] = {key: [row[key] for row in info_rows] for key in info_rows[0]}
    return out


def rollout(name, kind, seed, steps):
    rng = np.random.default_rng([seed, len(name), len(kind)])
    knobs = {}
    if kind == "adapt":
        knobs = {"friction": rng.uniform(0.2, 8.0)} if seed % 2 else {"mass": rng.uniform(0.4, 2.5)}
    task = Bipedal(**knobs) if name == "BipedalWalker-v3" else Mujoco(name)
    high = task.env.action_space.high.astype(np.float64)
    seeds = [seed, None, None] if kind == "episodes" else [seed]
    episodes = [episode(task, s, actions(kind, high, steps, rng)) for s in seeds]
    dtype = "float32" if kind == "float32" else "float64"
    return task, {"kind": kind, "seed": seed, "action_dtype": dtype} | knobs | {"episodes": episodes}


def golden(name, seeds, steps):
    kinds = ["sine", "wild", "float32", "episodes"] + ["adapt"] * (name == "BipedalWalker-v3")
    rollouts = [rollout(name, kind, seed, steps) for seed in seeds for kind in kinds]
    task = rollouts[0][0]
    packages = {package: version(package) for package in ("gymnasium", "mujoco", "Box2D", "numpy")}
    file = {"env": name, "versions": packages | {"python": platform.python_version(), "machine": platform.machine()}}
    file |= {"max_episode_steps": task.env.spec.max_episode_steps, "feet": FEET[name]}
    if isinstance(task, Mujoco):
        file["model"] = task.constants()
    return file | {"rollouts": [r for _, r in rollouts]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files, one per task")
    parser.add_argument("--tasks", nargs="+", default=list(FEET), choices=list(FEET), metavar="ID")
    parser.add_argument("--seeds", nargs="+", type=int, default=[11, 2**40 + 1, 2**100 + 1])
    parser.add_argument("--steps", type=int, default=200, help="most steps of an episode")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.tasks:
        file = golden(name, args.seeds, args.steps)
        path = args.out / f"{name}.json.gz"
        with gzip.open(path, "wt") as out:
            json.dump(file, out)
        count = sum(e["steps"] for r in file["rollouts"] for e in r["episodes"])
        print(f"{path}: {count} steps")


if __name__ == "__main__":
    main()
