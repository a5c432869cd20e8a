"""The package as a whole: it imports quickly, knows its version, and brings the program."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import autoqd

STUBS = pathlib.Path(autoqd.__file__).parent


def run_python(code, **environment):
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=True)
    return found.stdout


def program(*arguments):
    """The program `autoqd` in a process of its own."""
    return subprocess.run([sys.executable, "-m", "autoqd", *arguments], capture_output=True, text=True)


def test_the_version_is_that_of_the_program():
    assert program("--version").stdout.split() == ["autoqd", autoqd.__version__]


def test_importing_takes_little_time_and_no_variable():
    code = "import time; t = time.perf_counter(); import autoqd; print(time.perf_counter() - t)"
    # The machine may be busy; the fastest of a few is what the package needs.
    seconds = min(float(run_python(code, LD_LIBRARY_PATH="")) for _ in range(3))
    assert seconds < 0.3, seconds


def test_the_program_says_what_is_wrong_and_with_which_code():
    refused = program("run", "hoper")
    assert refused.returncode == 2
    assert "did you mean 'hopper'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_tasks_that_need_a_simulator_are_there():
    assert {"swimmer", "bipedal-walker", "point-maze"} <= set(program("env", "list").stdout.split())


def test_importing_brings_nothing_heavy_and_every_name_can_be_had():
    heavy = "pandas", "polars", "pyarrow", "gymnasium", "matplotlib", "IPython"
    code = f"import autoqd, sys; print([name for name in {heavy} if name in sys.modules])"
    assert run_python(code).strip() == "[]"
    for name in autoqd.__all__:
        assert getattr(autoqd, name) is not None
    assert set(autoqd.__all__) <= set(dir(autoqd))
    assert not hasattr(autoqd, "nothing")


def test_stubs_name_what_there_is():
    """Type checkers and editors see no lazy import: they read the stubs."""
    stub = ast.parse((STUBS / "__init__.pyi").read_text())
    imported = {name.asname for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names}
    assert imported | {"__version__"} == set(autoqd.__all__)
    assert all(line.module == f"autoqd.{autoqd._WHERE[line.names[0].name]}" for line in stub.body
               if isinstance(line, ast.ImportFrom) and line.module != "autoqd")


def test_the_stub_of_the_native_part_has_its_names_and_arguments():
    native = autoqd._native
    stub = {line.name: line for line in ast.parse((STUBS / "_native.pyi").read_text()).body if hasattr(line, "name")}
    assert stub.keys() == {name for name in vars(native) if not name.startswith("__")}
    for name, line in stub.items():
        if isinstance(line, ast.FunctionDef):
            assert arguments(line) == list(inspect.signature(getattr(native, name)).parameters), name
            continue
        kind = getattr(native, name)
        members = {m.name: m for m in line.body if isinstance(m, ast.FunctionDef)}
        facts = {m.target.id for m in line.body if isinstance(m, ast.AnnAssign)}
        assert members.keys() - {"__new__"} | facts == {m for m in vars(kind) if not m.startswith("__")}, name
        for member, definition in members.items():
            found = list(inspect.signature(kind if member == "__new__" else getattr(kind, member)).parameters)
            # A class is called without itself; methods name it like everything else.
            assert arguments(definition)[member == "__new__" :] == found, f"{name}.{member}"


def arguments(definition):
    """The names of the arguments of a definition."""
    return [argument.arg for argument in definition.args.args]
