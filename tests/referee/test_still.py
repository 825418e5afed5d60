"""Who does not stand still when its turn is over pays for it, and never its opponent: on scripted agents."""

import hashlib
import json
from collections.abc import Sequence

import pytest

from judge.games.types import FAILURES, AgentFault, Verdict
from judge.records.fault_report import cases
from judge.referee.transcript import Entry, EntryKind, seal, unseal
from judge.referee.verify import verify
from judge.referee.wire import Measured, RanOn
from judge.sandbox.box import ProcessReport, Readings
from judge.testing import MS, Act, Do, Say, ScriptedGame, World, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, spec

CALL = RanOn(1000 * MS, 990 * MS)
"""A call that nothing interrupts and that lasts for as long as is waited for it."""


def world(ran_on: dict[int, list[RanOn]], white_ms: float = 1.0) -> World:
    """Two honest players, of whom one or both do not stand still."""
    made = World(brain(*BLACK_ROW), brain(*WHITE_ROW, ms=white_ms))
    made.ran_on = ran_on
    return made


def test_running_on_is_charged_to_the_awaited_seat_and_not_to_its_opponent() -> None:
    played = ScriptedGame(world({0: [RanOn(300 * MS, 300 * MS)]}), spec())

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    first, second = (side.clock.charged_ns for side in played.referee.sides)
    assert (306 * MS, 5 * MS) == (first, second)


def test_after_a_move_the_wait_is_time_of_that_move() -> None:
    played = ScriptedGame(world({0: [RanOn(300 * MS, 290 * MS), RanOn(40 * MS, 80 * MS)]}), spec())

    # the first one was its start-up's: no move was played
    assert [41 * MS, MS, MS] == [ply.charged_ns for ply in played.referee.plies][:3]


def test_seat_not_frozen_within_the_bound_loses_and_the_record_verifies() -> None:
    game_spec = spec()
    played = ScriptedGame(world({0: [CALL]}, white_ms=10**9), game_spec)

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert [Verdict.TURN_TIME, None] == played.faults
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert (1000, 990) == (evidence.ran_on_ms, evidence.ran_on_cpu_ms)
    assert not verify(a_file(played, game_spec)).problems


def test_its_page_names_the_limit_and_no_key_of_the_policy() -> None:
    game_spec = spec()
    (case,) = cases(a_file(ScriptedGame(world({0: [CALL]}), game_spec), game_spec))

    assert (990, 20) == (case.charged_ms, case.allowed_ms)
    assert () == case.rules


def test_seat_running_on_in_the_opponents_start_up_loses_before_it_begins() -> None:
    played = ScriptedGame(world({0: [CALL]}), spec())

    assert EntryKind.STARTED not in {entry.kind for entry in played.world.entries if entry.seat == 1}
    assert isinstance(played.end, AgentFault)
    assert 0 == played.end.seat


def test_one_that_uses_no_processor_time_waits_for_the_host_and_plays_on() -> None:
    """It loses nothing by a core that is busy or a disk that is slow."""
    played = ScriptedGame(world({1: [RanOn(1000 * MS, 0)] * 2}), spec())

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert 5 * MS == played.referee.sides[1].clock.charged_ns


def test_output_bound_decides_where_processor_time_is_unknown() -> None:
    played = ScriptedGame(world({1: [RanOn(1000 * MS, None)]}), spec())

    assert (Verdict.TURN_TIME, 0) == (played.verdict, played.winner)


@pytest.mark.parametrize("words", [{"turn_ms": 100}, {"match_ms": 200}, {"start_ms": 100}])
def test_a_late_seat_is_not_at_fault_for_time_that_the_other_box_used(
    words: dict[str, int],
) -> None:
    clock = {"tolerance_ms": 0, **words}
    silent = brain(START=[]) if "start_ms" in words else brain()
    stolen = World(brain("7,7"), silent)
    stolen.opponent_cpu_ms = 80
    played = ScriptedGame(stolen, game_spec := spec(clock=clock))

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert [Verdict.TURN_TIME, None] == played.faults
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert 80 == evidence.ran_on_cpu_ms
    assert not verify(a_file(played, game_spec)).problems


def test_short_stall_excuses_no_agent() -> None:
    stolen = World(brain("7,7"), brain())
    stolen.opponent_cpu_ms = 20

    played = ScriptedGame(stolen, spec())

    assert (Verdict.TURN_TIME, 0) == (played.verdict, played.winner)


def test_cpu_time_of_a_stopped_seat_is_charged_to_its_last_answer() -> None:
    busy = world({})
    busy.stopped_cpu_ms = {0: [0, 0, 15, 3]}
    played = ScriptedGame(busy, game_spec := spec())

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [19 * MS, 0, MS] == [ply.charged_ns for ply in played.referee.plies][:3]
    assert (6 + 18) * MS == played.referee.sides[0].clock.charged_ns
    assert 4 * MS == played.referee.sides[1].clock.charged_ns, "its turn of 1 ms was taken by the other"
    assert not verify(a_file(played, game_spec)).problems


def test_time_that_a_stopped_opponent_used_is_given_back_and_its_limits_are_later() -> None:
    """Without it the answer is 10 ms late."""
    late_by_ms = 10
    clock = {"turn_ms": 100, "match_ms": 0, "tolerance_ms": 0}
    game_spec = spec(clock=clock)
    alone = ScriptedGame(World(brain(*BLACK_ROW), brain(*WHITE_ROW, ms=100 + late_by_ms)), game_spec)
    assert (Verdict.TURN_TIME, 0) == (alone.verdict, alone.winner)
    busy = World(brain("7,7"), brain("0,1", ms=100 + late_by_ms))
    busy.stopped_cpu_ms = {0: [0, 0, late_by_ms + 1]}
    played = ScriptedGame(busy, game_spec)

    first, second, *_ = played.referee.plies
    assert ("7,7", "0,1") == (first.said, second.said)
    assert (100 + late_by_ms - 11) * MS == second.charged_ns
    assert not verify(a_file(played, game_spec)).problems


@pytest.mark.parametrize(("used_ms", "turn"), [(17, 2), (11, 2), (7, 3), (6, 6)])
def test_a_little_cpu_time_in_every_turn_of_the_opponent_loses(used_ms: int, turn: int) -> None:
    """Never more than 20 ms, and in the mean of many turns never more than 5 ms."""
    moves = [f"{x},{y}" for y in (0, 2, 4) for x in range(0, 14, 2)]
    others = [f"{x},{y}" for y in (1, 3, 5) for x in range(0, 14, 2)]
    busy = World(brain(*moves), brain(*others, ms=50))
    # Readings of a turn: before its own, and in its opponent's.
    busy.stopped_cpu_ms = {0: [0] + [0, used_ms] * 20}
    played = ScriptedGame(busy, game_spec := spec())

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert turn == len([ply for ply in played.referee.plies if ply.seat == 1])
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert (turn * used_ms, turn + 1) == (evidence.stopped_cpu_ms, evidence.stopped_turns)
    assert "did not stop when its turns were over" in played.end.reason
    file = a_file(played, game_spec)
    assert not verify(file).problems
    (case,) = cases(file)
    assert (turn * used_ms, 20) == (case.charged_ms, case.allowed_ms)


def test_the_mean_of_a_few_milliseconds_in_each_turn_loses_nothing() -> None:
    busy = World(brain(*BLACK_ROW), brain(*WHITE_ROW, ms=50))
    busy.stopped_cpu_ms = {0: [0] + [0, 5] * 5}
    played = ScriptedGame(busy, spec())

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)


STUCK = RanOn(1000 * MS, 950 * MS)


class Lingering(World):
    """A killed box runs on for so long."""

    after_kill: Sequence[RanOn] = ()

    def kill(self, seat: int) -> None:
        super().kill(seat)
        self.ran_on = {seat: list(self.after_kill)}


def outlives_the_game(*ran: RanOn, seat: int = 0) -> World:
    """A player that does not exit, and runs on for so long after its kill."""
    agents = [brain(*BLACK_ROW), brain(*WHITE_ROW)]
    agents[seat] = brain(*(BLACK_ROW, WHITE_ROW)[seat], END=[])
    stays = Lingering(*agents)
    stays.after_kill = ran
    return stays


@pytest.mark.parametrize("seat", [0, 1])
def test_box_that_runs_on_after_the_game_is_a_failure_that_changes_no_result(seat: int) -> None:
    played = ScriptedGame(outlives_the_game(STUCK, STUCK, RanOn(300 * MS, 100 * MS), seat=seat), game_spec := spec())
    file = a_file(played, game_spec)

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    failed = file.record.seats[seat]
    assert (Verdict.TURN_TIME, 2300.0, 2000.0) == (failed.fault, failed.lingered_ms, failed.lingered_cpu_ms)
    assert "did not end when it was killed: in 2300 ms after that it used 2000 ms of processor time" == failed.why
    assert file.record.seats[1 - seat].fault is None
    assert not verify(file).problems
    (case,) = cases(file)
    assert (2000.0, 1000) == (case.charged_ms, case.allowed_ms)
    assert failed.fault in FAILURES


@pytest.mark.parametrize(
    "ran", [[RanOn(1000 * MS, 10 * MS)] * 60, [RanOn(1000 * MS, None)] * 3, [RanOn(900 * MS, 900 * MS)]]
)
def test_box_that_a_slow_host_ends_late_is_no_failure(ran: list[RanOn]) -> None:
    """Without processor time, or with as much as the end of a large process takes."""
    played = ScriptedGame(outlives_the_game(*ran), game_spec := spec())

    assert [None, None] == played.faults
    assert not verify(a_file(played, game_spec)).problems


def test_the_goodbye_is_sent_when_the_other_box_is_gone() -> None:
    played = ScriptedGame(outlives_the_game(*[STUCK] * 5, RanOn(300 * MS, 300 * MS)), spec())
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    killed, said = kinds.index((EntryKind.KILLED, 0)), len(kinds) - 1 - kinds[::-1].index((EntryKind.WROTE, 1))
    assert 6 == kinds[killed:said].count((EntryKind.RAN_ON, 0))
    assert played.world.bodies[1].heard[-1] == "END"


class NeverFrozen(World):
    """The freezer never confirms the second seat, which uses no processor time."""

    def freeze(self, seat: int) -> int | None:
        if seat == 1:
            self.ran_on = {1: [RanOn(1000 * MS, 0)] * 50}
        return super().freeze(seat)


def test_a_frozen_box_that_uses_no_processor_time_does_not_delay_the_goodbye() -> None:
    """A freezer may never confirm that a process is frozen which waits for another one."""
    won = NeverFrozen(brain(*BLACK_ROW), brain(*WHITE_ROW))
    played = ScriptedGame(won, spec())
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    ended = len(kinds) - 1 - kinds[::-1].index((EntryKind.WROTE, 0))
    assert kinds[ended - 1] == (EntryKind.RAN_ON, 1)
    assert kinds[ended - 2] != (EntryKind.RAN_ON, 1)


def test_a_record_that_hides_the_lingering_does_not_verify() -> None:
    played = ScriptedGame(outlives_the_game(STUCK, STUCK), game_spec := spec())
    file = a_file(played, game_spec)
    innocent = file.record.seats[0].model_copy(
        update={"fault": None, "why": "", "evidence": None, "lingered_cpu_ms": 0}
    )
    forged = file.model_copy(
        update={"record": file.record.model_copy(update={"seats": (innocent, file.record.seats[1])})}
    )

    assert {"seats.0.fault", "seats.0.lingered_cpu_ms"} <= {
        problem.split(":")[0] for problem in verify(forged).problems
    }


@pytest.mark.parametrize("reads", [1, 2, 3, 4])
def test_a_seat_that_used_much_cpu_time_while_stopped_loses_though_its_opponent_was_in_time(reads: int) -> None:
    """In its opponent's start-up, at its next request, in its opponent's turn, and at the request after that."""
    busy = world({})
    busy.stopped_cpu_ms = {0: [0] * (reads - 1) + [21]}
    played = ScriptedGame(busy, game_spec := spec())

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert [Verdict.TURN_TIME, None] == played.faults
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert 21 == evidence.ran_on_cpu_ms
    assert not verify(a_file(played, game_spec)).problems


def test_cpu_time_in_the_last_turn_of_the_game_decides_it() -> None:
    legal = ScriptedGame(World(brain(*WHITE_ROW), brain("0,1")), spec())

    assert (Verdict.ILLEGAL, 0) == (legal.verdict, legal.winner), "without it the last answer loses"
    busy = World(brain(*WHITE_ROW), brain("0,1"))
    busy.stopped_cpu_ms = {0: [0, 0, 21]}
    played = ScriptedGame(busy, game_spec := spec())

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert not verify(a_file(played, game_spec)).problems


def test_seat_whose_process_exits_does_not_lose_while_the_other_box_works() -> None:
    busy = World(brain("7,7"), brain(TURN=exits(3)))
    busy.stopped_cpu_ms = {0: [0, 0, 50]}
    played = ScriptedGame(busy, game_spec := spec())

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert not verify(a_file(played, game_spec)).problems


def test_seat_with_an_externally_ended_container_does_not_lose_by_clean_up_work() -> None:
    ends: list[Act] = [Say(b"7,7\r\n"), Do(EntryKind.REPORT, ProcessReport("removed").encode(), ms=0)]
    busy = World(brain(BEGIN=ends), brain(*WHITE_ROW))
    busy.stopped_cpu_ms = {0: [0, 0, 50]}
    played = ScriptedGame(busy, game_spec := spec())

    assert Verdict.VOID is played.verdict
    assert not verify(a_file(played, game_spec)).problems


def test_evidence_of_an_earlier_judge_is_read() -> None:
    old = b"[1, 2, 0, 5000000, 0.25, false]"

    assert Measured(Readings(1, 2, 0, 5_000_000), 0.25, False) == Measured.decode(old)


def test_evidence_is_read_as_it_was_written() -> None:
    measured = Measured(Readings(1, 2, 0, 5_000_000, reached_cap=True), 0.25, False, interrupt_share=0.125)

    assert measured == Measured.decode(measured.encode())


def test_a_record_of_an_earlier_judge_bears_the_id_of_the_fields_that_it_had() -> None:
    game_spec = spec()
    file = a_file(ScriptedGame(World(brain(*BLACK_ROW), brain(*WHITE_ROW)), game_spec), game_spec)
    document = file.model_dump(mode="json")
    old_spec = document["record"]["spec"]
    del old_spec["policy"]["clock"]["close_ms"]
    text = json.dumps(old_spec, sort_keys=True, separators=(",", ":"))
    document["record"]["id"] = hashlib.sha256(text.encode()).hexdigest()[:20]

    assert file.record.id != document["record"]["id"]
    assert not verify(type(file).model_validate(document)).problems


def test_agent_that_cannot_be_ended_changes_no_verdict_and_is_recorded() -> None:
    game_spec = spec()
    stays = World(brain(*BLACK_ROW), brain(*WHITE_ROW, END=[]))
    stays.unkillable = {1}
    played = ScriptedGame(stays, game_spec)
    file = a_file(played, game_spec)

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert "the Engine refused to kill a container" == file.record.unclosed
    assert not verify(file).problems


def test_a_record_in_which_the_host_failed_before_the_end_is_no_ruling() -> None:
    game_spec = spec()
    file = a_file(ScriptedGame(World(brain(*BLACK_ROW), brain(*WHITE_ROW)), game_spec), game_spec)
    entries = unseal(file.transcript)
    middle = len(entries) // 2
    entries[middle:middle] = [Entry(entries[middle].ns, -1, EntryKind.FAILED, b"the disk is full")]
    forged = file.model_copy(update={"transcript": seal(entries)})

    problems = verify(forged).problems

    assert "the host failed before the game was over, which is a void: the disk is full" in problems


def test_a_record_that_hides_how_the_host_failed_does_not_verify() -> None:
    game_spec = spec()
    stays = World(brain(*BLACK_ROW), brain(*WHITE_ROW, END=[]))
    stays.unkillable = {1}
    file = a_file(ScriptedGame(stays, game_spec), game_spec)
    forged = file.model_copy(update={"record": file.record.model_copy(update={"unclosed": ""})})

    assert [problem for problem in verify(forged).problems if problem.startswith("unclosed")]
