"""Temporary folders that do not outlive their process for long, even one that is killed."""

import fcntl
import pathlib
import shutil
import tempfile
import time

LOCK = ".in-use"
"""A file of every folder that its process keeps locked: the system unlocks it however the process ends."""
NEW = 60.0
"""Seconds that a folder is left alone after it was made, because it may not be locked yet."""


class Scratch:
    """A temporary folder with a prefix in its name; first the folders that killed processes left behind are removed."""

    def __init__(self, prefix):
        sweep(prefix)
        self._folder = tempfile.TemporaryDirectory(prefix=prefix)
        self.name = self._folder.name
        self._lock = open(pathlib.Path(self.name, LOCK), "w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def cleanup(self):
        """Removes the folder."""
        self._lock.close()
        self._folder.cleanup()


def sweep(prefix):
    """Removes the folders with a prefix that no process uses any more."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(prefix + "*"):
        try:
            if time.time() - folder.stat().st_mtime < NEW:
                continue
            with open(folder / LOCK) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # In use, somebody else's, or gone meanwhile.
            continue
