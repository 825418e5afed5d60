"""Bytes in, whole lines out: a line is ended by `\\n`, and never grows beyond its limit however much arrives."""

from collections.abc import Callable


class LineReader:
    """Cuts a stream into lines of at most `limit` bytes; what a line has beyond that is dropped and counted.

    Lines for which `is_private` are kept apart, so that what a protocol makes of an agent's lines (answers, reasons,
    notes) can be public: it never sees the others. A line is judged as it stands in the stream, also where its
    beginning was forgotten, for so its public and its private parts are cut for a record.
    """

    def __init__(self, limit: int, is_private: Callable[[bytes], bool] = lambda _line: False) -> None:
        self._limit = limit
        self._is_private = is_private
        self._rest = b""
        self._forgotten = b""
        """The beginning of the present line, whose rest is discarded."""
        self._private: list[bytes] = []
        self.cut_lines = 0
        """How many lines were longer than the limit."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the public lines that `data` completes, without their ends, empty ones included."""
        text = self._rest + data
        lines = text.split(b"\n")
        self._rest = lines.pop()
        if len(text) > self._limit:
            # One byte more than the limit is kept, so that the finished line is known to have been cut.
            self._rest = self._rest[: self._limit + 1]
            lines = [self._cut(line) for line in lines]
        public: list[bytes] = []
        for line in lines:
            is_private = self._is_private(self._forgotten + line)
            self._forgotten = b""
            (self._private if is_private else public).append(line)
        return public

    def take_private(self) -> list[bytes]:
        """The private lines since the last call."""
        private, self._private = self._private, []
        return private

    def clear(self) -> bool:
        """Forget an unfinished line; True when there was one. What follows of it is read as a line of its own."""
        had_rest = bool(self._rest)
        self._forgotten = (self._forgotten + self._rest)[: self._limit]
        self._rest = b""
        return had_rest

    def begin(self) -> None:
        """Begin again, with another process's stream."""
        self._rest = self._forgotten = b""

    def _cut(self, line: bytes) -> bytes:
        if len(line) <= self._limit:
            return line
        self.cut_lines += 1
        return line[: self._limit]
