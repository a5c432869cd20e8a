"""Finds libmujoco in the wheel `mujoco` before the native module needs it."""

import ctypes
import importlib.util
import pathlib

VERSION = "3.17.0"


def load():
    """Loads libmujoco from the installed package `mujoco`, without importing that package, which takes longer."""
    spec = importlib.util.find_spec("mujoco")
    if spec is None or spec.origin is None:
        raise ImportError(f"autoqd needs libmujoco: pip install mujoco=={VERSION}")
    library = pathlib.Path(spec.origin).parent / f"libmujoco.so.{VERSION}"
    if not library.exists():
        raise ImportError(f"autoqd needs libmujoco {VERSION}, and {library} is not there: pip install mujoco=={VERSION}")
    # The loader takes a library that is there already for one of the same name that a module asks for.
    ctypes.CDLL(str(library))
