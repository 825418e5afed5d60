"""The replay of bad transcripts: an error that names the entry, after bounded work."""

import pytest

from judge.base.errors import InputError
from judge.record.transcript import Entry, EntryKind
from judge.referee.replay import Replay, rejoined, replaying
from judge.referee.requests import MemoryUse, RanOn, StoppedCpu
from judge.referee.setup import build_referee
from judge.testing import Do, World
from tests.examples import sized
from tests.hostile import assert_bounded
from tests.referee.games import Game, brain, spec

SEEN = (EntryKind.READ, EntryKind.STDERR, EntryKind.REPORT, EntryKind.OOM, EntryKind.EXPIRED)


def entries_of_every_kind() -> list[Entry]:
    """A game in which the first agent is killed for memory after its opponent ran on."""
    world = World(brain("7,7", TURN=[Do(EntryKind.STDERR, b"x"), Do(EntryKind.OOM)]), brain("8,8", END=[]))
    world.stopped_cpu_ms = {1: [0, 2]}
    world.ran_on = {1: [RanOn(3_000_000, 2_000_000)]}
    world.memory_use = {0: MemoryUse(1 << 30, 5)}
    world.memory_bytes = [5, 6]
    Game(world, spec())
    return world.entries


ENTRIES = entries_of_every_kind()
ANSWERS = [number for number, entry in enumerate(ENTRIES[:-1]) if entry.kind not in SEEN]


def error_of(entries: list[Entry]) -> str:
    with pytest.raises(InputError) as caught, replaying(replay := Replay(build_referee(spec()), entries)):
        replay.finish()
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def error_with(number: int, forged: Entry) -> str:
    return error_of([*ENTRIES[:number], forged, *ENTRIES[number:]])


def test_the_game_has_entries_of_every_answer() -> None:
    kinds = {entry.kind for entry in ENTRIES}
    missing = {EntryKind.LOOKED, EntryKind.RESPAWNED, EntryKind.FAILED, EntryKind.KERNEL}
    assert set(EntryKind) - missing - {EntryKind.PAUSED, EntryKind.OVERSLEPT} <= kinds


@pytest.mark.parametrize("number", ANSWERS, ids=lambda number: f"{number}-{ENTRIES[number].kind.name}")
def test_request_that_is_answered_twice_is_refused_at_the_second_answer(number: int) -> None:
    assert f"entry {number + 1}" in error_with(number + 1, ENTRIES[number])


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (EntryKind.REPORT, b"well"),
        *((EntryKind.FROZEN, said) for said in (b"-1", b"1e3", b"\xb2", b"9" * 19, b"9" * 100_000)),
        (EntryKind.PAUSED, b"1e9"),
        (EntryKind.PAUSED, b"-1"),
        (EntryKind.OVERSLEPT, b""),
        *((EntryKind.KERNEL, said) for said in (b"", b"-1", b"1e3", b"9" * 19)),
        (EntryKind.RAN_ON, b"[1]"),
        (EntryKind.STOPPED_CPU, b"[1, 2]"),
        (EntryKind.MEMORY, b"[" * 100_000),
        *((EntryKind.EVIDENCE, b"[" + first + 5 * b", null" + b"]") for first in (b"-1", b"1.5", b"true", b'"1"')),
        *((EntryKind.EVIDENCE, said) for said in (b"7", b"[]", b"[null" + 4 * b", null" + b"]", b"[1.5]")),
        (EntryKind.EVIDENCE, b"[null" + 17 * b", 1" + b"]"),
        (EntryKind.EVIDENCE, b'{"cpu_ns": 1}'),
    ],
)
def test_entry_with_data_that_no_judge_writes_is_refused_by_its_number(kind: EntryKind, data: bytes) -> None:
    assert f"entry 5 is {kind.name} with invalid data" in error_with(5, Entry(ENTRIES[4].ns, 0, kind, data))


@pytest.mark.parametrize("kind", [EntryKind.READ, EntryKind.REPORT, EntryKind.KERNEL])
def test_event_of_no_seat_is_refused_by_its_number(kind: EntryKind) -> None:
    assert "entry 5 is" in error_with(5, Entry(ENTRIES[4].ns, -1, kind, b"7"))


def test_look_without_an_event_is_refused() -> None:
    number = next(n for n, entry in enumerate(ENTRIES) if entry.kind is EntryKind.FROZEN) + 1

    assert f"at entry {number}:" in error_with(number, Entry(ENTRIES[number].ns, 0, EntryKind.LOOKED, b""))


FIRST_THAWED = next(number for number, entry in enumerate(ENTRIES) if entry.kind is EntryKind.THAWED) + 1


def flooded(kind: EntryKind, data: bytes, count: int) -> str:
    """The error of a game that ends after very many entries."""
    ns = ENTRIES[FIRST_THAWED].ns
    flood = [Entry(ns, 0, kind, data)] * count
    return error_of([*ENTRIES[:FIRST_THAWED], *flood, Entry(ns, 0, EntryKind.KILLED, b"")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (EntryKind.STDERR, b"x"),
        (EntryKind.READ, b"MESSAGE\r\n"),
        (EntryKind.EXPIRED, b""),
        (EntryKind.PAUSED, b"1"),
        (EntryKind.STOPPED_CPU, StoppedCpu(9_000_000, 0).encode()),
        (EntryKind.RAN_ON, RanOn(1_000_000_000, 1).encode()),
        (EntryKind.LOOKED, b""),
    ],
)
def test_a_flood_of_entries_is_refused_in_linear_work(kind: EntryKind, data: bytes) -> None:
    count = sized(5_000, 100_000)
    found: list[str] = []

    assert_bounded(lambda: found.append(flooded(kind, data, count)), count)
    assert "entry" in found[0]


def test_very_many_parts_of_a_chunk_are_joined_once() -> None:
    """Each join of two would copy what there is: 200 GB."""
    part = Entry(7, 0, EntryKind.READ, bytes(1000))
    parts = [part._replace(private=number % 2 == 0) for number in range(20_000)]

    assert [20_000_000] == [len(entry.data) for entry in rejoined(parts)]


@pytest.mark.slow
def test_very_many_entries_end_in_an_error_with_the_number_of_the_last() -> None:
    count = sized(100_000, 1_000_000)

    assert f"at entry {FIRST_THAWED + count}:" in flooded(EntryKind.STDERR, b"x", count)
