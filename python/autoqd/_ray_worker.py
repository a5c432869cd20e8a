"""The side of a worker on a Ray cluster: loads jobs and answers requests."""

import collections
import os
import platform
import time

from autoqd._scratch import Scratch

KEPT = 4
"""Jobs a worker keeps ready: a measurement goes through several runs, and may come back to one."""


class Worker:
    """An actor: one process with one thread of work."""

    AT_ONCE = 1

    def __init__(self):
        self._jobs = collections.OrderedDict()

    def admit(self, full):
        """Who this is, and what it computes; the long list of digests only where it is asked for."""
        from autoqd import _native

        return {
            "version": _native.__version__,
            "pid": os.getpid(),
            "host": platform.node(),
            "digests": dict(_native.canary_digests()) if full else None,
        }

    def prepare(self, number, boxed):
        """Loads a job, and returns the digest of its canary."""
        return "k", self._job(number, boxed).canary()

    def answer(self, number, boxed, probes, request):
        """The answer to a request under probes, and the seconds it took, or what went wrong in the task."""
        try:
            job = self._job(number, boxed)
            began = time.perf_counter()
            return "k", job.answer(request, probes), time.perf_counter() - began
        except Exception as error:
            from autoqd import _gym

            return "e", _gym.explain(error), 0.0

    def _job(self, number, boxed):
        if number not in self._jobs:
            import ray

            from autoqd import _native

            content, source = ray.get(boxed[0], timeout=120)
            use_source(source)
            folder = Scratch("autoqd-job-")
            # The folder stays as long as the job: a model may be read again when more worlds are made.
            self._jobs[number] = _native.JobAnswerer(content, folder.name), folder
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        self._jobs.move_to_end(number)
        return self._jobs[number][0]


def use_source(source):
    """Makes an environment of Gymnasium known under its task's name, with the facts that the driver found."""
    if source is None:
        return
    import cloudpickle

    from autoqd import _gym

    name, facts, pickled = cloudpickle.loads(source)
    _gym.use_source(name, *cloudpickle.loads(pickled))
    _gym._facts[name] = facts
