"""Reads the lines of a file to which another process appends."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Generic, NamedTuple, TypeVar

from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.text import printable

Parsed = TypeVar("Parsed")

READ_BYTES = 8 << 20

MAX_LINE_BYTES = 64 << 20

LOGGED_LINES = 10
"""Damaged lines of a file that are logged one by one; later ones only at each power of two."""

MAX_REASON_CHARACTERS = 200

log = get_logger()


class AppendedLine(NamedTuple, Generic[Parsed]):
    """A line without its end; `begin` is its offset in the file."""

    begin: int
    data: bytes
    value: Parsed


class AppendedFile(Generic[Parsed]):
    """Complete lines of a file, as they arrive. A damaged line is skipped and logged.

    A power cut can leave NUL bytes, which are removed from the beginning of a line. Memory is bounded by
    `max_line_bytes`: a longer line is damaged. If `is_replaced`, `restart`.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], Parsed], max_line_bytes: int = MAX_LINE_BYTES) -> None:
        """`parse` raises ValueError or InputError for a damaged line."""
        self.path = path
        self._parse = parse
        self._max_line_bytes = max_line_bytes
        self._file: IO[bytes] | None = None
        self.restart()

    def restart(self) -> None:
        """Read from the beginning of the file that is now at the path."""
        self.close()
        self._rest = b""
        self._begin = 0
        self._number = 0
        self._dropped_bytes = 0
        """Of the incomplete line, which is too long."""
        self.damaged = 0
        """Number of damaged lines so far."""
        self.damaged_at: int | None = None
        """Offset of the first damaged line."""
        self.skipped_bytes = 0
        """Size of the damaged lines since the last good one, for `parse`."""

    def news(self, most_bytes: int = READ_BYTES) -> list[AppendedLine[Parsed]] | None:
        """New lines; None at the end of the file. Reads at most `most_bytes`. Raises OSError."""
        if self._file is None:
            try:
                self._file = self.path.open("rb", buffering=0)
            except FileNotFoundError:
                return None
        data = self._file.read(most_bytes)
        if not data:
            return None
        *lines, rest = (self._rest + data).split(b"\n")
        found = [line for each in lines if (line := self._taken(each)) is not None]
        if len(rest) + self._dropped_bytes > self._max_line_bytes:
            self._dropped_bytes, rest = self._dropped_bytes + len(rest), b""
        self._rest = rest
        return found

    def is_replaced(self) -> bool:
        """Whether the file was replaced or has become shorter. Raises OSError."""
        if self._file is None:
            return False
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return True
        mine = os.fstat(self._file.fileno())
        is_other = (found.st_dev, found.st_ino) != (mine.st_dev, mine.st_ino)
        return is_other or found.st_size < self._begin

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _taken(self, line: bytes) -> AppendedLine[Parsed] | None:
        size = self._dropped_bytes + len(line) + 1
        begin, self._begin = self._begin, self._begin + size
        self._number, self._dropped_bytes = self._number + 1, 0
        data = line.lstrip(b"\0")
        try:
            if size > self._max_line_bytes:
                raise InputError(f"longer than {self._max_line_bytes} bytes")
            value = self._parse(data)
        except (ValueError, InputError, RecursionError) as error:
            self._note_damage(begin, size, error)
            return None
        self.skipped_bytes = 0
        return AppendedLine(begin, data, value)

    def _note_damage(self, begin: int, size: int, error: Exception) -> None:
        self.damaged += 1
        self.skipped_bytes += size
        if self.damaged_at is None:
            self.damaged_at = begin
        if self.damaged <= LOGGED_LINES or not self.damaged & (self.damaged - 1):
            why = printable(str(error).replace("\n", " "), MAX_REASON_CHARACTERS)
            log.warning(
                "a damaged line is skipped",
                file=str(self.path),
                line=self._number,
                offset=begin,
                damaged=self.damaged,
                why=why,
            )
