"""Callbacks that send the numbers of a run elsewhere.

Every run folder has a file for TensorBoard already (``tensorboard --logdir RUN``). The loggers here are for services; each
needs its own package, which is imported when the logger is made.
"""

import numbers
import os

__all__ = ["MlflowLogger", "WandbLogger"]


def _plain(facts):
    """What of an iteration is a number."""
    return {name: value for name, value in facts.items() if isinstance(value, numbers.Real) and name != "iteration"}


class WandbLogger:
    """Logs every iteration to Weights & Biases, and the configuration and the archive's size at the end.

    Args:
        **options: Those of ``wandb.init``: project, name, mode, dir, ...

    Example:
        >>> import autoqd  # doctest: +SKIP
        >>> logger = autoqd.loggers.WandbLogger(project="swimmers", mode="offline")  # doctest: +SKIP
        >>> autoqd.run("swimmer", callbacks=[logger])  # doctest: +SKIP
    """

    def __init__(self, **options):
        import wandb

        self._run = wandb.init(**{"project": "autoqd", **options})

    def start(self, facts):
        """The run starts."""
        self._run.config.update(facts, allow_val_change=True)

    def __call__(self, facts):
        """An iteration is done."""
        self._run.log(_plain(facts), step=int(facts["iteration"]))

    def finish(self, run):
        """The run has ended."""
        self._run.config.update({"settings": run.config, "folder": os.fspath(run.path)}, allow_val_change=True)
        self._run.finish()


class MlflowLogger:
    """Logs every iteration to MLflow, the settings as parameters, and the archive as an artifact.

    Args:
        tracking_uri: Where to, for instance "sqlite:///runs.db"; by default what MLflow is set up with.
        experiment: Name of the experiment.
        artifacts: Whether the archive and the configuration are stored too.

    Example:
        >>> import autoqd  # doctest: +SKIP
        >>> logger = autoqd.loggers.MlflowLogger("sqlite:///runs.db")  # doctest: +SKIP
        >>> autoqd.run("swimmer", callbacks=[logger])  # doctest: +SKIP
    """

    def __init__(self, tracking_uri=None, experiment="autoqd", artifacts=True):
        from mlflow import MlflowClient

        self._client = MlflowClient(tracking_uri)
        found = self._client.get_experiment_by_name(experiment)
        self._experiment = found.experiment_id if found else self._client.create_experiment(experiment)
        self._artifacts = artifacts
        self._id = None

    def start(self, facts):
        """The run starts."""
        self._id = self._client.create_run(self._experiment, run_name=f"{facts['task']}-{facts['method']}").info.run_id
        for name, value in facts.items():
            self._client.log_param(self._id, name, value)

    def __call__(self, facts):
        """An iteration is done."""
        from mlflow.entities import Metric

        step = int(facts["iteration"])
        time = int(1000 * facts.get("unix_time", 0))
        metrics = [Metric(name, float(value), time, step) for name, value in _plain(facts).items()]
        self._client.log_batch(self._id, metrics=metrics)

    def finish(self, run):
        """The run has ended."""
        for name in ("config.toml", "archive.parquet") if self._artifacts else ():
            self._client.log_artifact(self._id, os.fspath(run.path / name))
        self._client.set_terminated(self._id)

