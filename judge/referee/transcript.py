"""The transcript: every byte read and written, when, and every reading a verdict rests on, sealed by one digest.

While a game runs, entries are appended to one packed buffer, so that a flood of tiny reads costs little more than its
bytes; the buffer is spilled to disk when the judge waits anyway. Sealing cuts the entries into blocks. Of each block
the public and the private part (stderr, DEBUG lines) have digests of their own, and the transcript's digest is one
SHA-256 over all of these: whoever withholds a private part leaves its digest, and the rest still verifies.
"""

import hashlib
import os
import struct
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import IO, Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from judge.errors import HostError, InputError

_HEADER = struct.Struct("<QbcI")
SPILL_BYTES = 1 << 20
BLOCK_ENTRIES = 1024


class Kind(StrEnum):
    """What an entry is."""

    STARTED = "S"
    """The agent was let go."""
    WROTE = ">"
    """Bytes were given to the agent (to its pipe: it may be frozen)."""
    READ = "<"
    """Bytes of the agent's stdout; none: its end of file."""
    STDERR = "!"
    REPORT = "?"
    """PID 1's word on the agent's process."""
    OOM = "M"
    """The kernel killed something of the agent's for memory."""
    THAWED = "T"
    """The agent's clock runs from here."""
    FROZEN = "F"
    LOOKED = "L"
    """What stands before it, back to the last thing that the judge did, was there before the next request."""
    EXPIRED = "X"
    """The judge looked at a deadline and nothing had come."""
    EVIDENCE = "E"
    """Readings, as JSON, taken for a verdict."""
    RESPAWNED = "R"
    KILLED = "K"
    RAN_ON = "O"
    """The agent did not stand still when its turn was over: for how long, and the CPU time that it used, as JSON."""


class Entry(NamedTuple):
    """One thing that happened: monotonic nanoseconds since the transcript's first entry, seat, kind, bytes."""

    ns: int
    seat: int
    kind: Kind
    data: bytes
    private: bool = False


class Block(BaseModel):
    """Some entries as JSON: `[ns, seat, kind, text]`, with the length in place of the text of a private one.

    Bytes are written as Latin-1 text, one character a byte. `private` holds the private texts in order, or None when
    they are withheld; `private_sha256` is their digest either way.
    """

    model_config = ConfigDict(extra="forbid")

    entries: list[tuple[int, int, str, str | int]]
    private: list[str] | None
    private_sha256: str


class SealedTranscript(BaseModel):
    """A finished transcript, as it stands in a record."""

    model_config = ConfigDict(extra="forbid")

    sha256: str
    blocks: list[Block]


class Transcript:
    """The transcript of a game that runs."""

    def __init__(self, follow: Callable[[bytes], None] | None = None) -> None:
        """`follow` is given the entries packed (see `unpack`), all and in order, whenever there is time for it."""
        self._buffer = bytearray()
        self._spilled: IO[bytes] | None = None
        self._origin = -1
        self._follow = follow
        self._followed = 0

    def add(self, ns: int, seat: int, kind: Kind, data: bytes = b"") -> None:
        """Append an entry; `ns` is the monotonic clock's own."""
        if self._origin < 0:
            self._origin = ns
        # A thaw may be dated back behind the entry before it, never behind the start.
        since = ns - self._origin if ns > self._origin else 0
        self._buffer += _HEADER.pack(since, seat, kind.encode(), len(data)) + data

    def spill(self) -> None:
        """Tell the follower what is new, and move what has grown large to disk; call it when there is time.

        Raises HostError where the disk does not take it; nothing of the transcript is lost by that.
        """
        self.tell()
        if len(self._buffer) < SPILL_BYTES:
            return
        try:
            self._move_to_disk()
        except OSError as error:
            raise HostError(
                f"The transcript of a game could not be kept on disk: {error.strerror}: "
                f"make room in {tempfile.gettempdir()} (TMPDIR)"
            ) from error
        self._buffer.clear()
        self._followed = 0

    def tell(self) -> None:
        """Tell the follower what is new."""
        if self._follow is not None and self._followed < len(self._buffer):
            self._follow(bytes(self._buffer[self._followed :]))
            self._followed = len(self._buffer)

    def _move_to_disk(self) -> None:
        """Append the buffer to the spilled file, whole or not at all."""
        if self._spilled is None:
            self._spilled = tempfile.TemporaryFile(buffering=0, prefix="judge-transcript-")  # noqa: SIM115 close()
        end = self._spilled.seek(0, os.SEEK_END)
        left = memoryview(bytes(self._buffer))
        try:
            while left:
                left = left[self._spilled.write(left) :]
        except OSError:
            self._spilled.truncate(end)
            raise

    def entries(self) -> Iterator[Entry]:
        """Every entry so far, in order."""
        packed = bytes(self._buffer)
        if self._spilled is not None:
            self._spilled.seek(0)
            packed = self._spilled.read() + packed
        return unpack(packed)

    def last_read(self) -> Entry | None:
        """What was read last of an agent's stdout; None where nothing was."""
        last = None
        for entry in self.entries():
            if entry.kind is Kind.READ:
                last = entry
        return last

    def close(self) -> None:
        """Give up the spilled file."""
        if self._spilled is not None:
            self._spilled.close()
            self._spilled = None


def unpack(packed: bytes) -> Iterator[Entry]:
    """The entries that `packed` holds: a transcript in memory, or what its follower was given at one time."""
    offset = 0
    while offset < len(packed):
        ns, seat, kind, length = _HEADER.unpack_from(packed, offset)
        offset += _HEADER.size
        yield Entry(ns, seat, Kind(kind.decode()), packed[offset : offset + length])
        offset += length


def seal(entries: Sequence[Entry]) -> SealedTranscript:
    """Cut entries into blocks and compute the digest."""
    blocks = []
    chain = hashlib.sha256()
    for start in range(0, len(entries), BLOCK_ENTRIES):
        block = _block(entries[start : start + BLOCK_ENTRIES])
        chain.update(_public_digest(block) + bytes.fromhex(block.private_sha256))
        blocks.append(block)
    return SealedTranscript(sha256=chain.hexdigest(), blocks=blocks)


def unseal(sealed: SealedTranscript) -> list[Entry]:
    """The entries of a sealed transcript; InputError when its chain is broken.

    The data of a withheld entry is spaces of the recorded length, ended by a line feed.
    """
    chain = hashlib.sha256()
    entries: list[Entry] = []
    for number, block in enumerate(sealed.blocks):
        if block.private is not None and _private_digest(block.private) != block.private_sha256:
            raise InputError(f"transcript block {number}: the private part does not fit its digest")
        chain.update(_public_digest(block) + bytes.fromhex(block.private_sha256))
        entries.extend(_entries(block))
    if chain.hexdigest() != sealed.sha256:
        raise InputError("the transcript does not fit its digest: a byte or a time was changed")
    return entries


def withhold(sealed: SealedTranscript) -> SealedTranscript:
    """The same transcript without its private parts; its digest stays."""
    blocks = [block.model_copy(update={"private": None}) for block in sealed.blocks]
    return SealedTranscript(sha256=sealed.sha256, blocks=blocks)


def mark_private(entries: Sequence[Entry], is_private: Callable[[int, bytes], bool]) -> list[Entry]:
    """Set private what only an agent's author may see: stderr, and lines of stdout for which `is_private(seat, line)`.

    A chunk that holds public and private lines is cut at their borders; its parts keep the chunk's time.
    """
    cutters = [_Cutter(_private_spans(entries, seat, is_private)) for seat in (0, 1)]
    marked: list[Entry] = []
    for entry in entries:
        if entry.kind is Kind.STDERR:
            marked.append(entry._replace(private=True))
        elif entry.kind is Kind.READ:
            marked.extend(cutters[entry.seat].cut(entry))
        else:
            marked.append(entry)
    return marked


def _private_spans(
    entries: Sequence[Entry], seat: int, is_private: Callable[[int, bytes], bool]
) -> list[tuple[int, int]]:
    """The (begin, end) offsets of runs of private lines in all that a seat wrote to stdout."""
    spans: list[tuple[int, int]] = []
    end = 0
    for said in _said_by_processes(entries, seat):
        for line in said.splitlines(keepends=True):
            begin, end = end, end + len(line)
            if is_private(seat, line.rstrip(b"\r\n")):
                if spans and spans[-1][1] == begin:
                    begin = spans.pop()[0]
                spans.append((begin, end))
    return spans


def _said_by_processes(entries: Sequence[Entry], seat: int) -> Iterator[bytes]:
    """All that each process of a seat wrote to stdout: no line goes on in the next one's."""
    said = bytearray()
    for entry in entries:
        if entry.seat != seat:
            continue
        if entry.kind is Kind.READ:
            said += entry.data
        elif entry.kind is Kind.RESPAWNED:
            yield bytes(said)
            said.clear()
    yield bytes(said)


class _Cutter:
    """Cuts a seat's chunks, in their order, at the borders of private spans; each span is looked at once."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._spans = deque(spans)
        self._at = 0

    def cut(self, entry: Entry) -> Iterator[Entry]:
        begin = self._at
        end = begin + len(entry.data)
        while self._spans and self._spans[0][0] < end:
            first, last = max(self._spans[0][0], begin), min(self._spans[0][1], end)
            if self._at < first:
                yield entry._replace(data=entry.data[self._at - begin : first - begin])
            yield entry._replace(data=entry.data[first - begin : last - begin], private=True)
            self._at = last
            if self._spans[0][1] > end:
                break
            self._spans.popleft()
        if self._at < end or not entry.data:
            yield entry._replace(data=entry.data[self._at - begin :])
        self._at = end


def _block(entries: Sequence[Entry]) -> Block:
    private = [entry.data.decode("latin-1") for entry in entries if entry.private]
    return Block(
        entries=[
            (
                entry.ns,
                entry.seat,
                entry.kind.value,
                len(entry.data) if entry.private else entry.data.decode("latin-1"),
            )
            for entry in entries
        ],
        private=private,
        private_sha256=_private_digest(private),
    )


def _entries(block: Block) -> Iterator[Entry]:
    private = iter(block.private or ())
    for ns, seat, kind, text in block.entries:
        if isinstance(text, str):
            yield Entry(ns, seat, Kind(kind), text.encode("latin-1"))
        elif block.private is None:
            yield Entry(ns, seat, Kind(kind), b" " * (text - 1) + b"\n"[: min(text, 1)], True)
        else:
            yield Entry(ns, seat, Kind(kind), next(private).encode("latin-1"), True)


def _public_digest(block: Block) -> bytes:
    digest = hashlib.sha256()
    for ns, seat, kind, text in block.entries:
        data = text.encode("latin-1") if isinstance(text, str) else b""
        length = text if isinstance(text, int) else len(data)
        digest.update(_HEADER.pack(ns, seat, kind.encode(), length) + data)
        digest.update(b"p" if isinstance(text, int) else b"o")
    return digest.digest()


def _private_digest(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        data: Any = text.encode("latin-1")
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()
