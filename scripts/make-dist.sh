#!/bin/sh
# Builds dist/autoqd-VERSION-linux-ARCH.tar.gz: the program, libmujoco, the licences of everything in it, README.
# Then unpacks it elsewhere and runs two tasks with an empty environment. Called by `make dist`.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

fail() {
    echo "error: $1" >&2
    exit 1
}

[ "$(uname -s)" = Linux ] || fail "make dist packs for Linux only"
library=third_party/mujoco/lib
[ -f "$library/LICENSE" ] ||
    fail "$library has no LICENSE (MUJOCO_DIR was set?); unset MUJOCO_DIR, remove third_party/mujoco and run make native"
[ -f web/dist/index.html ] && [ -f web/node_modules/three/LICENSE ] ||
    fail "the explorer's page is not built; install Node 20 and run make web"

# The profile `release` instead builds in less time, for trying out this script.
profile=${DIST_PROFILE:-dist}
# The program finds libmujoco beside itself and knows no folder of this machine.
AUTOQD_CPUS=all AUTOQD_RPATH='$ORIGIN/lib' cargo build --locked --profile "$profile" --bin autoqd

version=$(cargo metadata --format-version 1 --no-deps | python3 -c '
import json, sys
print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "autoqd-cli"))')
name=autoqd-$version-linux-$(uname -m)
mkdir -p dist
work=$(mktemp -d dist/make.XXXXXX)
trap 'rm -rf "$work"' EXIT
folder=$work/$name
mkdir -p "$folder/lib" "$folder/licences"
cp "${CARGO_TARGET_DIR:-target}/$profile/autoqd" "$folder/autoqd"
strip "$folder/autoqd"
cp "$library"/libmujoco.so.* "$folder/lib/"
cp LICENSE-MIT LICENSE-APACHE "$folder/licences/"
cp "$library/LICENSE" "$folder/licences/MuJoCo.txt"
cp "$library/LICENSES_THIRD_PARTY.md" "$folder/licences/MuJoCo-third-party.md"
cp third_party/box2d/LICENSE "$folder/licences/Box2D.txt"
cp web/node_modules/three/LICENSE "$folder/licences/three.js.txt"
python3 scripts/crate_licences.py "$folder/licences/crates.txt"
cp README.md CHANGELOG.md CITATION.cff "$folder/"
cp -r docs examples sweeps "$folder/"
mkdir "$folder/scripts"
cp scripts/replay_elite.py "$folder/scripts/"

# The same bytes for the same files, whoever packs them and when.
date=$(git log -1 --format=%cI)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" -C "$work" -cf - "$name" |
    gzip -9n >"$work/$name.tar.gz"

# It must run without Rust, without this folder's libraries and without any variable.
trial=$(mktemp -d)
trap 'rm -rf "$work" "$trial"' EXIT
tar -C "$trial" -xzf "$work/$name.tar.gz"
for task in point-maze swimmer bipedal-walker; do
    (cd "$trial/$name" && env -i PATH=/usr/bin:/bin ./autoqd run "$task" --preset quick --set iterations=2 \
        --out "$trial/$task" >"$trial/log" 2>&1) || { cat "$trial/log" >&2; fail "the packed program cannot run $task"; }
done
(cd "$trial/$name" && env -i PATH=/usr/bin:/bin ./autoqd --version)
if grep -qa "$root" "$trial/$name/autoqd"; then fail "the packed program holds the path $root"; fi

mv "$work/$name.tar.gz" dist/
(cd dist && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "dist/$name.tar.gz"
