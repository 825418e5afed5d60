"""Requests, decisions and events of five in a row. Squares count from 0; black is colour 0 and plays first."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from judge.base.text import quote
from judge.games.types import Decision, Event, Request

BLACK, WHITE = 0, 1
COLOURS = ("black", "white")

RULE_BITS = {"freestyle": 0, "standard": 1, "renju": 4, "caro-overline": 8, "caro": 9}
"""Bits in INFO rule (Gomoku AI protocol); continuous adds 2."""

Square = tuple[int, int]
"""x (column, from the left) and y (row), both from 0."""

Placed = tuple[int, int, int]


@dataclass(slots=True)
class StonesRequest(Request):
    """`colour` is to move.

    `stones` is in play order, beginning with `opening` stones placed before play. It is the game's own list: read-only,
    and extended by `apply`.
    """

    stones: Sequence[Placed]
    opening: int
    width: int
    height: int
    colour: int


@dataclass(slots=True)
class PlaceStone(StonesRequest):
    """`seat` must place a stone of `colour`: a `Stone`. `dead` stones no longer count."""

    dead: Collection[Square] = ()


@dataclass(slots=True)
class LayStones(StonesRequest):
    """`seat` must lay the first `count` stones, alternating colours: `Stones` (swap2)."""

    count: int


@dataclass(slots=True)
class AnswerSwap(StonesRequest):
    """`seat` may take black (`Swap`), stay white and place the next stone (`Stone`), or add `adds` stones (`Stones`);
    then the other seat chooses.
    """

    adds: int = 0


@dataclass(slots=True)
class OfferFifths(StonesRequest):
    """`seat`, black, must offer `count` fifth stones in total (`Stone` or `Stones`); `offered` are those so far, `free`
    the choices, without squares symmetric to an offer.
    """

    count: int
    offered: Sequence[Square]
    free: Sequence[Square]


@dataclass(slots=True)
class ChooseFifth(StonesRequest):
    """`seat`, white, must keep one of `offers` as black's fifth stone: a `Stone`."""

    offers: Sequence[Square]


@dataclass(slots=True)
class Stone(Decision):
    """A stone, not yet checked."""

    x: int
    y: int


@dataclass(slots=True)
class Stones(Decision):
    """Squares in order, not yet checked."""

    squares: tuple[Square, ...]


@dataclass(slots=True)
class Swap(Decision):
    """The seat takes black."""


@dataclass(slots=True)
class StonePlaced(Event):
    """`seat` placed a stone; swaps change the seats' colours."""

    x: int
    y: int
    colour: int
    seat: int


@dataclass(slots=True)
class ColoursSettled(Event):
    """Seat `black` plays black from now on."""

    black: int


_NAME = re.compile(r"([a-z]{1,2})([0-9]{1,2})")


def square_name(x: int, y: int) -> str:
    """`h8` for 7, 7: column letter and row from 1; after `z` come `aa`, `ab`, ..."""
    letters, rest = "", x + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return f"{letters}{y + 1}"


def square_at(name: str) -> Square:
    """Perhaps off the board. Raises ValueError for other text."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{quote(name)} is not the name of a square")
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("a") + 1
    return column - 1, int(match[2]) - 1


def say_square(x: int, y: int) -> str:
    """`7,7 (h8)`, or `7,7` outside the range of names."""
    numbers = f"{_short(x)},{_short(y)}"
    return f"{numbers} ({square_name(x, y)})" if 0 <= x < 100 and 0 <= y < 100 else numbers


def _short(number: int) -> str:
    return str(number) if abs(number) < 1_000_000 else "(huge)"
