"""The event log of a contest: one event per line, one writer, any number of readers.

A killed writer and a full disk leave at most an incomplete line, which the writer removes. A complete line never
changes in its file. Readers skip a damaged line; the writer replaces the file by the lines before the first one, and
its owner writes the rest again.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

from judge.base.durable_files import PARTIAL, sync_file
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import lock
from judge.base.logs import get_logger
from judge.base.text import printable
from judge.broadcast.events import AnyEvent, Opened, read_event, write_event

LOG_FILE = "events.ndjson"

READ_BYTES = 8 << 20

MAX_LINE_BYTES = 64 << 20

LOGGED_LINES = 10
"""Damaged lines of a file that are logged one by one; later ones only at each power of two."""

MAX_REASON_CHARACTERS = 200

MIN_EVENT_BYTES = 16
"""Size of the shortest line. Damage of N bytes contains at most N / 16 events."""

log = get_logger()


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
            except BaseException:
                self._file.close()
                raise

    def events(self) -> Iterator[AnyEvent]:
        """All events before a damaged line, where the log is cut off. Read all, then append. Raises HostError."""
        with closing(LogReader(self.path)) as reader, os_errors_as(HostError, self.path):
            while (news := reader.news()) is not None:
                for line in news:
                    if reader.damaged_at is None or line.begin < reader.damaged_at:
                        self.seq = line.event.seq
                        yield line.event
                if reader.damaged_at is not None:
                    break
            if reader.damaged_at is not None:
                self._cut_damage(reader.damaged_at)

    def append(self, events: Sequence[AnyEvent], *, is_durable: bool = False) -> None:
        """Write events; `is_durable`: sync to disk before returning. Raises HostError; some may be written then."""
        if not events:
            return
        data = b"".join(write_event(event, seq) + b"\n" for seq, event in enumerate(events, self.seq + 1))
        with os_errors_as(HostError, self.path):
            written = os.write(self._file.fileno(), data)
            if written != len(data):
                # Readers may have read its complete lines.
                self._cut_torn_line()
                self.seq += data.count(b"\n", 0, written)
                raise HostError(f"{self.path}: the disk is full: free some space to continue the log")
            if is_durable:
                sync_file(self._file)
        self.seq += len(events)

    def close(self) -> None:
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


class EventLine(NamedTuple):
    """A line of a log; `begin` is its offset in the file."""

    begin: int
    data: bytes
    event: AnyEvent


class LogReader:
    """The complete lines of a log, as they arrive. Damaged lines are skipped, and leave gaps in the numbers.

    An incomplete line is read again from its beginning, because the writer may replace it by another line. A power cut
    can leave NUL bytes, which are removed from the beginning of a line. Memory is bounded: a line of more than
    `MAX_LINE_BYTES` is damaged. If `is_replaced`, `restart`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self.restart()

    def restart(self) -> None:
        """Read from the beginning of the file that is now at the path."""
        self.close()
        self._begin = 0
        """Offset of the first incomplete line."""
        self._number = 0
        self._seq = 0
        self._dropped_bytes = 0
        """Of the incomplete line, which is too long."""
        self._skipped_bytes = 0
        """Of the damaged lines since the last good one."""
        self._damaged = 0
        self.damaged_at: int | None = None
        """Offset of the first damaged line."""

    def news(self, most_bytes: int = READ_BYTES) -> list[EventLine] | None:
        """New lines; None at the end of the file. Reads at most `most_bytes`, or one line. Raises OSError."""
        if self._file is None:
            try:
                self._file = self._path.open("rb", buffering=0)
            except FileNotFoundError:
                return None
        if os.fstat(self._file.fileno()).st_size < self._begin + self._dropped_bytes:
            self._dropped_bytes = 0
        self._file.seek(self._begin + self._dropped_bytes)
        *lines, rest = _read_line_end(self._file, most_bytes).split(b"\n")
        if not lines:
            if not rest or len(rest) + self._dropped_bytes <= MAX_LINE_BYTES:
                return None
            self._dropped_bytes += len(rest)
        return [line for each in lines if (line := self._taken(each)) is not None]

    def is_replaced(self) -> bool:
        """Whether the file was replaced or has become shorter. Raises OSError."""
        if self._file is None:
            return False
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return True
        mine = os.fstat(self._file.fileno())
        is_other = (found.st_dev, found.st_ino) != (mine.st_dev, mine.st_ino)
        return is_other or found.st_size < self._begin

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _taken(self, line: bytes) -> EventLine | None:
        size = self._dropped_bytes + len(line) + 1
        begin, self._begin = self._begin, self._begin + size
        self._number, self._dropped_bytes = self._number + 1, 0
        data = line.lstrip(b"\0")
        try:
            if size > MAX_LINE_BYTES:
                raise InputError(f"longer than {MAX_LINE_BYTES} bytes")
            event = read_event(data)
            last = self._seq + 1 + self._skipped_bytes // MIN_EVENT_BYTES
            if not self._seq < event.seq <= last:
                raise InputError(f"has the number {event.seq} after {self._seq}")
        except (ValueError, InputError, RecursionError) as error:
            self._note_damage(begin, size, error)
            return None
        self._seq, self._skipped_bytes = event.seq, 0
        return EventLine(begin, data, event)

    def _note_damage(self, begin: int, size: int, error: Exception) -> None:
        self._damaged += 1
        self._skipped_bytes += size
        if self.damaged_at is None:
            self.damaged_at = begin
        if self._damaged <= LOGGED_LINES or not self._damaged & (self._damaged - 1):
            why = printable(str(error).replace("\n", " "), MAX_REASON_CHARACTERS)
            log.warning(
                "a damaged line is skipped",
                file=str(self._path),
                line=self._number,
                offset=begin,
                damaged=self._damaged,
                why=why,
            )


def _read_line_end(file: IO[bytes], most_bytes: int) -> bytes:
    """Pieces up to the first one with a line end, the end of the file, or too many bytes for a line."""
    pieces: list[bytes] = []
    size = 0
    while size <= MAX_LINE_BYTES and (data := file.read(most_bytes)):
        pieces.append(data)
        size += len(data)
        if b"\n" in data:
            break
    return b"".join(pieces)
