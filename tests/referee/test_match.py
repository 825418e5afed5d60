"""The referee in a scripted world: who is asked, what is charged, who is blamed.

tests/conformance/test_gomocup_misbehaviour.py has what brains do wrong at their first move.
"""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from judge.games.types import Verdict
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.testing import Act, Agent, Do, Say, exits, scripted_seats
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec

HOURS = {"turn_ms": 7_200_000, "match_ms": 7_200_000}
SMALL = {"game_bytes": 4000}
FLOOD = [Say(b"x" * 1000, 0)] * 50


def test_a_game_is_played_to_its_end() -> None:
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW))

    played.assert_won()
    assert "END" == played.heard(0)[-1] == played.heard(1)[-1]
    assert [] == played.world.killed
    assert {"name": "scripted"} == played.referee.sides[0].about


def test_a_turn_is_charged_from_the_thaw_to_the_read_that_completes_the_reply() -> None:
    played = play(brain(*BLACK_ROW, ms=70), brain(*WHITE_ROW, ms=3))

    assert [70] * 5 == played.charged_ms(0)
    # Five turns and the one millisecond that START took.
    assert 351_000_000 == played.referee.sides[0].clock.charged_ns


@pytest.mark.parametrize(
    ("match_ms", "times_left"), [(120_000, [119_999 - 1000 * n for n in range(5)]), (0, [2147483647] * 5)]
)
def test_time_left_is_sent_before_every_move_and_falls_by_the_charged_time(
    match_ms: int, times_left: list[int]
) -> None:
    played = play(brain(*BLACK_ROW, ms=1000), brain(*WHITE_ROW), spec(clock={"match_ms": match_ms}))

    assert [f"INFO time_left {ms}" for ms in times_left] == played.heard(0, "INFO time_left")


def test_overrun_within_tolerance_is_free_for_the_turn_and_charged_to_the_game() -> None:
    """time_left may become negative; a game that is overrun eats the tolerance, and is then lost."""
    clock = {"turn_ms": 1000, "match_ms": 2500, "tolerance_ms": 500}
    played = play(brain(*BLACK_ROW, ms=1400), brain(*WHITE_ROW), spec(clock=clock))

    assert [f"INFO time_left {ms}" for ms in (2499, 1099, -301)] == played.heard(0, "INFO time_left")
    played.assert_lost(0, Verdict.MATCH_TIME)


def test_a_turn_that_is_too_long_is_lost_at_its_deadline() -> None:
    played = play(brain("7,7", ms=1501), brain(), spec(clock={"turn_ms": 1000, "tolerance_ms": 500}))

    played.assert_lost(0, Verdict.TURN_TIME)
    assert (1500, 1500) == (played.evidence(0).charged_ms, played.evidence(0).allowed_ms)


def test_as_fast_as_possible_has_a_separate_small_deadline() -> None:
    played = play(brain("7,7", ms=950), brain("7,8", ms=1050), spec(clock={"turn_ms": 0, "tolerance_ms": 0}))

    played.assert_lost(1, Verdict.TURN_TIME)
    assert ["INFO timeout_turn 0"] == played.heard(0, "INFO timeout_turn")


def test_start_is_charged_to_the_game_clock_and_not_to_the_turn() -> None:
    slow = brain("7,7", START=[Say(b"OK\n", 9000)])
    played = play(slow, brain(), spec(clock={"turn_ms": 100, "match_ms": 20000}))

    assert ["INFO time_left 11000"] == played.heard(0, "INFO time_left")
    played.assert_lost(1, Verdict.TURN_TIME)


def test_a_silence_on_about_is_free() -> None:
    played = play(brain(*BLACK_ROW, ABOUT=[]), brain(*WHITE_ROW))

    played.assert_won()
    assert 6_000_000 == played.referee.sides[0].clock.charged_ns


def test_a_suggestion_is_part_of_the_turn() -> None:
    """SUGGEST, PLAY and the move are one exchange on one clock."""
    played = play(brain(BEGIN=[Say(b"SUGGEST 3,3\n", 30)], PLAY=[Say(b"3,3\n", 20)]), brain("4,4"))

    assert ("3,3", 50) == (played.said[0], played.charged_ms(0)[0])


def ended(report: ProcessReport) -> list[Act]:
    return [Say(b"", 1), Do(EntryKind.REPORT, report.encode())]


Fault = tuple[Agent, Agent, int, Verdict, str, list[str]]
"""The brains, who loses by what, words of the reason, and the answers before."""

MISSING, LOST = (brain(START=ended(ProcessReport("exec-failed", 2))), brain(BEGIN=ended(ProcessReport("lost"))))
FLOODS_ABOUT = brain("5,5", ABOUT=[Say(b"me\n", 0), Say(b"x" * 3000, 0)])
FLOODS_AFTER = brain(BEGIN=[Say(b"7,7\n"), *FLOOD])
FAULTS: dict[str, Fault] = {
    "it cannot be started": (MISSING, brain(), 0, Verdict.CRASH, "No such file", []),
    # Else an agent that finds a way to end its container could make a game void.
    "its container is lost": (LOST, brain(), 0, Verdict.CRASH, "", []),
    "bytes of a game": (
        *(brain(BEGIN=[Say(b"x" * 10000, 1)] * 10), brain()),
        *(0, Verdict.OUTPUT, "more than the bound of a game", []),
    ),
    # A white that could not be frozen floods while black thinks.
    "activity of the waiting seat": (brain("7,7", "7,8"), FLOODS_ABOUT, 1, Verdict.OUTPUT, "", ["7,7"]),
    "a flood out of turn": (FLOODS_AFTER, brain("7,8"), 0, Verdict.OUTPUT, "", ["7,7", "7,8"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    black, white, seat, verdict, words, said = FAULTS[name]
    played = play(black, white, spec(bytes=SMALL))

    played.assert_lost(seat, verdict, words)
    assert said == played.said


def test_container_that_an_outsider_ended_is_void() -> None:
    play(brain(BEGIN=ended(ProcessReport("removed"))), brain()).assert_void()


def test_agent_without_ok_loses_before_its_opponent_is_started() -> None:
    played = play(brain(START=[]), brain(), spec(clock={"start_ms": 700}))

    played.assert_lost(0, Verdict.START_TIME)
    assert [] == played.heard(1)


STALLED = Evidence(stalled_share=0.0, game_stalled_share=0.2)


@pytest.mark.parametrize(
    ("readings", "clock", "void"),
    [
        (Evidence(others_share=0.5), {}, "starved"),
        (STALLED, {"turn_ms": 1000, "match_ms": 300, "tolerance_ms": 0}, "stalled"),
        (STALLED, {"match_ms": 0}, ""),
    ],
    ids=["starved", "stalled in earlier turns, game clock", "stalled in earlier turns, turn clock"],
)
def test_late_agent_loses_or_has_an_excuse(readings: Evidence, clock: dict[str, int], void: str) -> None:
    played = play(brain(), brain(), spec(clock=clock), readings=readings)

    if void:
        played.assert_void(void)
    else:
        played.assert_lost(0, Verdict.TURN_TIME)


def test_a_game_that_ended_by_its_rules_stays_ended() -> None:
    """White dies after its last move; black wins by the rules, not by the death."""
    moves = iter(WHITE_ROW)
    white = brain()

    def dying(line: str) -> Sequence[Act]:
        if not line.startswith("TURN"):
            return white(line)
        acts = [Say(f"{(move := next(moves))}\n".encode(), 1)]
        return [*acts, *exits(1)] if move == "3,1" else acts

    play(brain(*BLACK_ROW), dying).assert_won()


def test_stderr_is_kept_and_judges_nothing() -> None:
    noisy = [Do(EntryKind.STDERR, b"e" * 60000)] * 40
    played = play(brain("1,1", BEGIN=[*noisy, Say(b"0,0\n")]), brain("5,5"))

    assert ["0,0", "5,5"] == played.said[:2]


def test_an_error_to_the_first_move_is_a_refusal_when_nothing_follows() -> None:
    """Not after the whole turn, which may last for hours; the wait is charged."""
    played = play(brain(BEGIN=[Say(b"ERROR too little memory\n", 5)]), brain(), spec(clock=HOURS))

    played.assert_lost(0, Verdict.REFUSED, "'ERROR too little memory'")
    # 1 ms for START, 5 for the ERROR, a second for what may follow it.
    assert 1_006_000_000 == played.referee.sides[0].clock.charged_ns


def test_a_move_after_an_error_counts_at_the_last_moment_and_the_deadline_is_kept() -> None:
    late, short = [Say(b"ERROR hm\n"), Say(b"0,0\n", 1000)], {"turn_ms": 500, "tolerance_ms": 0}

    play(brain(*BLACK_ROW[1:], BEGIN=late), brain(*WHITE_ROW)).assert_won()
    play(brain(BEGIN=[Say(b"ERROR\n")]), brain(), spec(clock=short)).assert_lost(0, Verdict.TURN_TIME)


def unpunctual(agent: Agent, *acts: Act) -> Agent:
    """The brain with acts at INFO rule that take longer than the judge waits for the answer to ABOUT."""
    return lambda line: acts if line.startswith("INFO rule") else agent(line)


@pytest.mark.parametrize("late_ms", [300, 1300, 2500])
def test_brain_that_is_slow_to_read_info_is_not_refused_for_its_error(late_ms: int) -> None:
    black = unpunctual(brain(*BLACK_ROW, ms=1500), Say(b"ERROR Unknown rule id: 9\n", late_ms))

    played = play(black, brain(*WHITE_ROW))

    played.assert_won()
    assert not verify(played.file()).problems


def placer(slow_line: str, word: bytes) -> Agent:
    """A brain with SWAP2BOARD that answers the first line of a kind late, and plays its first free square."""
    column = [f"7,{y}" for y in range(7, 15)]
    is_swap2 = is_late = False
    stones: set[str] = set()

    def move() -> list[Act]:
        at = next(at for at in column if at not in stones)
        stones.add(at)
        return [Say(at.encode() + b"\n", 300)]

    def hear(line: str) -> Sequence[Act]:
        nonlocal is_swap2, is_late
        if line.startswith(slow_line) and not is_late:
            is_late = True
            return [Say(word + b"\n", 1300)]
        match line.split():
            case ["START" | "RESTART", *_]:
                stones.clear()
                return [Say(b"OK\n")]
            case ["ABOUT"]:
                return [Say(b'name="placer"\n')]
            case ["SWAP2BOARD"]:
                is_swap2 = True
            case ["DONE"] if is_swap2:
                is_swap2 = False
                return [Say(b"7,7 7,8 7,9\n", 300)]
            case ["BEGIN" | "DONE"]:
                return move()
            case ["TURN", at]:
                stones.add(at)
                return move()
            case ["END"]:
                return exits(0)
            case [row] if "," in row:
                stones.add(row.rpartition(",")[0])
        return []

    return hear


@pytest.mark.parametrize("word", [b"UNKNOWN", b"ERROR"])
@pytest.mark.parametrize("slow_line", ["INFO game_type", "INFO time_left"])
def test_late_answer_to_info_does_not_shift_the_answers_to_swap2board(slow_line: str, word: bytes) -> None:
    seats = scripted_seats("gomocup", ("black", "white"))
    game_spec = GameSpec(seats=seats, policy=load_policy("gomocup-swap2"))

    played = play(placer(slow_line, word), brain("SWAP", "0,0", "2,0", "4,0", "6,0", "8,0"), game_spec)

    assert [None, None] == played.faults
    assert ["7,7 7,8 7,9", "SWAP", "7,10", "0,0", "7,11"] == played.said[:5]
    assert not verify(played.file()).problems


NAME = b'name="x"\n'


@pytest.mark.parametrize(
    ("says", "verdict"),
    [
        ([Say(b"ERROR hm\n"), Say(NAME, 900)], Verdict.TURN_TIME),
        ([Say(b"ERROR hm\n"), Say(NAME, 900), *[Say(b"ERROR hm\n", 900), Say(NAME, 900)] * 9], Verdict.REFUSED),
        ([Say(NAME, 900), Say(b"ERROR hm\n"), *[Say(NAME, 900)] * 9], Verdict.REFUSED),
        ([Say(b"ERROR hm\n"), Say(NAME, 1100)], Verdict.REFUSED),
    ],
)
def test_brain_gains_no_time_by_a_late_answer_to_about(says: list[Act], verdict: Verdict) -> None:
    clock = {"turn_ms": 5000, "tolerance_ms": 0}
    silent = play(brain(ABOUT=[], BEGIN=[]), brain(), spec(clock=clock))
    silent.assert_lost(0, Verdict.TURN_TIME)

    played = play(brain(ABOUT=[], BEGIN=says), brain(), spec(clock=clock))

    played.assert_lost(0, verdict)
    assert played.referee.sides[0].clock.charged_ns <= silent.referee.sides[0].clock.charged_ns


def test_only_the_seat_to_move_runs_and_its_request_is_written_before() -> None:
    """Between START and END a seat runs from its thaw to its freeze, and never both at once."""
    entries = play(brain(*BLACK_ROW), brain(*WHITE_ROW)).world.entries

    running: set[int] = set()
    for before, entry in pairwise(entries):
        if entry.kind is EntryKind.WROTE and entry.data.startswith(b"END"):
            break
        if entry.kind in (EntryKind.STARTED, EntryKind.THAWED):
            running.add(entry.seat)
        elif entry.kind is EntryKind.FROZEN:
            running.discard(entry.seat)
        assert len(running) <= 1
        if before.kind is EntryKind.WROTE and b"TURN" in before.data:
            assert EntryKind.THAWED is entry.kind


def test_output_before_the_request_is_not_its_answer() -> None:
    """A second move in a write of its own, a moment after the first: discarded before the next request is written."""
    hasty = brain(BEGIN=[Say(b"7,7\n", 1), Say(b"0,0\n", 0)], TURN=[Say(b"7,8\n", 1)])
    played = play(hasty, brain("8,8"))

    assert ["7,7", "8,8", "7,8"] == played.said[:3]
    assert any("'0,0'" in note.text for note in played.referee.sides[0].notes)


def test_seat_that_lost_by_output_gets_no_quit_and_is_not_read() -> None:
    played = play(brain(BEGIN=[Say(b"x" * 1000)] * 50), brain(), spec(bytes=SMALL))

    played.assert_lost(0, Verdict.OUTPUT)
    assert [0] == played.world.killed
    assert [] == played.heard(0, "END")
    assert read_from(played, 0) < 5_000


def test_a_flood_after_the_goodbye_ends_one_and_leaves_the_other_its_time() -> None:
    """The opponent may still save what it has learned."""
    saves = [Say(b"MESSAGE saved\n", 500), *exits(0)]
    flood = brain(*BLACK_ROW, END=[Say(b"x" * 1000)] * 50)
    played = play(flood, brain(*WHITE_ROW, END=saves), spec(bytes=SMALL))

    played.assert_won()
    assert [0] == played.world.killed
    assert read_from(played, 0) < 5_000
    assert any(b"saved" in entry.data for entry in played.world.entries)


def read_from(played: Game, seat: int) -> int:
    return sum(len(e.data) for e in played.world.entries if (e.seat, e.kind) == (seat, EntryKind.READ))
