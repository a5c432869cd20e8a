"""Runs notebooks of docs/notebooks and keeps their outputs: run_notebooks.py [NAME ...], all of them by default.

The outputs are what the documentation site and GitHub show. They are made again when a notebook has changed; that a notebook
runs is a test (python/tests/test_notebooks.py). Needs nbclient and ipykernel.
"""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parent.parent / "docs/notebooks"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Runs all cells in a folder; what a cell raises is an error."""
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources, record_timing=False).execute()


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            execute(notebook, Path(folder))
        for cell in notebook.cells:
            if cell.cell_type == "code":  # Progress and warnings differ from time to time.
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        # Which patch of Python ran it is no part of what it shows.
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)
        print(path)


if __name__ == "__main__":
    main()
