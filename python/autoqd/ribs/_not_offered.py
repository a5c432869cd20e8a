"""Parts of pyribs that need a learning library or a multi-objective optimiser, and are not here."""

from __future__ import annotations


def not_offered(name: str, module: str) -> type:
    """A class that can be imported, so that scripts which only name it run, and says why it cannot be made."""

    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"autoqd.ribs has no {name}; use the one of pyribs")

    doc = "Not offered by autoqd; see the page for people coming from pyribs. Making one is an error."
    return type(name, (), {"__init__": refuse, "__doc__": doc, "__module__": module})
