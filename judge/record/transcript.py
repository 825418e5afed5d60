"""The transcript: every byte read and written with its time, and all readings for verdicts, sealed by one digest.

Private parts are stderr and DEBUG lines. See decision 0008.
"""

import hashlib
import io
import os
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Annotated, NamedTuple

from pydantic import ConfigDict, Field

from judge.base.errors import HostError, InputError
from judge.base.parsing import Model
from judge.games.types import SEATS
from judge.record.bounds import MAX_RECORD_BYTES

_HEADER = struct.Struct("<QbcI")
SPILL_BYTES = 1 << 20
BLOCK_ENTRIES = 1024

_NO_ENDS = bytes(byte for byte in range(256) if byte not in b"\r\n")


class EntryKind(StrEnum):
    """The kind of an entry."""

    STARTED = "S"
    WROTE = ">"
    """To the agent's pipe; it may be frozen."""
    READ = "<"
    """Empty at the end of stdout."""
    STDERR = "!"
    REPORT = "?"
    OOM = "M"
    """The kernel killed a process of the agent for memory."""
    THAWED = "T"
    """The agent's clock starts."""
    FROZEN = "F"
    """The box's memory in digits; empty if unknown."""
    LOOKED = "L"
    """Entries since the judge's last action happened before the next request."""
    EXPIRED = "X"
    """The judge polled at a deadline and found nothing."""
    EVIDENCE = "E"
    RESPAWNED = "R"
    KILLED = "K"
    FAILED = "H"
    """The host failed after the game; the bytes are the error."""
    PAUSED = "P"
    """The judge's process did not run; nanoseconds in digits."""
    OVERSLEPT = "Z"
    """An idle judge woke up late at a deadline; nanoseconds in digits."""
    RAN_ON = "O"
    """After its turn: `judge.referee.requests.RanOn` as JSON."""
    STOPPED_CPU = "U"
    """Of a stopped box: `judge.referee.requests.StoppedCpu` as JSON."""
    MEMORY = "B"
    """Above the limit: `judge.referee.requests.MemoryUse` as JSON."""
    KERNEL = "N"
    """The kernel's memory for the agent is above its limit; bytes in digits."""


_KINDS = {kind.encode(): kind for kind in EntryKind}


class Entry(NamedTuple):
    """One event. Times are monotonic, in a finished transcript from the first entry."""

    ns: int
    seat: int
    """-1: of the judge or its host."""
    kind: EntryKind
    data: bytes
    private: bool = False


MAX_DIGITS = 18


def decode_number(data: bytes) -> int:
    """Nanoseconds of a PAUSED or OVERSLEPT entry, bytes of a KERNEL entry. Raises ValueError."""
    if len(data) > MAX_DIGITS or not data.isdigit():
        raise ValueError(f"not a number: {data[:40]!r}")
    return int(data)


def decode_memory(data: bytes) -> int | None:
    """Bytes of a FROZEN entry, if it has them. Raises ValueError."""
    return decode_number(data) if data else None


Nanoseconds = Annotated[int, Field(ge=0, lt=1 << 64)]
Seat = Annotated[int, Field(ge=-128, lt=128)]
Length = Annotated[int, Field(ge=0, lt=1 << 32)]
Latin1 = Annotated[str, Field(pattern="^[\\x00-\\xff]*$")]
"""Bytes, one character per byte."""

Withheld = Length | tuple[Length, Latin1]
"""Length, and line ends unless these are one line feed; needed to count output in a replay."""

_SealedEntry = tuple[Nanoseconds, Seat, EntryKind, Annotated[Latin1 | Withheld, Field(union_mode="left_to_right")]]


class Block(Model):
    """Entries as JSON: `[ns, seat, kind, text]`, with `Withheld` for a private text.

    `private` has the private texts in order, or None if withheld; `private_sha256` is their digest.
    """

    model_config = ConfigDict(extra="forbid")

    entries: Annotated[list[_SealedEntry], Field(fail_fast=True)]
    private: Annotated[list[Latin1], Field(fail_fast=True)] | None
    private_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class SealedTranscript(Model):
    """A finished transcript as in a record."""

    model_config = ConfigDict(extra="forbid")

    sha256: str
    blocks: Annotated[list[Block], Field(fail_fast=True)]

    @property
    def seconds(self) -> float:
        """From the first entry to the latest one of the last block, with three decimals."""
        last = self.blocks[-1].entries if self.blocks else ()
        return round(max((ns for ns, *_ in last), default=0) / 1e9, 3)


class Transcript:
    """The transcript of a running game."""

    def __init__(self, follow: Callable[[bytes], None] | None = None) -> None:
        self._buffer = bytearray()
        self._spilled: IO[bytes] | None = None
        self._origin = -1
        self._follow = follow
        self._followed = 0

    def add(self, ns: int, seat: int, kind: EntryKind, data: bytes = b"") -> None:
        if self._origin < 0:
            self._origin = ns
        # A thaw may be earlier than the previous entry, but not than the start.
        since = ns - self._origin if ns > self._origin else 0
        self._buffer += _HEADER.pack(since, seat, kind.encode(), len(data)) + data

    def spill(self) -> None:
        """Also moves a large buffer to disk, while the judge waits.

        Raises HostError if writing fails; nothing is lost.
        """
        self.tell()
        if len(self._buffer) < SPILL_BYTES:
            return
        try:
            self._move_to_disk()
        except OSError as error:
            raise HostError(
                f"The transcript of a game could not be written to disk: {error.strerror}: "
                f"make room in {tempfile.gettempdir()} (TMPDIR)"
            ) from error
        self._buffer.clear()
        self._followed = 0

    def tell(self) -> None:
        if self._follow is not None and self._followed < len(self._buffer):
            self._follow(bytes(self._buffer[self._followed :]))
            self._followed = len(self._buffer)

    def _move_to_disk(self) -> None:
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
        if self._spilled is not None:
            # Its own position in the file: several iterations may be under way.
            with Path(f"/proc/self/fd/{self._spilled.fileno()}").open("rb") as spilled:
                yield from _entries_of(spilled)
        yield from unpack_entries(bytes(self._buffer))

    def last_read(self) -> Entry | None:
        last = None
        for entry in self:
            if entry.kind is EntryKind.READ:
                last = entry
        return last

    def close(self) -> None:
        if self._spilled is not None:
            self._spilled.close()
            self._spilled = None


def unpack_entries(packed: bytes) -> Iterator[Entry]:
    """`packed` is a transcript or a part sent to `follow`."""
    return _entries_of(io.BytesIO(packed))


def _entries_of(stream: IO[bytes]) -> Iterator[Entry]:
    while header := stream.read(_HEADER.size):
        ns, seat, kind, length = _HEADER.unpack(header)
        yield Entry(ns, seat, _KINDS[kind], stream.read(length))


def seal(entries: Iterable[Entry]) -> SealedTranscript:
    """Divide entries into blocks and compute the digest."""
    blocks = []
    chain = hashlib.sha256()
    rest = iter(entries)
    while some := list(islice(rest, BLOCK_ENTRIES)):
        private = [entry.data.decode("latin-1") for entry in some if entry.private]
        texts = (_withheld(entry) if entry.private else entry.data.decode("latin-1") for entry in some)
        block = Block(
            entries=[(entry.ns, entry.seat, entry.kind, text) for entry, text in zip(some, texts, strict=True)],
            private=private,
            private_sha256=_private_digest(private),
        )
        chain.update(_digest_and_entries(block)[0] + bytes.fromhex(block.private_sha256))
        blocks.append(block)
    return SealedTranscript(sha256=chain.hexdigest(), blocks=blocks)


def unseal(sealed: SealedTranscript) -> list[Entry]:
    """Raises InputError if a digest is wrong or too much is withheld.

    The data of a withheld entry is its line ends and spaces, in the recorded length.
    """
    chain = hashlib.sha256()
    entries: list[Entry] = []
    withheld = sum(
        _parts(text)[0]
        for block in sealed.blocks
        if block.private is None
        for _, _, _, text in block.entries
        if not isinstance(text, str)
    )
    if withheld > MAX_RECORD_BYTES:
        raise InputError(f"the transcript withholds {withheld} bytes, and a record has at most {MAX_RECORD_BYTES}")
    for number, block in enumerate(sealed.blocks):
        if block.private is not None and _private_digest(block.private) != block.private_sha256:
            raise InputError(f"transcript block {number}: the private part does not match its digest")
        try:
            digest, block_entries = _digest_and_entries(block)
        except ValueError as error:
            raise InputError(f"not a transcript written by judge: block {number}: {error}") from None
        chain.update(digest + bytes.fromhex(block.private_sha256))
        entries += block_entries
    if chain.hexdigest() != sealed.sha256:
        raise InputError("the transcript does not match its digest: a byte or a time was changed")
    return entries


def withhold(sealed: SealedTranscript) -> SealedTranscript:
    """The transcript without private parts; its digest is unchanged."""
    blocks = [block.model_copy(update={"private": None}) for block in sealed.blocks]
    return SealedTranscript(sha256=sealed.sha256, blocks=blocks)


def mark_private(entries: Iterable[Entry], is_private: Callable[[int, bytes], bool]) -> Iterator[Entry]:
    """Mark stderr, and stdout lines for which `is_private(seat, line)`.

    Mixed chunks are split; the parts keep their time. `entries` is iterated three times.
    """
    runs = [_Runs(entries, seat, is_private) for seat in SEATS]
    for entry in entries:
        if entry.kind is EntryKind.STDERR:
            yield entry._replace(private=True)
        elif entry.kind is EntryKind.READ and entry.data:
            yield from runs[entry.seat].cut(entry)
        else:
            yield entry


def _lines(entries: Iterable[Entry], seat: int) -> Iterator[bytes]:
    line = bytearray()
    for entry in entries:
        if entry.seat == seat and entry.kind is EntryKind.READ:
            for piece in entry.data.splitlines(keepends=True):
                line += piece
                if piece.endswith((b"\n", b"\r")):
                    yield bytes(line)
                    line.clear()
        elif entry.seat == seat and entry.kind is EntryKind.RESPAWNED:
            # A new process does not continue the old one's last line.
            yield bytes(line)
            line.clear()
    yield bytes(line)


class _Runs:
    def __init__(self, entries: Iterable[Entry], seat: int, is_private: Callable[[int, bytes], bool]) -> None:
        groups = groupby(_lines(entries, seat), lambda line: is_private(seat, line.rstrip(b"\r\n")))
        self._runs = ((sum(map(len, lines)), private) for private, lines in groups)
        """Consecutive bytes of a seat's stdout: their number, and whether they are private."""
        self._left, self._private = 0, False

    def cut(self, entry: Entry) -> Iterator[Entry]:
        at = 0
        while at < len(entry.data):
            while not self._left:
                self._left, self._private = next(self._runs)
            part = entry.data[at : at + self._left]
            yield entry._replace(data=part, private=self._private)
            at += len(part)
            self._left -= len(part)


def _withheld(entry: Entry) -> Withheld:
    ends = entry.data.translate(None, _NO_ENDS) if entry.kind is EntryKind.READ else b"\n"
    return len(entry.data) if ends == b"\n" else (len(entry.data), ends.decode())


def _parts(text: Withheld) -> tuple[int, bytes]:
    return (text, b"\n"[:text]) if isinstance(text, int) else (text[0], text[1].encode("latin-1"))


def _digest_and_entries(block: Block) -> tuple[bytes, list[Entry]]:
    private = iter(block.private or ())
    entries: list[Entry] = []
    parts: list[bytes] = []
    for ns, seat, kind, text in block.entries:
        if isinstance(text, str):
            data = text.encode("latin-1")
            parts += (_HEADER.pack(ns, seat, kind.encode(), len(data)), data, b"o")
            entries.append(Entry(ns, seat, kind, data, False))
            continue
        length, ends = _parts(text)
        if len(ends) > length or ends.translate(None, b"\r\n"):
            raise ValueError("the line ends of a private entry do not fit its length, or are other characters")
        tag, data = (b"p", b"") if isinstance(text, int) else (b"e", ends)
        parts += (_HEADER.pack(ns, seat, kind.encode(), length), data, tag)
        if block.private is None:
            entries.append(Entry(ns, seat, kind, ends.rjust(length), True))
        else:
            private_text = next(private, None)
            if private_text is None:
                raise ValueError("fewer private texts than private entries")
            entry = Entry(ns, seat, kind, private_text.encode("latin-1"), True)
            if _withheld(entry) != text:
                raise ValueError("the length or the line ends of a private text are not those of its entry")
            entries.append(entry)
    if next(private, None) is not None:
        raise ValueError("more private texts than private entries")
    return hashlib.sha256(b"".join(parts)).digest(), entries


def _private_digest(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("latin-1")
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()
