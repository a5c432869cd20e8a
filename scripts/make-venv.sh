#!/usr/bin/env bash
# Makes a Python environment with scripts/requirements.txt, or brings it up to date: make-venv.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${1:-.venv}
if [ ! -x "$venv/bin/python3" ] || ! cmp -s scripts/requirements.txt "$venv/requirements.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
    cp scripts/requirements.txt "$venv/requirements.txt"
fi
