"""Winning rows of each rule of five in a row.

The rules are those of INFO rule (Gomoku AI protocol), as Gomocup's managers apply them. In caro the edge does not block
a row.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from judge.games.gomoku.requests import RULE_BITS, WHITE

CONTINUOUS_BIT = 2
"""INFO rule: play until the board is full."""


class Rule(StrEnum):
    """As in policies and specs."""

    FREESTYLE = "freestyle"
    """Five or more."""
    STANDARD = "standard"
    """Exactly five; a longer row has no effect."""
    RENJU = "renju"
    """Black: exactly five, and some squares are forbidden; white: five or more."""
    CARO = "caro"
    """Exactly five, not blocked at both ends by the opponent."""
    CARO_OVERLINE = "caro-overline"
    """Six or more, or five as in CARO."""


class WinningRow(NamedTuple):
    """Length, cell indexes of its ends, and whether the opponent blocks both."""

    colour: int
    length: int
    first: int
    last: int
    step: int
    blocked: bool


_WINS: Mapping[Rule, Callable[[WinningRow], bool]] = {
    Rule.FREESTYLE: lambda row: row.length >= 5,
    Rule.STANDARD: lambda row: row.length == 5,
    Rule.RENJU: lambda row: row.length == 5 or (row.length > 5 and row.colour == WHITE),
    Rule.CARO: lambda row: row.length == 5 and not row.blocked,
    Rule.CARO_OVERLINE: lambda row: row.length > 5 or (row.length == 5 and not row.blocked),
}


def winning_row(cells: bytearray, stride: int, at: int, rule: Rule) -> WinningRow | None:
    """Through the stone at index `at`, if any."""
    stone = cells[at]
    for step in (1, stride, stride + 1, stride - 1):
        first = last = at
        while cells[first - step] == stone:
            first -= step
        while cells[last + step] == stone:
            last += step
        if last - first >= 4 * step:
            length = (last - first) // step + 1
            blocked = cells[first - step] == cells[last + step] == 3 - stone
            row = WinningRow(stone - 1, length, first, last, step, blocked)
            if _WINS[rule](row):
                return row
    return None


def rule_of_bits(bits: int) -> tuple[Rule, bool]:
    """Rule and continuous flag of INFO rule. Raises ValueError."""
    for name, value in RULE_BITS.items():
        if value == bits & ~CONTINUOUS_BIT:
            return Rule(name), bool(bits & CONTINUOUS_BIT)
    known = ", ".join(f"{value} {name}" for name, value in RULE_BITS.items())
    raise ValueError(f"{bits} is no rule; there is {known}, each plus 2 for a continuous game")
