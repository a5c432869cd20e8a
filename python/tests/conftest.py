"""What several tests use."""

import os

import pytest

import autoqd

SMALL = {"iterations": 6, "batch_size": 8, "update_schedule": [4], "policy.hidden": [16]}
"""Settings of a run that takes a fraction of a second."""


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A finished run that tests only read, or write further files into."""
    return autoqd.run("point-maze", out=tmp_path_factory.mktemp("runs") / "maze", progress=False, **SMALL)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With AUTOQD_REQUIRE_ALL=1 a test that is skipped has failed."""
    report = yield
    if report.skipped and os.environ.get("AUTOQD_REQUIRE_ALL") == "1":
        report.outcome = "failed"
        report.longrepr = f"must not be skipped: {report.longrepr[2]}"
    return report
