"""When an answer counts that is read late: by whose doing it was, in a scripted world."""

import pytest

from judge.games.types import Verdict
from judge.referee.transcript import EntryKind, unseal
from judge.referee.verify import verify
from judge.referee.wire import Happening
from judge.testing import MS, Act, Do, Say, ScriptedGame, World, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, play, resealed, spec

TIGHT = {"turn_ms": 1500, "tolerance_ms": 0, "match_ms": 60_000}


def paused(ms: float, *, after_ms: float = 120) -> list[Act]:
    """The judge runs for `after_ms` while an agent is waited for, and then does not for `ms`."""
    return [Do(EntryKind.PAUSED, b"%d" % (ms * MS), after_ms + ms)]


def overslept(ms: float, *, until_ms: float = 1500) -> list[Act]:
    """The judge wakes up late at the deadline."""
    return [Do(EntryKind.OVERSLEPT, b"%d" % (ms * MS), until_ms + ms)]


def test_an_answer_in_time_counts_and_a_pause_before_it_is_not_charged() -> None:
    played = play(brain(*BLACK_ROW[1:], BEGIN=[*paused(1000), Say(b"0,0\n", 100)]), brain(*WHITE_ROW))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert 220 * MS == played.referee.plies[0].charged_ns


def test_an_answer_that_may_have_come_in_time_during_a_pause_is_void() -> None:
    game_spec = spec(clock=TIGHT)
    played = play(brain(BEGIN=[*paused(4000), Say(b"0,0\n", 0)]), brain(), game_spec)

    assert Verdict.VOID is played.verdict
    assert "the judge did not run for 4.0 s" in played.end.reason
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert (4000, 120, 1500) == (evidence.judge_paused_ms, evidence.charged_ms, evidence.allowed_ms)
    assert [] == list(verify(a_file(played, game_spec)).problems)


def test_after_a_pause_an_agent_gets_all_its_time_and_is_late_then() -> None:
    """Whether it could run during the pause or not: with 1,500 ms of running judge it had its turn."""
    played = play(brain(BEGIN=paused(4000)), brain(), spec(clock=TIGHT))

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)
    evidence = played.referee.sides[0].evidence
    assert evidence is not None
    assert (4000, 1500) == (evidence.judge_paused_ms, evidence.charged_ms)


def test_an_answer_after_all_that_time_is_late() -> None:
    played = play(brain(BEGIN=[*paused(4000), Say(b"0,0\n", 1381)]), brain(), spec(clock=TIGHT))

    assert (Verdict.TURN_TIME, 1) == (played.verdict, played.winner)


def test_lines_that_answer_nothing_do_not_end_that_time() -> None:
    chatter = [Say(b"MESSAGE thinking\n", 100), Say(b"DEBUG thinking\n", 100)]
    played = play(brain(BEGIN=[*paused(4000), *chatter, Say(b"0,0\n", 100)]), brain(), spec(clock=TIGHT))

    assert Verdict.VOID is played.verdict
    assert 420 == getattr(played.referee.sides[0].evidence, "charged_ms", None)


def test_pause_during_start_up_is_void() -> None:
    played = play(brain(START=[*paused(4000), Say(b"OK\n", 0)]), brain(), spec(clock={"start_ms": 1000}))

    assert Verdict.VOID is played.verdict


def test_pause_is_not_charged_to_the_game_clock() -> None:
    clock = {"turn_ms": 1500, "tolerance_ms": 0, "match_ms": 2000}
    black = brain(*BLACK_ROW[1:], BEGIN=[*paused(1200), Say(b"0,0\n", 0)], ms=300)
    played = play(black, brain(*WHITE_ROW), spec(clock=clock))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    # 1 ms for START, 120 ms before the pause, four turns of 300 ms.
    assert 1321 * MS == played.referee.sides[0].clock.charged_ns


def test_time_left_excludes_the_pause() -> None:
    black = brain(*BLACK_ROW[1:], BEGIN=[*paused(1000), Say(b"0,0\n", 0)])
    played = play(black, brain(*WHITE_ROW))

    told = [line for line in played.world.bodies[0].heard if line.startswith("INFO time_left")]
    assert ["INFO time_left 119999", "INFO time_left 119879"] == told[:2]


def test_a_pause_in_the_goodbye_gives_the_agent_its_time_afterwards() -> None:
    last: list[Act] = [*paused(3000, after_ms=10), *exits(0, ms=900)]
    played = play(brain(*BLACK_ROW, END=last), brain(*WHITE_ROW))

    assert [] == played.world.killed


def test_a_pause_between_two_turns_changes_nothing() -> None:
    """Behind the answer, in the moment before the box is frozen: it is seen before the next request."""
    calm = play(brain(*BLACK_ROW), brain(*WHITE_ROW))
    black = brain(*BLACK_ROW[1:], BEGIN=[Say(b"0,0\n"), Do(EntryKind.PAUSED, b"%d" % (4000 * MS), 0)])
    played = play(black, brain(*WHITE_ROW))

    assert EntryKind.PAUSED in {entry.kind for entry in played.world.entries}
    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [ply.charged_ns for ply in calm.referee.plies] == [ply.charged_ns for ply in played.referee.plies]


@pytest.mark.parametrize(("late_ms", "verdict"), [(5, Verdict.WIN), (6, Verdict.TURN_TIME)])
def test_an_answer_is_late_that_is_read_more_than_a_few_ms_after_the_deadline(late_ms: int, verdict: Verdict) -> None:
    """The judge's own work for the agent took until then: `World` has it busy at the deadline."""
    world = Busy(brain(*BLACK_ROW[1:], BEGIN=[Say(b"0,0\n", 1500 + late_ms)]), brain(*WHITE_ROW))
    played = ScriptedGame(world, spec(clock=TIGHT))

    assert verdict is played.verdict


class Busy(World):
    """At its deadlines the judge has something to do for the agent, and looks at the pipe only afterwards."""

    def wait(self, until_ns: int) -> Happening:
        """What happens up to 100 ms after the deadline."""
        return super().wait(until_ns + 100 * MS)


def test_an_answer_that_a_judge_without_work_overslept_counts() -> None:
    late = [*overslept(60), Say(b"0,0\n", 0)]
    played = play(brain(*BLACK_ROW[1:], BEGIN=late), brain(*WHITE_ROW), spec(clock=TIGHT))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert 1500 * MS == played.referee.plies[0].charged_ns


def test_to_oversleep_an_alarm_before_the_deadline_changes_no_clock() -> None:
    """A second after an ERROR the judge looks whether a move followed."""
    late = [Say(b"ERROR hm\n"), *overslept(60, until_ms=1000), Say(b"0,0\n", 0)]
    played = play(brain(*BLACK_ROW[1:], BEGIN=late), brain(*WHITE_ROW))

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert 1061 * MS == played.referee.plies[0].charged_ns


def test_one_that_did_not_answer_is_late_however_long_the_judge_overslept() -> None:
    played = play(brain(BEGIN=overslept(60)), brain(), spec(clock=TIGHT))

    assert Verdict.TURN_TIME is played.verdict


def test_ok_to_restart_is_late_as_an_answer_is() -> None:
    """It begins another wait, with a deadline of its own."""
    opening = ((7, 7), (8, 8), (9, 9))
    clock = {**TIGHT, "start_ms": 1000}
    first = brain("0,0", START=[Say(b"OK\n", 1100)])

    played = ScriptedGame(Busy(first, brain()), spec(opening, clock=clock))

    assert (Verdict.START_TIME, 1) == (played.verdict, played.winner)


def test_quit_is_sent_to_one_seat_after_the_other_has_ended() -> None:
    """Each has all of its time, and neither runs in the other's."""
    played = play(brain(*BLACK_ROW, END=exits(0, ms=999)), brain(*WHITE_ROW, END=exits(0, ms=999)))

    assert [] == played.world.killed
    entries = played.world.entries
    told = [number for number, entry in enumerate(entries) if entry.data.startswith(b"END")]
    ended = [number for number, entry in enumerate(entries) if entry.data == b"exited 0"]
    assert sorted([*told, *ended]) == [told[0], ended[0], told[1], ended[1]]


def test_seat_lost_on_time_stays_frozen_while_the_other_gets_its_end() -> None:
    """Seat 1 is thinking on when its time is over; seat 0 has its goodbye first."""
    played = play(brain("7,7"), brain(), spec(clock=TIGHT))

    entries = played.world.entries
    goodbye = next(number for number, entry in enumerate(entries) if entry.data.startswith(b"END"))
    stops = [e.kind for e in entries[:goodbye] if e.seat == 1 and e.kind in (EntryKind.THAWED, EntryKind.FROZEN)]
    assert EntryKind.FROZEN is stops[-1]


def test_a_span_that_is_no_number_is_refused() -> None:
    game_spec = spec(clock=TIGHT)
    file = a_file(play(brain(*BLACK_ROW[1:], BEGIN=[*paused(1000), Say(b"0,0\n")]), brain(*WHITE_ROW)), game_spec)
    entries = unseal(file.transcript)
    number = next(n for n, entry in enumerate(entries) if entry.kind is EntryKind.PAUSED)
    entries[number] = entries[number]._replace(data=b"-1")

    assert verify(resealed(file, entries)).problems
