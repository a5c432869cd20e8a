"""Worker processes that evaluate policies in environments written in Python."""

import collections
import os
import selectors
import subprocess
import sys
import weakref

from autoqd import _gym
from autoqd._errors import Error
from autoqd._worker import HEADER, write

AHEAD = 2
"""Requests a worker has at a time: the next one is there when it is done with one."""


class Pool:
    """So many worker processes of one task and shape of policies.

    Requests are handed out one by one as workers become free; answers come back in the order of the requests, so that
    nothing depends on the number of workers.
    """

    def __init__(self, name, policy, workers):
        self._name = name
        facts = _gym.describe(name)
        try:
            import cloudpickle
        except ImportError:
            raise ImportError("environments in worker processes need the package cloudpickle: pip install cloudpickle") from None
        source = cloudpickle.dumps(_gym.source_of(name))
        start = cloudpickle.dumps((sys.path, source, name, facts, policy))
        self._workers = [_Worker() for _ in range(workers)]
        self._finalizer = weakref.finalize(self, _close, self._workers)
        self._owner = os.getpid()
        for worker in self._workers:
            worker.send(b"s", start)
        for worker in self._workers:
            self._check(worker.receive())

    def answers(self, requests):
        """The answer to each request."""
        if os.getpid() != self._owner:
            raise Error(f"task '{self._name}': this process was forked from the one that started the workers")
        answers = [None] * len(requests)
        waiting = collections.deque(enumerate(requests))
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.output, selectors.EVENT_READ, worker)
            for _ in range(AHEAD):
                for worker in self._workers:
                    self._next(worker, waiting)
            left = len(requests)
            try:
                while left:
                    for key, _ in selector.select():
                        worker = key.data
                        answers[worker.places.popleft()] = self._check(worker.receive())
                        left -= 1
                        self._next(worker, waiting)
            except BaseException:
                # Workers with requests left would answer those to whoever asks next.
                self.close()
                raise
        return answers

    def _next(self, worker, waiting):
        if waiting:
            place, request = waiting.popleft()
            worker.places.append(place)
            worker.send(b"r", request)

    def _check(self, message):
        if message is None:
            self.close()
            raise Error(f"task '{self._name}': a worker process ended unexpectedly; its own words are above")
        kind, content = message
        if kind == b"e":
            self.close()
            raise Error(content.decode())
        return content

    def close(self):
        """Ends the workers."""
        self._finalizer()


class _Worker:
    """One process and the places of the requests it has."""

    def __init__(self):
        # Kernels of linear algebra in every worker would only get in each other's way.
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SDL_VIDEODRIVER": "dummy", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        command = [sys.executable, "-m", "autoqd._worker"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0
        )
        self.output = self._process.stdout
        self.places = collections.deque()

    def send(self, kind, content):
        try:
            write(_Whole(self._process.stdin), kind, content)
        except BrokenPipeError:
            pass  # The missing answer says it.

    def receive(self):
        header = self._exactly(HEADER.size)
        if header is None:
            return None
        kind, length = HEADER.unpack(header)
        content = self._exactly(length)
        return None if content is None else (kind, content)

    def _exactly(self, length):
        """So many bytes, without a buffer that would hide from the selector what has been read ahead."""
        parts = []
        while length:
            part = self.output.read(min(length, 1 << 20))
            if not part:
                return None
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def end(self):
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self.output.close()


class _Whole:
    """A raw stream whose writes are complete."""

    def __init__(self, raw):
        self._raw = raw

    def write(self, content):
        view = memoryview(content)
        while view:
            view = view[self._raw.write(view):]

    def flush(self):
        pass


def _close(workers):
    for worker in workers:
        worker.end()
    workers.clear()
