"""Loggers for services, offline. Each needs its service's package, which nothing else does."""

import pytest

import autoqd
from conftest import SMALL


def test_a_callback_hears_of_start_and_end(tmp_path):
    class Listener:
        def __init__(self):
            self.heard = []

        def start(self, facts):
            self.heard.append(("start", facts["task"]))

        def __call__(self, facts):
            self.heard.append(("iteration", facts["iteration"]))

        def finish(self, run):
            self.heard.append(("finish", run.path.name))

    listener = Listener()
    autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[listener], **{**SMALL, "iterations": 2})
    assert listener.heard == [("start", "point-maze"), ("iteration", 1), ("iteration", 2), ("finish", "run")]


def test_a_callback_that_raises_at_the_start_ends_the_run(tmp_path):
    class Refuses:
        def start(self, facts):
            raise PermissionError("no service")

        def __call__(self, facts):
            pass

    with pytest.raises(PermissionError, match="no service"):
        autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[Refuses()], **SMALL)


def test_weights_and_biases(tmp_path):
    pytest.importorskip("wandb")
    logger = autoqd.loggers.WandbLogger(mode="offline", dir=tmp_path)
    autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[logger], **SMALL)
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


def test_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    # A database would need more packages than MLflow's smallest one brings.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    place = (tmp_path / "mlruns").as_uri()
    logger = autoqd.loggers.MlflowLogger(place)
    autoqd.run("point-maze", out=tmp_path / "run", progress=False, callbacks=[logger], **SMALL)
    client = mlflow.MlflowClient(place)
    [experiment] = [e for e in client.search_experiments() if e.name == "autoqd"]
    [run] = client.search_runs([experiment.experiment_id])
    assert run.data.params["task"] == "point-maze" and run.data.metrics["elites"] > 0
    assert len(client.get_metric_history(run.info.run_id, "qd_score")) == SMALL["iterations"]
