"""The transcript: complete, sealed, and still checkable when private parts are withheld."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from judge.base.errors import InputError
from judge.record.transcript import (
    SPILL_BYTES,
    Block,
    Entry,
    EntryKind,
    SealedTranscript,
    Transcript,
    mark_private,
    seal,
    unseal,
    withhold,
)
from judge.referee.side import counted


def is_debug(_seat: int, line: bytes) -> bool:
    return line.startswith(b"DEBUG")


def entries() -> list[Entry]:
    return [
        Entry(0, 0, EntryKind.STARTED, b""),
        Entry(5, 0, EntryKind.WROTE, b"START 20\r\n"),
        Entry(9, 0, EntryKind.READ, b"OK\r\nDEBUG secret\r\nMESSAGE open\r\nDEB"),
        Entry(10, 1, EntryKind.STDERR, b"panic \xff\x00"),
        Entry(12, 0, EntryKind.READ, b"UG more\n7,7\n"),
        Entry(13, 0, EntryKind.READ, b""),
    ]


def test_entries_come_back_in_order_with_times_from_the_first() -> None:
    transcript = Transcript()
    transcript.add(1_000_000, 0, EntryKind.STARTED)
    transcript.add(1_000_007, 1, EntryKind.READ, b"\x00\xff")

    assert [Entry(0, 0, EntryKind.STARTED, b""), Entry(7, 1, EntryKind.READ, b"\x00\xff")] == list(transcript)


def test_a_spilled_transcript_is_divided_into_private_and_public_parts() -> None:
    """Which reads it several times at once."""
    lines = [b"%d,%d\n" % (number, number) if number % 3 else b"DEBUG %d\n" % number for number in range(4)]
    chunks = [b"x" * 500 + b"".join(lines[number % 4 :]) for number in range(4 * SPILL_BYTES // 500)]
    transcript = Transcript()
    for number, data in enumerate(chunks):
        transcript.add(number, number % 2, EntryKind.READ, data)
        transcript.spill()
    first, second = iter(transcript), iter(transcript)
    assert all(entry == next(second) for entry in first)

    parts = list(mark_private(transcript, is_debug))

    assert b"".join(chunks[::2]) == b"".join(part.data for part in parts if part.seat == 0)
    assert b"".join(chunks[1::2]) == b"".join(part.data for part in parts if part.seat == 1)
    assert list(mark_private(list(transcript), is_debug)) == parts
    assert any(part.private for part in parts)
    transcript.close()


@pytest.mark.parametrize(
    ("said", "blocks"),
    [
        (list(mark_private(entries(), is_debug)), 1),
        ([Entry(n, n & 1, EntryKind.READ, b"x") for n in range(5000)], 5),
    ],
    ids=["private parts", "many entries"],
)
def test_sealing_and_unsealing_is_the_identity(said: list[Entry], blocks: int) -> None:
    sealed = SealedTranscript.model_validate_json(seal(said).model_dump_json())

    assert blocks == len(sealed.blocks)
    assert said == unseal(sealed)


def test_private_lines_are_cut_out_of_their_chunks_across_borders() -> None:
    """A DEBUG line that arrives in two reads is private in both; the move behind it is public."""
    marked = list(mark_private(entries(), is_debug))

    assert [
        (b"OK\r\n", False),
        (b"DEBUG secret\r\n", True),
        (b"MESSAGE open\r\n", False),
        (b"DEB", True),
        (b"panic \xff\x00", True),
        (b"UG more\n", True),
        (b"7,7\n", False),
        (b"", False),
    ] == [(e.data, e.private) for e in marked[2:]]


def test_a_transcript_without_its_private_parts_still_fits_its_digest() -> None:
    sealed = seal(mark_private(entries(), is_debug))
    public = withhold(sealed)

    assert sealed.sha256 == public.sha256
    assert "secret" not in public.model_dump_json()
    assert [shape(e) for e in unseal(sealed)] == [shape(e) for e in unseal(public)]


def shape(entry: Entry) -> tuple[int, bytes]:
    """What the replay must know of an entry that is withheld."""
    return len(entry.data), bytes(byte for byte in entry.data if byte in b"\r\n" and entry.kind is EntryKind.READ)


@pytest.mark.parametrize(
    "data", [b"DEBUG a\nDEBUG b\n", b"DEBUG a\r\nDEBUG b\r\n", b"DEBUG a", b"DEBUG\rDEBUG b\nDEBUG"]
)
def test_a_withheld_read_counts_as_many_lines_as_it_had(data: bytes) -> None:
    """Else a replay of what is public finds another number of bytes in the turn of an agent that was at fault."""
    sealed = seal([Entry(1, 0, EntryKind.READ, data, private=True)])

    (shown,) = unseal(SealedTranscript.model_validate_json(withhold(sealed).model_dump_json()))

    assert counted(data, 128) == counted(shown.data, 128)
    assert data[-1:] in (shown.data[-1:], b"a", b"G")
    assert unseal(sealed) == [Entry(1, 0, EntryKind.READ, data, private=True)]


BREAKS: dict[str, Callable[[Block], object]] = {
    "text": lambda block: block.entries.__setitem__(1, (5, 0, EntryKind.WROTE, "START 19\r\n")),
    "time": lambda block: block.entries.__setitem__(1, (6, 0, EntryKind.WROTE, "START 20\r\n")),
    "private": lambda block: (block.private or []).__setitem__(0, "DEBUG other!\r\n"),
    "order": lambda block: block.entries.insert(0, block.entries.pop(1)),
    "missing": lambda block: block.entries.pop(),
}


@pytest.mark.parametrize("what", BREAKS)
def test_any_change_breaks_the_chain(what: str) -> None:
    sealed = seal(mark_private(entries(), is_debug))
    BREAKS[what](sealed.blocks[0])

    with pytest.raises(InputError, match="digest"):
        unseal(sealed)


@pytest.mark.parametrize(
    "entry",
    [
        *('[-1,0,"<","a"]', '[0,300,"<","a"]', '[0,0,"q","a"]', '[0,0,"<","\u015b"]'),
        *('[0,0,"<",-1]', '[0,0,"<",4294967296]', '[0,0,"<",[1]]'),
    ],
)
def test_an_entry_that_no_judge_writes_is_refused_when_it_is_read(entry: str) -> None:
    block = f'{{"entries":[{entry}],"private":null,"private_sha256":"{"00" * 32}"}}'

    with pytest.raises(ValidationError, match=r"entries\.0"):
        Block.model_validate_json(block)


def test_no_memory_is_taken_for_a_length_that_no_record_has_room_for() -> None:
    block = Block(entries=[(0, 0, EntryKind.STDERR, 1 << 28)] * 2, private=None, private_sha256="00" * 32)

    with pytest.raises(InputError, match="withholds 536870912 bytes, and a record has at most 469762048"):
        unseal(SealedTranscript(sha256="", blocks=[block]))


def test_a_flood_of_private_lines_is_one_piece_a_chunk() -> None:
    """However short its lines are, it costs no more than its bytes."""
    flood = [Entry(n, 0, EntryKind.READ, b"DEBUG\n" * 1000) for n in range(100)]

    marked = list(mark_private(flood, is_debug))

    assert [e._replace(private=True) for e in flood] == marked


def test_end_of_a_process_between_private_lines_is_one_entry() -> None:
    last, end = Entry(1, 0, EntryKind.READ, b"DEBUG unended"), Entry(2, 0, EntryKind.READ, b"")
    first = Entry(4, 0, EntryKind.READ, b"DEBUG of another process\n")
    entries = [last, end, Entry(3, 0, EntryKind.RESPAWNED, b""), first]

    assert [True, False, False, True] == [entry.private for entry in mark_private(entries, is_debug)]


def test_each_seat_is_cut_by_its_own_lines_and_each_process_anew() -> None:
    """What an ended process did not finish makes nothing of the next one private."""
    said = [
        Entry(1, 0, EntryKind.READ, b"DEBUG a\n1,1\nDEB"),
        Entry(2, 1, EntryKind.READ, b"2,2\nDEBUG b\n"),
        Entry(3, 0, EntryKind.READ, b"UG c\nDEBUG d"),
        Entry(4, 0, EntryKind.RESPAWNED, b""),
        Entry(5, 0, EntryKind.READ, b"OK\n"),
    ]

    assert [
        (0, b"DEBUG a\n", True),
        (0, b"1,1\n", False),
        (0, b"DEB", True),
        (1, b"2,2\n", False),
        (1, b"DEBUG b\n", True),
        (0, b"UG c\nDEBUG d", True),
        (0, b"", False),
        (0, b"OK\n", False),
    ] == [(e.seat, e.data, e.private) for e in mark_private(said, is_debug)]
