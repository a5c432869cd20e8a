#!/usr/bin/env bash
# Builds the wheel, installs it into an environment with what the tests need, and runs python/tests.
#
# Without a network or without Python this is skipped, and said so; with AUTOQD_REQUIRE_ALL=1 it must run.
# AUTOQD_VENV names the environment; by default .venv of this checkout, which .ci/run uses as well.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${AUTOQD_VENV:-.venv}
skip() {
    if [ "${AUTOQD_REQUIRE_ALL:-0}" = 1 ]; then echo "the Python tests must run: $1" >&2; exit 1; fi
    echo "the Python tests are skipped: $1"
    exit 0
}

command -v python3 >/dev/null || [ -x "$venv/bin/python3" ] || skip "there is no python3"
scripts/make-venv.sh "$venv" || skip "no environment with scripts/requirements.txt could be made in $venv"
# For this machine alone, like the build of the other tests.
AUTOQD_CPUS=${AUTOQD_CPUS:-host} AUTOQD_VENV=$venv scripts/make-wheel.sh
exec "$venv/bin/python3" -m pytest python/tests -q "$@"
