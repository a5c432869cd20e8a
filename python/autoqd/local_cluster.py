"""A Ray cluster of several nodes on this machine, to try things with before there is a real one.

``python -m autoqd.local_cluster --nodes 3 -- autoqd run point-maze --preset quick --engine ray`` starts the nodes, runs the
command and stops them again, however the command ends. Without a command it prints the address and waits for Ctrl-C.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time

from autoqd import _ray

MEMORY = 80_000_000
"""Bytes of the object store of a node: what is sent is small."""


def node(cpus=1):
    """The settings of a node."""
    return {"num_cpus": cpus, "object_store_memory": MEMORY}


@contextlib.contextmanager
def start(nodes=2, cpus=1):
    """A `ray.cluster_utils.Cluster`: a head without work, and nodes with so many CPUs each.

    More nodes join with ``cluster.add_node(**node())``.
    """
    _ray.load()
    from ray.cluster_utils import Cluster

    head = {**node(0), "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            cluster.add_node(**node(cpus))
        yield cluster
    finally:
        _ray.disconnect()
        cluster.shutdown()


def main(arguments=None):
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m autoqd.local_cluster", description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=2, help="nodes, beside a head without work")
    parser.add_argument("--cpus", type=int, default=1, help="CPUs of each node")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run on the cluster")
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    with start(options.nodes, options.cpus) as cluster:
        if command:
            return subprocess.run(command, env={**os.environ, "RAY_ADDRESS": cluster.address}).returncode
        print(f"{options.nodes} nodes: autoqd run TASK --engine ray --address {cluster.address}    (Ctrl-C ends it)", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
