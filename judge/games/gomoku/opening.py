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

from collections.abc import Callable, Mapping, Sequence
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

Turn = Callable[[int, int], Square]


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
    whole = set(stones)
    return {
        turn(*square)
        for turn in symmetries(width, height)
        if {(*turn(x, y), colour) for x, y, colour in stones} == whole
    }


def symmetries(width: int, height: int) -> Sequence[Turn]:
    """Of a board. Identity first."""
    right, bottom = width - 1, height - 1
    mirrors: list[Turn] = [
        lambda x, y: (x, y),
        lambda x, y: (right - x, y),
        lambda x, y: (x, bottom - y),
        lambda x, y: (right - x, bottom - y),
    ]
    diagonals: list[Turn] = [
        lambda x, y: (y, x),
        lambda x, y: (right - y, x),
        lambda x, y: (y, bottom - x),
        lambda x, y: (right - y, bottom - x),
    ]
    return mirrors + diagonals if width == height else mirrors
