#!/bin/sh
# A short rollout of every task under Valgrind; fails on any invalid access or use of undefined memory of ours.
# usage: scripts/valgrind.sh [TASK...]
set -eu
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "error: valgrind not found; install it (apt install valgrind)" >&2; exit 1; }
scripts/get-mujoco.sh
scripts/get-box2d.sh
cargo build --release -p autoqd-env --example rollout
program="${CARGO_TARGET_DIR:-target}/release/examples/rollout"
valgrind --error-exitcode=9 --errors-for-leak-kinds=definite --leak-check=full --quiet "$program" "$@"
echo "valgrind: nothing found"
