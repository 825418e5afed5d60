"""The recorder as a process, to be killed: python -m tests.broadcast.recording FOLDER ADDRESS."""

import sys
from pathlib import Path

from judge.contest.event_log.recorder import record
from judge.contest.plan import load_plan

if __name__ == "__main__":
    record(load_plan(Path(sys.argv[1])), Path(sys.argv[2]))
