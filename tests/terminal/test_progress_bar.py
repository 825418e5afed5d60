"""A progress bar appears on terminals only, and changes nothing that is printed elsewhere."""

import os
import pty
import subprocess
import sys

from judge.base.progress import untracked
from judge.terminal.output import progress_bar

WORK = """
from judge.terminal import output
output.SHOWN_AFTER_S = 0.0
print(sum(output.progress_bar()(range(5), 5, "counting")))
"""


def test_nothing_is_drawn_where_stderr_is_no_terminal() -> None:
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, check=True, text=True)
    assert ("10\n", "") == (done.stdout, done.stderr)


def test_bar_with_remaining_time_is_drawn_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, stderr=theirs, env=environment) as work:
        os.close(theirs)
        drawn = b""
        try:
            while part := os.read(ours, 4096):
                drawn += part
        except OSError:  # Linux: the other end is closed.
            pass
        out = work.stdout.read() if work.stdout else b""
    os.close(ours)
    assert b"10\n" == out
    assert b"counting" in drawn
    assert b"/5" in drawn


def test_items_pass_unchanged() -> None:
    assert [1, 2, 3] == list(untracked([1, 2, 3], 3, "x"))
    assert [1, 2, 3] == list(progress_bar()([1, 2, 3], 3, "x"))
