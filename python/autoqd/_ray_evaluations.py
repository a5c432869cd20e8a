"""Chunks of candidates for the workers of a Ray cluster.

Whatever can go wrong elsewhere ends here: the chunk of a worker that is lost is issued again, one that takes long gets a
second worker, one that does not answer is given up. The first answer to a chunk counts; a second one must be equal.
"""

import collections
import math
import statistics
import time
import traceback

from autoqd._errors import Error

SHORTEST = 0.03
"""Seconds a chunk should take at least: a call costs about one thousandth of a second."""
FULL = 8
"""Candidates that a chunk should have at least, as fewer leave lanes of the simulator idle and cost up to a third more..."""
SOON = 0.5
"""...unless they take longer than so many seconds, or than a sixteenth of the iteration: workers should end together."""
LONGEST = 20.0
"""Seconds a chunk should take at most, so that little is lost with a worker."""
LONG = 0.9
"""The share of chunks whose candidates take less time than those by which it is judged whether a chunk takes too long."""
STRAGGLER = 3.0
"""A chunk that has taken so many times what such chunks take is issued again, if a worker is free."""
PATIENCE = 300.0
"""Seconds without any worker after which an evaluation fails."""
ATTEMPTS = 12
"""Workers that may be lost with one chunk."""


class _Task:
    """A chunk that a worker has."""

    def __init__(self, ref, round_, chunk, length):
        self.ref, self.round, self.chunk, self.length = ref, round_, chunk, length
        self.began = time.monotonic()

    @property
    def age(self):
        return time.monotonic() - self.began


class Evaluations:
    """The evaluations of one job on a cluster."""

    def __init__(self, cluster, number, ref, canary, name):
        self._cluster, self._ray = cluster, cluster._ray
        self._number, self._boxed, self._canary, self._name = number, [ref], canary, name
        self._rates = collections.deque(maxlen=64)
        self._round, self._lost_loading = 0, 0

    def news(self):
        """What has happened since this was last asked."""
        return self._cluster.take_news()

    def inexact(self):
        """Why results may not be those of this machine to the bit."""
        return "; ".join(self._cluster.mixed) or None

    def plan(self, candidates):
        """Lengths of the chunks: large ones first, smaller ones towards the end, so that workers end together."""
        self._cluster.tend()
        workers = max(1, len(self._cluster.members))
        rate, scrap = self._rate(), 0
        if self._cluster.chunk:
            most = least = self._cluster.chunk
        elif rate is None:
            least, most = 4, 64
        else:
            full = min(FULL, int(SOON / rate), math.ceil(candidates / (16 * workers)))
            least, most = max(1, math.ceil(SHORTEST / rate), full), max(1, int(LONGEST / rate))
            # So few at the end are not worth a chunk of their own.
            scrap = least // 2
        lengths = []
        while candidates:
            length = max(least, min(most, math.ceil(candidates / (2 * workers))))
            length = candidates if candidates <= length + scrap else length
            lengths.append(length)
            candidates -= length
        return lengths

    def _rate(self):
        """Seconds that a candidate usually takes."""
        return max(statistics.median(self._rates), 1e-6) if self._rates else None

    def _usual(self, length):
        """Seconds that such a chunk takes where it takes long: candidates whose episodes last are no reason to worry."""
        if not self._rates:
            return None
        rates = sorted(self._rates)
        return max(rates[int(LONG * len(rates))], 1e-6) * length

    def answers(self, probes, requests, lengths):
        """The answer to each request under the same probes, in their order."""
        with self._cluster.lock:
            # Once for every node, and not with every chunk.
            return self._answers(_Round(self._ray.put(probes), requests, lengths))

    def _answers(self, state):
        # Counted over all jobs: a worker may still be at a chunk of another one.
        self._cluster.round += 1
        self._round = self._cluster.round
        alone_since = time.monotonic()
        while state.left:
            self._cluster.tend()
            self._hand_out(state)
            self._give_up(state)
            members = [m for m in self._cluster.members if m.ref is not None]
            if any(m.state in ("busy", "preparing", "idle") for m in self._cluster.members):
                alone_since = time.monotonic()
            elif reason := self._cluster.hopeless():
                raise Error(reason)
            elif time.monotonic() - alone_since > PATIENCE:
                raise Error(f"the cluster has had no worker for {PATIENCE:.0f} s; resume the run when it has")
            if not members:
                time.sleep(0.05)
                continue
            by_ref = {m.ref: m for m in members}
            refs = list(by_ref)
            # As soon as there is one answer, all that have come by then: a look at thousands of calls takes its time.
            if self._ray.wait(refs, num_returns=1, timeout=0.2)[0]:
                ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
            else:
                ready = []
            for ref in ready:
                self._hear(by_ref[ref], state)
        return state.answers

    def _hand_out(self, state):
        for member in [m for m in self._cluster.members if m.state == "idle"]:
            if self._number not in member.jobs:
                member.state, member.began = "preparing", time.monotonic()
                member.ref = member.actor.prepare.remote(self._number, self._boxed)
                continue
            chunk = state.next(self._round, self._cluster.members, self._usual)
            if chunk is None:
                break
            if chunk in state.issued:
                self._cluster.say(f"a chunk of {state.lengths[chunk]} candidates took unusually long: issued again to {member}")
            state.issued.add(chunk)
            ref = member.actor.answer.remote(self._number, self._boxed, state.probes, state.requests[chunk])
            member.state, member.ref = "busy", ref
            member.task = _Task(ref, self._round, chunk, state.lengths[chunk])

    def _give_up(self, state):
        """Workers that have not answered for too long."""
        for member in list(self._cluster.members):
            limit = self._cluster.worker_timeout
            if member.state == "busy":
                usual = self._usual(member.task.length)
                if member.task.age > max(limit, 20 * (usual or 0.0)):
                    self._lose(member, f"has not answered for {member.task.age:.0f} s and was given up", state)
            elif member.state == "preparing" and time.monotonic() - member.began > limit:
                self._lose(member, f"could not load the task within {limit:.0f} s and was given up", state)

    def _lose(self, member, why, state):
        """Forgets a worker; what it had is issued again, but not for ever."""
        self._cluster.lose(member, why)
        if member.state == "busy" and member.task.round == self._round and state.answers[member.task.chunk] is None:
            state.lost(member.task.chunk, self._name)
        elif member.state == "preparing":
            self._lost_loading += 1
            if self._lost_loading >= ATTEMPTS:
                raise Error(f"task '{self._name}': {ATTEMPTS} workers in a row were lost while they loaded it; the last one {why}")

    def _hear(self, member, state):
        """What a worker said, or that it is gone."""
        ray, cluster = self._ray, self._cluster
        try:
            said = ray.get(member.ref, timeout=60)
        except ray.exceptions.RayTaskError as error:
            cause = first_line(error)
            if member.state == "preparing":
                cluster.refuse_for_job(member, f"could not load the task '{self._name}': {cause}")
            else:
                self._lose(member, f"failed: {cause}", state)
            return
        except ray.exceptions.RayError as error:
            had = ""
            if member.state == "busy" and member.task.round == self._round and state.answers[member.task.chunk] is None:
                had = f" while it had {member.task.length} candidates, which are issued again"
            self._lose(member, f"was lost{had} ({type(error).__name__})", state)
            return
        if member.state == "joining":
            cluster.joined(member, said)
        elif member.state == "preparing":
            digest = said[1]
            if digest == self._canary or cluster.refuse_for_job(
                member, f"computes other bits than this machine in the task '{self._name}'"
            ):
                member.jobs.add(self._number)
                member.state, member.ref, self._lost_loading = "idle", None, 0
        else:
            self._heard_answer(member, said, state)

    def _heard_answer(self, member, said, state):
        kind, content, seconds = said
        task, member.task = member.task, None
        member.state, member.ref = "idle", None
        if task.round != self._round:
            return
        if kind == "e":
            raise Error(content)
        self._rates.append(seconds / task.length)
        known = state.answers[task.chunk]
        if known is None:
            state.answers[task.chunk] = content
            state.left -= 1
        elif known != content:
            self._cluster.say(f"{member} answered a chunk with other bytes than another worker; the first answer counts")


class _Round:
    """The chunks of one evaluation."""

    def __init__(self, probes, requests, lengths):
        self.probes, self.requests, self.lengths = probes, requests, lengths
        self.answers = [None] * len(requests)
        self.left = len(requests)
        self.issued = set()
        self._waiting = collections.deque(range(len(requests)))
        self._losses = collections.Counter()

    def next(self, round_, members, usual):
        """The next chunk to issue, or one that takes too long."""
        while self._waiting:
            chunk = self._waiting.popleft()
            if self.answers[chunk] is None:
                return chunk
        working = collections.defaultdict(list)
        for member in members:
            if member.state == "busy" and member.task.round == round_:
                working[member.task.chunk].append(member.task.age)
        for chunk, ages in working.items():
            expected = usual(self.lengths[chunk])
            if self.answers[chunk] is None and len(ages) == 1 and expected is not None:
                if ages[0] > max(STRAGGLER * expected, 1.0):
                    return chunk
        # A chunk whose worker was given up.
        return next((c for c, answer in enumerate(self.answers) if answer is None and c not in working), None)

    def lost(self, chunk, name):
        """A worker was lost with a chunk."""
        self.issued.discard(chunk)
        self._losses[chunk] += 1
        if self._losses[chunk] >= ATTEMPTS:
            raise Error(f"task '{name}': {ATTEMPTS} workers in a row were lost with the same candidates; does the simulation "
                        "end its process?")


def first_line(error):
    """What an error says, in one line."""
    cause = getattr(error, "cause", None) or error
    return "".join(traceback.format_exception_only(cause)).strip().splitlines()[-1]
