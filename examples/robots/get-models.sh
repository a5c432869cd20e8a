#!/usr/bin/env bash
# Fetches the robots of this folder from PyPI into models/: MJCF with meshes, without the packages' own dependencies.
set -euo pipefail
cd "$(dirname "$0")"

# Unitree Go1 (BSD-3-Clause), 14 MB.
if [ ! -e models/mjlab/asset_zoo/robots/unitree_go1/xmls/go1.xml ]; then
    "${AUTOQD_PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --no-deps --target models mjlab==1.6.0
fi
