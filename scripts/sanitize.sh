#!/bin/sh
# Short searches of several tasks, an evaluation and a report, with address sanitizer in our code and in Box2D's.
# usage: scripts/sanitize.sh [TASK...]
set -eu
cd "$(dirname "$0")/.."

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || { echo "address sanitizer: skipped, it is set up for Linux x86-64"; exit 0; }
scripts/get-mujoco.sh
scripts/get-box2d.sh
target=x86_64-unknown-linux-gnu
# The flag is one of the nightly compiler; a stable one takes it when told to. Named targets keep it from build scripts.
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/sanitized CARGO_PROFILE_RELEASE_OPT_LEVEL=1
export RUSTFLAGS="-Zsanitizer=address" CXXFLAGS="-fsanitize=address"
cargo build --release --bin autoqd --target $target
program=target/sanitized/$target/release/autoqd
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Leaks are none of this: what lives until the end is not given back.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=0

[ $# -gt 0 ] || set -- point-maze swimmer hopper ant bipedal-walker examples/quadruped/quadruped.toml
for task; do
    run=$folder/$(basename "$task" .toml)
    {
        "$program" run "$task" --out "$run" --preset=quick --threads=2 --set=iterations=3 --set=batch_size=6 \
            --set=emitters=2 --set=episodes=2 '--set=update_schedule=[2]' --set=embedding.features=40 &&
            "$program" eval "$run" --episodes=1 --threads=2 && "$program" report "$run" --count=1 --seconds=0.2
    } >"$folder/log" 2>&1 || { tail -n 60 "$folder/log" >&2; echo "error: $task under address sanitizer" >&2; exit 1; }
    echo "$task: nothing found"
done
