"""Whole runs on a Ray cluster.

Their folders stay with the driver, which hands a run out as bytes and takes back what has been done for it whenever a
checkpoint has been written, so that nodes need no common file system. When a worker is lost, its run goes on elsewhere from
what came back last, to the same bytes.
"""

import time

from autoqd import _ray
from autoqd._errors import Error
from autoqd._ray_evaluations import PATIENCE, first_line
from autoqd._ray_sweep_worker import RunWorker

NEWS = 2.0
"""Seconds that a worker waits for something to tell."""
SELDOM = 15.0
"""Seconds between two times that what has been done for a run comes back, unless that is the end."""
SLOW = 20.0
"""A run is given up when it gets nowhere for so many times what its longest iteration took."""


def work(cluster, runs, threads, at_a_time):
    """Works on all runs of a queue until they have ended or are to stop."""
    Sweep(cluster, runs, threads, at_a_time).work()


class _Work:
    """What a worker is doing with a run."""

    def __init__(self, run, task):
        self.run, self.task = run, task
        self.iteration, self.longest, self.last = None, 0.0, time.monotonic()
        self.stopping = False

    def heard(self, iteration):
        """How far the run is; true if that is new."""
        if iteration == self.iteration:
            return False
        now = time.monotonic()
        if self.iteration is not None:
            self.longest = max(self.longest, now - self.last)
        self.iteration, self.last = iteration, now
        return True


class Sweep:
    """The runs of a sweep and their workers."""

    def __init__(self, cluster, runs, threads, at_a_time):
        self._ray, self._runs = cluster._ray, runs
        self._at_a_time = at_a_time or 1_000_000
        self._threads = threads or self._share(runs.waiting())
        self._cluster = _ray.Cluster(cluster._address, RunWorker, self._threads)
        self._cluster.begin(cluster.allow_mixed, None, cluster.worker_timeout)
        self._alone_since = time.monotonic()
        if max(self._cpus(), default=0) < self._threads:
            runs.say(f"note: a run is to have {self._threads} CPUs, and no node has as many now: waiting for one")

    def _cpus(self):
        return [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]

    def _share(self, runs):
        """As many CPUs for each run as let all of them work at the same time; every run has at least one."""
        runs = min(runs, self._at_a_time)
        cpus = self._cpus()
        fit = [share for share in range(1, max(cpus, default=1) + 1) if sum(n // share for n in cpus) >= runs]
        return max(fit, default=1)

    def work(self):
        """Until nothing is left to do."""
        cluster, runs = self._cluster, self._runs
        try:
            while True:
                stop = runs.stop()
                busy = [m for m in cluster.members if m.task is not None]
                if not busy and (stop or not runs.waiting()):
                    return
                if not stop:
                    cluster.wanted = min(self._at_a_time, runs.waiting() + len(busy))
                    cluster.tend()
                    self._hand_out(busy)
                self._hear()
                self._give_up()
                if stop:
                    self._tell_to_stop()
                elif runs.waiting():
                    self._check_hope()
                for text in cluster.take_news():
                    runs.say(f"note: {text}")
        finally:
            cluster.close()

    def _hand_out(self, busy):
        for member in [m for m in self._cluster.members if m.state == "idle"][: max(0, self._at_a_time - len(busy))]:
            parcel = self._runs.take()
            if parcel is None:
                return
            run, task, packed, canary = parcel
            source = _ray.gym_source(task)
            mixed = self._cluster.differences(member.node)
            accept = None
            if self._cluster.allow_mixed:
                accept = f"{member.facts['host']} computes other bits than the machine of the sweep"
            member.state, member.began, member.task = "starting", time.monotonic(), _Work(run, task)
            parcel = self._ray.put((packed, canary, source))
            member.ref = member.actor.start.remote(parcel, self._threads, SELDOM, bool(mixed), accept)

    def _hear(self):
        members = [m for m in self._cluster.members if m.ref is not None]
        if not members:
            time.sleep(0.05)
            return
        by_ref = {m.ref: m for m in members}
        ready, _ = self._ray.wait(list(by_ref), num_returns=len(by_ref), timeout=0.2)
        for ref in ready:
            self._hear_one(by_ref[ref])

    def _hear_one(self, member):
        ray = self._ray
        try:
            said = ray.get(member.ref, timeout=self._cluster.worker_timeout)
        except ray.exceptions.RayTaskError as error:
            self._lose(member, f"failed: {first_line(error)}")
            return
        except ray.exceptions.RayError as error:
            self._lose(member, f"was lost ({type(error).__name__})")
            return
        if member.state == "joining":
            self._cluster.joined(member, said)
        elif member.state == "starting":
            self._started(member, said)
        else:
            self._news(member, *said)

    def _started(self, member, said):
        kind, text = said
        work = member.task
        if kind == "other bits":
            member.task = None
            self._runs.given_back(work.run)
            self._cluster.refuse_for_job(member, f"computes other bits than this machine in the task '{work.task}'")
        elif kind == "error":
            # What the task needs is not there, which trying again does not mend.
            self._free(member)
            self._runs.ended(work.run, text)
        else:
            work.last = time.monotonic()
            self._runs.began(work.run, f"{member.facts['host']}, process {member.facts['pid']}")
            self._ask(member)

    def _ask(self, member):
        member.state, member.began = "busy", time.monotonic()
        member.ref = member.actor.news.remote(NEWS)

    def _news(self, member, iteration, results, ended, error):
        work, runs = member.task, self._runs
        if work.heard(iteration):
            runs.heard(work.run, iteration)
        if results is not None:
            runs.bring(work.run, results)
        if ended:
            self._free(member)
            runs.ended(work.run, error)
        else:
            self._ask(member)

    @staticmethod
    def _free(member):
        member.state, member.ref, member.task = "idle", None, None

    def _lose(self, member, why):
        work, member.task = member.task, None
        who = str(member)
        self._cluster.lose(member, why)
        if work is not None:
            self._runs.lost(work.run, f"{who} {why}")

    def _give_up(self):
        """Workers that have not answered for too long, and runs that get nowhere."""
        limit, now = self._cluster.worker_timeout, time.monotonic()
        for member in list(self._cluster.members):
            if member.task is None:
                continue
            if now - member.began > limit:
                self._lose(member, f"has not answered for {now - member.began:.0f} s and was given up")
            elif member.task.longest and now - member.task.last > max(limit, SLOW * member.task.longest):
                self._lose(member, f"has done no iteration for {now - member.task.last:.0f} s and was given up")

    def _tell_to_stop(self):
        for member in self._cluster.members:
            if member.state == "busy" and not member.task.stopping:
                member.task.stopping = True
                member.actor.stop.remote()

    def _check_hope(self):
        if any(m.state != "joining" for m in self._cluster.members):
            self._alone_since = time.monotonic()
        elif reason := self._cluster.hopeless():
            raise Error(reason)
        elif time.monotonic() - self._alone_since > PATIENCE:
            raise Error(f"the cluster has had no room for {PATIENCE:.0f} s for a run with {self._threads} CPUs; the same "
                        "command goes on when it has")
