"""Gomoku: black and white place stones in turn, and five of a colour in a row win.

`freestyle` counts five or more, `standard` exactly five (rule 0 and 1 of seed 002, INFO; the rules
of Gomocup). A full board is a draw. Seat 0 is black. There is no pass and no forbidden square.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from judge.errors import InputError
from judge.games.stones import (
    COLOURS,
    Placed,
    PlaceStone,
    Stone,
    StonePlaced,
    quote,
    say_square,
    square_name,
)
from judge.games.types import AgentFault, End, Event, Reply, ReplyKind, Request, RuleResult, Verdict

SMALLEST, LARGEST = 5, 60
"""Squares along a side: five must fit, and two digits must name them."""


class Rule(StrEnum):
    """How long a winning row may be."""

    FREESTYLE = "freestyle"
    """Five or more."""
    STANDARD = "standard"
    """Exactly five; a longer row wins nothing and the game goes on."""


class GomokuOptions(BaseModel):
    """What a game of gomoku starts from; `opening` holds x, y from 0 in play order, black first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Annotated[StrictInt, Field(ge=SMALLEST, le=LARGEST)]
    height: Annotated[StrictInt, Field(ge=SMALLEST, le=LARGEST)]
    rule: Rule = Rule.FREESTYLE
    opening: tuple[tuple[StrictInt, StrictInt], ...] = ()


class OpeningError(InputError):
    """An opening that cannot be played; `stone` is the culprit's place in it, from 1."""

    def __init__(self, stone: int, what: str) -> None:
        super().__init__(f"stone {stone} of the opening: {what}")
        self.stone = stone


class Gomoku:
    """One game. Whose turn it is follows from the count of stones: even is black."""

    requests: ClassVar[frozenset[type[Request]]] = frozenset({PlaceStone})
    events: ClassVar[frozenset[type[Event]]] = frozenset({StonePlaced})

    def __init__(self, options: GomokuOptions) -> None:
        """Place the opening on an empty board; OpeningError where it cannot be played."""
        self.width = options.width
        self.height = options.height
        self.rule = options.rule
        # A ring of edge around the board ends every count, so no count asks where the board ends.
        self._stride = self.width + 2
        self._steps = (1, self._stride, self._stride + 1, self._stride - 1)
        self._cells = _empty_cells(self.width, self.height)
        self._stones: list[Placed] = []
        self._end: End | None = None
        for x, y in options.opening:
            self._open(x, y)
        self._opening = len(self._stones)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """The game of `GomokuOptions` in plain values; InputError names the field or the stone."""
        try:
            return cls(GomokuOptions.model_validate(dict(options)))
        except ValidationError as error:
            raise InputError(f"gomoku options: {_say_errors(error)}") from error

    def describe(self) -> dict[str, Any]:
        """What a protocol may tell of the game: `width`, `height` in squares, `rule` by name."""
        return {"width": self.width, "height": self.height, "rule": self.rule.value}

    @property
    def end(self) -> End | None:
        """How the game ended; None while it goes on."""
        return self._end

    @property
    def stones(self) -> Sequence[Placed]:
        """Every stone in play order, the opening's first: the game's own list, to be read only."""
        return self._stones

    def pending(self) -> PlaceStone:
        """The stone that the side to move must place."""
        return PlaceStone(
            self._turn, self._stones, self._opening, self.width, self.height, self._turn
        )

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Place the stone of `reply`, or end the game by a fault of the side to move.

        RuntimeError after the end, TypeError for the decision of another game: both are the judge's
        mistakes, not an agent's.
        """
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        seat = self._turn
        if reply.kind is not ReplyKind.DECIDED:
            return self.forfeit(_no_stone(seat, reply))
        stone = reply.decision
        if not isinstance(stone, Stone):
            raise TypeError(f"gomoku asked for a Stone, not for a {type(stone).__name__}")
        objection = self._objection(stone.x, stone.y)
        if objection is not None:
            return self.forfeit(AgentFault(Verdict.ILLEGAL, seat, objection))
        self._place(stone.x, stone.y, seat)
        return (StonePlaced(None, stone.x, stone.y, seat, seat),)

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """End the game by `fault`; a game that ended before stays ended as it was."""
        if self._end is None:
            self._end = fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 a brain hears END and no more
        """Nothing: managers of gomoku have no such line."""
        return ""

    @property
    def _turn(self) -> int:
        """The side to move, as seat and as colour: in gomoku they are the same."""
        return len(self._stones) & 1

    def _open(self, x: int, y: int) -> None:
        number = len(self._stones) + 1
        objection = self._objection(x, y)
        if objection is not None:
            raise OpeningError(number, f"{objection}; give every stone a free square of its own")
        self._place(x, y, self._turn)
        if self._end is not None:
            what = f"{say_square(x, y)} ends the game ({self._end.reason})"
            raise OpeningError(number, f"{what}; an opening must leave it open")

    def _objection(self, x: int, y: int) -> str | None:
        """Why no stone may be placed on x, y; None where it may."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return f"{say_square(x, y)} is off the {self.width}x{self.height} board"
        if self._cells[self._index(x, y)]:
            number, colour = self._who_took(x, y)
            return f"{say_square(x, y)} is taken by stone {number} ({COLOURS[colour]})"
        return None

    def _who_took(self, x: int, y: int) -> tuple[int, int]:
        return next(
            (number, stone[2])
            for number, stone in enumerate(self._stones, 1)
            if stone[:2] == (x, y)
        )

    def _place(self, x: int, y: int, colour: int) -> None:
        """Put a stone on a free square and see whether that ends the game."""
        at = self._index(x, y)
        self._cells[at] = colour + 1
        self._stones.append((x, y, colour))
        row = self._winning_row(at)
        if row is not None:
            self._end = RuleResult(Verdict.WIN, colour, self._say_row(*row))
        elif len(self._stones) == self.width * self.height:
            self._end = RuleResult(Verdict.DRAW, None, "the board is full")

    def _winning_row(self, at: int) -> tuple[int, int, int] | None:
        """Length and both ends of a winning row through the last stone, which is at `at`.

        No other row can be new, so no other square is looked at.
        """
        cells, own = self._cells, self._cells[at]
        for step in self._steps:
            first = last = at
            while cells[first - step] == own:
                first -= step
            while cells[last + step] == own:
                last += step
            steps = (last - first) // step
            if steps == 4 or (steps > 4 and self.rule is Rule.FREESTYLE):
                return steps + 1, first, last
        return None

    def _index(self, x: int, y: int) -> int:
        return (y + 1) * self._stride + x + 1

    def _say_row(self, length: int, first: int, last: int) -> str:
        ends = (divmod(at, self._stride) for at in (first, last))
        first_name, last_name = (square_name(column - 1, row - 1) for row, column in ends)
        return f"{length} in a row, {first_name} to {last_name}"


_EMPTY, _EDGE = 0, 3


def _empty_cells(width: int, height: int) -> bytearray:
    """The board row by row with a ring of edge around it: 0 empty, 1 black, 2 white, 3 edge."""
    edge = bytes([_EDGE])
    end_row = edge * (width + 2)
    row = edge + bytes([_EMPTY]) * width + edge
    return bytearray(end_row + row * height + end_row)


def _no_stone(seat: int, reply: Reply) -> AgentFault:
    """The fault of a seat that answered without a stone."""
    match reply.kind:
        case ReplyKind.RESIGNED:
            return AgentFault(Verdict.RESIGNED, seat, f"resigned, saying {quote(reply.said)}")
        case ReplyKind.REFUSED:
            return AgentFault(
                Verdict.REFUSED, seat, f"refused to play on, saying {quote(reply.said)}"
            )
        case _:
            return AgentFault(
                Verdict.UNREADABLE, seat, f"{quote(reply.said)} cannot be read as a square"
            )


def _say_errors(error: ValidationError) -> str:
    """The first few complaints, each with its field: a long opening can hold thousands."""
    complaints = (
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
        for item in error.errors()[:3]
    )
    return "; ".join(complaints)
