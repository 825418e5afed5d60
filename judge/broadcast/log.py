"""The event log of a contest: one event per line, one writer, any number of readers.

A killed writer leaves at most an incomplete line. Readers ignore it; reopening removes it. Readers skip a damaged line;
the writer cuts the log off at the first one, and its owner writes the rest again.
"""

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

from judge.base.durable_files import PARTIAL, sync_file
from judge.base.errors import HostError, InputError
from judge.base.locks import lock
from judge.base.logs import get_logger
from judge.base.os_errors import os_errors_as
from judge.broadcast.appended_file import AppendedFile, AppendedLine
from judge.broadcast.events import AnyEvent, Opened, read_event, write_event

LOG_FILE = "events.ndjson"

_HEAD = re.compile(
    rb'\{"seq":(\d+)(?:,"journal":(\d+))?(?:,"game":(\d+),"attempt":(\d+))?,"type":"([a-z]+)"(?:,"ply":(\d+))?'
)


MIN_EVENT_BYTES = 16
"""Size of the shortest line. Damage of N bytes contains at most N / 16 events."""

log = get_logger()


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
        with os_errors_as(HostError, path):
            self._file: IO[bytes] = path.open("a+b", buffering=0)
        try:
            lock(self._file)
            self._cut_torn_line()
        except BaseException as error:
            self._file.close()
            if isinstance(error, OSError):
                raise HostError(f"{path}: {error.strerror}") from None
            raise

    def lines(self) -> Iterator[tuple[Head, AnyEvent]]:
        """All events before the first damaged line, where the log is cut off; must be exhausted before appending.

        Raises HostError.
        """
        with closing(LogReader(self.path)) as reader, os_errors_as(HostError, self.path):
            while (news := reader.news()) is not None:
                for line in news:
                    if reader.damaged_at is None or line.begin < reader.damaged_at:
                        self.seq = line.value.seq
                        yield head_of(line.data), line.value
                if reader.damaged_at is not None:
                    break
            if reader.damaged_at is not None:
                self._cut_damage(reader.damaged_at)

    def append(self, events: Sequence[AnyEvent], *, is_durable: bool = False) -> None:
        """Write all events or none. Raises HostError.

        `is_durable`: sync to disk before returning.
        """
        if not events:
            return
        data = b"".join(write_event(event, seq) + b"\n" for seq, event in enumerate(events, self.seq + 1))
        with os_errors_as(HostError, self.path):
            end = os.fstat(self._file.fileno()).st_size
            if os.write(self._file.fileno(), data) != len(data):
                os.ftruncate(self._file.fileno(), end)
                raise HostError(f"{self.path}: the disk is full: free some space to continue the log")
            if is_durable:
                sync_file(self._file)
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

    def _cut_damage(self, end: int) -> None:
        """Replace the file by its first `end` bytes, as another log: later events may get other numbers."""
        log.error("the event log is damaged; it is written again from there", file=str(self.path), offset=end)
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}{PARTIAL}")
        file: IO[bytes] = partial.open("a+b", buffering=0)
        try:
            lock(file)
            with self.path.open("rb") as old:
                if end:
                    first = read_event(old.readline().strip(b"\0\n"))
                    if isinstance(first, Opened):
                        first = first.model_copy(update={"log": secrets.token_hex(8)})
                    file.write(write_event(first, 1) + b"\n")
                    while (left := end - old.tell()) > 0 and (data := old.read(min(left, 1 << 20))):
                        file.write(data)
            sync_file(file)
            partial.replace(self.path)
        except BaseException:
            file.close()
            partial.unlink(missing_ok=True)
            raise
        self._file.close()
        self._file = file


class LogReader(AppendedFile[AnyEvent]):
    """The events of a log, as they arrive. Damaged lines leave gaps in their numbers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, self._event)

    def restart(self) -> None:
        """Read from the beginning of the file that is now at the path."""
        super().restart()
        self._seq = 0

    def _event(self, line: bytes) -> AnyEvent:
        event = read_event(line)
        head_of(line)
        last = self._seq + 1 + self.skipped_bytes // MIN_EVENT_BYTES
        if not self._seq < event.seq <= last:
            raise InputError(f"has the number {event.seq} after {self._seq}")
        self._seq = event.seq
        return event


EventLine = AppendedLine[AnyEvent]
"""A line of a log."""
