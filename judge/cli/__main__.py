"""Run the command line as `python -m judge.cli`."""

from judge.cli import main

main()
