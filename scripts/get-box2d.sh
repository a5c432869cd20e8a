#!/bin/sh
# Puts the C++ sources of Box2D into third_party/box2d, once. They come out of the PyPI source package of
# box2d-py, whose checksum pip compares with scripts/box2d.lock; nothing of the package is run.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
home="$root/third_party/box2d"
lock="$root/scripts/box2d.lock"
offline="offline, put box2d-py-2.3.8.tar.gz into a folder and set PIP_NO_INDEX=1 PIP_FIND_LINKS=that-folder; \
without BipedalWalker, build with --no-default-features --features mujoco"

fail() {
    echo "error: $1" >&2
    exit 1
}

# The lock file is copied last, so an interrupted run leaves nothing that looks finished.
cmp -s "$lock" "$home/box2d.lock" && exit 0

command -v python3 >/dev/null || fail "python3 not found; install Python 3 with pip"
python3 -m pip --version >/dev/null 2>&1 ||
    fail "python3 has no pip; install it (python3 -m ensurepip, or the package python3-pip)"

mkdir -p "$root/third_party"
work=$(mktemp -d "$root/third_party/get.XXXXXX")
trap 'rm -rf "$work"' EXIT

# pip asks a source package for its metadata even when it only downloads it, which would run the package's
# setup.py and need setuptools. This stand-in for setuptools answers instead.
mkdir -p "$work/backend/setuptools"
touch "$work/backend/setuptools/__init__.py"
cat >"$work/backend/setuptools/build_meta.py" <<'PYTHON'
import pathlib


class __legacy__:
    @staticmethod
    def get_requires_for_build_wheel(config_settings=None):
        return []

    @staticmethod
    def prepare_metadata_for_build_wheel(directory, config_settings=None):
        name = "box2d_py-2.3.8.dist-info"
        info = pathlib.Path(directory, name)
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: box2d-py\nVersion: 2.3.8\n")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        return name
PYTHON

if ! PYTHONPATH="$work/backend" python3 -m pip download --quiet --disable-pip-version-check --require-hashes \
    --no-deps --no-binary :all: --no-build-isolation --use-pep517 --dest "$work" -r "$lock" >"$work/log" 2>&1; then
    if grep -qi "do not match the hashes" "$work/log"; then
        fail "the source package of box2d-py that pip fetched does not have the checksum of scripts/box2d.lock; check the package index that pip uses (pip config list)"
    fi
    sed 's/^/    /' "$work/log" | tail -n 3 >&2
    fail "pip could not fetch box2d-py==2.3.8; check the network or pip's index; $offline"
fi

python3 - "$work" <<'PYTHON' || fail "cannot unpack the source package of box2d-py 2.3.8"
import pathlib, sys, tarfile

work = pathlib.Path(sys.argv[1])
with tarfile.open(work / "box2d-py-2.3.8.tar.gz") as package:
    for member in package.getmembers():
        path = pathlib.PurePosixPath(*pathlib.PurePosixPath(member.name).parts[1:])
        wanted = path.suffix in (".h", ".cpp") and path.parts[0] == "Box2D" or str(path) == "LICENSE"
        if member.isfile() and wanted:
            target = work / "sources" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(package.extractfile(member).read())
PYTHON

rm -rf "$home"
mv "$work/sources" "$home"
cp "$lock" "$home/box2d.lock"
echo "Box2D of box2d-py 2.3.8 is in third_party/box2d"
