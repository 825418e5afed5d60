"""The rules of Connect Four: seven columns, six rows, four in a line win."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.base.errors import InputError
from judge.games.types import (
    AgentFault,
    Decision,
    End,
    Event,
    Reply,
    ReplyKind,
    Request,
    RuleResult,
    Verdict,
)

COLUMNS, ROWS = 7, 6

LINES = ((1, 0), (0, 1), (1, 1), (1, -1))


@dataclass(slots=True)
class Drop(Request):
    """`seat` must choose a column; `played` are the columns so far, from 0."""

    played: tuple[int, ...] = ()


@dataclass(slots=True)
class Column(Decision):
    """The column chosen, from 0."""

    column: int


@dataclass(slots=True)
class Dropped(Event):
    """A disc fell into a column."""

    column: int


class ConnectFour:
    """A game; implements `judge.games.types.Game`."""

    requests: frozenset[type[Request]] = frozenset({Drop})
    events: frozenset[type[Event]] = frozenset({Dropped})
    longest = COLUMNS * ROWS

    def __init__(self, opening: Sequence[int] = ()) -> None:
        self.played: list[int] = []
        self.discs: dict[tuple[int, int], int] = {}
        """The side that moved first is 0, by column and by row from the bottom."""
        self.end: End | None = None
        for column in opening:
            self._drop(column)

    def describe(self) -> dict[str, Any]:
        """The size of the board."""
        return {"columns": COLUMNS, "rows": ROWS}

    def renegotiate(self) -> bool:
        """There are no other terms."""
        return False

    def pending(self) -> Drop:
        """Both sides move in turn, an opening included."""
        return Drop(len(self.played) % 2, tuple(self.played))

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Let a disc fall, or end the game."""
        seat = self.pending().seat
        decision = reply.decision
        if reply.kind is not ReplyKind.DECIDED or not isinstance(decision, Column):
            verdict = {
                ReplyKind.RESIGNED: Verdict.RESIGNED,
                ReplyKind.REFUSED: Verdict.REFUSED,
            }.get(reply.kind, Verdict.UNREADABLE)
            self.end = AgentFault(verdict, seat, f"it answered {reply.said[:40]!a}")
            return ()
        if (why := self._objection(decision.column)) is not None:
            self.end = AgentFault(Verdict.ILLEGAL, seat, why)
            return ()
        self._drop(decision.column)
        return (Dropped(None, decision.column),)

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """The game ends."""
        self.end = fault
        return ()

    def result(self, names: tuple[str, str]) -> str:
        """There is no manager whose words could be kept."""
        return ""

    def _objection(self, column: int) -> str | None:
        if not 0 <= column < COLUMNS:
            return f"there is no column {column + 1}"
        if self.played.count(column) == ROWS:
            return f"column {column + 1} is full"
        return None

    def _drop(self, column: int) -> None:
        """A column that takes a disc."""
        at, side = (column, self.played.count(column)), len(self.played) % 2
        self.played.append(column)
        self.discs[at] = side
        if len(self.line()) >= 4:
            self.end = RuleResult(Verdict.WIN, side, "four in a line")
        elif len(self.played) == self.longest:
            self.end = RuleResult(Verdict.DRAW, None, "the board is full")

    def line(self) -> list[tuple[int, int]]:
        """The longest line through the last disc."""
        column = self.played[-1]
        start = (column, self.played.count(column) - 1)
        lines = []
        for dx, dy in LINES:
            line = [start]
            for sign in (1, -1):
                x, y = start[0] + sign * dx, start[1] + sign * dy
                while self.discs.get((x, y)) == self.discs[start]:
                    line.append((x, y))
                    x, y = x + sign * dx, y + sign * dy
            lines.append(line)
        return max(lines, key=len)


def from_options(options: Mapping[str, Any]) -> ConnectFour:
    """A game from a policy's options: `opening` alone, as squares of which the column counts."""
    unknown = options.keys() - {"opening"}
    if unknown:
        raise InputError(f"connect-four has no option {min(unknown)!r}; it knows opening")
    game = ConnectFour()
    for column, _ in options.get("opening", ()):
        why = "the game is over" if game.end is not None else game._objection(column)
        if why is not None:
            raise InputError(f"disc {len(game.played) + 1} of the opening: {why}")
        game._drop(column)
    if game.end is not None:
        raise InputError("the opening ends the game")
    return game
