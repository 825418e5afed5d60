"""Openings of five in a row from text, black first, and test positions with forced answers for each rule.

Two notations of openings, distinguished by letters:

- offsets, `-1,0, 2,3`: from the square floor(size / 2), as in Gomocup's and Piskvork's files;
- squares, `h8i9j7` ("pos"): column letter and row from 1. After column `z` come `aa`, `ab`, ...

Test positions are centred on the board. `_BOTH_FOUR`, `_BLOCKED` and `_CROSSED` come from Gomocup's own rule tests.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.base.errors import InputError
from judge.base.text import quote, sentence
from judge.games.gomoku.game import Gomoku, OpeningError
from judge.games.gomoku.requests import Square, square_at
from judge.games.gomoku.rules import Rule

_SIDE = 15
_SQUARE = re.compile(r"[a-z][0-9]{1,2}")


class Position(NamedTuple):
    """`answers` are expected; empty: any legal answer."""

    check: str
    what: str
    stones: str
    answers: str = ""


_BOTH_FOUR = Position("win", sentence("black wins in one"), "h8h9i8i9j8j9k8k9", "g8l8")
_SIX_OR_FIVE = "e8a1f8c1h8e1i8g1j8i1d12k1e12m1f12o1g12a15"
_CROSSED = "h8h9i7i9h10i6i11i12"
_BLOCKED = Position(
    "rule",
    sentence("a five that the opponent blocks at both ends does not win: the opponent's three decides first"),
    "h8f8g8f9i8f7j8l8",
    "f5f6f10f11",
)

COMMON = (
    Position("board", "", "h8i9i8h9"),
    Position("board", "", "h8i9j8"),
    _BOTH_FOUR,
    Position("win", sentence("white wins in one"), "c3h9c5i9c7j9c9k9e3", "g9l9"),
    Position("block", sentence("white has a four"), "l9h9c3i9c5j9c7k9", "g9"),
    Position("block", sentence("black has a four"), "h8l8i8c3j8c5k8", "g8"),
    Position("board", "", "h8i9i8g8j9i10g7k9i7i6"),
    Position("board", "", "h8h9i9g7j8f8k9i8h7h6i10"),
    Position("board", "", "g9h8i8h9h10i10g8f9j9g7k7j6"),
)
"""`board` has no forced answers; the last three are middle games."""

BY_RULE: dict[str, tuple[Position, ...]] = {
    "freestyle": (
        Position(
            "rule", sentence("six in a row win too"), "e8a1f8c1h8e1i8g1j8i1", "g8"
        ),
    ),
    "standard": (
        Position("rule", sentence("six in a row do not win: another five does"), _SIX_OR_FIVE, "c12h12"),
    ),
    "renju": (
        Position("rule", sentence("black may not make six: another five wins"), _SIX_OR_FIVE, "c12h12"),
        Position("rule", sentence("g9 is forbidden to black"), _CROSSED),
        Position("rule", sentence("white wins by six"), "a1e8c1f8e1h8g1i8i1j8k1", "g8"),
    ),
    "caro": (_BLOCKED,),
    "caro-overline": (_BLOCKED,),
}  # fmt: skip


def squares_of(text: str, width: int, height: int) -> tuple[Square, ...]:
    """Squares of `h8i9`, centred on a board of this size."""
    across, down = width // 2 - _SIDE // 2, height // 2 - _SIDE // 2
    return tuple((x + across, y + down) for x, y in map(square_at, _SQUARE.findall(text)))


def positions(rule: str, width: int, height: int) -> Iterator[Position]:
    """Those that fit on this board."""
    for position in (*COMMON, *BY_RULE.get(rule, ())):
        squares = squares_of(position.stones + position.answers, width, height)
        if all(0 <= x < width and 0 <= y < height for x, y in squares):
            yield position


EXAMPLE = "h8i9j7 or 0,0, 1,1, 2,-1"

_OFFSET = re.compile(r"[+-]?[0-9]{1,3}")
_NAME = re.compile(r"\s*([a-z]{1,2}[0-9]{1,2})", re.ASCII | re.IGNORECASE)
_LETTER = re.compile(r"[A-Za-z]")

_Token = tuple[str, Square]


def parse_opening(
    text: str, width: int, height: int, rule: Rule = Rule.FREESTYLE, *, continuous: bool = False
) -> tuple[Square, ...]:
    """An opening may be empty.

    Raises InputError for an unknown notation, a square off the board or repeated, or, unless `continuous`, a stone that
    ends the game.
    """
    read = _read_names if _LETTER.search(text) else _read_offsets
    tokens = read(text.strip(), (width // 2, height // 2))
    opening = tuple(square for _, square in tokens)
    try:
        options = {"width": width, "height": height, "rule": rule, "continuous": continuous}
        Gomoku.from_options(options | {"opening": opening})
    except OpeningError as error:
        raise InputError(f"{quote(tokens[error.stone - 1][0])}: {error}") from error
    return opening


def _read_names(text: str, _middle: Square) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _NAME.match(text, at)
        if match is None:
            raise InputError(
                f"{quote(text[at:], 20)} does not start with a square;"
                " write letter and row from 1, such as h8, one after the other"
            )
        tokens.append((match[1], square_at(match[1].lower())))
        at = match.end()
    return tokens


def _read_offsets(text: str, middle: Square) -> list[_Token]:
    # As in Piskvork's files.
    numbers = [part.strip() for part in text.removesuffix(",").split(",")] if text else []
    for number in numbers:
        if not _OFFSET.fullmatch(number):
            raise InputError(
                f"{quote(number, 20)} is no offset; write dx,dy from the middle, such as -1,0, 2,3,"
                " or squares, such as h8i9"
            )
    if len(numbers) % 2:
        raise InputError(f"{quote(numbers[-1])} is a dx without its dy; write offsets in pairs")
    return [
        (f"{dx},{dy}", (middle[0] + int(dx), middle[1] + int(dy)))
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True)
    ]
