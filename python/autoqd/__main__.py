"""`python -m autoqd` is the program `autoqd`."""

from autoqd._program import main

main()
