"""Checks every crate in Cargo.lock against deny.toml: `python3 scripts/check_dependencies.py`, part of `make lint`.

Licences, banned crates, sources and checksums, as `cargo deny check licenses bans sources` does, without the minutes that
building cargo-deny takes. Advisories need a database that is fetched from the network: `make lint` asks cargo-deny for
them where it is installed.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def accepted(expression, allowed):
    """Whether an SPDX expression can be met with allowed licences; `/` is the old way to write OR."""
    words = re.findall(r"\(|\)|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR "))
    terms = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    return eval(" ".join(terms.get(word, str(word in allowed)) for word in words), {"__builtins__": {}})


def faults_of(package, rules):
    name = f"{package['name']} {package['version']}"
    if package["name"] in rules["bans"]["deny"]:
        yield f"{name} is banned"
    if package["source"] is None:
        return
    if package["source"] != REGISTRY:
        yield f"{name} comes from {package['source']}"
    licence = package["license"]
    if not licence:
        yield f"{name} does not name its licence"
    elif not accepted(licence, rules["licenses"]["allow"]):
        yield f"{name} has the licence {licence}"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    faults = [fault for package in packages for fault in faults_of(package, rules)]
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    faults += [f"{p['name']} has no checksum in Cargo.lock" for p in lock if "source" in p and "checksum" not in p]
    print(f"{len(packages)} crates: {len(faults)} faults in licences, bans, sources and checksums")
    sys.exit("\n".join(faults) or 0)


main()
