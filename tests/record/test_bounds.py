"""No record is larger than its policy's bounds say, whatever its agents print; nor is the judge that makes it."""

import tracemalloc
from collections.abc import Sequence

import pytest

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.record.bounds import JSON_FACTOR, MAX_RECORD_BYTES, MIN_COUNT_BYTES, STDERR_BYTES
from judge.record.policy import load_policy, policy_names, variants_of
from judge.record.spec import RecordFile
from judge.record.transcript import EntryKind
from judge.referee.side import counted
from judge.referee.verify import verify
from judge.testing import Act, Agent, Do, Say, World
from tests.referee.games import Game, brain, marked_file, play, spec

SHIPPED = [f"{name}{variant}" for name in policy_names() for variant in ("", *(f":{v}" for v in variants_of(name)))]
GIBIBYTE = 1 << 30


@pytest.mark.parametrize("name", SHIPPED)
def test_every_policy_has_bounds_that_are_kept(name: str) -> None:
    """docs/enforcement.md states both."""
    bounds = load_policy(name).bounds()

    assert bounds.record_bytes <= MAX_RECORD_BYTES
    assert bounds.memory_bytes <= GIBIBYTE


def test_policy_with_unreadable_records_is_refused() -> None:
    with pytest.raises(InputError, match=r"more than the maximum of 448: lower bytes\.game_bytes"):
        load_policy("gomocup-freestyle", ["bytes.game_bytes=67108864"])


def test_without_a_limit_of_turns_the_bytes_of_a_game_are_the_limit() -> None:
    unlimited = load_policy("stratego-2012", ["game.options.turn_limit=-1"]).bounds()

    assert unlimited.plies > load_policy("stratego-2012").bounds().plies


def test_each_other_size_has_room_for_a_start_up_that_a_refusal_repeats() -> None:
    one, three = (load_policy("gomocup-freestyle", [f"game.options.other_sizes={sizes}"]) for sizes in ([], [19, 17]))

    assert 2 * JSON_FACTOR * one.bytes.turn_bytes <= three.bounds().record_bytes - one.bounds().record_bytes
    assert 2 * one.bytes.turn_bytes // MIN_COUNT_BYTES <= three.bounds().entries - one.bounds().entries


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"", 0),
        (b"x", 128),
        (b"x" * 128, 128),
        (b"x" * 1000, 1000),
        (b"7,7\r\n", 128),
        (b"7,7\n8,8\n", 256),
        (b"\n" * 100, 12800),
        (b"\r" * 100, 12800),
        (b"MESSAGE " + b"x" * 500 + b"\n7,7\n", 513),
    ],
)
def test_line_counts_at_least_its_minimum_of_bytes(data: bytes, count: int) -> None:
    assert count == counted(data, 128)


HOSTILE: dict[str, Sequence[Act]] = {
    "letters": [Say(b"x", 0)] * 20_000,
    "empty lines": [Say(b"\n" * 4096, 0)] * 20,
    "bytes that are escaped": [Say(b"\xff" * 4096, 0)] * 100,
    "control characters": [Say(b"\x01" * 4095 + b"\n", 0)] * 100,
    "private lines among others": [Say(b"DEBUG\nx\n" * 64, 0)] * 100,
    "messages": [Say(b"MESSAGE \xff\x00\\" + b"\xff" * 200 + b"\n", 0)] * 5000,
    "suggestions": [Say(b"SUGGEST 7,7\n" * 8, 0)] * 1000,
    "stderr": [Do(EntryKind.STDERR, b"\xff" * 128, 0)] * (STDERR_BYTES // 128),
}


@pytest.mark.parametrize("acts", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_record_is_larger_than_its_bounds(acts: Sequence[Act]) -> None:
    """Both seats do their worst in every turn, until one has said too much."""
    chosen = spec(bytes={"game_bytes": 1 << 17}, clock={"turn_ms": 1000})
    moves = [f"{x},{y}" for y in range(15) for x in range(15)]
    turn = [list(acts[n : n + 300]) for n in range(0, len(acts), 300)]
    played = Game(World(flooder(moves[::2], turn), flooder(moves[1::2], turn)), chosen)
    file = marked_file(chosen, played.end, played.referee, played.world.transcript)
    data = file.to_json()
    bounds = chosen.policy.bounds()

    assert sum(len(block.entries) for block in file.transcript.blocks) <= bounds.entries
    assert len(data) <= bounds.record_bytes
    assert [] == list(verify(RecordFile.model_validate_json(data)).problems)


@pytest.mark.slow
def test_the_judge_needs_no_more_memory_than_its_bounds_say() -> None:
    """To seal and to write a record at its worst: many entries, each of one letter."""
    chosen = spec(bytes={"game_bytes": 1 << 23})
    played = play(brain(BEGIN=[Say(b"x", 0)] * 40_000), brain(), chosen)
    assert played.verdict is Verdict.OUTPUT
    tracemalloc.start()
    try:
        data = marked_file(chosen, played.end, played.referee, played.world.transcript).to_json()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    bounds = chosen.policy.bounds()
    assert len(data) <= bounds.record_bytes
    assert peak <= bounds.memory_bytes - (128 << 20)


def flooder(moves: Sequence[str], turns: Sequence[Sequence[Act]]) -> Agent:
    """A brain that says something before each of its moves."""
    left, more = iter(moves), iter(turns)
    plain = brain()

    def hear(line: str) -> Sequence[Act]:
        if line.startswith(("BEGIN", "TURN")):
            return [*next(more, ()), Say(f"{next(left)}\r\n".encode())]
        return plain(line)

    return hear
