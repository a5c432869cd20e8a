"""The side of a worker on a Ray cluster that works on whole runs."""

import os
import threading
import time

from autoqd._ray_worker import Worker, use_source
from autoqd._scratch import Scratch

SHARE = 0.05
"""Share of the time that packing what has been done may take."""


class RunWorker(Worker):
    """An actor that works on one run at a time, and answers meanwhile."""

    AT_ONCE = 3

    def __init__(self):
        super().__init__()
        self._changed = threading.Condition()
        self._folder = None

    def start(self, parcel, threads, seldom, mixed, accept):
        """Begins or continues a run that came as bytes, if this machine computes the bits that are expected."""
        from autoqd import _gym, _native

        packed, canary, source = parcel
        self._folder = Scratch("autoqd-run-")
        path = os.path.join(self._folder.name, "run")
        self._iteration, self._results, self._end, self._stopping = None, None, None, False
        self._packed_at, self._packing, self._seldom = time.monotonic(), 0.0, seldom
        try:
            use_source(source)
            _native.unpack_run(packed, path)
            if mixed or _native.run_canary(path) != canary:
                if accept is None:
                    return "other bits", None
                _native.mark_inexact(path, accept)
        except Exception as error:
            return "error", _gym.explain(error)
        threading.Thread(target=self._work, args=(path, threads), daemon=True).start()
        return "begun", None

    def news(self, seconds):
        """Iterations done, what has been done if it is time to send that, and whether and why the run has ended."""
        with self._changed:
            before = self._iteration
            self._changed.wait_for(lambda: self._results or self._end or self._iteration != before, seconds)
            results, self._results = self._results, None
            ended, error = self._end or (False, None)
            if ended:
                self._folder.cleanup()
            return self._iteration, results, ended, error

    def stop(self):
        """Ends the run after its iteration, with a checkpoint."""
        self._stopping = True

    def _work(self, path, threads):
        from autoqd import _gym, _native

        error = None
        try:
            _native.work_on(path, threads, lambda event, facts: self._listen(path, event, facts))
        except Exception as raised:
            error = _gym.explain(raised)
        self._pack(path)
        with self._changed:
            self._end = True, error
            self._changed.notify_all()

    def _listen(self, path, event, facts):
        if event in ("start", "iteration"):
            with self._changed:
                self._iteration = facts["iteration"]
                self._changed.notify_all()
        elif event == "checkpoint":
            pause = max(self._seldom, self._packing / SHARE)
            if time.monotonic() - self._packed_at > pause and self._results is None:
                self._pack(path)
        return self._stopping

    def _pack(self, path):
        from autoqd import _native

        began = time.monotonic()
        try:
            results = _native.pack_results(path)
        except Exception:
            return  # The run is as it was before; a disk that is full, for instance, ends it by itself.
        with self._changed:
            self._results, self._packed_at = results, time.monotonic()
            self._packing = self._packed_at - began
            self._changed.notify_all()
