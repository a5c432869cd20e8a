"""Checks what crates.io and users read in the manifests: `python3 scripts/check_manifests.py`, part of `make lint`.

Every crate says what it is, path dependencies have the version of the workspace, `mujoco` and `box2d` reach every crate
that runs tasks, CITATION.cff has the same version, and the oldest supported Rust is the one that builds.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIMULATORS = ("mujoco", "box2d")


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    return json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]


def faults_of(package, versions):
    for field in ("description", "license", "repository", "readme", "rust_version"):
        if not package[field]:
            yield f"no {field}"
    if package["publish"] == []:
        return
    if not package["categories"] or not 1 <= len(package["keywords"]) <= 5:
        yield "crates.io wants categories and one to five keywords"
    yield from (f"keyword '{word}' has more than 20 characters" for word in package["keywords"] if len(word) > 20)
    for dependency in package["dependencies"]:
        name = dependency["name"]
        if name in versions and dependency["req"] != f"^{versions[name]}":
            yield f"depends on {name} {dependency['req']}, which has version {versions[name]}"
    yield from missing_features(package)


def missing_features(package):
    """A crate that can run tasks hands both features on to every crate of ours that has them."""
    users = [d for d in package["dependencies"] if d["name"].startswith("autoqd") and not d["kind"]]
    users = [d["name"] for d in users if d["name"] not in ("autoqd-lanes", "autoqd-qd", "autoqd-task-file")]
    for feature in SIMULATORS if users else ():
        forwarded = package["features"].get(feature, [])
        for name in users:
            if not {f"{name}/{feature}", f"{name}?/{feature}"} & set(forwarded):
                yield f"feature '{feature}' does not reach {name}"
        if feature not in package["features"].get("default", []):
            yield f"feature '{feature}' is not one of the default features"


def rust_faults(packages):
    oldest = {package["rust_version"] for package in packages}
    if len(oldest) != 1:
        return [f"more than one rust-version: {sorted(map(str, oldest))}"]
    oldest = oldest.pop()
    present = subprocess.check_output(["rustc", "--version"], text=True).split()[1]
    if present.startswith(oldest + "."):
        return []
    toolchains = subprocess.run(["rustup", "toolchain", "list"], capture_output=True, text=True).stdout
    if not re.search(rf"^{re.escape(oldest)}\b", toolchains, re.MULTILINE):
        print(f"Rust {oldest} is not installed: not checked that it still builds everything")
        return []
    command = ["cargo", f"+{oldest}", "check", "--workspace", "--release", "--target-dir", "target/oldest-rust"]
    return [] if subprocess.run(command, cwd=ROOT).returncode == 0 else [f"Rust {oldest} cannot build the workspace"]


def main():
    packages = metadata()
    versions = {package["name"]: package["version"] for package in packages}
    faults = [f"{p['name']}: {fault}" for p in packages for fault in faults_of(p, versions)]
    citation = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    if not citation or citation[1] not in versions.values():
        faults.append("CITATION.cff: its version is not the workspace's")
    faults += rust_faults(packages)
    sys.exit("\n".join(faults) or 0)


main()
