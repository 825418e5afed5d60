"""Checks another manager's game against this judge's rules and clocks."""

from collections.abc import Sequence
from typing import NamedTuple

from judge.games.gomoku import Rule
from judge.games.gomoku.board import GomokuBoard
from judge.games.gomoku.renju import foul
from judge.games.gomoku.requests import BLACK, COLOURS
from judge.games.gomoku.rules import winning_row
from judge.records.gomoku.record import WINNERS, FiveRecord, Outcome
from judge.referee.policy import ClockPolicy


class RulesEnd(NamedTuple):
    """`stone` counts from 1."""

    stone: int
    outcome: Outcome
    said: str


class ClockFinding(NamedTuple):
    """A stone, from 1, that took too long; times in milliseconds."""

    stone: int
    colour: int
    ms: int
    allowed: int
    limit: str


def judged(record: FiveRecord, opening: int, rule: Rule, drawn_at: int) -> RulesEnd | None:
    """End by the rules, if any. The opening never ends a game."""
    board = GomokuBoard(record.width, record.height)
    for number, (x, y, _) in enumerate(record.moves):
        colour = number % 2
        is_played = number >= opening
        found = None
        if is_played and rule is Rule.RENJU and colour == BLACK:
            found = foul(board.cells, board.stride, board.index(x, y))
        at = board.place(x, y, colour)
        if found is not None:
            return RulesEnd(number + 1, "white", f"white won by black's {found.value}")
        if not is_played:
            continue
        row = winning_row(board.cells, board.stride, at, rule)
        if row is not None:
            return RulesEnd(number + 1, WINNERS[row.colour], f"{COLOURS[row.colour]} won by a row of {row.length}")
        if number + 1 >= drawn_at:
            return RulesEnd(number + 1, "draw", "the game is drawn")
    return None


def first_overrun(record: FiveRecord, opening: int, clock: ClockPolicy) -> ClockFinding | None:
    """First stone that exceeded the clocks.

    First moves are allowed `start_ms` more: GomocupJudge charges start-up to them.
    """
    used = [0, 0]
    times: Sequence[int] = [ms for _, _, ms in record.moves]
    for number in range(opening, len(times)):
        colour, ms = number % 2, times[number]
        turn = clock.turn_ms or clock.asap_ms
        left = clock.match_ms - used[colour] if clock.match_ms else turn
        start = clock.start_ms if number < opening + 2 else 0
        limit, words = (turn + start, "turn_ms") if turn + start <= left else (left, "match_ms")
        allowed = max(0, limit + clock.tolerance_ms)
        if ms > allowed:
            return ClockFinding(number + 1, colour, ms, allowed, f"clock.{words} and clock.tolerance_ms")
        used[colour] += ms
    return None
