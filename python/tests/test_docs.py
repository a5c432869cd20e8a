"""What the documentation says holds: examples run, and every public item has one."""

import doctest
import importlib
import inspect

import pytest

import autoqd

MODULES = sorted({module for module in autoqd._WHERE.values()})


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(f"autoqd.{name}"), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize("name", [name for name in autoqd.__all__ if name != "__version__"])
def test_every_public_item_is_explained(name):
    item = getattr(autoqd, name)
    assert inspect.getdoc(item), name
    if inspect.isclass(item) and item.__module__.startswith("autoqd"):
        for method, value in vars(item).items():
            if not method.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{method}"
