"""Writes the licences of every crate that is linked into the program: `python3 scripts/crate_licences.py OUT`.

One line per crate with its version, licence and repository, then every licence text once, with the crates it is of.
"""

import json
import pathlib
import subprocess
import sys


def linked_packages():
    """The crates of other people below autoqd-cli, without those that only build or test it."""
    text = subprocess.check_output(
        ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host()]
    )
    metadata = json.loads(text)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] == "autoqd-cli"]
    seen = set()
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    others = [packages[id] for id in seen if packages[id]["source"] is not None]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def host():
    lines = subprocess.check_output(["rustc", "-vV"], text=True).splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("host"))


def licence_files(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    words = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "OFL")
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(words))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 scripts/crate_licences.py OUT")
    packages = linked_packages()
    texts = {}
    lines = ["Crates in this program", ""]
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package["license"] or "see its text below"
        lines.append(f"{name}: {licence} ({package['repository'] or 'https://crates.io/crates/' + package['name']})")
        for path in licence_files(package):
            texts.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    for text, names in texts.items():
        lines += ["", "=" * 80, ", ".join(dict.fromkeys(names)), "=" * 80, "", text]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
    print(f"{len(packages)} crates, {len(texts)} licence texts")


main()
