#!/usr/bin/env bash
# Builds the wheel into target/wheels and installs it into .venv, which is made if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

# A wheel is taken to other machines.
export AUTOQD_CPUS=${AUTOQD_CPUS:-all}

venv=${AUTOQD_VENV:-.venv}
wheels=${CARGO_TARGET_DIR:-target}/wheels
[ -x "$venv/bin/python3" ] || python3 -m venv "$venv"
pip=("$venv/bin/python3" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install "maturin>=1.16,<2"
rm -f "$wheels"/autoqd-*.whl
"$venv/bin/maturin" build --release --quiet --out "$wheels"
"${pip[@]}" install --force-reinstall --no-deps "$wheels"/autoqd-*.whl
"${pip[@]}" install "$wheels"/autoqd-*.whl
echo "installed $(ls "$wheels"/autoqd-*.whl) into $venv: $venv/bin/python3 -c 'import autoqd'"
