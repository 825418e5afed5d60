"""Memory of agents, and of the kernel for them: in the record as the transcript says it, and a loss above a limit."""

import json
import time
from collections.abc import Sequence
from contextlib import closing

import pytest

from judge.base.text import mib
from judge.catalog.files import steps_of
from judge.games.types import Verdict
from judge.play.live_wire import LiveWire
from judge.record.spec import RecordFile
from judge.record.transcript import EntryKind, Transcript, unseal
from judge.referee.requests import MemoryUse
from judge.referee.side import BEYOND_MEMORY
from judge.referee.verify import verify
from judge.sandbox.box import Limits
from judge.sandbox.evidence import Evidence
from judge.sandbox.process.process_box import IdleMeter
from judge.testing import Act, Agent, Do, Say, World
from tests.patience import PATIENCE_S
from tests.play.test_wire_events import OpenBox
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


def test_a_record_of_an_earlier_judge_has_none_and_verifies(file: RecordFile) -> None:
    unread = [each._replace(data=b"") if each.kind is EntryKind.FROZEN else each for each in unseal(file.transcript)]
    document = json.loads(resealed(file, unread).to_json())
    for ply in document["record"]["plies"]:
        del ply["memory_bytes"]

    old = RecordFile.model_validate(document)

    assert [] == list(verify(old).problems)
    assert {None} == {step.memory_bytes for step in steps_of(old).steps}


LIMIT = 64 << 20


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
    world = World(brain(*BLACK_ROW), brain(*WHITE_ROW))
    world.memory_use = {0: use}
    file = Game(world, spec(limits={"memory_bytes": LIMIT})).file()

    noted = [note for note in file.record.seats[0].notes if note.startswith(BEYOND_MEMORY)]
    without_files = f"{BEYOND_MEMORY}, without the files in its folders: peak {mib(use.own_bytes)} of 64.0 MiB"
    assert [without_files] * notes == noted
    assert None is file.record.seats[0].fault
    assert [] == list(verify(file).problems)


MOST = Limits(memory_bytes=LIMIT).kernel_bytes
ABOVE = b"%d" % (MOST + 1)


def filling(before: Sequence[Act] = (), after: Sequence[Act] = (), at_end: Sequence[Act] = ()) -> Agent:
    """A brain that does something before or after its second answer, and on END."""
    plays, answers = brain(*BLACK_ROW), iter(range(9))

    def hear(line: str) -> Sequence[Act]:
        if line.startswith("END"):
            return at_end or plays(line)
        acts = plays(line)
        is_second = line.split()[0] in ("BEGIN", "TURN") and next(answers) == 1
        return [*before, *acts, *after] if is_second else acts

    return hear


def kernel_game(black: Agent, readings: Evidence | None = None) -> Game:
    return Game(World(black, brain(*WHITE_ROW), readings=readings), spec(limits={"memory_bytes": LIMIT}))


def in_its_turn() -> Agent:
    return filling(before=[Do(EntryKind.KERNEL, ABOVE)])


@pytest.mark.parametrize(
    ("black", "plies"),
    [(in_its_turn(), 2), (filling(after=[Do(EntryKind.KERNEL, ABOVE, 0)]), 3)],
    ids=["in its turn", "at its end"],
)
def test_agent_above_the_limit_loses_before_its_opponent_is_asked(black: Agent, plies: int) -> None:
    game = kernel_game(black, Evidence(kernel_peak_bytes=MOST + 9))

    game.assert_lost(0, Verdict.MEMORY, "the kernel's memory")
    assert (MOST + 9, MOST) == (game.evidence(0).kernel_peak_bytes, game.evidence(0).kernel_limit_bytes)
    assert plies == len(game.said)


def test_evidence_is_the_reading_in_the_transcript_and_the_agent_gets_no_time_for_its_goodbye() -> None:
    game = kernel_game(in_its_turn())

    assert MOST + 1 == game.evidence(0).kernel_peak_bytes
    kinds = [entry.kind for entry in game.world.entries if entry.seat == 0]
    after = kinds[kinds.index(EntryKind.EVIDENCE) :]
    assert EntryKind.KILLED in after
    assert EntryKind.THAWED not in after


def test_agent_that_exceeds_the_limit_in_its_goodbye_is_killed_and_keeps_its_result() -> None:
    game = kernel_game(filling(at_end=[Do(EntryKind.KERNEL, ABOVE)]))

    game.assert_won()
    assert [0] == game.world.killed
    assert [] == list(verify(game.file()).problems)


def test_agent_above_the_limit_in_its_opponents_turn_is_killed_at_once_and_loses_after_it() -> None:
    black, white = filling(after=[Do(EntryKind.KERNEL, ABOVE, 20)]), brain(*WHITE_ROW, ms=50)
    game = Game(World(black, white, ponders=True), spec(limits={"memory_bytes": LIMIT}, clock={"ponder": True}))

    kinds = [(entry.seat, entry.kind) for entry in game.world.entries]
    answers = [number for number, pair in enumerate(kinds) if pair == (1, EntryKind.READ)]
    assert (Verdict.MEMORY, 1) == (game.verdict, game.winner)
    assert kinds.index((0, EntryKind.KILLED)) < answers[-1]
    assert 4 == len(game.said)


def test_a_kill_below_the_cap_is_no_void_for_an_agent_above_the_limit() -> None:
    killed = Evidence(oom_kills=1, reached_cap=False, kernel_peak_bytes=MOST + 1)

    kernel_game(filling(before=[Do(EntryKind.OOM)]), killed).assert_lost(0, Verdict.MEMORY, "the kernel's memory")


@pytest.mark.parametrize("said", [b"%d" % MOST, b"0"])
def test_forged_entry_of_memory_below_the_limit_is_refused(said: bytes) -> None:
    file = kernel_game(in_its_turn()).file()
    entries = unseal(file.transcript)
    forged = [entry._replace(data=said) if entry.kind is EntryKind.KERNEL else entry for entry in entries]

    assert verify(resealed(file, forged)).problems


def test_a_record_of_an_earlier_judge_has_no_readings_and_verifies() -> None:
    file = kernel_game(filling(before=[Say(b"x" * (1 << 20) + b"\n")]), Evidence(oom_kills=0)).file()
    entries = []
    for entry in unseal(file.transcript):
        former = json.dumps(json.loads(entry.data)[:-1]).encode() if entry.kind is EntryKind.EVIDENCE else entry.data
        entries.append(entry._replace(data=former))
    document = json.loads(resealed(file, entries).to_json())
    evidence = document["record"]["seats"][0]["evidence"]
    del evidence["kernel_peak_bytes"], evidence["kernel_limit_bytes"]

    old = RecordFile.model_validate(document)

    assert Verdict.OUTPUT is old.record.verdict
    assert [] == list(verify(old).problems)


class MeteredBox(OpenBox):
    """A box that uses more at each reading."""

    def __init__(self, *used: int | None) -> None:
        super().__init__()
        left = list(used)
        self.meter = IdleMeter()
        self.meter.kernel_bytes = lambda: left.pop(0) if len(left) > 1 else left[0]  # type: ignore[method-assign]


def wire(first: MeteredBox, second: MeteredBox) -> LiveWire:
    return LiveWire([first, second], Transcript(), lambda _: first, None, 1, 1000, kernel_bytes=100)


def test_use_above_the_limit_is_reported_once_while_the_judge_waits() -> None:
    with closing(wire(MeteredBox(None), MeteredBox(99, 100, 101))) as live:
        live.thaw(0)

        happening = live.await_event(time.monotonic_ns() + int(PATIENCE_S * 1e9))

        assert (1, EntryKind.KERNEL, b"101") == happening[1:4]
        end = time.monotonic_ns() + 50_000_000
        assert EntryKind.KERNEL not in iter(lambda: live.await_event(end).kind, EntryKind.EXPIRED)


def test_use_above_the_limit_is_seen_at_the_end_of_a_turn() -> None:
    with closing(wire(MeteredBox(101), MeteredBox(0))) as live:
        live.thaw(0)
        live.freeze(0)

        assert [(0, EntryKind.KERNEL, b"101")] == [happening[1:4] for happening in live.read_pending()]
