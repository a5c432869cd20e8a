"""Evaluations on a Ray cluster.

The search stays in this process. Chunks of candidates go out as bytes to actors, one per CPU of the cluster, and come back
in the order of the candidates, so that nothing depends on which worker had which chunk, or how often. Here are the
connection and the workers: who is admitted, what is done about those that are lost. `_ray_evaluations` hands out chunks.
Every wait has an end.
"""

import collections
import os
import sys
import threading
import time

from autoqd import _gym, _native
from autoqd._errors import Error
from autoqd._ray_evaluations import Evaluations
from autoqd._ray_worker import Worker

INSTALL = "the engine 'ray' needs Ray: pip install 'ray==2.60.*' here and on every node (docs/cluster.md)"
LOOK = 0.5
"""Seconds between looks at the cluster."""
TIMEOUT = 300.0
"""Seconds after which a worker that does not answer is given up, unless told otherwise."""
IDLE = 10.0
"""Seconds that workers wait for more work, such as the next run, before they give their CPUs back."""
AT_ONCE = 64
"""Workers that start at the same time."""
NAMED = 4
"""Workers that are named when they join; of more, their number is said."""

_cluster = None


def connect(address=None, allow_mixed=False, chunk=None, worker_timeout=None):
    """The cluster that this process works with, connected to if it is not yet."""
    global _cluster
    if _cluster is not None and _cluster.fits(address):
        _cluster.begin(allow_mixed, chunk, worker_timeout)
        return _cluster
    if _cluster is not None:
        _cluster.close()
    _cluster = Cluster(address)
    _cluster.begin(allow_mixed, chunk, worker_timeout)
    return _cluster


def disconnect():
    """Ends the workers and the connection, if there are any."""
    global _cluster
    if _cluster is not None:
        _cluster.close()
        _cluster._ray.shutdown()
        _cluster = None


def load():
    """The module `ray`, with what must be known before it is used."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A lost node is noticed within seconds, not a minute; only a cluster that is started here takes these.
    os.environ.setdefault("RAY_health_check_period_ms", "1000")
    os.environ.setdefault("RAY_health_check_failure_threshold", "3")
    os.environ.setdefault("RAY_health_check_timeout_ms", "2000")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise ImportError(INSTALL) from None
    return ray


class _Member:
    """A worker and what it is doing."""

    def __init__(self, number, node, actor, ref):
        self.number, self.node, self.actor, self.ref = number, node, actor, ref
        self.state = "joining"
        self.began = time.monotonic()
        self.facts = {}
        self.jobs = set()
        self.task = None

    def __str__(self):
        place = f" on {self.facts['host']}, process {self.facts['pid']}" if self.facts else ""
        return f"worker {self.number}{place}"


class Cluster:
    """A connection to Ray, and its workers, each with so many CPUs."""

    def __init__(self, address, worker=Worker, cpus=1):
        self._ray = ray = load()
        self._address = address
        self.allow_mixed, self.chunk, self.worker_timeout = False, None, TIMEOUT
        if not ray.is_initialized():
            _reach(ray, address)
        self._cpus, self.wanted = cpus, None
        # A worker may be asked how its work goes while it works.
        self._actor = ray.remote(num_cpus=cpus, max_restarts=0, max_task_retries=0, max_concurrency=worker.AT_ONCE)(worker)
        self.members, self._made, self._looked = [], 0, 0.0
        self._nodes, self._expected, self._refused = {}, None, set()
        self._news, self._new, self.mixed, self._jobs = [], [], [], 0
        self._failed_starts, self._last_loss, self._refusals = 0, None, []
        # Runs in several threads share the workers, one evaluation after the other.
        self.lock = threading.RLock()
        self.round = 0
        self._users, self._timer = 0, None

    def fits(self, address):
        """Whether this is the cluster of an address, and still there."""
        return self._ray.is_initialized() and (address is None or address == self._address)

    def begin(self, allow_mixed, chunk, worker_timeout):
        """How the next work is to be done. Workers stay until `release` has been called as often."""
        with self.lock:
            self._users += 1
            if self._users == 1:
                # Who was refused may have been mended, and what was accepted then may not be now.
                if self.allow_mixed or allow_mixed:
                    self.close()
                self._refused, self._refusals, self.mixed = set(), [], []
                self._nodes = {node: different for node, different in self._nodes.items() if not different}
            self.allow_mixed, self.chunk, self.worker_timeout = allow_mixed, chunk, worker_timeout or TIMEOUT

    def release(self):
        """Ends the workers soon, unless somebody else uses them or begins to."""
        with self.lock:
            self._users -= 1
            if self._users == 0 and self.members:
                self._timer = threading.Timer(IDLE, self._close_if_idle, [self._jobs])
                self._timer.daemon = True
                self._timer.start()

    def _close_if_idle(self, jobs):
        with self.lock:
            if self._users == 0 and self._jobs == jobs:
                self.close()

    def close(self):
        """Ends the workers."""
        with self.lock:
            for member in self.members:
                self._kill(member)
            self.members.clear()

    def job(self, name, content, canary):
        """A job: what evaluates candidates of one task."""
        self._jobs += 1
        return Evaluations(self, self._jobs, self._ray.put((content, gym_source(name))), canary, name)

    def say(self, text):
        """Remembers what a user should know."""
        self._news.append(text)

    def take_news(self):
        """What has happened since this was last asked."""
        said, self._news, new, self._new = self._news, [], self._new, []
        if len(new) <= NAMED:
            return said + [f"{member} joined" for member in new]
        return said + [f"{len(new)} workers joined: {len(self.members)} in all"]

    # Workers

    def tend(self):
        """Once in a while: as many workers as the cluster has CPUs, whatever has joined or gone."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        for member in [m for m in self.members if m.state == "joining" and now - m.began > self.worker_timeout]:
            # It waits for a CPU that others use, or for a node that is gone: asked for again, it gets what there is now.
            self.members.remove(member)
            self._kill(member)
        have = collections.Counter(member.node for member in self.members)
        joining = sum(member.state == "joining" for member in self.members)
        for node in self._ray.nodes():
            if not node["Alive"] or node["NodeID"] in self._refused:
                continue
            for _ in range(int(node["Resources"].get("CPU", 0)) // self._cpus - have[node["NodeID"]]):
                if self._failed_starts > 20 or joining >= AT_ONCE or self._enough():
                    return
                self._start(node["NodeID"])
                joining += 1

    def _enough(self):
        return self.wanted is not None and len(self.members) >= self.wanted

    def _start(self, node):
        self._made += 1
        # Where it is meant to be and nowhere else: a node that was refused gets no second worker.
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        actor = self._actor.options(scheduling_strategy=here).remote()
        # The long canary until its outcome is known for a node.
        self.members.append(_Member(self._made, node, actor, actor.admit.remote(node not in self._nodes)))

    def lose(self, member, why):
        """Forgets a worker."""
        if member in self.members:
            self.members.remove(member)
            self._kill(member)
            if member.state == "joining":
                self._failed_starts += 1
            self._last_loss = why
            self.say(f"{member} {why}")

    def _kill(self, member):
        try:
            self._ray.kill(member.actor, no_restart=True)
        except Exception:
            pass  # It is gone already.

    def joined(self, member, facts):
        """Admits a worker that has said who it is, or refuses it."""
        member.facts, member.began = facts, time.monotonic()
        if facts["version"] != _native.__version__:
            self._refuse(member, f"has autoqd {facts['version']}, this process {_native.__version__}")
            return
        node = member.node
        if facts["digests"] is not None:
            self._nodes[node] = self._differences(facts["digests"])
        different = self._nodes[node]
        if different and not self._accept(member, different):
            return
        member.state, member.ref, self._failed_starts = "idle", None, 0
        self._new.append(member)

    def _differences(self, digests):
        if self._expected is None:
            self._expected = dict(_native.canary_digests())
        return [name for name, digest in self._expected.items() if digests.get(name) != digest]

    def differences(self, node):
        """What the workers of a node are known to compute otherwise than this machine."""
        return self._nodes.get(node) or []

    def _accept(self, member, different):
        few = ", ".join(different[:3]) + (f" and {len(different) - 3} more" if len(different) > 3 else "")
        if self.allow_mixed:
            text = f"{member.facts['host']} computes other bits than this machine ({few})"
            if text not in self.mixed:
                self.mixed.append(text)
            return True
        self._refuse(member, f"computes other bits than this machine: {few}")
        return False

    def _refuse(self, member, why):
        self._refused.add(member.node)
        self._refusals.append(f"{member} {why}; use nodes of one kind, or --allow-mixed")
        self.lose(member, f"was refused: it {why}. Its node is left out; use nodes of one kind, or --allow-mixed, which "
                          "marks the run as not bit-exact")

    def refuse_for_job(self, member, why):
        """A worker that cannot do a job; true if it may do it all the same."""
        if self.allow_mixed and "bits" in why:
            text = f"{member.facts['host']} {why}"
            if text not in self.mixed:
                self.mixed.append(text)
            return True
        self._refuse(member, why)
        return False

    def hopeless(self):
        """Why there will be no worker, if that is known."""
        alive = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        if alive and all(node["NodeID"] in self._refused for node in alive):
            return "every node was refused: " + "; ".join(self._refusals)
        if self._failed_starts > 20:
            return f"20 workers in a row could not be started; the last one {self._last_loss}"
        return None


def _reach(ray, address):
    """Connects to a cluster: the one at an address, one that runs here already, or a new one on this machine."""
    options = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            try:
                ray.init(address="auto", **options)
            except ConnectionError:
                # Nobody else may reach it.
                ray.init(address="local", include_dashboard=False, _node_ip_address="127.0.0.1", **options)
        else:
            ray.init(address=address, **options)
    except Exception as error:
        where = f"at {address} " if address else ""
        raise Error(f"no Ray cluster {where}could be reached: {error}") from None


def gym_source(name):
    """An environment of Gymnasium as workers get it; functions of modules that are not installed go with their code. None
    for other tasks."""
    if not name.startswith(_gym.PREFIX):
        return None
    import cloudpickle

    source, arguments = _gym.source_of(name)
    module = sys.modules.get(getattr(source, "__module__", None) or "")
    file = getattr(module, "__file__", None) or ""
    by_value = callable(source) and file and "site-packages" not in file and module.__name__ != "__main__"
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        pickled = cloudpickle.dumps((source, arguments))
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
    return cloudpickle.dumps((name, _gym.describe(name), pickled))
