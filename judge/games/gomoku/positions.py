"""Test positions with forced answers for each rule, centred on the board.

`_BOTH_FOUR`, `_BLOCKED` and `_CROSSED` come from Gomocup's own rule tests.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.base.text import sentence
from judge.games.gomoku.requests import Square, square_at

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
