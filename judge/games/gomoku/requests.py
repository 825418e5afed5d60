"""What all games of five in a row share: squares count from 0, black is colour 0 and plays first.

The words for a square, `7,7 (h8)`, and for what an agent said live here too, so that every such
game says them alike.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from judge.base.text import quote
from judge.games.types import Decision, Event, Request

BLACK, WHITE = 0, 1
COLOURS = ("black", "white")

RULE_BITS = {"freestyle": 0, "standard": 1, "renju": 4, "caro-overline": 8, "caro": 9}
"""The rules by name, and as Gomoku AI protocol, INFO rule, numbers them; 2 is added where the game is continuous."""

Square = tuple[int, int]
"""x (column, from the left) and y (row), both from 0."""

Placed = tuple[int, int, int]
"""A stone on the board: x, y, colour."""


@dataclass(slots=True)
class StonesRequest(Request):
    """`seat` must decide something about the stones on the board; `colour` is the colour that is to move.

    The first `opening` of `stones` stood there before anybody played, or were set in the opening
    stage. `stones` is in play order. It is the game's own list, handed out without a copy: it is to
    be read only, and it grows with the game's next `apply`.
    """

    stones: Sequence[Placed]
    opening: int
    width: int
    height: int
    colour: int


@dataclass(slots=True)
class PlaceStone(StonesRequest):
    """`seat` must place a stone of `colour`: answered by a `Stone`.

    `dead` are the stones that count no more (continuous game: what made a row).
    """

    dead: Collection[Square] = ()


@dataclass(slots=True)
class LayStones(StonesRequest):
    """`seat` must lay the first `count` stones at once, colours in turn: answered by `Stones` (swap2)."""

    count: int


@dataclass(slots=True)
class AnswerSwap(StonesRequest):
    """`seat` may take black by `Swap`, or stay white and place the next stone by `Stone`.

    Where `adds` is not 0 it may instead add that many stones by `Stones` and let the other seat choose.
    """

    adds: int = 0


@dataclass(slots=True)
class OfferFifths(StonesRequest):
    """`seat`, black, must offer `count` fifth stones in all; `offered` are those so far, `free` what may be offered.

    Answered by a `Stone` (one more offer) or by `Stones` (several). `free` leaves out what is equal
    to an offer by a symmetry of the four stones.
    """

    count: int
    offered: Sequence[Square]
    free: Sequence[Square]


@dataclass(slots=True)
class ChooseFifth(StonesRequest):
    """`seat`, white, must keep one of `offers` as black's fifth stone: answered by a `Stone`."""

    offers: Sequence[Square]


@dataclass(slots=True)
class Stone(Decision):
    """A stone on x, y. Not yet checked against the board."""

    x: int
    y: int


@dataclass(slots=True)
class Stones(Decision):
    """Several squares at once, in order. Neither their count nor the board is checked yet."""

    squares: tuple[Square, ...]


@dataclass(slots=True)
class Swap(Decision):
    """The seat takes black."""


@dataclass(slots=True)
class StonePlaced(Event):
    """`seat` placed a stone of `colour`; the two differ once a game lets its seats swap colours."""

    x: int
    y: int
    colour: int
    seat: int


@dataclass(slots=True)
class ColoursSettled(Event):
    """The right to swap is used up or was declined: `black` is the seat that plays black from now on."""

    black: int


_NAME = re.compile(r"([a-z]{1,2})([0-9]{1,2})")


def square_name(x: int, y: int) -> str:
    """`h8` for 7, 7: the column's letter and the row from 1; after `z` come `aa`, `ab`, ..."""
    letters, rest = "", x + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return f"{letters}{y + 1}"


def square_at(name: str) -> Square:
    """The square called `name`, in small letters: the inverse of `square_name`.

    `h0` reads as row -1: whether a square is on the board is for the board to say. ValueError where
    `name` is none.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{quote(name)} is not the name of a square")
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("a") + 1
    return column - 1, int(match[2]) - 1


def say_square(x: int, y: int) -> str:
    """`7,7 (h8)`, for people; without the name if the square has none."""
    numbers = f"{_short(x)},{_short(y)}"
    return f"{numbers} ({square_name(x, y)})" if 0 <= x < 100 and 0 <= y < 100 else numbers


def _short(number: int) -> str:
    return str(number) if abs(number) < 1_000_000 else "(huge)"
