"""Lets ``sys.modules["ribs"] = autoqd.ribs`` stand for the submodules too.

Without this, ``import ribs.archives`` would find the same files again and make a second copy of every class, and
objects of one copy are not instances of the classes of the other.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys

_NAME = "autoqd.ribs"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers ``import ribs.x`` with ``autoqd.ribs.x`` while ``ribs`` is ``autoqd.ribs``."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("ribs.") or sys.modules.get("ribs") is not sys.modules.get(_NAME):
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec):
        module = importlib.import_module(_NAME + spec.name.removeprefix("ribs"))
        # The import system is about to replace the module's own specification by that of the second name.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state


def watch() -> None:
    """Puts the finder before those that search the file system, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
