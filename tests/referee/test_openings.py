"""Swaps and sizes through the referee, with scripted brains: who plays what, and that a replay agrees."""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.games.gomoku import Gomoku
from judge.games.types import Verdict
from judge.record.spec import GameSpec
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.testing import MS, Act, Agent, Say, World, exits
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec
from tests.referee.test_still import STUCK, Lingering


def options(**values: object) -> GameSpec:
    return spec(game={"name": "gomoku", "options": {"width": 15, "height": 15, **values}})


def swap2(first: Agent, second: Agent) -> Game:
    return play(first, second, options(rule="standard", swap="swap2"))


def test_a_game_of_swap2_is_played_to_its_end() -> None:
    """The second seat adds two stones, the first stays white, the second wins as black."""
    played = swap2(brain("0,0 5,5 1,0", "9,1", "9,3", "9,5", "9,7"), brain("9,9 2,0", "3,0", "7,7", "4,0"))

    played.assert_won(1)
    assert isinstance(played.referee.game, Gomoku)
    assert 1 == played.referee.game.black
    heard = played.heard(1)
    at = heard.index("SWAP2BOARD")
    # Gomoku AI protocol: before commands TURN, BEGIN, BOARD and SWAP2BOARD.
    assert heard[at - 1].startswith("INFO time_left ")
    assert ["SWAP2BOARD", "0,0", "5,5", "1,0", "DONE"] == heard[at:][:5]
    assert "0,0,1" in heard
    assert "RESTART" not in heard


def test_a_swap_makes_the_other_seat_white() -> None:
    """It hears its own three stones as they are now: black's are the opponent's."""
    played = swap2(brain("0,0 5,5 1,0", "9,1", "9,3", "9,5"), brain("SWAP", "2,0", "3,0", "4,0"))

    played.assert_won(1)
    heard = played.heard(0)
    assert ["0,0,2", "5,5,1", "1,0,2"] == heard[heard.index("BOARD") + 1 :][:3]


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
    brains = [brain(*BLACK_ROW), brain(*WHITE_ROW)]
    brains[seat] = small(*(BLACK_ROW, WHITE_ROW)[seat])
    played = play(brains[0], brains[1], options(width=20, height=20, other_sizes=[19, 15]))

    played.assert_won()
    assert [15, 15] == [played.referee.game.describe()[side] for side in ("width", "height")]
    assert [["START 15"]] * 2 == [played.heard(each, "START") for each in (0, 1)]
    assert all(body.heard[-1] == "END" for body in played.world.before)
    assert ([], []) == (still_running_when_replaced(played), played.world.killed)


def test_a_brain_that_refuses_every_size_is_refused() -> None:
    """The seat that would not start loses, whatever the other did."""
    played = play(brain(), small(), options(width=20, height=20, other_sizes=[19]))

    played.assert_lost(1, Verdict.REFUSED)


SIZES = {"width": 20, "height": 20, "other_sizes": [19, 18, 17, 16, 15]}


def resizable(**sections: Any) -> GameSpec:
    return spec(game={"name": "gomoku", "options": SIZES}, **sections)


@pytest.mark.parametrize("seat", [0, 1])
def test_only_the_seat_that_refuses_sizes_pays_for_their_starts(seat: int) -> None:
    """Its opponent is charged one start of 2 s, and the refusals 1 ms each; the game would allow four starts."""
    brains = [brain(*row, START=[Say(b"OK\r\n", 2000)]) for row in (BLACK_ROW, WHITE_ROW)]
    brains[seat] = small(*(BLACK_ROW, WHITE_ROW)[seat])
    played = play(brains[0], brains[1], resizable(clock={"match_ms": 9000}))
    charged_ms = [
        side.clock.charged_ns // MS - len(played.charged_ms(n)) for n, side in enumerate(played.referee.sides)
    ]

    played.assert_won()
    assert [6, 2000] == [charged_ms[seat], charged_ms[1 - seat]]
    assert not verify(played.file()).problems


def test_only_the_seat_that_refuses_sizes_pays_for_output_at_their_starts() -> None:
    """Six starts together are above the limits of a turn and of the game, one is not."""
    loud = brain(*BLACK_ROW, START=[*[Say(b"MESSAGE " + b"x" * 1000 + b"\n", 1)] * 24, Say(b"OK\r\n")])
    chosen = resizable(bytes={"game_bytes": 1 << 16})
    played = play(loud, small(*WHITE_ROW), chosen)

    played.assert_won()
    assert 24 * 1009 + 128 * (1 + 1 + 5) == played.referee.sides[0].game_bytes
    assert not verify(played.file()).problems


def test_a_seat_that_floods_at_its_goodbye_keeps_its_counts_when_a_size_is_refused() -> None:
    """Else each size would store as much as it prints."""
    loud = brain(*BLACK_ROW, END=[Say(b"x" * 1000)] * 100)
    played = play(loud, small(*WHITE_ROW), resizable(bytes={"game_bytes": 1 << 12}))

    played.assert_lost(0, Verdict.OUTPUT)


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


def test_time_left_is_the_rest_at_each_request_of_a_turn() -> None:
    """Gomoku AI protocol, INFO: the remaining time, sent before every BEGIN and BOARD, though one turn goes on."""
    played = swap2(old("0,0", "5,5", "1,0", ms=400), brain("SWAP"))

    time_lines = [f"INFO time_left {119_999 - 400 * waits}" for waits in (0, 3, 5, 7, 9)]
    assert time_lines == played.heard(0, "INFO time_left")[:5]


def replaced(end: Sequence[Act], world: type[World] = World) -> Game:
    """Black has neither SWAP2BOARD nor RESTART: its process is replaced after UNKNOWN and before each later stone."""
    first = old("0,0", "5,5", "1,0", "0,1", RESTART=[Say(b"UNKNOWN\r\n")], END=end)
    played = Game(world(first, brain("SWAP", "9,9")), options(rule="standard", swap="swap2"))
    assert ["0,0 5,5 1,0", "SWAP"] == played.said[:2]
    assert [] == still_running_when_replaced(played)
    # The last turn costs 6 s: nothing is said, until the turn and its tolerance are over.
    assert played.referee.sides[0].clock.charged_ns < 6_020 * MS
    assert not verify(played.file()).problems
    return played


def still_running_when_replaced(played: Game) -> list[int]:
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
    """Gomoku AI protocol, END: the manager waits until the brain is finished. Each stone costs it 300 ms here."""
    played = replaced([Say(b"saved 7,7\r\n8,8\r\n", 200), *exits(0, 100)])

    assert [["RESTART", "END"]] * 4 == [body.heard[-2:] for body in played.world.before]
    assert [] == played.world.killed
    opponent = EntryKind.STARTED
    for entry in played.world.entries:
        if entry.seat == 1 and entry.kind in (EntryKind.THAWED, EntryKind.FROZEN):
            opponent = entry.kind
        assert entry.kind is not EntryKind.RESPAWNED or opponent is EntryKind.FROZEN


def test_one_that_does_not_end_is_killed_after_the_grace_and_then_replaced() -> None:
    entries = replaced([]).world.entries

    ended = [entry for entry in entries if entry.data == b"END\r\n"]
    killed = [entry for entry in entries if entry.kind is EntryKind.KILLED]
    assert [1_000_000_000] * 3 == [kill.ns - end.ns for end, kill in zip(ended[:3], killed[:3], strict=True)]


class Lingers(Lingering):
    """A replaced box runs on for three looks."""

    after_kill = (STUCK,) * 3


def test_a_new_process_starts_when_the_old_one_is_gone_and_a_long_end_is_a_failure() -> None:
    """Otherwise the old process takes the new one's core, and the game is void because another program did."""
    played = replaced([], Lingers)
    kinds = [(entry.kind, entry.seat) for entry in played.world.entries]

    killed, again = (kinds.index((kind, 0)) for kind in (EntryKind.KILLED, EntryKind.RESPAWNED))
    assert 3 == kinds[killed:again].count((EntryKind.RAN_ON, 0))
    assert 2850 * MS <= played.referee.sides[0].lingered_cpu_ns
