"""Draws of numpy's default generator for the seeds given as arguments, as JSON: what NumpyRng must reproduce.

    python3 scripts/numpy_vectors.py 0 42 > tests/golden/rng/numpy.json
"""

import hashlib
import json
import sys

import numpy as np

BOUNDS = [(5, 10), (0, 1), (-3, 4), (0, 3_000_000_000), (0, 2**32), (-(2**62), 2**62 + 1), (0, 2**33 + 7)]


def vectors(seed):
    rng = np.random.default_rng(seed)
    state = rng.bit_generator.state["state"]
    out = {"seed": str(seed), "state": hex(state["state"]), "inc": hex(state["inc"])}
    # Integers use up halves of 64-bit words, so their order among the other draws matters.
    out["mixed"] = [[rng.random(), rng.uniform(-5, 5), *(str(rng.integers(*b)) for b in BOUNDS)] for _ in range(20)]
    normals = rng.standard_normal(20_000)
    out["normals"] = normals[:8].tolist()
    out["normals_sha256"] = hashlib.sha256(normals.astype("<f8").tobytes()).hexdigest()
    after = rng.bit_generator.state
    out["after"] = {"state": hex(after["state"]["state"]), "half": after["uinteger"] if after["has_uint32"] else None}
    return out


print(json.dumps({"numpy": np.__version__, "vectors": [vectors(int(s)) for s in sys.argv[1:]]}, indent=1))
