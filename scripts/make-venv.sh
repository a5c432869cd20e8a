#!/usr/bin/env bash
# Makes a Python environment with scripts/requirements.txt, or brings it up to date: make-venv.sh [FOLDER]
#
# What is installed is what scripts/requirements.lock names, with the checksums that it names: pip refuses anything else.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${1:-.venv}
python3 scripts/check_requirements.py
if [ ! -x "$venv/bin/python3" ] || ! cmp -s scripts/requirements.lock "$venv/requirements.lock"; then
    python3 -m venv "$venv"
    install() {
        "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps "$@"
    }
    # A package of which there is only the source is built with the locked setuptools, not with what pip would fetch.
    awk '/^setuptools==/ { on = 1 } on { print } on && !/\\$/ { exit }' scripts/requirements.lock >"$venv/build.lock"
    install -r "$venv/build.lock"
    install --no-build-isolation -r scripts/requirements.lock
    cp scripts/requirements.lock "$venv/requirements.lock"
fi
