"""The event log of a contest: one event per line, one writer, any number of readers.

A killed writer leaves at most an incomplete line. Readers ignore it; reopening removes it.
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

_HEAD = re.compile(
    rb'\{"seq":(\d+)(?:,"journal":(\d+))?(?:,"game":(\d+),"attempt":(\d+))?,"type":"([a-z]+)"(?:,"ply":(\d+))?'
)


class Head(NamedTuple):
    """First fields of a line; 0 if absent."""

    seq: int
    journal: int
    game: int
    attempt: int
    type: str
    ply: int


def head_of(line: bytes) -> Head:
    """Return the head of a line. Raises InputError if it is invalid."""
    found = _HEAD.match(line)
    if found is None:
        raise InputError(f"not an event: {line[:80]!r}")
    seq, journal, game, attempt, kind, ply = found.groups(b"0")
    return Head(int(seq), int(journal), int(game), int(attempt), kind.decode(), int(ply))


class EventLog:
    """The writer, with the file's lock."""

    def __init__(self, path: Path) -> None:
        """Open or create the log. Raises HostError for disk errors, InputError for other files."""
        self.path = path
        self.seq = 0
        try:
            self._file: IO[bytes] = path.open("a+b", buffering=0)
            lock(self._file)
            self._cut_torn_line()
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}") from None
        self._end = self._file.seek(0, os.SEEK_END)

    def lines(self) -> Iterator[tuple[Head, bytes]]:
        """All lines; must be exhausted before appending. Raises InputError for a wrong number."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                head = head_of(line)
                if head.seq != number:
                    raise InputError(
                        f"{self.path}: line {number} has the number {head.seq}; remove the file to have it rebuilt"
                    )
                self.seq = number
                yield head, line

    def append(self, events: Sequence[AnyEvent], *, is_durable: bool = False) -> None:
        """Write all events or none. Raises HostError.

        `is_durable`: sync to disk before returning.
        """
        if not events:
            return
        data = b"".join(write_event(event, seq) + b"\n" for seq, event in enumerate(events, self.seq + 1))
        try:
            if os.write(self._file.fileno(), data) != len(data):
                os.ftruncate(self._file.fileno(), self._end)
                raise HostError(f"{self.path}: the disk is full: free some space to continue the log")
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
    """The reader: returns complete lines as they arrive.

    If `is_replaced`, start a new reader.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._rest = b""
        self._read = 0
        self.seq = 0

    def news(self, most_bytes: int = 8 << 20) -> list[bytes]:
        """New lines without line ends; at most about `most_bytes`."""
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
        """Whether the file was replaced or has become shorter."""
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
