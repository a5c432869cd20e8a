"""The command-line program `autoqd`."""

import sys

from autoqd import _native


def main():
    """Runs the program with the arguments of this process."""
    sys.exit(_native.main(["autoqd", *sys.argv[1:]]))
