#!/bin/sh
# Puts libmujoco 3.17.0 into third_party/mujoco/lib, once. It comes out of the PyPI wheel, whose checksum pip
# compares with scripts/mujoco.lock; with MUJOCO_DIR set, that installation is linked instead.
set -eu

version=3.17.0
root=$(cd "$(dirname "$0")/.." && pwd)
home="$root/third_party/mujoco"
lib="$home/lib"

fail() {
    echo "error: $1" >&2
    exit 1
}

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) file=libmujoco.so.$version link=libmujoco.so tags="manylinux_2_28_x86_64 manylinux_2_27_x86_64" ;;
    Linux-aarch64) file=libmujoco.so.$version link=libmujoco.so tags="manylinux_2_28_aarch64 manylinux_2_27_aarch64" ;;
    Darwin-arm64) file=libmujoco.$version.dylib link=libmujoco.dylib tags=macosx_11_0_arm64 ;;
    *) fail "no wheel of MuJoCo $version for $(uname -s) $(uname -m); build with --no-default-features" ;;
esac

# Renamed into place at the end, so an interrupted run leaves nothing that looks finished.
install_lib() {
    mkdir -p "$home"
    rm -rf "$lib"
    mv "$1" "$lib"
}

if [ -n "${MUJOCO_DIR:-}" ]; then
    for folder in "$MUJOCO_DIR/lib" "$MUJOCO_DIR"; do
        [ -f "$folder/$file" ] && found=$(cd "$folder" && pwd) && break
    done
    [ -n "${found:-}" ] || fail "MUJOCO_DIR=$MUJOCO_DIR holds neither lib/$file nor $file; unset it to use the PyPI wheel"
    [ "$(readlink "$lib/$file" || true)" = "$found/$file" ] && exit 0
    mkdir -p "$home"
    staging=$(mktemp -d "$home/get.XXXXXX")
    chmod 755 "$staging"
    ln -s "$found/$file" "$staging/$file"
    ln -s "$file" "$staging/$link"
    install_lib "$staging"
    echo "libmujoco $version linked from $found"
    exit 0
fi

[ -f "$lib/$file" ] && [ ! -L "$lib/$file" ] && [ -e "$lib/$link" ] && exit 0

command -v python3 >/dev/null || fail "python3 not found; install Python 3 with pip, or set MUJOCO_DIR to an unpacked MuJoCo $version"
python3 -m pip --version >/dev/null 2>&1 || fail "python3 has no pip; install it (python3 -m ensurepip, or the package python3-pip), or set MUJOCO_DIR to an unpacked MuJoCo $version"

mkdir -p "$home"
work=$(mktemp -d "$home/get.XXXXXX")
trap 'rm -rf "$work"' EXIT
platforms=""
for tag in $tags; do platforms="$platforms --platform $tag"; done
# The wheel is only unpacked, never imported: any Python can fetch the one built for 3.11.
# shellcheck disable=SC2086
if ! python3 -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary=:all: \
    --python-version 3.11 --implementation cp --abi cp311 $platforms \
    --dest "$work" -r "$root/scripts/mujoco.lock" >"$work/log" 2>&1; then
    if grep -qi "do not match the hashes" "$work/log"; then
        fail "the mujoco $version wheel that pip fetched does not have the checksum of scripts/mujoco.lock; check the package index that pip uses (pip config list), or set MUJOCO_DIR"
    fi
    fail "pip could not fetch mujoco==$version ($(grep -v '^$' "$work/log" | tail -n 1)); check the network or pip's index, or set MUJOCO_DIR to an unpacked MuJoCo $version"
fi

mkdir "$work/lib"
python3 - "$work" "$file" <<'PY'
import glob, os, sys, zipfile
work, name = sys.argv[1:]
with zipfile.ZipFile(glob.glob(os.path.join(work, "*.whl"))[0]) as wheel:
    wanted = {n: os.path.basename(n) for n in wheel.namelist()
              if n == "mujoco/" + name or os.path.basename(n) in ("LICENSE", "LICENSES_THIRD_PARTY.md")}
    for member, target in wanted.items():
        with open(os.path.join(work, "lib", target), "wb") as out:
            out.write(wheel.read(member))
PY
[ -f "$work/lib/$file" ] || fail "the mujoco $version wheel holds no mujoco/$file"
ln -s "$file" "$work/lib/$link"
# The macOS library calls itself by a path inside a framework bundle.
if [ "$link" = libmujoco.dylib ]; then
    install_name_tool -id "@rpath/$file" "$work/lib/$file"
fi
install_lib "$work/lib"
echo "libmujoco $version is in third_party/mujoco/lib"
