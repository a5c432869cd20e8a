"""Fast tasks: the same numbers as Gymnasium's environments, the same conventions, and no crash whatever is done."""

import gc
import importlib.util
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import autoqd
from autoqd._sb3 import Episodes

IDS = ["Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Swimmer-v5", "Walker2d-v5", "BipedalWalker-v3"]
MODES = ["NextStep", "SameStep", "Disabled"]
QUADRUPED = os.path.join(os.path.dirname(__file__), "../../examples/quadruped/quadruped.toml")


def gymnasiums(id, num_envs, mode="NextStep", **options):
    arguments = {"autoreset_mode": AutoresetMode(mode)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gymnasium.make_vec(id, num_envs, vectorization_mode="sync", vector_kwargs=arguments, **options)


def random_actions(envs, seed, dtype=np.float32, reach=1.3):
    rng = np.random.default_rng(seed)
    while True:
        yield rng.uniform(-reach, reach, envs.action_space.shape).astype(dtype)


def same_bits(ours, theirs):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes(), (ours, theirs)


def with_plain_distance(infos):
    """The infos with `distance_from_origin` rounded as we round it on every machine: numpy leaves its last digit to OpenBLAS, which
    rounds the products of a sum on some CPUs and not on others."""
    if "distance_from_origin" not in infos:
        return infos
    x, y = infos["x_position"], infos["y_position"]
    plain = np.sqrt(x * x + y * y)
    np.testing.assert_array_max_ulp(plain, infos["distance_from_origin"], maxulp=1)
    return {**infos, "distance_from_origin": plain}


def same_infos(ours, theirs):
    """Everything that Gymnasium tells, to the bit; BipedalWalker's reward terms are ours alone."""
    assert set(theirs) <= set(ours)
    theirs = with_plain_distance(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            same_infos(ours[key], value)
        elif value.dtype == object:
            assert [x is None for x in ours[key]] == [x is None for x in value]
            for x, y in zip(ours[key], value):
                y is None or same_bits(x, y)
        else:
            # With single precision actions Gymnasium keeps the control cost in single precision.
            same_bits(np.asarray(ours[key], value.dtype), value)
            assert np.array_equal(ours[key], value)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("id", IDS)
@pytest.mark.filterwarnings("ignore")
def test_the_reference_equals_gymnasium_bit_for_bit(id, mode):
    ours = autoqd.make_vec(id, 3, physics="reference", autoreset_mode=mode, num_threads=2)
    theirs = gymnasiums(id, 3, mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    ends = 0
    for part, dtype in enumerate([np.float32, np.float64]):
        (a, infos), (b, expected) = ours.reset(seed=7 + part), theirs.reset(seed=7 + part)
        same_bits(a, b)
        same_infos(infos, expected)
        actions = random_actions(ours, part, dtype)
        for _ in range(200):
            action = next(actions)
            step, expected = ours.step(action), theirs.step(action)
            for a, b in zip(step[:4], expected[:4]):
                same_bits(a, b)
            same_infos(step[4], expected[4])
            over = step[2] | step[3]
            ends += over.sum()
            if mode == "Disabled" and over.any():
                (a, infos), (b, expected) = (
                    envs.reset(options={"reset_mask": over.copy()}) for envs in (ours, theirs)
                )
                same_bits(a, b)
                same_infos(infos, expected)
    assert ends > 3 or id in ("HalfCheetah-v5", "Swimmer-v5")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.filterwarnings("ignore")
def test_truncation_equals_gymnasiums(mode):
    ours = autoqd.make_vec("Swimmer-v5", 2, physics="reference", autoreset_mode=mode, max_episode_steps=7)
    theirs = gymnasiums("Swimmer-v5", 2, mode, max_episode_steps=7)
    same_bits(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
    truncations = 0
    for action, _ in zip(random_actions(ours, 0), range(30)):
        step, expected = ours.step(action), theirs.step(action)
        for a, b in zip(step[:4], expected[:4]):
            same_bits(a, b)
        same_infos(step[4], expected[4])
        truncations += step[3].sum()
    assert truncations >= 6


@pytest.mark.parametrize("id", IDS)
def test_lanes_follow_the_reference(id):
    lanes = autoqd.make_vec(id, 11, physics="lanes")
    reference = autoqd.make_vec(id, 11, physics="reference")
    # The first observation, and where a world goes from there in a few steps, are the same up to rounding.
    np.testing.assert_allclose(lanes.reset(seed=3)[0], reference.reset(seed=3)[0], atol=1e-12)
    for action, _ in zip(random_actions(lanes, 1, reach=1.0), range(5)):
        ours, expected = lanes.step(action), reference.step(action)
        np.testing.assert_allclose(ours[0], expected[0], atol=1e-5)
        np.testing.assert_allclose(ours[1], expected[1], atol=1e-5)
        for key, value in expected[4].items():
            np.testing.assert_allclose(ours[4][key], value, atol=1e-5)


@pytest.mark.parametrize("physics", ["lanes", "reference"])
@pytest.mark.parametrize("id", ["Hopper-v5", "BipedalWalker-v3"])
def test_results_depend_neither_on_threads_nor_on_the_number_of_environments(id, physics):
    def play(num_envs, num_threads):
        envs = autoqd.make_vec(id, num_envs, physics=physics, num_threads=num_threads)
        seen = [envs.reset(seed=5)[0][:3]]
        for action, _ in zip(random_actions(autoqd.make_vec(id, 40), 2), range(120)):
            seen += [part[:3] for part in envs.step(action[:num_envs])[:4]]
        return b"".join(part.tobytes() for part in seen)

    assert play(40, 1) == play(40, 3) == play(3, 2)


@pytest.mark.parametrize("task", ["Hopper-v5", "bipedal-walker", "point-maze", "planar-arm", QUADRUPED])
@pytest.mark.filterwarnings("ignore")
def test_a_single_environment_passes_gymnasiums_checks(task):
    env = autoqd.make(task, render_mode="rgb_array", width=64, height=48)
    check_env(env)
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (48, 64, 3) and first.dtype == np.uint8 and first.std() > 1


@pytest.mark.parametrize("id", ["Ant-v5", "BipedalWalker-v3"])
@pytest.mark.filterwarnings("ignore")
def test_a_single_environment_equals_gymnasiums(id):
    ours, theirs = autoqd.make(id), gymnasium.make(id)
    (a, info), (b, expected) = ours.reset(seed=11), theirs.reset(seed=11)
    same_bits(a, b)
    assert info == with_plain_distance(expected)
    for action, _ in zip(random_actions(autoqd.make_vec(id, 1), 4), range(300)):
        step, expected = ours.step(action[0]), theirs.step(action[0])
        same_bits(step[0], expected[0])
        assert step[1:4] == (float(expected[1]), *expected[2:4])
        assert {key: step[4][key] for key in expected[4]} == with_plain_distance(expected[4])
        if step[2] or step[3]:
            same_bits(ours.reset()[0], theirs.reset()[0])


def test_our_names_and_task_files_work_too():
    for task in ["half-cheetah", "point-maze", "planar-arm", QUADRUPED]:
        envs = autoqd.make_vec(task, 5)
        observations, _ = envs.reset(seed=0)
        assert observations in envs.observation_space
        step = envs.step(envs.action_space.sample())
        assert step[0] in envs.observation_space and np.isfinite(step[1]).all()
        terms = [value for key, value in step[4].items() if key.startswith("reward_")]
        np.testing.assert_allclose(np.sum(terms, axis=0), step[1], atol=1e-6)


def test_an_environment_can_be_made_again_from_its_spec():
    envs = autoqd.make_vec("Swimmer-v5", 4, physics="reference", dtype=np.float32, autoreset_mode="SameStep")
    again = gymnasium.make_vec(pickle.loads(pickle.dumps(envs.spec)))
    assert (again.num_envs, again.autoreset_mode, again.physics) == (4, AutoresetMode.SAME_STEP, "reference")
    same_bits(again.reset(seed=2)[0], envs.reset(seed=2)[0])
    single = autoqd.make("Swimmer-v5")
    same_bits(gymnasium.make(single.spec).reset(seed=2)[0], single.reset(seed=2)[0])


@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_wrappers_work():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(autoqd.make_vec("Hopper-v5", 4))
    envs = gymnasium.wrappers.vector.NormalizeObservation(envs)
    envs.reset(seed=0)
    episodes = 0
    for action, _ in zip(random_actions(envs, 0), range(100)):
        infos = envs.step(action)[4]
        episodes += infos.get("_episode", np.zeros(1)).sum()
    assert episodes > 4


def test_observations_are_new_arrays_unless_asked_otherwise():
    envs = autoqd.make_vec("Swimmer-v5", 2)
    first, _ = envs.reset(seed=0)
    kept = first.copy()
    second = envs.step(np.ones((2, 2)))[0]
    assert first is not second and (first == kept).all() and (second != kept).any()
    envs = autoqd.make_vec("Swimmer-v5", 2, copy=False)
    first, _ = envs.reset(seed=0)
    assert envs.step(np.ones((2, 2)))[0] is first


def test_single_precision_observations_are_the_rounded_ones():
    double, single = (autoqd.make_vec("Ant-v5", 9, dtype=dtype) for dtype in (np.float64, np.float32))
    a, b = double.reset(seed=0)[0], single.reset(seed=0)[0]
    same_bits(b, a.astype(np.float32))
    action = double.action_space.sample()
    same_bits(single.step(action)[0], double.step(action)[0].astype(np.float32))


def test_seeds_are_integers_of_any_width_or_lists_of_them():
    envs = autoqd.make_vec("Hopper-v5", 3, physics="reference")
    theirs = gymnasiums("Hopper-v5", 3)
    for seed in [0, 2**70, [5, 2**40, 1], np.int64(3)]:
        expected = theirs.reset(seed=int(seed) if isinstance(seed, np.integer) else seed)[0]
        same_bits(envs.reset(seed=seed)[0], expected)
    same_bits(envs.reset()[0], theirs.reset()[0])
    same_bits(envs.reset(seed=[1, None, 2])[0], theirs.reset(seed=[1, None, 2])[0])
    assert envs.np_random_seed == (1, 4, 2)
    # Without any seed so far, the system gives one.
    first, second = (autoqd.make_vec("Hopper-v5", 2).reset()[0] for _ in range(2))
    assert (first != second).any() and (first[0] != first[1]).any()
    for seed in [-1, 1.5, "1", [1, 2]]:
        with pytest.raises((ValueError, TypeError)):
            envs.reset(seed=seed)


def test_actions_of_every_layout_are_taken():
    envs = autoqd.make_vec("Walker2d-v5", 4, physics="reference")
    actions = np.random.default_rng(0).uniform(-1, 1, (4, 6))

    def step(actions):
        envs.reset(seed=0)
        return envs.step(actions)[1].tobytes()

    frozen = actions.copy()
    frozen.setflags(write=False)
    wide = np.zeros((8, 12))
    wide[::2, ::2] = actions
    assert len({step(a) for a in [actions, frozen, wide[::2, ::2], np.asfortranarray(actions), actions.tolist()]}) == 1
    assert step(actions.astype(">f8")) == step(actions)
    assert step(np.ones((4, 6), int)) == step(np.ones((4, 6)))
    half = actions.astype(np.float16)
    assert step(half) == step(half.astype(np.float64))


@pytest.mark.parametrize(
    "actions",
    [np.zeros((4, 5)), np.zeros((3, 6)), np.zeros(24), np.zeros((4, 6), complex), np.full((4, 6), "a"), None, 3],
)
def test_actions_of_the_wrong_shape_or_type_are_refused_and_nothing_moves(actions):
    envs = autoqd.make_vec("Walker2d-v5", 4)
    envs.reset(seed=0)
    with pytest.raises((ValueError, TypeError)):
        envs.step(actions)
    after = envs.step(np.zeros((4, 6)))
    envs.reset(seed=0)
    same_bits(envs.step(np.zeros((4, 6)))[0], after[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("task", ["Hopper-v5", "BipedalWalker-v3", "point-maze"])
@pytest.mark.parametrize("physics", ["auto", "reference"])
def test_an_action_that_is_not_finite_ends_one_episode_and_no_other(task, physics, bad):
    hurt, whole = (autoqd.make_vec(task, 20, physics=physics) for _ in range(2))
    before = hurt.reset(seed=0)[0]
    whole.reset(seed=0)
    actions = hurt.action_space.sample()
    spoilt = actions.copy()
    spoilt[13, 1] = bad
    with pytest.warns(RuntimeWarning, match="environment 13"):
        step = hurt.step(spoilt)
    expected = whole.step(actions)
    others = np.arange(20) != 13
    assert step[2][13] and step[1][13] == 0 and (step[0][13] == before[13]).all()
    assert step[4]["diverged"].nonzero()[0].tolist() == [13]
    for a, b in zip(step[:4], expected[:4]):
        same_bits(a[others], b[others])
    # The next step resets it, as after any end.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = hurt.step(actions)
    assert not step[2][13] and step[1][13] == 0 and not step[4]["_reward_" + ("progress" if task != "Hopper-v5" else "ctrl")][13]
    same_bits(step[0][others], whole.step(actions)[0][others])


def test_an_episode_that_is_over_must_be_reset_by_hand_if_resets_are_disabled():
    envs = autoqd.make_vec("Swimmer-v5", 3, autoreset_mode="Disabled", max_episode_steps=1)
    envs.reset(seed=0)
    envs.step(np.zeros((3, 2)))
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(RuntimeError, match="environment 1 is over"):
        envs.step(np.zeros((3, 2)))
    for mask in [np.zeros(3, bool), np.zeros(2, bool), [True] * 3, np.ones(3)]:
        with pytest.raises((ValueError, TypeError)):
            envs.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "HalfCheeta-v5"}, "did you mean 'HalfCheetah-v5'"),
        ({"task": "/nowhere.toml"}, "/nowhere.toml"),
        ({"num_envs": 0}, "num_envs = 0"),
        ({"num_envs": 2.5}, "integer"),
        ({"num_threads": -1}, "num_threads = -1"),
        ({"physics": "brax"}, "'lanes'"),
        ({"dtype": np.float16}, "float64 or numpy.float32"),
        ({"autoreset_mode": "never"}, "never"),
        ({"max_episode_steps": 2000}, "at most 1000"),
    ],
)
def test_arguments_that_are_not_possible_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError)) as refused:
        autoqd.make_vec(**{"task": "HalfCheetah-v5", "num_envs": 2, **arguments})
    assert message in str(refused.value)


def test_a_step_needs_a_reset_and_an_open_environment():
    envs = autoqd.make_vec("Swimmer-v5", 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros((2, 2)))
    envs.reset()
    envs.close()
    envs.close()
    for call in [envs.reset, lambda: envs.step(np.zeros((2, 2)))]:
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="closed"):
            call()
    single = autoqd.make("Swimmer-v5")
    with pytest.raises(RuntimeError, match="reset"):
        single.step(np.zeros(2))
    single.close()
    single.close()
    for call in [single.reset, lambda: single.step(np.zeros(2))]:
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="closed"):
            call()


def test_steps_leave_out_the_clock_that_the_package_mujoco_sets():
    import ctypes

    import mujoco

    library = ctypes.CDLL(next(pathlib.Path(mujoco.__file__).parent.glob("libmujoco.so.*")))
    clock = ctypes.c_void_p.in_dll(library, "mjcb_time")
    asked = []
    kind = ctypes.CFUNCTYPE(ctypes.c_double)
    ours, theirs = kind(lambda: asked.append(1) or 0.0), clock.value
    assert theirs, "importing the package sets a clock"
    # Of one thread: it has the GIL when a callback is called.
    envs = autoqd.make_vec("Hopper-v5", 3, physics="reference", num_threads=1)
    try:
        clock.value = ctypes.cast(ours, ctypes.c_void_p).value
        envs.reset(seed=0)
        envs.step(np.zeros((3, 3)))
        assert not asked and clock.value == ctypes.cast(ours, ctypes.c_void_p).value
        model = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
        mujoco.mj_step(model, mujoco.MjData(model))
        assert asked, "steps of others are timed as before"
    finally:
        clock.value = theirs


def test_a_single_environment_refuses_bad_actions():
    env = autoqd.make("Hopper-v5")
    env.reset(seed=0)
    for action in [np.zeros(4), np.zeros((1, 3)), np.array([0, np.nan, 0]), "up", None]:
        with pytest.raises((ValueError, TypeError)):
            env.step(action)
    env.step(np.zeros(3))


def test_threads_may_use_environments_one_at_a_time():
    envs = [autoqd.make_vec("Hopper-v5", 16) for _ in range(4)]
    actions = envs[0].action_space.sample()
    results, refused = [], []

    def play(own):
        own.reset(seed=0)
        results.append([own.step(actions)[0] for _ in range(50)][-1].tobytes())

    threads = [threading.Thread(target=play, args=(own,)) for own in envs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(results) == 4 and len(set(results)) == 1

    shared = autoqd.make_vec("Ant-v5", 64)
    shared.reset(seed=0)
    actions = shared.action_space.sample()

    def fight():
        for _ in range(50):
            try:
                shared.step(actions)
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=fight) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all("another thread" in message for message in refused)
    shared.step(actions)


def run_python(code, **options):
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_a_forked_process_goes_on_with_its_own_threads():
    code = """
import os, autoqd
envs = autoqd.make_vec("Hopper-v5", 64, num_threads=3)
envs.reset(seed=0)
actions = envs.action_space.sample()
envs.step(actions)
reader, writer = os.pipe()
child = os.fork()
here = [envs.step(actions)[0] for _ in range(20)][-1].tobytes()
if child == 0:
    os.write(writer, here[:1000])
    envs.close()
    os._exit(0)
print(os.waitpid(child, 0)[1], os.read(reader, 1000) == here[:1000])
"""
    found = run_python(code)
    assert found.stdout.split() == ["0", "True"], found.stderr


def test_environments_are_given_back_by_the_garbage_collector():
    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    for _ in range(5):
        envs = autoqd.make_vec("Swimmer-v5", 64, num_threads=4)
        envs.reset(seed=0)
        envs.step(envs.action_space.sample())
    del envs
    gc.collect()
    deadline = time.monotonic() + 10
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads() <= before


def test_an_interrupt_stops_a_loop_of_steps():
    code = """
import signal
import autoqd
# A shell starts what runs in the background deaf to interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
envs = autoqd.make_vec("Ant-v5", 64)
envs.reset(seed=0)
actions = envs.action_space.sample()
print("ready", flush=True)
try:
    while True:
        envs.step(actions)
except KeyboardInterrupt:
    envs.step(actions)
    print("stopped")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "stopped\n"


def test_the_adapter_does_what_stable_baselines3_documents():
    """Its base class needs torch; everything but the inheritance is here."""
    envs = Episodes("Hopper-v5", 12, seed=4, physics="reference")
    plain = autoqd.make_vec("Hopper-v5", 12, physics="reference", autoreset_mode="SameStep", dtype=np.float32)
    first = envs.reset()
    same_bits(first, plain.reset(seed=4)[0])
    assert first.dtype == np.float32 and first[0] in envs.observation_space
    returns, lengths, ends = np.zeros(12), np.zeros(12, int), 0
    for action, _ in zip(random_actions(plain, 0), range(120)):
        envs.step_async(action)
        observations, rewards, dones, infos = envs.step_wait()
        expected = plain.step(action)
        same_bits(observations, expected[0])
        same_bits(rewards, expected[1].astype(np.float32))
        same_bits(dones, expected[2] | expected[3])
        assert len(infos) == 12 and isinstance(infos, list)
        returns += expected[1]
        lengths += 1
        for i, info in enumerate(infos):
            assert ("terminal_observation" in info) == dones[i]
            if dones[i]:
                ends += 1
                same_bits(info["terminal_observation"], expected[4]["final_obs"][i])
                assert info["TimeLimit.truncated"] is False
                assert info["episode"]["l"] == lengths[i]
                assert info["episode"]["r"] == pytest.approx(returns[i], abs=1e-5)
                assert info["reward_survive"] == expected[4]["final_info"]["reward_survive"][i]
                returns[i], lengths[i] = 0, 0
    assert ends > 12
    assert envs.get_attr("render_mode") == [None] * 12
    assert envs.env_is_wrapped(dict, indices=[0, 3]) == [False, False]
    with pytest.raises(AttributeError):
        envs.set_attr("gravity", 1.0)


def test_the_adapter_hands_its_options_on():
    seen = {}
    for physics in ("lanes", "reference"):
        envs = Episodes("Hopper-v5", 8, seed=0, physics=physics, dtype=np.float64)
        envs.reset()
        actions = random_actions(envs.envs, 0)
        seen[physics] = np.array([envs.step(next(actions))[0] for _ in range(20)])
    # In single precision the two can hardly be told apart over short episodes.
    assert (seen["lanes"] != seen["reference"]).any()
    np.testing.assert_allclose(seen["lanes"], seen["reference"], atol=1e-9)


def test_the_adapter_tells_truncation_from_termination():
    envs = Episodes("Swimmer-v5", 2, max_episode_steps=3, step_infos=True)
    envs.reset()
    for _ in range(2):
        assert "x_position" in envs.step(np.zeros((2, 2)))[3][1]
    _, _, dones, infos = envs.step(np.zeros((2, 2)))
    assert dones.all() and all(info["TimeLimit.truncated"] for info in infos)
    assert [info["episode"]["l"] for info in infos] == [3, 3]


# Stable-Baselines3 brings gigabytes of PyTorch, so it is not among what the tests need; whoever has it runs this as well.
if importlib.util.find_spec("stable_baselines3"):

    def test_stable_baselines3_trains():
        import stable_baselines3 as sb3

        envs = autoqd.sb3_vec_env("Hopper-v5", 8, seed=0)
        sb3.PPO("MlpPolicy", envs, n_steps=32, batch_size=64, device="cpu").learn(512)
        sb3.SAC("MlpPolicy", envs, learning_starts=64, device="cpu").learn(160)


def test_without_stable_baselines3_the_adapter_says_what_is_missing():
    found = run_python("import sys; sys.modules['stable_baselines3'] = None; import autoqd; autoqd.sb3_vec_env('Ant-v5')")
    assert "pip install stable-baselines3" in found.stderr
