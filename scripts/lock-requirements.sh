#!/usr/bin/env bash
# Writes scripts/requirements.lock: what scripts/requirements.txt needs, all of it, with the checksums of every file that
# PyPI has of it. Versions stay as they are unless they do not fit any more; --upgrade takes the latest.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools/venv"
"$tools/venv/bin/python3" -m pip install --quiet --disable-pip-version-check uv
"$tools/venv/bin/uv" pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate --no-header \
    "$@" scripts/requirements.txt --output-file scripts/requirements.lock >/dev/null
python3 scripts/check_requirements.py
