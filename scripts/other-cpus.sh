#!/bin/sh
# The same search on emulated CPUs with fewer instructions than this one; fails if any of them finds another archive.
# usage: scripts/other-cpus.sh   (needs qemu-x86_64: apt install qemu-user)
set -eu
cd "$(dirname "$0")/.."

command -v qemu-x86_64 >/dev/null || { echo "other CPUs: skipped, qemu-x86_64 not found (apt install qemu-user)"; exit 0; }
cargo build --release --bin autoqd
program="${CARGO_TARGET_DIR:-target}/release/autoqd"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# digest NAME [EMULATOR...]: what a search of point-maze finds with full CMA-ES and two refits.
digest() {
    name=$1
    shift
    "$@" "$program" run point-maze --out "$folder/$name" --preset=quick --threads=1 --set=iterations=6 \
        --set=batch_size=12 --set=emitters=2 --set=episodes=1 '--set=update_schedule=[2,4]' \
        --set=policy.kind=dense '--set=policy.hidden=[10]' --set=embedding.features=64 >"$folder/log" 2>&1 ||
        { cat "$folder/log" >&2; exit 1; }
    "$program" verify "$folder/$name" --json | sed -n 's/.*"archive_digest": "\([0-9a-f]*\)".*/\1/p'
}

here=$(digest here)
[ -n "$here" ] || { echo "error: no digest" >&2; exit 1; }
# AVX only, FMA without AVX2, AVX2 without FMA, both. The official libmujoco needs AVX.
for cpu in SandyBridge Haswell,-avx2 Haswell,-fma Haswell; do
    there=$(digest "$cpu" qemu-x86_64 -cpu "$cpu")
    [ "$there" = "$here" ] || { echo "error: $cpu finds $there, this CPU $here" >&2; exit 1; }
    echo "$cpu: $there"
done
echo "other CPUs: the same archive on all"
