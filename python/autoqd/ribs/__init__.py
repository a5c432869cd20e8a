"""Archives, emitters and schedulers with the names and the behaviour of pyribs 0.12.

A script written for pyribs runs after ``import autoqd.ribs as ribs``, or unchanged after
``sys.modules["ribs"] = autoqd.ribs``. The evolution strategies and the decisions of archives are native code.
What differs from pyribs on purpose is listed in ``docs/coming-from-pyribs.md``.

>>> from autoqd.ribs.archives import GridArchive
>>> archive = GridArchive(solution_dim=2, dims=[10, 10], ranges=[(-1, 1), (-1, 1)])
>>> added = archive.add([[1.0, 2.0]], [3.0], [[0.0, 0.5]])
>>> archive.best_elite["objective"]
np.float64(3.0)
"""

from autoqd.ribs import _alias, archives, emitters, schedulers

__version__ = "0.12.0"
"""The version of pyribs whose interface this is."""

__all__ = ["archives", "emitters", "schedulers"]

_alias.watch()
