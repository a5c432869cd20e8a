"""Runs as Python objects: frames of numbers, policies that act, measurements, pictures."""

import base64
import html
import json
import numbers
import operator
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable

import numpy as np

from autoqd import _frames, _gym, _native
from autoqd._errors import Error, SettingError


LARGEST_SIDE = 4096
"""Of a picture, in pixels."""


class Policy:
    """A policy of a run: a function from observations to actions.

    It computes what the search computed, bit for bit: in single precision, whatever the observations are.

    Args:
        spec: The shape of the policy as JSON, as `Policy.spec` returns it.
        parameters: Its parameters, a vector of numbers.

    Example:
        >>> import autoqd, numpy, tempfile
        >>> found = autoqd.run("point-maze", iterations=3, batch_size=8, out=tempfile.mkdtemp(), progress=False)
        >>> best = found.policy()
        >>> one = best(numpy.zeros(best.observation_size))
        >>> many = best(numpy.zeros((5, best.observation_size)))
        >>> one.shape == (best.action_size,) and bool((many == one).all())
        True
    """

    def __init__(self, spec, parameters, id=None):
        self._native = _native.Policy(spec, _vector("parameters", parameters))
        self.id = id

    @classmethod
    def _of(cls, native, id):
        policy = cls.__new__(cls)
        policy._native, policy.id = native, id
        return policy

    def __call__(self, observation):
        """The action of an observation (a vector), or the actions of a batch of them (one per row), as float32."""
        try:
            given = np.asarray(observation)
        except ValueError as error:  # Rows of different lengths.
            raise ValueError(f"an observation is an array of numbers: {error}") from None
        if given.dtype.kind not in "biuf":
            raise TypeError(f"an observation is an array of real numbers, not of {given.dtype}")
        observation = np.asarray(given, dtype=np.float64, order="C")
        return self._native.act(observation)

    @property
    def parameters(self):
        """The parameters, as the search varied them."""
        return self._native.parameters

    @property
    def spec(self):
        """The shape as JSON: sizes, layers, activations, action bounds."""
        return self._native.spec

    @property
    def observation_size(self):
        """Length of an observation."""
        return self._native.observation_size

    @property
    def action_size(self):
        """Length of an action."""
        return self._native.action_size

    @property
    def action_bounds(self):
        """Lower and upper bounds of the actions."""
        return self._native.action_bounds

    def __reduce__(self):
        return type(self), (self.spec, self.parameters, self.id)

    def __repr__(self):
        name = "" if self.id is None else f" {self.id}"
        return f"<Policy{name}: {self.observation_size} observations to {self.action_size} actions>"


def _vector(name, values):
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected numbers ({error})") from None
    if vector.ndim != 1:
        raise ValueError(f"{name} of shape {vector.shape}: expected a vector")
    return vector.tolist()


class Run:
    """A run folder, a list of chosen policies (.json) or a table of policies (.parquet).

    `archive` and `metrics` are data frames: of pandas where it is installed, else of polars, else of pyarrow, else a dict
    of numpy arrays. `frame` gives them in the form you name.

    Example:
        >>> import autoqd, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = autoqd.run("point-maze", iterations=3, batch_size=8, out=folder, progress=False)
        >>> run = autoqd.Run(folder)
        >>> run.task, run.method, run.seed
        ('point-maze', 'autoqd', 0)
        >>> list(run.frame("archive", "numpy"))[:4]
        ['cell', 'id', 'iteration', 'objective']
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._reader = _native.Reader(self.path)

    def __reduce__(self):
        return type(self), (self.path,)

    @property
    def task(self):
        """The task, by name or path."""
        return self._reader.task

    @property
    def method(self):
        """The method that found the policies."""
        return self._reader.method

    @property
    def seed(self):
        """The seed of the run; None for a table."""
        return self._reader.seed

    @property
    def config(self):
        """The complete configuration, as a dict of settings and sections."""
        config = self._reader.config
        if config is None:
            raise Error(f"{self.path}: a table of policies has no configuration")
        return config

    @property
    def status(self):
        """Where the run is, as a dict: state ("running", "stopped" or "finished"), iteration, elites, QD score, ..."""
        return self._json("status")

    @property
    def archive(self):
        """The elites, one row each: cell, id, iteration, objective, measures and statistics, as a data frame."""
        return self.frame("archive")

    @property
    def metrics(self):
        """The log of the run, one row per iteration, as a data frame."""
        return self.frame("metrics")

    def frame(self, name="archive", format=None, parameters=False):
        """A table of the run as a data frame.

        Args:
            name: "archive", "metrics", "timing", "training" (of learned descriptors) or "figures" (of one method alone).
            format: "pandas", "polars", "pyarrow" or "numpy" (a dict of arrays); by default the first that is installed.
            parameters: Whether the archive's columns of lists are there too: parameters, features and episode seeds.
        """
        if name == "archive":
            columns = self._reader.columns()
            if not parameters:
                columns = {name: column for name, column in columns.items() if column.ndim == 1}
        else:
            columns = _frames.read_log(self._folder(name), name)
        return _frames.frame(columns, format)

    @property
    def parameters(self):
        """Parameters of all elites, one row each, in the order of the archive."""
        return self._reader.columns()["parameters"]

    def policy(self, id=None):
        """The policy with this id, or the best one, as a callable `Policy`."""
        id, native = self._reader.policy(self._checked(id))
        return Policy._of(native, id)

    def _checked(self, id):
        """An id that a policy could have, or None for the best one."""
        if id is None:
            return None
        try:
            number = operator.index(id)
        except TypeError:
            raise TypeError(f"the id of a policy is an integer, not {id!r}") from None
        if not 0 <= number < 2**63:
            raise Error(f"{self.path}: has no policy with id {number}")
        return number

    def evaluate(self, **options):
        """Measures quality and diversity with fresh seeds, as `autoqd eval` does, and returns the numbers as a dict.

        Args:
            **options: Those of `autoqd eval`: episodes, seed, reference, write_reference, raw_pooling, threads, physics.
        """
        return self._json("eval", **options)[0]["runs"][0]

    def compare(self, *others, **options):
        """Evaluates this run and others under one scale, as `autoqd compare` does; returns a dict.

        Args:
            *others: Runs, or their paths.
            **options: Those of `autoqd compare`: test=("autoqd", "regular"), curves, episodes, reference, ...
        """
        return self._json("compare", *map(_path, others), **options)

    def adapt(self, vary, **options):
        """Finds the policies that cope with changed dynamics, as `autoqd adapt` does; returns a dict.

        Args:
            vary: For instance "mass-scale=0.5:2.0:0.5", or a list of such.
            **options: Those of `autoqd adapt`: episodes, screening, finalists, full, threads, physics.
        """
        return self._json("adapt", vary=vary, **options)

    def select(self, count=10, **options):
        """Chooses a few policies that are good and far apart; returns a `Run` of these.

        Args:
            count: How many.
            **options: Those of `autoqd select`: top="20%", space="measures", out.
        """
        out = os.fspath(options.pop("out", self.path / "selected.json"))
        self._json("select", count=count, out=out, **options)
        return Run(out)

    def render(
        self,
        id=None,
        *,
        save=None,
        seconds=6.0,
        rate=25.0,
        size=(480, 360),
        dark=False,
        friction_scale=1.0,
        mass_scale=1.0,
    ):
        """The frames of a policy at work, as uint8 of shape (frames, height, width, 3), in real time.

        Args:
            id: The policy; by default the best.
            save: A file to write as well: .gif, or .mp4 where the program ffmpeg is installed.
            seconds: Seconds shown at most.
            rate: Frames per second.
            size: Width and height in pixels. An environment of Gymnasium is shown in its own size, rate and colours.
            dark: Dark ground.
            friction_scale, mass_scale: Factors on the friction and mass of the task.
        """
        options = {"seconds": seconds, "rate": rate, "size": size, "dark": dark}
        film = self.film(id, **options, friction_scale=friction_scale, mass_scale=mass_scale)
        if save is not None:
            film.save(save)
        return film.frames

    def film(self, id=None, *, seconds=6.0, rate=25.0, size=(480, 360), dark=False, friction_scale=1.0, mass_scale=1.0):
        """The same as `render`, as a `Film`, which a notebook shows."""
        from autoqd._film import Film

        for name, value in [("seconds", seconds), ("rate", rate)]:
            if not isinstance(value, numbers.Real) or not 0 < value < float("inf"):
                raise SettingError(f"{name}={value}: expected a positive number")
        sides = list(size) if isinstance(size, Iterable) else []
        if len(sides) != 2 or not all(isinstance(side, numbers.Integral) and 1 <= side <= LARGEST_SIDE for side in sides):
            raise SettingError(f"size={size!r}: expected width and height, from 1 to {LARGEST_SIDE} pixels")
        if self.task.startswith(_gym.PREFIX):
            if (friction_scale, mass_scale) != (1.0, 1.0):
                raise SettingError("friction_scale and mass_scale: an environment of Gymnasium cannot be changed this way")
            return Film(*self._gym_frames(id, seconds))
        width, height = sides
        frames, _ = self._reader.frames(self._checked(id), rate, seconds, width, height, dark, friction_scale, mass_scale)
        return Film(frames, rate)

    def _gym_frames(self, id, seconds):
        """Frames of a policy's first episode in its environment, and how many there are in a second."""
        policy, columns = self.policy(id), self._reader.columns()
        seed = columns["seeds"][columns["id"].tolist().index(policy.id), 0]
        frames, rate, _ = _gym.render(self.task, policy, seed)
        return frames[: max(1, int(seconds * rate))], rate

    def plot(self, out=None, **options):
        """Draws curves and archive into files, and returns their paths.

        Args:
            out: A folder; by default `report` in the run's.
            **options: Those of `autoqd plot`: color (a column), dark, pixels.
        """
        printed = self._command("plot", out=out, **options)
        return [pathlib.Path(line) for line in printed.splitlines() if line.endswith((".svg", ".png"))]

    def report(self, out=None, **options):
        """Writes everything about the run into one HTML file, and returns its path.

        Args:
            out: The file; by default report/report.html in the run's folder.
            **options: Those of `autoqd report`: count, seconds.
        """
        out = pathlib.Path(out) if out is not None else self._folder("report") / "report" / "report.html"
        self._command("report", out=out, **options)
        return out

    def explore(self, port=0, open=True):
        """Shows the archive in the browser: click an elite and watch it move. Returns an `Explorer`.

        Args:
            port: Port of the page; 0 takes any that is free.
            open: Whether to open the browser.
        """
        explorer = Explorer(self.path, port)
        if open:
            import webbrowser

            webbrowser.open(explorer.url)
        return explorer

    def _folder(self, what):
        folder = self._reader.folder
        if folder is None:
            raise Error(f"{self.path}: a table of policies has no {what}; give the run folder")
        return pathlib.Path(folder)

    def _command(self, name, *more, **options):
        return _native.command([name, os.fspath(self.path), *more, *_flags(options)])

    def _json(self, name, *more, **options):
        return json.loads(self._command(name, *more, json=True, **options))

    def __len__(self):
        return len(self._reader.columns()["id"])

    def __repr__(self):
        try:
            status = self.status
        except Error:
            return f"<Run {str(self.path)!r}: {self.task}, {self.method}>"
        best = status["best_objective"]
        found = f"{status['elites']} elites" + ("" if best is None else f", best {best:.4g}")
        return (
            f"<Run {str(self.path)!r}: {self.task}, {self.method}, seed {self.seed}, {status['state']} at iteration "
            f"{status['iteration']} of {status['iterations']}, {found}>"
        )

    def _repr_html_(self):
        rows = [("task", self.task), ("method", self.method), ("seed", self.seed)]
        picture = ""
        try:
            status = self.status
            names = ("state", "iteration", "elites", "coverage", "qd_score", "best_objective", "mean_objective", "env_steps")
            rows += [(name.replace("_", " "), status[name]) for name in names]
            picture = self._picture()
        except Error as error:
            rows.append(("", str(error)))
        cell = "<tr><th style='text-align:left'>{}</th><td style='text-align:left'>{}</td></tr>"
        table = "".join(cell.format(html.escape(name), html.escape(_shown(value))) for name, value in rows)
        title = html.escape(str(self.path))
        return f"<div><b>{title}</b><div style='display:flex;gap:1em'><table>{table}</table>{picture}</div></div>"

    def _picture(self):
        """The archive as an SVG, drawn anew each time."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            drawn = [path for path in self.plot(folder) if path.suffix == ".svg" and "archive" in path.name]
            if not drawn:
                return ""
            data = base64.b64encode(drawn[0].read_bytes()).decode()
        return f"<img style='max-width:40em' alt='the archive' src='data:image/svg+xml;base64,{data}'>"


def _shown(value):
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _path(run):
    return os.fspath(run.path if isinstance(run, Run) else run)


def _flags(options):
    """Keyword arguments as the options of the program; None is an option that is not given."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is None or value is False:
            continue
        elif name == "test":
            flags += [flag, *map(str, value)]
        elif isinstance(value, (list, tuple)):
            flags += [part for item in value for part in (flag, str(item))]
        else:
            flags += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return flags


class Explorer:
    """The explorer of a run, at work until `stop` or the end of the process.

    Example:
        >>> import autoqd  # doctest: +SKIP
        >>> explorer = autoqd.Run("runs/swimmer-autoqd-0").explore()  # doctest: +SKIP
        >>> explorer.url, explorer.stop()  # doctest: +SKIP
    """

    def __init__(self, path, port=0):
        command = [sys.executable, "-m", "autoqd", "explore", os.fspath(path), "--port", str(port)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()
        if not line:
            _, said = self._process.communicate()
            raise Error(said.strip().removeprefix("error: "))
        self.url = line.split()[0]

    def stop(self):
        """Ends it."""
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __del__(self):
        if getattr(self, "_process", None) is not None and self._process.poll() is None:
            self._process.terminate()

    def __repr__(self):
        return f"<Explorer {self.url}>"

    def _repr_html_(self):
        return f"<iframe src='{html.escape(self.url)}' style='width:100%;height:40em;border:0'></iframe>"
