r"""Splits bytes into lines that end with `\n`."""

from collections.abc import Callable, Sequence

from judge.base.text import decode, sentence
from judge.protocols.types import Note


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
        self._has_cut = False

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

    def take_cut(self) -> Sequence[Note]:
        """A note if a line was truncated since the last call."""
        if not self._has_cut:
            return ()
        self._has_cut = False
        return [Note(f"cut: a line of more than {self._limit} bytes")]

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
        self._has_cut = True
        return line[: self._limit]


def discarded(lines: Sequence[bytes]) -> Sequence[Note]:
    """A note on lines that answer no request."""
    said = [line for line in lines if line.strip()]
    if not said:
        return ()
    first = decode(said[0][:80])
    return [Note(sentence(f"discarded: {len(said)} line(s) without a request, first {first!r}"))]
