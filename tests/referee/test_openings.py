"""Swaps and sizes through the referee, with scripted brains: who plays what, and that a replay agrees."""

from collections.abc import Callable, Sequence

import pytest

from judge.games.gomoku import Gomoku
from judge.games.types import Verdict
from judge.referee.transcript import EntryKind
from judge.referee.verify import verify
from judge.referee.wire import RanOn
from judge.testing import MS, Act, Agent, Say, ScriptedGame, World, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, play, spec


def swapper(*answers: str) -> Agent:
    """A brain that answers DONE, BEGIN and TURN with `answers`, one after the other."""
    return brain(*answers)


def swap2(first: Sequence[str], second: Sequence[str]) -> ScriptedGame:
    options = {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}
    game = {"name": "gomoku", "options": options}
    return play(swapper(*first), swapper(*second), spec(game=game))


def test_a_game_of_swap2_is_played_to_its_end() -> None:
    """The second seat adds two stones, the first stays white, the second wins as black."""
    played = swap2(
        ["0,0 5,5 1,0", "9,1", "9,3", "9,5", "9,7"],
        ["9,9 2,0", "3,0", "7,7", "4,0"],
    )
    assert (Verdict.WIN, 1) == (played.verdict, played.winner)
    assert isinstance(played.referee.game, Gomoku)
    assert 1 == played.referee.game.black
    heard = played.world.bodies[1].heard
    assert ["SWAP2BOARD", "0,0", "5,5", "1,0", "DONE"] == heard[heard.index("SWAP2BOARD") :][:5]
    assert "0,0,1" in heard
    assert "RESTART" not in heard


def test_a_swap_makes_the_other_seat_white() -> None:
    """It hears its own three stones as they are now: black's are the opponent's."""
    played = swap2(["0,0 5,5 1,0", "9,1", "9,3", "9,5"], ["SWAP", "2,0", "3,0", "4,0"])
    assert (Verdict.WIN, 1) == (played.verdict, played.winner)
    heard = played.world.bodies[0].heard
    assert ["0,0,2", "5,5,1", "1,0,2"] == heard[heard.index("BOARD") + 1 :][:3]


@pytest.mark.parametrize(
    ("first", "second", "verdict", "winner"),
    [
        (["0,0 5,5"], [], Verdict.ILLEGAL, 1),
        (["0,0"], [], Verdict.ILLEGAL, 1),
        (["SWAP"], [], Verdict.ILLEGAL, 1),
        (["0,0 0,0 1,1"], [], Verdict.ILLEGAL, 1),
        (["0,0 5,5 1,0"], ["9,9 9,8 9,7"], Verdict.ILLEGAL, 0),
        (["0,0 5,5 1,0"], ["0,0"], Verdict.ILLEGAL, 0),
        (["0,0 5,5 1,0"], ["99,-3"], Verdict.ILLEGAL, 0),
        (["0,0 5,5 1,0"], ["9,9,1"], Verdict.UNREADABLE, 0),
        (["0,0 5,5 1,0"], [], Verdict.TURN_TIME, 0),
    ],
)
def test_opening_errors_are_judged(first: list[str], second: list[str], verdict: Verdict, winner: int) -> None:
    """The official client crashes on each of these; here somebody loses."""
    played = swap2(first, second)
    assert (verdict, winner) == (played.verdict, played.winner)


def test_time_left_is_sent_before_swap2board() -> None:
    """Gomoku AI protocol: before commands TURN, BEGIN, BOARD and SWAP2BOARD."""
    played = swap2(["0,0 5,5 1,0"], ["SWAP"])
    for body in played.world.bodies:
        at = body.heard.index("SWAP2BOARD")
        assert body.heard[at - 1].startswith("INFO time_left ")


# --- the size of the board -----------------------------------------------------------------------


def small(*moves: str) -> Agent:
    """A brain that plays on boards of 15 and no others."""
    plays = brain(*moves)

    def hear(line: str) -> Sequence[Act]:
        if line.startswith("START ") and line != "START 15":
            return [Say(b"ERROR only 15\r\n")]
        return plays(line)

    return hear


@pytest.mark.parametrize("seat", [0, 1])
def test_a_brain_that_refuses_a_size_is_offered_the_others(seat: int) -> None:
    """Gomoku AI protocol, START: the manager can try other sizes. Both are started anew, on the same board."""
    options = {"width": 20, "height": 20, "other_sizes": [19, 15]}
    game = {"name": "gomoku", "options": options}
    brains = [brain(*BLACK_ROW), brain(*WHITE_ROW)]
    brains[seat] = small(*(BLACK_ROW, WHITE_ROW)[seat])
    played = play(brains[0], brains[1], spec(game=game))
    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [15, 15] == [played.referee.game.describe()[side] for side in ("width", "height")]
    for body in played.world.bodies:
        assert ["START 15"] == [line for line in body.heard if line.startswith("START")]
    assert all(body.heard[-1] == "END" for body in played.world.before)
    assert ([], []) == (still_running_when_replaced(played), played.world.killed)


def test_a_brain_that_refuses_every_size_is_refused() -> None:
    """The seat that would not start loses, whatever the other did."""
    options = {"width": 20, "height": 20, "other_sizes": [19]}
    played = play(brain(), small(), spec(game={"name": "gomoku", "options": options}))
    assert (Verdict.REFUSED, 0) == (played.verdict, played.winner)


# --- brains that know no SWAP2BOARD --------------------------------------------------------------


def old(*moves: str, ms: float = 1.0, **lines: Sequence[Act]) -> Agent:
    """A brain that answers each line of SWAP2BOARD ... DONE by UNKNOWN, and RESTART by OK after `ms`."""
    plays = brain(*moves, ms=ms, **{"RESTART": [Say(b"OK\r\n", ms)], **lines})
    is_asked = False

    def hear(line: str) -> Sequence[Act]:
        nonlocal is_asked
        was_asked = is_asked
        is_asked = line != "DONE" and (is_asked or line == "SWAP2BOARD")
        return [Say(b"UNKNOWN\r\n", ms)] if was_asked or is_asked else plays(line)

    return hear


def swap2_of(first: Agent, second: Agent) -> ScriptedGame:
    options = {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}
    return play(first, second, spec(game={"name": "gomoku", "options": options}))


def test_time_left_is_the_rest_at_each_request_of_a_turn() -> None:
    """Gomoku AI protocol, INFO: the remaining time, sent before every BEGIN and BOARD, though one turn goes on."""
    played = swap2_of(old("0,0", "5,5", "1,0", ms=400), brain("SWAP"))

    told = [line for line in played.world.bodies[0].heard if line.startswith("INFO time_left")]
    assert [f"INFO time_left {119_999 - 400 * waits}" for waits in (0, 1, 4, 6, 8)] == told[:5]


# --- processes that are replaced -----------------------------------------------------------------


def still_running_when_replaced(played: ScriptedGame) -> list[int]:
    """The seats whose old process had neither ended nor been killed when the new one was started."""
    running, found = set[int](), []
    for entry in played.world.entries:
        if entry.kind is EntryKind.STARTED:
            running.add(entry.seat)
        elif entry.kind in (EntryKind.REPORT, EntryKind.KILLED):
            running.discard(entry.seat)
        elif entry.kind is EntryKind.RESPAWNED and entry.seat in running:
            found.append(entry.seat)
    return found


def test_brain_without_restart_gets_the_end_grace_at_no_charge() -> None:
    """Gomoku AI protocol, END: the manager waits until the brain is finished. Each of two stones costs it 300 ms
    here."""
    said = [Say(b"saved 7,7\r\n8,8\r\n", 200), *exits(0, 100)]
    first = old("0,0", "5,5", "1,0", "0,1", RESTART=[Say(b"UNKNOWN\r\n")], END=said)
    played = swap2_of(first, brain("SWAP", "9,9"))

    assert ["0,0 5,5 1,0", "SWAP"] == [ply.said for ply in played.referee.plies[:2]]
    heard = [body.heard for body in played.world.before]
    assert [["RESTART", "END"]] * 3 == [lines[-2:] for lines in heard]
    assert [] == still_running_when_replaced(played)
    assert [] == played.world.killed
    assert played.referee.sides[0].clock.charged_ns < 20_000_000 + TURN_LOST_NS
    frozen = stands_still(played, 1)
    assert all(frozen(entry.ns) for entry in played.world.entries if entry.kind is EntryKind.RESPAWNED)


def test_one_that_does_not_end_is_killed_after_the_grace_and_then_replaced() -> None:
    first = old("0,0", "5,5", "1,0", "0,1", RESTART=[Say(b"UNKNOWN\r\n")], END=[])
    played = swap2_of(first, brain("SWAP", "9,9"))

    assert "0,0 5,5 1,0" == played.referee.plies[0].said
    assert [] == still_running_when_replaced(played)
    ended = [entry for entry in played.world.entries if entry.data == b"END\r\n"]
    killed = [entry for entry in played.world.entries if entry.kind is EntryKind.KILLED]
    assert [1_000_000_000] * 3 == [kill.ns - end.ns for end, kill in zip(ended[:3], killed[:3], strict=True)]
    assert played.referee.sides[0].clock.charged_ns < 20_000_000 + TURN_LOST_NS


class Lingering(World):
    """A killed box runs on for so long."""

    def kill(self, seat: int) -> None:
        super().kill(seat)
        self.ran_on = {seat: [RanOn(1000 * MS, 950 * MS)] * 3}


def test_a_new_process_starts_when_the_old_one_is_gone_and_a_long_end_is_a_failure() -> None:
    """Otherwise the old process takes the new one's core, and the game is void because another program did."""
    options = {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}
    first = old("0,0", "5,5", "1,0", "0,1", RESTART=[Say(b"UNKNOWN\r\n")], END=[])
    game_spec = spec(game={"name": "gomoku", "options": options})
    played = ScriptedGame(Lingering(first, brain("SWAP", "9,9")), game_spec)
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    killed, again = (kinds.index((kind, 0)) for kind in (EntryKind.KILLED, EntryKind.RESPAWNED))
    assert 3 == kinds[killed:again].count((EntryKind.RAN_ON, 0))
    assert played.referee.sides[0].clock.charged_ns < 20_000_000 + TURN_LOST_NS
    assert 2850 * MS <= played.referee.sides[0].lingered_cpu_ns
    assert not verify(a_file(played, game_spec)).problems


TURN_LOST_NS = 6_000_000_000
"""What the last turn of each game here is charged: nothing is said, until the turn and its tolerance are over."""


def stands_still(played: ScriptedGame, seat: int) -> Callable[[int], bool]:
    """Whether a seat is frozen at a moment."""
    marks = [
        (entry.ns, entry.kind is EntryKind.FROZEN)
        for entry in played.world.entries
        if entry.seat == seat and entry.kind in (EntryKind.THAWED, EntryKind.FROZEN, EntryKind.STARTED)
    ]
    return lambda ns: [frozen for at, frozen in marks if at <= ns][-1]
