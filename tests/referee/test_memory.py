"""The memory of a box after each answer: in the record, and like a time only as the transcript says it."""

import json

import pytest

from judge.base.text import mib
from judge.catalog.files import steps_of
from judge.referee.side import BEYOND_MEMORY
from judge.referee.spec import RecordFile
from judge.referee.transcript import EntryKind, unseal
from judge.referee.verify import verify
from judge.referee.wire import MemoryUse
from judge.testing import World
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, resealed, spec


class Growing(World):
    """A world in which the first agent uses a byte more each time, and nothing is known of the second."""

    def freeze(self, seat: int) -> int | None:
        self.memory_bytes[0] = (self.memory_bytes[0] or 1000) + 1
        return super().freeze(seat)


@pytest.fixture
def file() -> RecordFile:
    return Game(Growing(brain(*BLACK_ROW), brain(*WHITE_ROW)), spec()).file()


def test_each_answer_has_the_memory_that_its_box_used_then(file: RecordFile) -> None:
    used = [ply.memory_bytes for ply in file.record.plies]

    assert sorted(filter(None, used)) == list(filter(None, used[::2])) == used[::2]
    assert {None} == set(used[1::2])
    assert used == [step.memory_bytes for step in steps_of(file).steps[1:]]
    assert [] == list(verify(file).problems)


def test_a_number_that_the_transcript_does_not_have_is_found(file: RecordFile) -> None:
    plies = tuple(ply.model_copy(update={"memory_bytes": 1}) for ply in file.record.plies)
    forged = resealed(file, unseal(file.transcript), plies=plies)

    assert [problem for problem in verify(forged).problems if problem.startswith("plies")]


def with_reading(file: RecordFile, said: bytes) -> RecordFile:
    """The record with that in place of each reading."""
    entries = unseal(file.transcript)
    frozen = EntryKind.FROZEN
    return resealed(file, [each._replace(data=said) if each.kind is frozen else each for each in entries])


@pytest.mark.parametrize("said", [b"-1", b"1e3", b"\xb2", b"9" * 19, b"9" * 100_000])
def test_transcript_with_an_invalid_byte_count_is_refused(file: RecordFile, said: bytes) -> None:
    (problem,) = verify(with_reading(file, said)).problems

    assert "not a transcript written by judge" in problem
    assert len(problem) < 400


def test_a_record_of_an_earlier_judge_has_none_and_verifies(file: RecordFile) -> None:
    document = json.loads(with_reading(file, b"").to_json())
    for ply in document["record"]["plies"]:
        del ply["memory_bytes"]

    old = RecordFile.model_validate(document)

    assert [] == list(verify(old).problems)
    assert {None} == {step.memory_bytes for step in steps_of(old).steps}


LIMIT = 64 << 20


def using(use: MemoryUse) -> RecordFile:
    world = World(brain(*BLACK_ROW), brain(*WHITE_ROW))
    world.memory_use = {0: use}
    return Game(world, spec(limits={"memory_bytes": LIMIT})).file()


@pytest.mark.parametrize(
    ("use", "notes"),
    [
        (MemoryUse(120 << 20, 1 << 20), 1),
        (MemoryUse(LIMIT + 1, 0), 1),
        (MemoryUse(LIMIT, 0), 0),
        (MemoryUse(80 << 20, 16 << 20), 0),
    ],
)
def test_memory_above_the_limit_and_below_the_cap_is_noted_without_files(use: MemoryUse, notes: int) -> None:
    file = using(use)

    noted = [note for note in file.record.seats[0].notes if note.startswith(BEYOND_MEMORY)]
    without_files = f"{BEYOND_MEMORY}, without the files in its folders: peak {mib(use.own_bytes)} of 64.0 MiB"
    assert [without_files] * notes == noted
    assert None is file.record.seats[0].fault
    assert [] == list(verify(file).problems)


def test_a_note_about_memory_that_the_transcript_does_not_have_is_found() -> None:
    file = using(MemoryUse(120 << 20, 0))
    entries = [entry for entry in unseal(file.transcript) if entry.kind is not EntryKind.MEMORY]

    problems = list(verify(resealed(file, entries)).problems)

    assert [problem for problem in problems if problem.startswith("seats.0.notes")]
