"""Temporary folders of workers."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from autoqd import _scratch

HOLDS = """
import time
from autoqd._scratch import Scratch
scratch = Scratch("scratch-")
print(scratch.name, flush=True)
time.sleep(600)
"""


def held(folder):
    """A process with such a folder, and the folder."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True, env=environment)
    return process, pathlib.Path(process.stdout.readline().strip())


def aged(folder):
    """Makes a folder look as if it had been made long ago."""
    then = time.time() - 2 * _scratch.NEW
    os.utime(folder, (then, then))


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(tmp_path, monkeypatch):
    killed, left = held(tmp_path)
    living, used = held(tmp_path)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        monkeypatch.setattr(_scratch.tempfile, "gettempdir", lambda: str(tmp_path))
        _scratch.sweep("scratch-")
        assert left.exists(), "it may belong to a process that has not locked it yet"
        aged(left), aged(used)
        _scratch.sweep("scratch-")
        assert not left.exists() and used.exists()
    finally:
        living.kill()
        living.wait()
