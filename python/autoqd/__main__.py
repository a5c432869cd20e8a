"""`python -m autoqd` is the program `autoqd`."""

from autoqd._program import main

if __name__ == "__main__":
    main()
