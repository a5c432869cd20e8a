#!/usr/bin/env bash
# Builds the wheel for a Python without a global interpreter lock and runs tests with it: free-threaded.sh [python3.14t]
#
# The wheels of `make python` are for every Python from 3.10 on but not for this kind, which has another binary interface.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-python3.14t}
"$python" -c 'import sys; sys.exit(0 if not getattr(sys, "_is_gil_enabled", lambda: True)() else f"{sys.version} has a GIL")'
folder=${CARGO_TARGET_DIR:-target}/free-threaded
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.16,<2" pytest gymnasium cloudpickle
rm -f "$folder"/*.whl
"$folder/bin/maturin" build --release --quiet --interpreter "$folder/bin/python" --out "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$folder"/autoqd-*.whl
"$folder/bin/pip" install --quiet --disable-pip-version-check "$folder"/autoqd-*.whl
cd python/tests
exec "../../$folder/bin/python" -m pytest -q test_threads.py test_package.py test_mathematics.py test_search.py test_run.py
