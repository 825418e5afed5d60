"""The log of a contest's events: one file, an event a line, appended by one process and read by any number.

A process that is killed leaves at most the beginning of a line behind, which is cut off when the log is opened again.
Nobody reads such a line before it is whole, so no reader has seen it. What the log has is known from the heads of its
lines (`Head`); the writer needs nothing else to go on where it was.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from judge.base.durable_files import sync_file
from judge.base.errors import HostError, InputError
from judge.base.locks import lock
from judge.broadcast.events import AnyEvent, write_event

LOG_FILE = "events.ndjson"
"""The log's name in the folder of a contest."""

_HEAD = re.compile(
    rb'\{"seq":(\d+)(?:,"journal":(\d+))?(?:,"game":(\d+),"attempt":(\d+))?,"type":"([a-z]+)"(?:,"ply":(\d+))?'
)


class Head(NamedTuple):
    """What the beginning of a line says; 0 for what the event does not have."""

    seq: int
    journal: int
    game: int
    attempt: int
    type: str
    ply: int


def head_of(line: bytes) -> Head:
    """The head of a line. Raises InputError if it is no event's."""
    found = _HEAD.match(line)
    if found is None:
        raise InputError(f"not an event: {line[:80]!r}")
    seq, journal, game, attempt, kind, ply = found.groups(b"0")
    return Head(int(seq), int(journal), int(game), int(attempt), kind.decode(), int(ply))


class EventLog:
    """The writing end. Holds the lock of the file, and waits for it."""

    def __init__(self, path: Path) -> None:
        """Open the log or begin it. Raises HostError if the disk fails, InputError for a file that is no log."""
        self.path = path
        self.seq = 0
        """The number of the last line."""
        try:
            self._file: IO[bytes] = path.open("a+b", buffering=0)
            lock(self._file)
            self._cut_torn_line()
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}") from None
        self._end = self._file.seek(0, os.SEEK_END)

    def lines(self) -> Iterator[tuple[Head, bytes]]:
        """What it has, line by line; to be read to its end before anything is appended.

        Raises InputError at a line that is out of place.
        """
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                head = head_of(line)
                if head.seq != number:
                    raise InputError(
                        f"{self.path}: line {number} has the number {head.seq}; remove the file, and it is made again"
                    )
                self.seq = number
                yield head, line

    def append(self, events: Sequence[AnyEvent], *, is_durable: bool = False) -> None:
        """Write events as the next lines, all or none of them. Raises HostError if the disk does not take them.

        `is_durable`: return when they would survive a loss of power.
        """
        if not events:
            return
        data = b"".join(write_event(event, seq) + b"\n" for seq, event in enumerate(events, self.seq + 1))
        try:
            if os.write(self._file.fileno(), data) != len(data):
                os.ftruncate(self._file.fileno(), self._end)
                raise HostError(f"{self.path}: the disk is full: make room, and the log goes on")
            if is_durable:
                sync_file(self._file)
        except OSError as error:
            raise HostError(f"{self.path}: {error.strerror}") from None
        self._end += len(data)
        self.seq += len(events)

    def close(self) -> None:
        """Release the lock."""
        self._file.close()

    def _cut_torn_line(self) -> None:
        """Cut off what a writer that was killed has left of a line."""
        size = end = self._file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - (1 << 16))
            found = os.pread(self._file.fileno(), end - begin, begin).rfind(b"\n")
            if found >= 0:
                end = begin + found + 1
                break
            end = begin
        if end < size:
            os.ftruncate(self._file.fileno(), end)


class LogReader:
    """The reading end: the whole lines, the new ones as they come.

    It reads a file that does not exist yet as an empty one. `is_replaced` tells that the file is another one now, or
    has lost lines: then a new reader must begin from the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._rest = b""
        self._read = 0
        self.seq = 0
        """The number of the last line that `news` has returned."""

    def news(self, most_bytes: int = 8 << 20) -> list[bytes]:
        """The lines that are new since the last call, without their ends; not all at once if there are many."""
        if self._file is None:
            try:
                self._file = self._path.open("rb", buffering=0)
            except FileNotFoundError:
                return []
        data = self._file.read(most_bytes)
        if not data:
            return []
        *lines, rest = (self._rest + data).split(b"\n")
        self.seq += len(lines)
        self._read += len(data)
        self._rest = rest
        return lines

    def is_replaced(self) -> bool:
        """Whether the file is not the one that was read, or is shorter."""
        if self._file is None:
            return False
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return True
        mine = os.fstat(self._file.fileno())
        return (found.st_dev, found.st_ino) != (mine.st_dev, mine.st_ino) or found.st_size < self._read - len(
            self._rest
        )

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
