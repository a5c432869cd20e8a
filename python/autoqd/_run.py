"""Starting and continuing runs."""

import contextlib
import signal
import threading

from autoqd import _gym, _native, _progress
from autoqd._errors import SettingError


def run(
    task=None,
    *,
    env=None,
    env_args=None,
    method="autoqd",
    preset="quick",
    seed=0,
    out=None,
    config=None,
    progress=True,
    callbacks=(),
    max_seconds=None,
    max_env_steps=None,
    engine=None,
    address=None,
    allow_mixed=False,
    chunk=None,
    worker_timeout=None,
    **settings,
):
    """Searches a task for many good and different policies, and returns the finished `Run`.

    The search runs in this process, on all cores, without holding the GIL. Ctrl-C ends it after the current iteration
    with a checkpoint and raises `KeyboardInterrupt`; `autoqd.resume` goes on from there to the same bytes as if it had
    never stopped.

    Args:
        task: A name of ``autoqd env list``, Gymnasium's id of one of these tasks, or the path of a task file.
        env: In place of a task, an environment of Gymnasium: its id, a function that returns one, or an environment or
            vector environment, of which the workers make single ones like it. Observations are a Box or a Dict of Boxes (flattened), actions a Box with bounds or Discrete (the largest output is taken).
            Policies are evaluated in as many worker processes as `threads` says, by default one per core; what is found
            does not depend on their number. A run whose environment is a function that no module holds, as in a notebook,
            is continued with ``autoqd.resume(path, env=function)``.
        env_args: Arguments of the environment, for instance ``{"continuous": True}``. Two are known for every one:
            "max_episode_steps", and "objective_min", the lowest return that counts (by default a little below what random
            actions get).
        method: What tells behaviours apart: "autoqd", "regular", "aurora", "lstm-aurora", or "dvd-es".
        preset: Settings to start from: "quick" (seconds to minutes), "paper", or another preset.
        seed: The same settings and seed give the same archive, byte for byte, on any number of threads.
        out: A folder for the run; by default runs/TASK-METHOD-SEED. It must be new or empty.
        config: A TOML file with settings, on top of the preset.
        progress: Whether to show progress.
        callbacks: A function or several that get a dict after every iteration: every column of metrics.csv and timing.csv and the
            numbers of the method alone. One that returns True ends the run with a checkpoint; an exception does so too,
            and is raised when the checkpoint is written. If it has methods ``start(facts)`` and ``finish(run)``, they are
            called before the first and after the last iteration; `autoqd.loggers` has some.
        max_seconds: Stops, with a checkpoint, after this time.
        max_env_steps: Stops, with a checkpoint, after this many environment steps of the whole run.
        engine: Where policies are evaluated: in this process, or "ray" for a Ray cluster (docs/cluster.md). What is found
            is the same.
        address: The cluster of the engine; by default the one that is found, or a new one on this machine.
        allow_mixed: Accept workers whose bits differ from this machine's; the run is marked as not bit-exact.
        chunk: Candidates that a worker gets at a time; by default chosen from measured times.
        worker_timeout: Seconds after which a worker that does not answer is given up, by default 300.
        **settings: Any setting of docs/config-reference.md. Those of a section are a dict, ``policy={"hidden": [32]}``,
            or have a dotted name, ``**{"policy.hidden": [32]}``.

    Raises:
        SettingError: A `ValueError`, for a task or setting that is not possible.
        Error: For anything else that the program would refuse, such as a folder that is in use.

    Example:
        >>> import autoqd, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> found = autoqd.run("point-maze", iterations=5, batch_size=8, out=folder, progress=False)
        >>> len(found) > 0
        True
    """
    if env is not None:
        if task is not None:
            raise SettingError("task and env: give one of them")
        task = _gym.name_of(env, env_args)
    elif task is None and config is None:
        raise SettingError("which task? Give one of `autoqd env list`, or env= for an environment of Gymnasium")
    if env is None and env_args is not None:
        raise SettingError("env_args without env: they are the arguments of an environment of Gymnasium")
    for name, value in [("task", task), ("method", method), ("seed", seed)]:
        if value is not None:
            settings[name] = value
    on = (engine, address, allow_mixed, chunk, worker_timeout)

    def start(listen):
        return _native.run(preset, config, settings, out, max_seconds, max_env_steps, on, listen)

    return _work(start, progress, callbacks)


def resume(
    path,
    *,
    env=None,
    iterations=None,
    threads=None,
    checkpoint_every=None,
    progress=True,
    callbacks=(),
    max_seconds=None,
    max_env_steps=None,
    engine=None,
    address=None,
    allow_mixed=False,
    chunk=None,
    worker_timeout=None,
):
    """Continues a run where it stopped; the result is the same as if it had never stopped.

    Args:
        path: The folder of the run.
        env: The function that makes the environment, if the run was started with one that no module holds.
        iterations: More iterations than the run was started with.
        threads: Worker threads.
        checkpoint_every: Iterations between checkpoints.
        progress, callbacks, max_seconds, max_env_steps: As for `run`.
        engine, address, allow_mixed, chunk, worker_timeout: As for `run`; a run may change its engine.

    Example:
        >>> import autoqd, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = autoqd.run("point-maze", iterations=3, batch_size=8, out=folder, progress=False)
        >>> autoqd.resume(folder, iterations=5, progress=False).status["iteration"]
        5
    """

    if env is not None:
        from autoqd._reading import Run

        _gym.register_function(Run(path).task, env)
    on = (engine, address, allow_mixed, chunk, worker_timeout)

    def start(listen):
        return _native.resume(path, iterations, threads, checkpoint_every, max_seconds, max_env_steps, on, listen)

    return _work(start, progress, callbacks)


def _work(start, progress, callbacks):
    """Runs a search with progress and callbacks; what they raise, or Ctrl-C, comes after the checkpoint."""
    from autoqd._reading import Run

    listener = _Listener(_progress.make() if progress else None, callbacks)
    with _interrupts(listener):
        try:
            path, _ = start(listener)
        finally:
            listener.close()
    found = Run(path)
    listener.finish(found)
    if listener.raised is not None:
        raise listener.raised
    return found


class _Listener:
    """Hands the events of a run on, and says whether to stop."""

    def __init__(self, progress, callbacks):
        self._progress = progress
        self._callbacks = (callbacks,) if callable(callbacks) else tuple(callbacks)
        for callback in self._callbacks:
            if not callable(callback):
                raise TypeError(f"callbacks are functions of a dict, not {callback!r}")
        self.raised = None
        self.stop = False

    def __call__(self, event, facts):
        if self._progress is not None:
            self._progress(event, facts)
        if event == "iteration":
            self._tell(lambda callback: callback(dict(facts)))
        elif event == "start":
            self._tell(lambda callback: _optional(callback, "start")(dict(facts)))
        return self.stop

    def finish(self, run):
        self._tell(lambda callback: _optional(callback, "finish")(run))

    def _tell(self, tell):
        for callback in self._callbacks:
            try:
                # Not `self.stop |= ...`, which would forget a Ctrl-C that comes during the callback.
                if tell(callback) is True:
                    self.stop = True
            except BaseException as error:  # Raised again by _work, once the checkpoint is written.
                self.raised = self.raised or error
                self.stop = True

    def close(self):
        if self._progress is not None:
            self._progress.close()


def _optional(callback, method):
    return getattr(callback, method, lambda _: None)


@contextlib.contextmanager
def _interrupts(listener):
    """Until the end of the block, Ctrl-C asks the run to stop after its iteration. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(number, frame):
        listener.stop = True
        listener.raised = KeyboardInterrupt()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
