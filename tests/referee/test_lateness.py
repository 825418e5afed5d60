"""When an answer counts that is read late: by whose doing it was, in a scripted world."""

from collections.abc import Sequence

import pytest

from judge.games.types import Verdict
from judge.record.transcript import Entry, EntryKind
from judge.testing import MS, Act, Do, Say, World, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec

TIGHT = {"turn_ms": 1500, "tolerance_ms": 0, "match_ms": 60_000}
MOVE = b"0,0\n"
CHATTER = (Say(b"MESSAGE thinking\n", 100), Say(b"DEBUG thinking\n", 100))


def paused(ms: float, *, after_ms: float = 120) -> list[Act]:
    """The judge runs for `after_ms` while an agent is waited for, and then does not for `ms`."""
    return [Do(EntryKind.PAUSED, b"%d" % (ms * MS), after_ms + ms)]


def overslept(ms: float, *, until_ms: float = 1500) -> list[Act]:
    """The judge wakes up late at the deadline."""
    return [Do(EntryKind.OVERSLEPT, b"%d" % (ms * MS), until_ms + ms)]


class Busy(World):
    """For 100 ms after its deadlines the judge works for the agent, and looks at the pipe only afterwards."""

    def await_event(self, until_ns: int) -> Entry:
        return super().await_event(until_ns + 100 * MS)


def after(*first: Act, world: type[World] = World, clock: dict[str, int] = TIGHT, ms: float = 1.0) -> Game:
    """A game in which black does so at its first move, and then wins if it may."""
    black = brain(*BLACK_ROW[1:], BEGIN=first, ms=ms)
    return Game(world(black, brain(*WHITE_ROW)), spec(clock=clock))


IN_TIME: dict[str, tuple[Sequence[Act], dict[str, int], float]] = {
    "a pause is not charged": ([*paused(1000), Say(MOVE, 100)], TIGHT, 220),
    "a judge without work overslept": ([*overslept(60), Say(MOVE, 0)], TIGHT, 1500),
    # A second after an ERROR the judge looks whether a move followed.
    "an alarm before the deadline": ([Say(b"ERROR hm\n"), *overslept(60, until_ms=1000), Say(MOVE, 0)], {}, 1061),
    # It is seen before the next request.
    "a pause puts the alarm off": ([Say(b"ERROR hm\n"), *paused(3000), Say(MOVE, 500)], {}, 621),
    "a pause between two turns": ([Say(MOVE), Do(EntryKind.PAUSED, b"%d" % (4000 * MS), 0)], TIGHT, 1),
}


@pytest.mark.parametrize("name", IN_TIME)
def test_answer_counts(name: str) -> None:
    acts, clock, charged_ms = IN_TIME[name]
    played = after(*acts, clock=clock)

    played.assert_won()
    assert [charged_ms, 1] == played.charged_ms(0)[:2]


LATE: dict[str, tuple[Sequence[Act], bool, tuple[int, int]]] = {
    "it may have come in time during the pause": ([*paused(4000), Say(MOVE, 0)], True, (4000, 120)),
    "lines that answer nothing do not end that time": ([*paused(4000), *CHATTER, Say(MOVE, 100)], True, (4000, 420)),
    # Whether it could run during the pause or not: with 1,500 ms of running judge it had its turn.
    "no answer in all its time": (paused(4000), False, (4000, 1500)),
    "an answer after all its time": ([*paused(4000), Say(MOVE, 1381)], False, (4000, 1500)),
    "no answer although the judge overslept": (overslept(60), False, (0, 1500)),
}


@pytest.mark.parametrize("name", LATE)
def test_answer_is_late_or_the_game_is_void(name: str) -> None:
    acts, is_void, (paused_ms, charged_ms) = LATE[name]
    played = after(*acts)

    if is_void:
        played.assert_void("the judge did not run for 4.0 s")
    else:
        played.assert_lost(0, Verdict.TURN_TIME)
    evidence = played.evidence(0)
    assert (paused_ms, charged_ms, 1500) == (evidence.judge_paused_ms or 0, evidence.charged_ms, evidence.allowed_ms)


def test_pause_during_start_up_is_void() -> None:
    play(brain(START=[*paused(4000), Say(b"OK\n", 0)]), brain(), spec(clock={"start_ms": 1000})).assert_void()


def test_pause_is_not_charged_to_the_game_clock() -> None:
    played = after(*paused(1200), Say(MOVE, 0), clock={**TIGHT, "match_ms": 2000}, ms=300)

    played.assert_won()
    # 1 ms for START, 120 ms before the pause, four turns of 300 ms.
    assert 1321 * MS == played.referee.sides[0].clock.charged_ns
    assert ["INFO time_left 1999", "INFO time_left 1879"] == played.heard(0, "INFO time_left")[:2]


def test_a_pause_in_the_goodbye_gives_the_agent_its_time_afterwards() -> None:
    last: list[Act] = [*paused(3000, after_ms=10), *exits(0, ms=900)]

    assert [] == play(brain(*BLACK_ROW, END=last), brain(*WHITE_ROW)).world.killed


@pytest.mark.parametrize(("late_ms", "verdict"), [(5, Verdict.WIN), (6, Verdict.TURN_TIME)])
def test_an_answer_is_late_that_is_read_more_than_a_few_ms_after_the_deadline(late_ms: int, verdict: Verdict) -> None:
    """The judge's own work for the agent took until then: `World` has it busy at the deadline."""
    assert verdict is after(Say(MOVE, 1500 + late_ms), world=Busy).verdict


def test_ok_to_restart_is_late_as_an_answer_is() -> None:
    """It begins another wait, with a deadline of its own."""
    opening = ((7, 7), (8, 8), (9, 9))
    first = brain("0,0", START=[Say(b"OK\n", 1100)])

    Game(Busy(first, brain()), spec(opening, clock={**TIGHT, "start_ms": 1000})).assert_lost(0, Verdict.START_TIME)


def test_quit_is_sent_to_one_seat_after_the_other_has_ended() -> None:
    """Each has all of its time, and neither runs in the other's."""
    played = play(brain(*BLACK_ROW, END=exits(0, ms=999)), brain(*WHITE_ROW, END=exits(0, ms=999)))

    assert [] == played.world.killed
    entries = played.world.entries
    goodbyes = [number for number, entry in enumerate(entries) if entry.data.startswith(b"END")]
    ended = [number for number, entry in enumerate(entries) if entry.data == b"exited 0"]
    assert sorted([*goodbyes, *ended]) == [goodbyes[0], ended[0], goodbyes[1], ended[1]]


def test_seat_lost_on_time_stays_frozen_while_the_other_gets_its_end() -> None:
    """Seat 1 is thinking on when its time is over; seat 0 has its goodbye first."""
    entries = play(brain("7,7"), brain(), spec(clock=TIGHT)).world.entries

    goodbye = next(number for number, entry in enumerate(entries) if entry.data.startswith(b"END"))
    stops = [e.kind for e in entries[:goodbye] if e.seat == 1 and e.kind in (EntryKind.THAWED, EntryKind.FROZEN)]
    assert EntryKind.FROZEN is stops[-1]
