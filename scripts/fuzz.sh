#!/bin/sh
# Fuzzes every reader of files, messages and requests for some seconds each, with address sanitizer.
# usage: scripts/fuzz.sh [SECONDS] [TARGET...]   (needs cargo-fuzz: cargo install cargo-fuzz)
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-60}
[ $# -eq 0 ] || shift
command -v cargo-fuzz >/dev/null || { echo "fuzzing: skipped, cargo-fuzz not found (cargo install cargo-fuzz)"; exit 0; }
scripts/get-mujoco.sh
scripts/get-box2d.sh
# Coverage and sanitizers are switched on by flags of the nightly compiler; a stable one takes them when told to.
export RUSTC_BOOTSTRAP=1
[ $# -gt 0 ] || set -- $(ls fuzz/targets | sed 's/\.rs$//')
for target; do
    echo "fuzzing $target for $seconds s"
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    cargo fuzz run --release "$target" "$corpus" -- -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 \
        -print_final_stats=1
done
echo "fuzzing: nothing found"
