"""The transcript: every byte read and written, when, and every reading a verdict rests on, sealed by one digest.

While a game runs, entries are appended to one packed buffer, so that a flood of tiny reads costs little more than its
bytes; the buffer is spilled to disk when the judge waits anyway. Sealing cuts the entries into blocks. Of each block
the public and the private part (stderr, DEBUG lines) have digests of their own, and the transcript's digest is one
SHA-256 over all of these: if a private part is withheld, its digest remains and the rest still verifies.
"""

import hashlib
import io
import os
import struct
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import IO, Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from judge.base.errors import HostError, InputError
from judge.games.types import SEATS
from judge.referee.bounds import LARGEST_RECORD

_HEADER = struct.Struct("<QbcI")
SPILL_BYTES = 1 << 20
BLOCK_ENTRIES = 1024

_NO_ENDS = bytes(byte for byte in range(256) if byte not in b"\r\n")


class EntryKind(StrEnum):
    """The kind of an entry."""

    STARTED = "S"
    """The agent was started."""
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
    """The bytes are the memory that the box used then, as digits; none if it was unknown, and in older records."""
    LOOKED = "L"
    """The entries before it, back to the judge's last action, happened before the next request."""
    EXPIRED = "X"
    """The judge looked at a deadline and nothing had come."""
    EVIDENCE = "E"
    """Readings, as JSON, taken for a verdict."""
    RESPAWNED = "R"
    KILLED = "K"
    FAILED = "H"
    """The host failed after the game was over; the bytes say how."""
    PAUSED = "P"
    """The judge's process did not run: for how many nanoseconds, as digits."""
    OVERSLEPT = "Z"
    """The judge woke up late at a deadline, and had nothing else to do: by how many nanoseconds, as digits."""
    RAN_ON = "O"
    """The agent ran on after its turn was over: for how long, and the CPU time that it used, as JSON."""
    STOPPED_CPU = "U"
    """The agent's box used CPU time while it was stopped: `judge.referee.wire.StoppedCpu` as JSON."""


class Entry(NamedTuple):
    """One event: monotonic nanoseconds since the transcript's first entry, seat, kind, bytes."""

    ns: int
    seat: int
    kind: EntryKind
    data: bytes
    private: bool = False


MEMORY_DIGITS = 18
"""How many digits a number of bytes may have: enough for an exabyte."""


def decode_span(data: bytes) -> int:
    """The nanoseconds of a PAUSED or OVERSLEPT entry. Raises ValueError for anything else."""
    if not data.isdigit() or len(data) > MEMORY_DIGITS:
        raise ValueError(f"not a number of nanoseconds: {data[:40]!r}")
    return int(data)


def decode_memory(data: bytes) -> int | None:
    """The memory of a FROZEN entry; None if it has none. Raises ValueError for anything else."""
    if not data:
        return None
    if len(data) > MEMORY_DIGITS or not data.isdigit():
        raise ValueError(f"not a number of bytes: {data[:40]!r}")
    return int(data)


Nanoseconds = Annotated[int, Field(ge=0, lt=1 << 64)]
Seat = Annotated[int, Field(ge=-128, lt=128)]
Length = Annotated[int, Field(ge=0, lt=1 << 32)]
Latin1 = Annotated[str, Field(pattern="^[\\x00-\\xff]*$")]
"""Bytes, one character a byte."""
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

Withheld = Length | tuple[Length, Latin1]
"""What is known of a private text that is withheld: its length; with its line ends where these are not one line feed,
by which the replay counts what an agent printed."""


class Block(BaseModel):
    """Some entries as JSON: `[ns, seat, kind, text]`, with `Withheld` in place of the text of a private one.

    `private` holds the private texts in order, or None when they are withheld; `private_sha256` is their digest either
    way.
    """

    model_config = ConfigDict(extra="forbid")

    entries: list[tuple[Nanoseconds, Seat, EntryKind, Latin1 | Withheld]]
    private: list[Latin1] | None
    private_sha256: Sha256


class SealedTranscript(BaseModel):
    """A finished transcript as in a record."""

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

    def add(self, ns: int, seat: int, kind: EntryKind, data: bytes = b"") -> None:
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

    def __iter__(self) -> Iterator[Entry]:
        """Every entry so far, in order; what was spilled is read as it is asked for."""
        if self._spilled is not None:
            with open(self._spilled.fileno(), "rb", closefd=False) as spilled:
                spilled.seek(0)
                yield from _entries_of(spilled)
        yield from unpack_entries(bytes(self._buffer))

    def last_read(self) -> Entry | None:
        """What was read last of an agent's stdout; None where nothing was."""
        last = None
        for entry in self:
            if entry.kind is EntryKind.READ:
                last = entry
        return last

    def close(self) -> None:
        """Give up the spilled file."""
        if self._spilled is not None:
            self._spilled.close()
            self._spilled = None


def unpack_entries(packed: bytes) -> Iterator[Entry]:
    """The entries that `packed` holds: a transcript in memory, or what its follower was given at one time."""
    return _entries_of(io.BytesIO(packed))


def _entries_of(stream: IO[bytes]) -> Iterator[Entry]:
    while header := stream.read(_HEADER.size):
        ns, seat, kind, length = _HEADER.unpack(header)
        yield Entry(ns, seat, EntryKind(kind.decode()), stream.read(length))


def seal(entries: Iterable[Entry]) -> SealedTranscript:
    """Cut entries into blocks and compute the digest."""
    blocks = []
    chain = hashlib.sha256()
    rest = iter(entries)
    while some := list(islice(rest, BLOCK_ENTRIES)):
        block = _block(some)
        chain.update(_public_digest(block) + bytes.fromhex(block.private_sha256))
        blocks.append(block)
    return SealedTranscript(sha256=chain.hexdigest(), blocks=blocks)


def unseal(sealed: SealedTranscript) -> list[Entry]:
    """The entries of a sealed transcript; InputError when its chain is broken or it withholds more than a record holds.

    The data of a withheld entry is spaces and its line ends, together of the recorded length.
    """
    chain = hashlib.sha256()
    entries: list[Entry] = []
    withheld = sum(
        _parts(text)[0]
        for block in sealed.blocks
        if block.private is None
        for *_, text in block.entries
        if not isinstance(text, str)
    )
    if withheld > LARGEST_RECORD:
        raise InputError(f"the transcript withholds {withheld} bytes, and a record has at most {LARGEST_RECORD}")
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


def mark_private(entries: Iterable[Entry], is_private: Callable[[int, bytes], bool]) -> Iterator[Entry]:
    """Set private what only an agent's author may see: stderr, and lines of stdout for which `is_private(seat, line)`.

    A chunk that holds public and private lines is cut at their borders; its parts keep the chunk's time. `entries` are
    gone through twice, for a line may be known to be private by its end only.
    """
    spans = _private_spans(entries, is_private)
    cutters = [_Cutter(each) for each in spans]
    for entry in entries:
        if entry.kind is EntryKind.STDERR:
            yield entry._replace(private=True)
        elif entry.kind is EntryKind.READ:
            yield from cutters[entry.seat].cut(entry)
        else:
            yield entry


def _private_spans(
    entries: Iterable[Entry], is_private: Callable[[int, bytes], bool]
) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
    """By seat, the (begin, end) offsets of runs of private lines in all that it wrote to stdout."""
    streams = _Stream(), _Stream()
    for entry in entries:
        if entry.seat not in SEATS:
            continue
        stream = streams[entry.seat]
        if entry.kind is EntryKind.READ:
            for piece in entry.data.splitlines(keepends=True):
                stream.unended += piece
                if piece.endswith((b"\n", b"\r")):
                    stream.end_line(is_private(entry.seat, bytes(stream.unended).rstrip(b"\r\n")))
        elif entry.kind is EntryKind.RESPAWNED:
            # What another process says is no part of this one's last line.
            stream.end_line(is_private(entry.seat, bytes(stream.unended)))
    for seat, stream in zip(SEATS, streams, strict=True):
        stream.end_line(is_private(seat, bytes(stream.unended)))
    return streams[0].spans, streams[1].spans


@dataclass(slots=True)
class _Stream:
    """What a seat wrote to stdout, as far as it has been gone through."""

    at: int = 0
    unended: bytearray = field(default_factory=bytearray)
    """What it wrote of a line that has not ended yet."""
    spans: list[tuple[int, int]] = field(default_factory=list)

    def end_line(self, is_private: bool) -> None:
        begin, self.at = self.at, self.at + len(self.unended)
        self.unended.clear()
        if is_private:
            if self.spans and self.spans[-1][1] == begin:
                begin = self.spans.pop()[0]
            self.spans.append((begin, self.at))


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
                entry.kind,
                _withheld(entry) if entry.private else entry.data.decode("latin-1"),
            )
            for entry in entries
        ],
        private=private,
        private_sha256=_private_digest(private),
    )


def _withheld(entry: Entry) -> Withheld:
    ends = entry.data.translate(None, _NO_ENDS) if entry.kind is EntryKind.READ else b"\n"
    return len(entry.data) if ends == b"\n" else (len(entry.data), ends.decode())


def _parts(text: Withheld) -> tuple[int, bytes]:
    """The length and the line ends of a withheld text."""
    return (text, b"\n"[:text]) if isinstance(text, int) else (text[0], text[1].encode("latin-1"))


def _entries(block: Block) -> Iterator[Entry]:
    private = iter(block.private or ())
    for ns, seat, kind, text in block.entries:
        if isinstance(text, str):
            yield Entry(ns, seat, kind, text.encode("latin-1"))
        elif block.private is None:
            length, ends = _parts(text)
            yield Entry(ns, seat, kind, ends.rjust(length), True)
        else:
            yield Entry(ns, seat, kind, next(private).encode("latin-1"), True)


def _public_digest(block: Block) -> bytes:
    digest = hashlib.sha256()
    for ns, seat, kind, text in block.entries:
        if isinstance(text, str):
            tag, data = b"o", text.encode("latin-1")
            length = len(data)
        elif isinstance(text, int):
            tag, data, length = b"p", b"", text
        else:
            tag, (length, data) = b"e", _parts(text)
        digest.update(_HEADER.pack(ns, seat, kind.encode(), length) + data + tag)
    return digest.digest()


def _private_digest(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        data: Any = text.encode("latin-1")
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()
