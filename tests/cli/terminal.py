"""A real pseudo-terminal of a given size with a program in it, and what a person would see of it."""

import fcntl
import os
import select
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S


class Terminal:
    """Runs `python -m MODULE ...`; everything that it writes to its terminal goes on a screen."""

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.written = b""
        self.code: int | None = None
        self._stream = pyte.ByteStream(self.screen)
        self._fd, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        options |= {"cwd": directory, "env": inherited | variables | dict(environment or {})}
        self._process: ForkedProcess[bytes] = ForkedProcess(command, start_new_session=True, **options)
        self.pid = self._process.pid
        os.close(theirs)

    @property
    def lines(self) -> list[str]:
        return list(self.screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def until(self, seen: Callable[[str], bool]) -> None:
        """Read on until the screen looks as it should. The program may have drawn a part of it only."""
        give_up = time.monotonic() + PATIENCE_S
        while not seen(self.text):
            if not self._read(give_up):
                raise AssertionError(f"it ended, or hung, with this on the screen:\n{self.text}")

    def to_the_end(self, code: int | None = None) -> str:
        """Read until the program ends, with this exit code if given; the screen that it leaves."""
        give_up = time.monotonic() + PATIENCE_S
        while self._read(give_up):
            pass
        self.code = self._process.wait()
        os.close(self._fd)
        assert code in (None, self.code), self.text
        return self.text

    def _read(self, give_up: float) -> bool:
        left = give_up - time.monotonic()
        if left <= 0 or not select.select([self._fd], [], [], left)[0]:
            return False
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # Linux says so when nobody holds the other end any more
            return False
        self.written += data
        self._stream.feed(data)
        return bool(data)


def begin_match(directory: Path, *arguments: str) -> Terminal:
    return Terminal([sys.executable, "-m", "judge.cli", "match", *arguments], directory)


def is_in_order(terminal: Terminal) -> bool:
    """Whether a terminal was left as it was: the usual screen, and the cursor on it."""
    written = terminal.written
    left_screen = written.rindex(b"\x1b[?1049l") > written.rindex(b"\x1b[?1049h")
    return left_screen and written.rindex(b"\x1b[?25h") > written.rindex(b"\x1b[?25l")
