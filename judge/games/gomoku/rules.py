"""How long a winning row must be and what may stand at its ends, for each rule of five in a row.

The rules are those of Gomoku AI protocol, INFO rule, as the field's managers apply them: a row is counted through the
stone just placed, in four directions; only the opponent's stones block a row of caro, the edge of the board does not.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from judge.games.gomoku.requests import RULE_BITS, WHITE

CONTINUOUS_BIT = 2
"""INFO rule: the game goes on until the board is full."""


class Rule(StrEnum):
    """What wins; the words of policies and specs."""

    FREESTYLE = "freestyle"
    """Five or more."""
    STANDARD = "standard"
    """Exactly five; a longer row wins nothing and the game goes on."""
    RENJU = "renju"
    """Black: exactly five, and some squares are forbidden; white: five or more."""
    CARO = "caro"
    """Exactly five, not blocked at both ends by the opponent."""
    CARO_OVERLINE = "caro-overline"
    """Six or more, or exactly five that are not blocked at both ends by the opponent."""


class WinningRow(NamedTuple):
    """A row of `colour`: its length, both ends as indexes of cells, and whether the opponent stands at both ends."""

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
    """The row through the stone at index `at` that wins under `rule`; no other row can be new.

    `cells` is the board of `judge.games.gomoku.board`.
    """
    own = cells[at]
    for step in (1, stride, stride + 1, stride - 1):
        first = last = at
        while cells[first - step] == own:
            first -= step
        while cells[last + step] == own:
            last += step
        if last - first >= 4 * step:
            length = (last - first) // step + 1
            blocked = cells[first - step] == cells[last + step] == 3 - own
            row = WinningRow(own - 1, length, first, last, step, blocked)
            if _WINS[rule](row):
                return row
    return None


def rule_of_bits(bits: int) -> tuple[Rule, bool]:
    """The rule of an INFO rule bitmask, and whether the game is continuous. ValueError for one that means nothing."""
    for name, value in RULE_BITS.items():
        if value == bits & ~CONTINUOUS_BIT:
            return Rule(name), bool(bits & CONTINUOUS_BIT)
    known = ", ".join(f"{value} {name}" for name, value in RULE_BITS.items())
    raise ValueError(f"{bits} is no rule; there is {known}, each plus 2 for a continuous game")
