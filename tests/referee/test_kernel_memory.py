"""The kernel's memory for an agent: above the limit the agent loses, whenever the judge sees it."""

import json
import time
from collections.abc import Sequence
from contextlib import closing

import pytest

from judge.games.types import Verdict
from judge.referee.live_wire import LiveWire
from judge.referee.spec import RecordFile
from judge.referee.transcript import EntryKind, Transcript, unseal
from judge.referee.verify import verify
from judge.sandbox.box import Limits, Readings
from judge.sandbox.process.process_box import IdleMeter
from judge.testing import Act, Do, Say, ScriptedGame, World
from tests.patience import PATIENCE_S
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, resealed, spec
from tests.referee.test_wire_events import OpenBox

SPEC = spec(limits={"memory_bytes": 64 << 20})
MOST = Limits(memory_bytes=64 << 20).kernel_bytes
ABOVE = b"%d" % (MOST + 1)


class Filling:
    """A brain that does something before or after its second answer, and on END."""

    def __init__(self, before: Sequence[Act] = (), after: Sequence[Act] = (), at_end: Sequence[Act] = ()) -> None:
        self._brain = brain(*BLACK_ROW)
        self._before, self._after, self._at_end = before, after, at_end
        self._answers = 0

    def __call__(self, line: str) -> Sequence[Act]:
        acts = self._at_end if line.startswith("END") and self._at_end else self._brain(line)
        self._answers += any(isinstance(act, Say) and act.data[:1].isdigit() for act in acts)
        if self._answers != 2 or line.startswith("END"):
            return acts
        return [*self._before, *acts, *self._after]


def played(filling: Filling, readings: Readings | None = None) -> RecordFile:
    file = a_file(ScriptedGame(World(filling, brain(*WHITE_ROW), readings=readings), SPEC), SPEC)
    assert [] == list(verify(file).problems)
    return file


IN_ITS_TURN = Filling(before=[Do(EntryKind.KERNEL, ABOVE)])
AT_ITS_END = Filling(after=[Do(EntryKind.KERNEL, ABOVE, 0)])


@pytest.mark.parametrize(("filling", "plies"), [(IN_ITS_TURN, 2), (AT_ITS_END, 3)], ids=["in its turn", "at its end"])
def test_agent_above_the_limit_loses_before_its_opponent_is_asked(filling: Filling, plies: int) -> None:
    file = played(filling, Readings(kernel_peak_bytes=MOST + 9))

    evidence = file.record.seats[0].evidence
    assert (Verdict.MEMORY, 1) == (file.record.verdict, file.record.winner)
    assert "the kernel's memory" in file.record.reason
    assert evidence is not None
    assert (MOST + 9, MOST) == (evidence.kernel_peak_bytes, evidence.kernel_limit_bytes)
    assert plies == len(file.record.plies)


def test_evidence_is_the_reading_in_the_transcript_if_a_later_one_is_lower() -> None:
    evidence = played(Filling(before=[Do(EntryKind.KERNEL, ABOVE)])).record.seats[0].evidence

    assert evidence is not None
    assert MOST + 1 == evidence.kernel_peak_bytes


def test_agent_above_the_limit_gets_no_time_for_its_goodbye() -> None:
    file = played(Filling(before=[Do(EntryKind.KERNEL, ABOVE)]))

    entries = [entry for entry in unseal(file.transcript) if entry.seat == 0]
    evidence = next(number for number, entry in enumerate(entries) if entry.kind is EntryKind.EVIDENCE)
    kinds = [entry.kind for entry in entries[evidence:]]
    assert EntryKind.KILLED in kinds
    assert EntryKind.THAWED not in kinds


def test_agent_that_exceeds_the_limit_in_its_goodbye_is_killed_and_keeps_its_result() -> None:
    world = World(Filling(at_end=[Do(EntryKind.KERNEL, ABOVE)]), brain(*WHITE_ROW))
    file = a_file(ScriptedGame(world, SPEC), SPEC)

    assert (Verdict.WIN, 0) == (file.record.verdict, file.record.winner)
    assert [0] == world.killed
    assert [] == list(verify(file).problems)


def test_agent_above_the_limit_in_its_opponents_turn_is_killed_at_once_and_loses_after_it() -> None:
    pondering, opponent = Filling(after=[Do(EntryKind.KERNEL, ABOVE, 20)]), brain(*WHITE_ROW, ms=50)
    ponder_spec = spec(limits={"memory_bytes": 64 << 20}, clock={"ponder": True})
    file = a_file(ScriptedGame(World(pondering, opponent, ponders=True), ponder_spec), ponder_spec)

    kinds = [(entry.seat, entry.kind) for entry in unseal(file.transcript)]
    answers = [number for number, pair in enumerate(kinds) if pair == (1, EntryKind.READ)]
    assert (Verdict.MEMORY, 1) == (file.record.verdict, file.record.winner)
    assert kinds.index((0, EntryKind.KILLED)) < answers[-1]
    assert 4 == len(file.record.plies)


def test_a_kill_below_the_cap_is_no_void_for_an_agent_above_the_limit() -> None:
    killed = Readings(oom_kills=1, reached_cap=False, kernel_peak_bytes=MOST + 1)

    file = played(Filling(before=[Do(EntryKind.OOM)]), killed)

    assert (Verdict.MEMORY, 1) == (file.record.verdict, file.record.winner)
    assert "the kernel's memory" in file.record.reason


@pytest.mark.parametrize("said", [b"%d" % MOST, b"0"])
def test_a_forged_entry_within_the_limit_decides_nothing(said: bytes) -> None:
    file = played(Filling(before=[Do(EntryKind.KERNEL, ABOVE)]))
    entries = [
        entry._replace(data=said) if entry.kind is EntryKind.KERNEL else entry for entry in unseal(file.transcript)
    ]

    assert verify(resealed(file, entries)).problems


@pytest.mark.parametrize("said", [b"", b"-1", b"1e3", b"9" * 19])
def test_transcript_with_an_invalid_byte_count_is_refused(said: bytes) -> None:
    file = played(Filling(before=[Do(EntryKind.KERNEL, ABOVE)]))
    entries = [
        entry._replace(data=said) if entry.kind is EntryKind.KERNEL else entry for entry in unseal(file.transcript)
    ]

    (problem,) = verify(resealed(file, entries)).problems

    assert "not a transcript written by judge" in problem


def test_a_record_of_an_earlier_judge_has_no_readings_and_verifies() -> None:
    file = played(Filling(before=[Say(b"x" * (1 << 20) + b"\n")]), Readings(oom_kills=0))
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


class GrowingMeter(IdleMeter):
    """Uses more at each reading."""

    def __init__(self, *used: int | None) -> None:
        super().__init__()
        self._used = list(used)

    def kernel_bytes(self) -> int | None:
        return self._used.pop(0) if len(self._used) > 1 else self._used[0]


class MeteredBox(OpenBox):
    """A box with a meter."""

    def __init__(self, *used: int | None) -> None:
        super().__init__()
        self.meter = GrowingMeter(*used)


def soon() -> int:
    return time.monotonic_ns() + int(PATIENCE_S * 1e9)


def wire(first: MeteredBox, second: MeteredBox) -> LiveWire:
    return LiveWire([first, second], Transcript(), lambda _: first, None, 1, 1000, kernel_bytes=100)


def test_use_above_the_limit_is_reported_once_while_the_judge_waits() -> None:
    with closing(wire(MeteredBox(None), MeteredBox(99, 100, 101))) as live:
        live.thaw(0)

        happening = live.wait(soon())

        assert (1, EntryKind.KERNEL, b"101") == happening[1:]
        end = time.monotonic_ns() + 50_000_000
        assert EntryKind.KERNEL not in iter(lambda: live.wait(end).kind, EntryKind.EXPIRED)


def test_use_above_the_limit_is_seen_at_the_end_of_a_turn() -> None:
    with closing(wire(MeteredBox(101), MeteredBox(0))) as live:
        live.thaw(0)
        live.freeze(0)

        assert [(0, EntryKind.KERNEL, b"101")] == [happening[1:] for happening in live.look()]
