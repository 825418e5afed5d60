"""Openings of five in a row: first stones, swaps, and offers of a fifth stone.

The table gives the step for each number of stones. Fifth stones are offered afterwards, at four stones.

    swap    stones  to act            answer                                      then
    none    -       -                 -                                           settled from the start
    first   0       seat 0            lays a stone                                1
            1       seat 1            a stone: stays white; swap: takes black     settled
    third   0 1 2   seat 0            lays a stone                                1 2 3
            3       seat 1            as above                                    settled
    swap2   0       seat 0            lays three stones at once                   3
            3       seat 1            as above, or adds two stones                settled, or 5
            5       seat 0            as above                                    settled

Sources: Gomoku AI protocol, SWAP2BOARD (swap2); AGI draft, SETRULE, with the opening rules of the renju federation
(first, third, fifths): docs/agi.md.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    Placed,
    PlaceStone,
    Square,
    StonePlaced,
)
from judge.games.gomoku.rules import Rule
from judge.games.types import Event, Request


class SwapRule(StrEnum):
    """Which seat may choose its colour, and when."""

    NONE = "none"
    FIRST = "first"
    """After the first stone (`FIRSTCHANGE` of AGI)."""
    THIRD = "third"
    """After three stones of one seat (`THIRDCHANGE` of AGI)."""
    SWAP2 = "swap2"
    """Gomocup's `SWAP2BOARD`: after three stones, or after two more."""


class Geometry(StrEnum):
    """Allowed squares before a swap."""

    RENJU = "renju"
    """First stone in the centre, second within 3x3, third within 5x5."""
    FREE = "free"

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls("renju" if rule is Rule.RENJU else "free")


class Step(NamedTuple):
    """A step of the table."""

    seat: int
    lays: int = 0
    adds: int = 0


STEPS: Mapping[SwapRule, Mapping[int, Step]] = {
    SwapRule.NONE: {},
    SwapRule.FIRST: {0: Step(0, lays=1), 1: Step(1)},
    SwapRule.THIRD: {0: Step(0, lays=1), 1: Step(0, lays=1), 2: Step(0, lays=1), 3: Step(1)},
    SwapRule.SWAP2: {0: Step(0, lays=3), 3: Step(1, adds=2), 5: Step(0)},
}

FIFTH_AT = 4


def requests_of(swap: SwapRule, fifths: int) -> frozenset[type[Request]]:
    """Possible requests."""
    kinds: set[type[Request]] = {PlaceStone}
    for step in STEPS[swap].values():
        kinds.add(AnswerSwap if not step.lays else LayStones if step.lays > 1 else PlaceStone)
    return frozenset(kinds | {OfferFifths, ChooseFifth} if fifths > 1 else kinds)


def events_of(swap: SwapRule) -> frozenset[type[Event]]:
    """Possible events."""
    return frozenset({StonePlaced, ColoursSettled} if STEPS[swap] else {StonePlaced})


def distance_from_centre(x: int, y: int, width: int, height: int) -> int:
    """Distance along the longer axis."""
    return max(abs(x - width // 2), abs(y - height // 2))


def symmetric_squares(square: Square, stones: Sequence[Placed], width: int, height: int) -> set[Square]:
    """Images under the symmetries that keep `stones` with their colours."""
    x, y = square
    whole = set(stones)
    found = set()
    for turned in _symmetries(width, height):
        if {(*_turn(turned, sx, sy, width, height), colour) for sx, sy, colour in stones} == whole:
            found.add(_turn(turned, x, y, width, height))
    return found


def _symmetries(width: int, height: int) -> Sequence[tuple[bool, bool, bool]]:
    sides = (False, True)
    diagonals = sides if width == height else (False,)
    return [(across, down, over) for across in sides for down in sides for over in diagonals]


def _turn(symmetry: tuple[bool, bool, bool], x: int, y: int, width: int, height: int) -> Square:
    across, down, over = symmetry
    x = width - 1 - x if across else x
    y = height - 1 - y if down else y
    return (y, x) if over else (x, y)
