"""`python -m judge.cli` is `judge`."""

from judge.cli import main

main()
