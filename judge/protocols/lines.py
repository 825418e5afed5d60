r"""Splits bytes into lines that end with `\n`."""

from collections.abc import Callable


class LineReader:
    """Splits a stream into lines of at most `limit` bytes; the rest is dropped.

    `is_private` lines are returned separately. It also gets a line's beginning that `clear` dropped, as in records.
    """

    def __init__(self, limit: int, is_private: Callable[[bytes], bool] = lambda _line: False) -> None:
        self._limit = limit
        self._is_private = is_private
        self._rest = b""
        self._forgotten = b""
        self._private: list[bytes] = []
        self.cut_lines = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Public lines that `data` completes, without ends."""
        text = self._rest + data
        lines = text.split(b"\n")
        self._rest = lines.pop()
        if len(text) > self._limit:
            # Detects truncation.
            self._rest = self._rest[: self._limit + 1]
            lines = [self._cut(line) for line in lines]
        public: list[bytes] = []
        for line in lines:
            is_private = self._is_private(self._forgotten + line)
            self._forgotten = b""
            (self._private if is_private else public).append(line)
        return public

    def take_private(self) -> list[bytes]:
        private = self._private
        if private:
            self._private = []
        return private

    def clear(self) -> bool:
        """Whether there was an unfinished line, which is dropped."""
        had_rest = bool(self._rest)
        self._forgotten = (self._forgotten + self._rest)[: self._limit]
        self._rest = b""
        return had_rest

    def begin(self) -> None:
        self._rest = self._forgotten = b""

    def _cut(self, line: bytes) -> bytes:
        if len(line) <= self._limit:
            return line
        self.cut_lines += 1
        return line[: self._limit]
