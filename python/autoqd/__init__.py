"""Finds many policies for a control task that are each good and all different.

The parts of the package are imported when they are first used, so that ``import autoqd`` is quick and needs nothing but
numpy; ``dir(autoqd)`` lists them all.
"""

import importlib

from autoqd import _library

_library.load()

from autoqd._native import __version__  # noqa: E402

# Where each public name is, one line per part. A name that is its own module stands for the whole module.
_PARTS = {
    "_errors": ["Error", "SettingError"],
    "_run": ["run", "resume"],
    "_reading": ["Run", "Policy", "Explorer"],
    "_film": ["Film"],
    "_search": ["Search"],
    "loggers": ["loggers"],
    "ribs": ["ribs"],
    "_vector": ["make_vec", "FastVectorEnv"],
    "_single": ["make", "FastEnv"],
    "_sb3": ["sb3_vec_env"],
    "_mathematics": ["embed", "Embedding", "mmd", "cwpca", "AffineMap", "vendi_score", "vendi_bandwidth"],
    "_toeplitz": ["toeplitz_policy"],
}
_WHERE = {name: module for module, names in _PARTS.items() for name in names}

__all__ = ["__version__", *_WHERE]


def __getattr__(name):
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'autoqd' has no attribute '{name}'")
    part = importlib.import_module(f"autoqd.{module}")
    value = part if module == name else getattr(part, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_WHERE})
