"""The notebooks of the documentation run, cell by cell, and show what they made."""

import importlib.util
import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
NEEDS = {"sb3-on-fast-tasks": "stable_baselines3"}
"""Packages too large to be installed for tests alone; where they are installed, their notebook runs as well."""


def cells(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_there_is_one_for_every_kind_of_visitor():
    assert NOTEBOOKS == [
        "coming-from-pyribs", "embedding-policies", "first-run", "sb3-on-fast-tasks", "your-own-environment"
    ]


@pytest.mark.parametrize("name", [
    name for name in NOTEBOOKS if name not in NEEDS or importlib.util.find_spec(NEEDS[name])
])
def test_a_notebook_runs(name, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_is_kept_of_a_notebook(name):
    for cell in cells(name):
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), name, "exec")
            for output in cell["outputs"]:
                assert output["output_type"] != "error" and output.get("name") != "stderr"
    if name not in NEEDS:
        assert any("image/png" in output.get("data", {}) for cell in cells(name) for output in cell.get("outputs", []))
