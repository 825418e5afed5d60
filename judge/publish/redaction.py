"""Splits a record into its public part and each author's private part.

DEBUG lines and stderr are private. The public record has their lengths, times and digests, so it can be verified.
"""

from collections.abc import Collection, Iterator
from typing import Literal

from judge.base.parsing import FrozenModel
from judge.record.spec import RecordFile, public_part
from judge.record.transcript import Entry, EntryKind, SealedTranscript, unseal


class PrivateEntry(FrozenModel):
    """A withheld entry: `text` as Latin-1, `at` its place in the transcript."""

    at: tuple[int, int]
    ns: int
    kind: str
    text: str


class PrivatePart(FrozenModel):
    """Withheld entries of a seat in a game."""

    format: Literal["judge-private-1"] = "judge-private-1"
    game: str
    attempt: int
    seat: int
    agent: str
    transcript_sha256: str
    entries: tuple[PrivateEntry, ...]

    def bytes_of(self, kind: EntryKind) -> bytes:
        """Bytes of one kind: DEBUG lines (READ), or stderr."""
        return b"".join(entry.text.encode("latin-1") for entry in self.entries if entry.kind == kind.value)


def private_part(file: RecordFile, seat: int) -> PrivatePart:
    """The seat's entries that `public_part` removes."""
    record = file.record
    return PrivatePart(
        game=record.id,
        attempt=record.attempt,
        seat=seat,
        agent=record.seats[seat].name,
        transcript_sha256=record.transcript_sha256,
        entries=tuple(entry for number, entry in _private_entries(file.transcript) if number == seat),
    )


def entries_for(file: RecordFile, seats: Collection[int]) -> list[Entry]:
    """Entries for the author of these seats; other private entries are reduced to lengths."""
    public = unseal(public_part(file).transcript)
    whole = unseal(file.transcript)
    return [entry if entry.seat in seats else shown for entry, shown in zip(whole, public, strict=True)]


def _private_entries(sealed: SealedTranscript) -> Iterator[tuple[int, PrivateEntry]]:
    for number, block in enumerate(sealed.blocks):
        if not block.private:
            continue
        texts = iter(block.private)
        for at, (ns, seat, kind, text) in enumerate(block.entries):
            if not isinstance(text, str):
                yield seat, PrivateEntry(at=(number, at), ns=ns, kind=kind, text=next(texts))
