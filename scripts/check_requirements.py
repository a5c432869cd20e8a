"""Compares scripts/requirements.txt with its lock: every package is in it, as asked for, and every line has checksums."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SPECIFICATION = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;]+))?")


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def specifications(text):
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [SPECIFICATION.match(line).groups() for line in lines if line]


def main():
    lock = (HERE / "requirements.lock").read_text().replace("\\\n", " ")
    locked, faults = {}, []
    for line in filter(None, lock.splitlines()):
        name, version = SPECIFICATION.match(line).groups()
        locked.setdefault(plain(name), set()).add(version)
        if version is None or "--hash=sha256:" not in line:
            faults.append(f"{name} has no version or no checksum in requirements.lock")
    for name, version in specifications((HERE / "requirements.txt").read_text()):
        found = locked.get(plain(name), set())
        if not found or (version and version not in found):
            faults.append(f"{name} is not in requirements.lock as requirements.txt asks for it")
    print(f"{len(locked)} Python packages with checksums: {len(faults)} faults")
    sys.exit("\n".join(faults + ["renew it with scripts/lock-requirements.sh"]) if faults else 0)


main()
