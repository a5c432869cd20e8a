"""The recipes for clusters, as far as they can be tried without one: docs/cluster.md says which part is not."""

import copy
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys

import pytest

RECIPES = pathlib.Path(__file__).parents[2] / "examples/cluster"
KUBERNETES = "1.31"

# What KubeRay's types `RayJob` and `RayCluster` (ray.io/v1) call the fields that a recipe may use, and what these hold.
RAY_JOB = {
    "activeDeadlineSeconds": int, "backoffLimit": int, "clusterSelector": dict, "deletionStrategy": dict, "entrypoint": str,
    "entrypointNumCpus": float, "entrypointNumGpus": float, "entrypointResources": str, "jobId": str, "managedBy": str,
    "metadata": dict, "rayClusterSpec": dict, "runtimeEnvYAML": str, "shutdownAfterJobFinishes": bool, "submissionMode": str,
    "submitterConfig": dict, "submitterPodTemplate": dict, "suspend": bool, "ttlSecondsAfterFinished": int,
}
RAY_CLUSTER = {
    "autoscalerOptions": dict, "enableInTreeAutoscaling": bool, "headGroupSpec": dict, "headServiceAnnotations": dict,
    "rayVersion": str, "suspend": bool, "workerGroupSpecs": list,
}
HEAD = {"enableIngress": bool, "headService": dict, "rayStartParams": dict, "serviceType": str, "template": dict}
WORKERS = {
    "groupName": str, "maxReplicas": int, "minReplicas": int, "numOfHosts": int, "rayStartParams": dict, "replicas": int,
    "scaleStrategy": dict, "template": dict,
}


def tool(name):
    """A program of the environment that the tests run in."""
    found = shutil.which(name, path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed (scripts/requirements.txt)")
    return found


def test_the_sbatch_script_has_no_mistake_that_shellcheck_knows(tmp_path):
    shellcheck = tool("shellcheck")
    script = RECIPES / "autoqd.sbatch"
    found = subprocess.run([shellcheck, "--severity=style", script], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    wrong = tmp_path / "wrong.sh"
    wrong.write_text(script.read_text().replace('"$out/config.toml"', "$out/config.toml"))
    assert subprocess.run([shellcheck, wrong], capture_output=True).returncode != 0


def test_the_sbatch_script_runs_a_search_and_goes_on_with_it(tmp_path):
    """With Ray and autoqd as they are. What SLURM would do is done for one node: its commands run on this machine."""
    pytest.importorskip("ray")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, text in {
        "srun": 'while [[ "$1" == --* ]]; do shift; done\nexec "$@"',
        "scontrol": 'echo "$3"',
        "hostname": "echo 127.0.0.1",
    }.items():
        path = commands / name
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    venv = tmp_path / "venv/bin"
    venv.mkdir(parents=True)
    (venv / "activate").write_text(f'export PATH="{commands}:{os.path.dirname(sys.executable)}:$PATH"\n')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ, "AUTOQD_VENV": str(venv.parent), "AUTOQD_OUT": str(tmp_path / "run"), "AUTOQD_PORT": str(port),
        "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "localhost",
        "SLURM_CPUS_PER_TASK": "1",
    }
    few = ["point-maze", "--preset", "quick", "--set=batch_size=4", "--set=emitters=2"]
    for steps in (["--max-env-steps", "1"], []):
        command = ["bash", RECIPES / "autoqd.sbatch", *few, "--set=iterations=3", *steps]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = (tmp_path / "run/metrics.csv").read_text().splitlines()[1:]
        assert len(rows) == (1 if steps else 3), done.stdout + done.stderr


def documents():
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((RECIPES / "rayjob.yaml").read_text()))


def check(job, validate):
    """Raises what is wrong with a RayJob: its own fields by their names and types, pods by Kubernetes' schemas."""
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    head, workers = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    for given, known in [(job["spec"], RAY_JOB), (cluster, RAY_CLUSTER), (head, HEAD), *((group, WORKERS) for group in workers)]:
        for name, value in given.items():
            assert name in known and isinstance(value, known[name]), f"{name}: {value!r}"
    for group in [head, *workers]:
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **group["template"]}
        validate(pod, KUBERNETES, strict=True)


def test_the_kubernetes_manifest_is_what_the_operator_and_kubernetes_know():
    validate = pytest.importorskip("kubernetes_validate").validate
    job, claim = documents()
    check(job, validate)
    validate(claim, KUBERNETES, strict=True)
    spec = job["spec"]["rayClusterSpec"]
    for place, name, value in [
        (spec["workerGroupSpecs"][0], "replica", 4),
        (spec["headGroupSpec"]["rayStartParams"], "num-cpus", 0),
        (spec["headGroupSpec"]["template"]["spec"]["containers"][0], "comand", ["ray"]),
    ]:
        before = copy.deepcopy(place)
        place[name] = value
        with pytest.raises(Exception):
            check(job, validate)
        place.clear()
        place.update(before)
    check(job, validate)


def test_the_manifest_mounts_its_claim_and_does_not_report_usage():
    job, claim = documents()
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert head["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert head["containers"][0]["volumeMounts"][0]["name"] == head["volumes"][0]["name"]
    for group in job["spec"]["rayClusterSpec"]["workerGroupSpecs"]:
        environment = {entry["name"]: entry["value"] for entry in group["template"]["spec"]["containers"][0]["env"]}
        assert environment["RAY_USAGE_STATS_ENABLED"] == "0"
    command = job["spec"]["entrypoint"]
    assert subprocess.run(["sh", "-n", "-c", command]).returncode == 0
    pinned = next(line for line in (RECIPES / "Dockerfile").read_text().splitlines() if line.startswith("FROM"))
    assert job["spec"]["rayClusterSpec"]["rayVersion"] in pinned
