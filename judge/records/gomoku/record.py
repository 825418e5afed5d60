"""A finished game of five in a row as a value: what every format of the field reads to and is written from.

No format holds all of it; each says in its module what it keeps. Text in a record comes from strangers: what a writer
writes and what a reader gives is one printable line (`judge.base.text.one_line`), whatever went in.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from judge.base.errors import InputError
from judge.base.text import quote
from judge.games.gomoku import Rule
from judge.games.gomoku.board import GomokuBoard
from judge.games.gomoku.requests import RULE_BITS, Square
from judge.games.gomoku.rules import winning_row
from judge.games.types import Verdict

Move = tuple[int, int, int]
"""x and y from 0, and the milliseconds that this one move took (0 for a stone of the opening)."""

Outcome = Literal["black", "white", "draw", ""]
"""The colour that won, a draw, or nothing: not known, or a game that does not count."""

WINNERS: tuple[Outcome, Outcome] = ("black", "white")
"""The outcome that is a colour's win."""

NEAR_FULL = 25
"""Piskvork calls a game drawn when this many squares are left, Gomocup one of renju."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveRecord:
    """A finished game. A stone's colour is the parity of its index: the first is black.

    `width` and `height` are 0 where nothing but the result is known; then there are no moves. The
    first `opening` of `moves` stood there before anybody played. `rule` is a word of `Rule`,
    `verdict` one of `Verdict`; `names` are those of (black, white). Empty text, and None for
    `names`: not known. `date` is such as 2024-05-31 where it can be.
    """

    width: int
    height: int
    moves: tuple[Move, ...] = ()
    opening: int = 0
    rule: str = ""
    names: tuple[str, str] | None = None
    outcome: Outcome = ""
    verdict: str = ""
    event: str = ""
    round: str = ""
    date: str = ""

    @property
    def has_board(self) -> bool:
        """Whether more is known than the result."""
        return self.width > 0 and self.height > 0


class Laying:
    """The stones of a file while they are read: each must lie on the board, on a square of its own."""

    def __init__(self, width: int, height: int, source: str, say: Callable[[int, int], str]) -> None:
        """`say` writes a square of the board as the format does."""
        self.moves: list[Move] = []
        self._width, self._height = width, height
        self._source, self._say = source, say
        self._stones: dict[Square, int] = {}

    def add(self, x: int, y: int, ms: int, line: int, text: str) -> None:
        """Take the next stone, which `line` calls `text`; InputError where it cannot lie there."""
        if not (0 <= x < self._width and 0 <= y < self._height):
            last = self._say(self._width - 1, self._height - 1)
            raise InputError(
                f"{self._source}, line {line}: {text} is off the {self._width}x{self._height} board;"
                f" squares run from {self._say(0, 0)} to {last}"
            )
        number = len(self.moves) + 1
        first = self._stones.setdefault((x, y), number)
        if first != number:
            raise InputError(
                f"{self._source}, line {line}: {text}, stone {number}, is on the square of stone {first};"
                " remove one of the two"
            )
        self.moves.append((x, y, max(0, ms)))


def rule_word(text: str) -> str:
    """The rule that a file names by its word or by the number of INFO rule; empty for any other text."""
    word = text.strip().lower()
    words = {str(number): name for name, number in RULE_BITS.items()} | {r: r for r in RULE_BITS}
    return words.get(word, "")


def verdict_word(text: str) -> str:
    """`text` if it is a word of `Verdict`; else nothing."""
    return text if text in set(Verdict) else ""


def iso_date(text: str) -> str:
    """A date with dots, as PGN has it, with dashes."""
    return re.sub(r"^([0-9]{4})\.([0-9]{2})\.([0-9]{2})(?![0-9])", r"\1-\2-\3", text)


def outcome_on_board(record: FiveRecord) -> Outcome:
    """Who won a game that is known to have ended by its rules, as far as the stones show it.

    A row of exactly five through the last stone wins under every rule; a longer one wins here and
    is a foul there, so it shows nothing. Without a row, a board that is full but for 25 squares is a draw.
    """
    board = GomokuBoard(record.width, record.height)
    at = -1
    for number, (x, y, _) in enumerate(record.moves):
        at = board.place(x, y, number & 1)
    if at < 0:
        return ""
    row = winning_row(board.cells, board.stride, at, Rule.FREESTYLE)
    if row is None:
        return "draw" if board.width * board.height - len(board.stones) <= NEAR_FULL else ""
    exact = winning_row(board.cells, board.stride, at, Rule.STANDARD)
    return "" if exact is None else WINNERS[exact.colour]


def need_board(record: FiveRecord, form: str) -> None:
    """InputError for a record without a board, which only PGN can hold."""
    if not record.has_board:
        names = " - ".join(map(quote, record.names or ("?", "?")))
        raise InputError(f"{names}: only the result is known, and {form} needs the moves; use pgn")
