"""The referee in a scripted world: who is asked, what is charged, who is blamed."""

from itertools import pairwise

import pytest

from judge.games.types import Verdict
from judge.referee.transcript import EntryKind
from judge.sandbox.box import ProcessReport, Readings
from judge.testing import Act, Do, Say, ScriptedGame, World, dies, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, brain, play, spec


def test_a_game_is_played_to_its_end() -> None:
    """Five in a row wins; both hear END and exit, and nobody is killed."""
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [None, None] == played.faults
    assert "END" == played.world.bodies[0].heard[-1] == played.world.bodies[1].heard[-1]
    assert [] == played.world.killed
    assert {"name": "scripted"} == played.referee.sides[0].about


def test_a_turn_is_charged_from_the_thaw_to_the_read_that_completes_the_reply() -> None:
    played = play(brain(*BLACK_ROW, ms=70), brain(*WHITE_ROW, ms=3))

    assert {70_000_000} == {ply.charged_ns for ply in played.referee.plies if ply.seat == 0}
    # Five turns and the one millisecond that START took.
    assert 351_000_000 == played.referee.sides[0].clock.charged_ns


def test_time_left_is_sent_before_every_move_and_falls_by_the_charged_time() -> None:
    played = play(brain(*BLACK_ROW, ms=1000), brain(*WHITE_ROW))

    told = [line for line in played.world.bodies[0].heard if line.startswith("INFO time_left")]
    assert [f"INFO time_left {119_999 - 1000 * n}" for n in range(5)] == told


def test_time_left_of_an_unlimited_game_is_the_largest_int() -> None:
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW), spec(clock={"match_ms": 0}))

    assert "INFO time_left 2147483647" in played.world.bodies[1].heard


def test_overrun_within_tolerance_is_free_for_the_turn_and_charged_to_the_game() -> None:
    """time_left may become negative; a game that is overrun eats the tolerance, and is then lost."""
    clock = {"turn_ms": 1000, "match_ms": 2500, "tolerance_ms": 500}
    played = play(brain(*BLACK_ROW, ms=1400), brain(*WHITE_ROW), spec(clock=clock))

    told = [line for line in played.world.bodies[0].heard if line.startswith("INFO time_left")]
    assert ["INFO time_left 2499", "INFO time_left 1099", "INFO time_left -301"] == told
    assert (Verdict.MATCH_TIME, 1) == (played.verdict, played.winner)


def test_a_turn_that_is_too_long_is_lost_at_its_deadline() -> None:
    clock = {"turn_ms": 1000, "tolerance_ms": 500}
    played = play(brain("7,7", ms=1501), brain(), spec(clock=clock))

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    assert [Verdict.TURN_TIME, None] == played.faults
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert (1500, 1500) == (evidence.charged_ms, evidence.allowed_ms)


def test_as_fast_as_possible_has_a_separate_small_deadline() -> None:
    """timeout_turn 0 is told as 0; a second is enforced."""
    clock = {"turn_ms": 0, "tolerance_ms": 0}
    played = play(brain("7,7", ms=950), brain("7,8", ms=1050), spec(clock=clock))

    assert (Verdict.TURN_TIME, 0) == (played.verdict, played.winner)
    assert "INFO timeout_turn 0" in played.world.bodies[0].heard


def test_a_partial_line_does_not_move_the_deadline() -> None:
    drip = [Say(b"1", 400), Say(b"0", 400), Say(b",", 400), Say(b"1\n", 400)]
    clock = {"turn_ms": 1000, "tolerance_ms": 0}
    played = play(brain(BEGIN=drip), brain(), spec(clock=clock))

    assert Verdict.TURN_TIME is played.verdict


def test_a_flood_does_not_hide_the_deadline() -> None:
    """Something to read at every look is no reason not to look at the clock."""
    flood = [Say(b"MESSAGE x\n", 1)] * 5000
    clock = {"turn_ms": 1000, "tolerance_ms": 0}
    played = play(brain(BEGIN=flood), brain(), spec(clock=clock))

    assert Verdict.TURN_TIME is played.verdict


def test_agent_without_ok_loses_on_its_start() -> None:
    played = play(brain(START=[]), brain(), spec(clock={"start_ms": 700}))

    assert (Verdict.START_TIME, 1) == (played.verdict, played.winner)
    assert [] == played.world.bodies[1].heard


def test_start_is_charged_to_the_game_clock_and_not_to_the_turn() -> None:
    slow = brain("7,7", START=[Say(b"OK\n", 9000)])
    played = play(slow, brain(), spec(clock={"turn_ms": 100, "match_ms": 20000}))

    assert "INFO time_left 11000" in played.world.bodies[0].heard
    assert Verdict.TURN_TIME is played.verdict
    assert [None, Verdict.TURN_TIME] == played.faults


def test_a_silence_on_about_is_free() -> None:
    played = play(brain(*BLACK_ROW, ABOUT=[]), brain(*WHITE_ROW))

    assert Verdict.WIN is played.verdict
    assert 6_000_000 == played.referee.sides[0].clock.charged_ns


def test_a_crash_is_a_crash_and_not_a_timeout() -> None:
    played = play(brain(BEGIN=exits(3)), brain())

    assert (Verdict.CRASH, 1) == (played.verdict, played.winner)
    assert "exited with code 3" in played.end.reason


def test_a_signal_is_named() -> None:
    played = play(brain(BEGIN=dies(11)), brain())

    assert "signal 11 (SIGSEGV)" in played.end.reason


def test_unstartable_agent_reports_the_reason() -> None:
    failed: list[Act] = [
        Say(b"", 1),
        Do(EntryKind.REPORT, ProcessReport("exec-failed", 2).encode()),
    ]
    played = play(brain(START=failed), brain())

    assert Verdict.CRASH is played.verdict
    assert "No such file or directory" in played.end.reason


def test_a_last_word_before_the_end_counts_and_the_death_is_judged_at_the_next_request() -> None:
    """Move, then exit: the move stands, and the opponent's move too."""
    leaver = brain(BEGIN=[Say(b"7,7\n", 1), *exits(0)])
    played = play(leaver, brain("8,8"))

    assert ["7,7", "8,8"] == [ply.said for ply in played.referee.plies]
    assert [Verdict.CRASH, None] == played.faults


def test_a_game_that_ended_by_its_rules_stays_ended() -> None:
    """White dies after its last move; black wins by the rules, not by the death."""
    white = brain(*WHITE_ROW[:3], DONE=[], TURN=[])
    moves = iter(WHITE_ROW)

    def dying(line: str) -> list[Act]:
        if line.startswith("TURN"):
            move = next(moves)
            acts: list[Act] = [Say(f"{move}\n".encode(), 1)]
            return acts + exits(1) if move == "3,1" else acts
        return list(white(line))

    played = play(brain(*BLACK_ROW), dying)

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [None, None] == played.faults


def test_an_agent_that_closes_its_stdout_and_lives_on_has_crashed() -> None:
    played = play(brain(BEGIN=[Say(b"", 1)]), brain())

    assert Verdict.CRASH is played.verdict
    assert "closed its stdout" in played.end.reason


def test_a_container_that_an_outsider_ended_is_void() -> None:
    """Nobody is blamed, nobody wins."""
    removed: list[Act] = [Say(b"", 1), Do(EntryKind.REPORT, ProcessReport("removed").encode())]
    played = play(brain(BEGIN=removed), brain())

    assert (Verdict.VOID, None) == (played.verdict, played.winner)


def test_a_container_that_ends_without_a_report_is_a_crash() -> None:
    """Else an agent that finds a way to end its container could make a game void."""
    lost: list[Act] = [Say(b"", 1), Do(EntryKind.REPORT, ProcessReport("lost").encode())]
    played = play(brain(BEGIN=lost), brain())

    assert (Verdict.CRASH, 1) == (played.verdict, played.winner)


def test_a_kill_for_memory_is_a_memory_verdict_with_the_peak() -> None:
    readings = Readings(memory_peak_bytes=400 << 20, memory_cap_bytes=386 << 20, oom_kills=1)
    played = play(brain(BEGIN=dies(9)), brain(), readings=readings)

    assert Verdict.MEMORY is played.verdict
    assert "400.0 MiB" in played.end.reason


def test_a_child_killed_for_memory_is_judged_at_once_though_the_agent_lives() -> None:
    readings = Readings(oom_kills=1)
    played = play(brain(BEGIN=[Do(EntryKind.OOM), Say(b"7,7\n", 50)]), brain(), readings=readings)

    assert Verdict.MEMORY is played.verdict
    assert [] == played.referee.plies


def test_memory_goes_before_time() -> None:
    readings = Readings(oom_kills=1)
    played = play(brain(), brain(), spec(clock={"turn_ms": 100}), readings=readings)

    assert Verdict.MEMORY is played.verdict


def test_a_starved_agent_does_not_lose_on_time() -> None:
    world = World(brain(), brain())
    world.others_share = 0.5
    played = ScriptedGame(world, spec())

    assert Verdict.VOID is played.verdict
    assert "starved" in played.end.reason


def test_one_that_sleeps_while_others_work_on_its_core_loses_on_time() -> None:
    world = World(brain(), brain())
    world.others_share, world.waited_share = 0.9, 0.01

    assert Verdict.TURN_TIME is ScriptedGame(world, spec()).verdict


def test_an_agent_that_the_host_stalled_does_not_lose_on_time() -> None:
    world = World(brain(), brain())
    world.stalled_share, world.slept_share = 0.5, 0.9
    played = ScriptedGame(world, spec())

    assert Verdict.VOID is played.verdict
    assert "the host stalled: for 50% of the time" in played.end.reason


def test_one_that_works_while_the_host_stalls_loses_on_time() -> None:
    world = World(brain(), brain())
    world.stalled_share, world.slept_share = 0.5, 0.1

    assert Verdict.TURN_TIME is ScriptedGame(world, spec()).verdict


@pytest.mark.parametrize(("match_ms", "verdict"), [(300, Verdict.VOID), (0, Verdict.TURN_TIME)])
def test_stalls_of_earlier_turns_excuse_only_the_game_clock(match_ms: int, verdict: Verdict) -> None:
    world = World(brain(), brain())
    world.stalled_share, world.game_stalled_share = 0.0, 0.2

    clock = {"turn_ms": 1000, "match_ms": match_ms, "tolerance_ms": 0}

    assert verdict is ScriptedGame(world, spec(clock=clock)).verdict


def test_an_agent_that_others_hold_still_does_not_lose_on_time() -> None:
    world = World(brain(), brain())
    world.held_by_others = True
    played = ScriptedGame(world, spec())

    assert Verdict.VOID is played.verdict
    assert "held still" in played.end.reason


def test_an_agent_that_is_not_starved_loses_on_time() -> None:
    """Its own threads and its opponent's are not others."""
    world = World(brain(), brain())
    world.others_share = 0.02

    assert Verdict.TURN_TIME is ScriptedGame(world, spec()).verdict


@pytest.mark.parametrize(
    ("read_bytes", "words"),
    [(1000, "more than the bound of a turn"), (10000, "more than the bound of a game")],
)
def test_bytes_end_a_game_and_long_lines_do_not(read_bytes: int, words: str) -> None:
    flood = [Say(b"x" * read_bytes, 1)] * 10
    played = play(brain(BEGIN=[*flood, Say(b"\n7,7\n")]), brain(), spec(bytes={"game_bytes": 4000}))

    assert Verdict.OUTPUT is played.verdict
    assert words in played.end.reason


def test_a_long_line_alone_does_not_end_a_game() -> None:
    long = [Say(b"MESSAGE " + b"x" * 100_000 + b"\n7,7\n")]
    played = play(brain("8,8", BEGIN=long), brain("9,9"))

    assert ["7,7", "9,9"] == [ply.said for ply in played.referee.plies[:2]]


def test_stderr_is_kept_and_judges_nothing() -> None:
    noisy = [Do(EntryKind.STDERR, b"e" * 60000)] * 40
    played = play(brain("1,1", BEGIN=[*noisy, Say(b"0,0\n")]), brain("5,5"))

    assert ["0,0", "5,5"] == [ply.said for ply in played.referee.plies[:2]]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("15,3", Verdict.ILLEGAL),
        ("-1,3", Verdict.ILLEGAL),
        ("12345678901234567890,3", Verdict.ILLEGAL),
        ("7,7", Verdict.ILLEGAL),
        ("7,7 and more", Verdict.UNREADABLE),
    ],
)
def test_move_refused_by_the_rules_loses(said: str, verdict: Verdict) -> None:
    played = play(brain("7,7"), brain(said))

    assert (verdict, 0) == (played.verdict, played.winner)
    assert [None, verdict] == played.faults


def test_refusing_to_start_loses() -> None:
    played = play(brain(START=[Say(b"ERROR size\n")]), brain())

    assert (Verdict.REFUSED, 1) == (played.verdict, played.winner)


def test_an_error_to_the_first_move_is_a_refusal_when_nothing_follows() -> None:
    """Not after the whole turn, which may last for hours; the wait is charged."""
    hours = {"turn_ms": 7_200_000, "match_ms": 7_200_000}
    played = play(brain(BEGIN=[Say(b"ERROR too little memory\n", 5)]), brain(), spec(clock=hours))

    assert (Verdict.REFUSED, 1) == (played.verdict, played.winner)
    assert "'ERROR too little memory'" in played.end.reason
    # 1 ms for START, 5 for the ERROR, a second for what may follow it.
    assert 1_006_000_000 == played.referee.sides[0].clock.charged_ns


@pytest.mark.parametrize("said", [b"UNKNOWN command", b"ERROR"])
def test_refusal_of_a_later_move_does_not_wait_for_the_whole_turn(said: bytes) -> None:
    hours = {"turn_ms": 7_200_000, "match_ms": 7_200_000}
    played = play(brain("0,0", "1,0", TURN=[Say(said + b"\n", 5)]), brain("5,5", "6,6"), spec(clock=hours))

    assert (Verdict.REFUSED, 1) == (played.verdict, played.winner)
    assert f"'{said.decode()}'" in played.end.reason
    assert played.referee.sides[0].clock.charged_ns < 2_000_000_000


def test_deadline_before_the_end_of_that_wait_is_kept() -> None:
    short = {"turn_ms": 500, "tolerance_ms": 0}
    played = play(brain(BEGIN=[Say(b"ERROR\n")]), brain(), spec(clock=short))

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)


def test_a_move_in_that_time_counts_at_its_last_moment() -> None:
    late = [Say(b"ERROR hm\n"), Say(b"0,0\n", 1000)]
    played = play(brain(*BLACK_ROW[1:], BEGIN=late), brain(*WHITE_ROW))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)


def test_a_suggestion_is_part_of_the_turn() -> None:
    """SUGGEST, PLAY and the move are one exchange on one clock."""
    played = play(brain(BEGIN=[Say(b"SUGGEST 3,3\n", 30)], PLAY=[Say(b"3,3\n", 20)]), brain("4,4"))

    assert ("3,3", 50_000_000) == (played.referee.plies[0].said, played.referee.plies[0].charged_ns)


def test_agent_ignoring_the_end_is_killed_after_the_grace() -> None:
    played = play(brain(*BLACK_ROW, END=[]), brain(*WHITE_ROW, END=exits(0, ms=900)))

    assert [0] == played.world.killed


def test_only_the_seat_to_move_runs() -> None:
    """Between START and END a seat runs from its thaw to its freeze, and never both at once."""
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW))

    running: set[int] = set()
    for entry in played.world.entries:
        if entry.kind is EntryKind.WROTE and entry.data.startswith(b"END"):
            break
        if entry.kind in (EntryKind.STARTED, EntryKind.THAWED):
            running.add(entry.seat)
        elif entry.kind is EntryKind.FROZEN:
            running.discard(entry.seat)
        assert len(running) <= 1


def test_request_is_written_while_the_agent_is_frozen() -> None:
    played = play(brain(*BLACK_ROW), brain(*WHITE_ROW))

    entries = played.world.entries
    for before, after in pairwise(entries):
        if before.kind is EntryKind.WROTE and b"TURN" in before.data:
            assert EntryKind.THAWED is after.kind


def test_activity_of_the_waiting_seat_is_noticed_and_judged_in_its_turn() -> None:
    """White floods while black thinks (it could not have been frozen): judged when white is asked."""
    flood = [Say(b"x" * 3000, 0)]
    white = brain("5,5", ABOUT=[Say(b"me\n", 0), *flood])
    played = play(brain("7,7", "7,8"), white, spec(bytes={"game_bytes": 4000}))

    assert [None, Verdict.OUTPUT] == played.faults
    assert ["7,7"] == [ply.said for ply in played.referee.plies]


def test_output_before_the_request_is_not_its_answer() -> None:
    """A second move in a write of its own, a moment after the first: discarded before the next request is written."""
    hasty = brain(BEGIN=[Say(b"7,7\n", 1), Say(b"0,0\n", 0)], TURN=[Say(b"7,8\n", 1)])
    played = play(hasty, brain("8,8"))

    assert ["7,7", "8,8", "7,8"] == [ply.said for ply in played.referee.plies[:3]]
    assert any("'0,0'" in note.text for note in played.referee.sides[0].notes)


def test_one_that_floods_out_of_turn_pays_at_its_next_request() -> None:
    """Its opponent has answered meanwhile."""
    flood = [Say(b"x" * 1000, 0)] * 50
    black = brain(BEGIN=[Say(b"7,7\n"), *flood])
    played = play(black, brain("7,8"), spec(bytes={"game_bytes": 4000}))

    assert [Verdict.OUTPUT, None] == played.faults
    assert 1 == sum(ply.seat == 1 for ply in played.referee.plies)


def test_seat_that_lost_by_output_gets_no_quit_and_is_not_read() -> None:
    flood = [Say(b"x" * 1000)] * 50
    played = play(brain(BEGIN=flood), brain(), spec(bytes={"game_bytes": 4000}))

    assert [Verdict.OUTPUT, None] == played.faults
    assert [0] == played.world.killed
    assert "END" not in played.world.bodies[0].heard
    assert read_from(played, 0) < 5_000


def test_a_flood_after_the_goodbye_ends_one_and_leaves_the_other_its_time() -> None:
    """The opponent may still save what it has learned."""
    flood = [Say(b"x" * 1000)] * 50
    saves = [Say(b"MESSAGE saved\n", 500), *exits(0)]
    played = play(brain(*BLACK_ROW, END=flood), brain(*WHITE_ROW, END=saves), spec(bytes={"game_bytes": 4000}))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [0] == played.world.killed
    assert read_from(played, 0) < 5_000
    assert any(b"saved" in entry.data for entry in played.world.entries)


def read_from(played: ScriptedGame, seat: int) -> int:
    return sum(len(e.data) for e in played.world.entries if (e.seat, e.kind) == (seat, EntryKind.READ))
