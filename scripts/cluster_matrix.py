#!/usr/bin/env python3
"""Compares searches on clusters of 1, 2 and 4 nodes on this machine, in chunks of several sizes, with searches in one process.

    python3 scripts/cluster_matrix.py            # some minutes; prints a line per search, ends with 1 if any differs
    python3 scripts/cluster_matrix.py --task hopper --iterations 3

Archives and logs must have the same bytes. python/tests/test_ray.py has a part of this, with nodes that are lost.
"""

import argparse
import pathlib
import sys
import tempfile

import autoqd
from autoqd import _ray, local_cluster

METHODS = ["autoqd", "regular", "aurora", "pga-me"]
CHUNKS = [1, 3, 16, None]
FILES = ["config.toml", "archive.parquet", "metrics.csv"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", default="point-maze")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    settings = {
        "preset": "quick", "iterations": options.iterations, "batch_size": 8, "update_schedule": [3], "policy.hidden": [16],
        "progress": False,
    }
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for method in METHODS:
            autoqd.run(options.task, method=method, out=folder / method, **settings)
        for nodes in options.nodes:
            with local_cluster.start(nodes=nodes) as cluster:
                for method in METHODS:
                    for chunk in CHUNKS:
                        out = folder / f"{nodes}-{method}-{chunk}"
                        autoqd.run(options.task, method=method, out=out, engine="ray", address=cluster.address, chunk=chunk,
                                   **settings)
                        wrong = [name for name in FILES if (out / name).read_bytes() != (folder / method / name).read_bytes()]
                        different += bool(wrong)
                        print(f"{nodes} nodes, {len(_ray._cluster.members)} workers, {method}, chunk {chunk}: "
                              f"{'the same bytes' if not wrong else 'other bytes in ' + ', '.join(wrong)}", flush=True)
    print(f"{different} searches differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
