"""Bytes in, whole lines out: a line is ended by `\\n`, and never grows beyond its limit however much arrives."""


class LineReader:
    """Cuts a stream into lines of at most `limit` bytes; what a line has beyond that is dropped and counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""
        self.cut_lines = 0
        """How many lines were longer than the limit."""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their ends, empty ones included."""
        text = self._rest + data
        lines = text.split(b"\n")
        self._rest = lines.pop()
        if len(text) > self._limit:
            # One byte more than the limit is kept, so that the finished line is known to have been cut.
            self._rest = self._rest[: self._limit + 1]
            lines = [self._cut(line) for line in lines]
        return lines

    def clear(self) -> bool:
        """Forget an unfinished line; True when there was one."""
        had_rest = bool(self._rest)
        self._rest = b""
        return had_rest

    def _cut(self, line: bytes) -> bytes:
        if len(line) <= self._limit:
            return line
        self.cut_lines += 1
        return line[: self._limit]
