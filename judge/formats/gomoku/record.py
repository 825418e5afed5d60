"""A finished five-in-a-row game, independent of file formats.

Its text is untrusted: it is reduced to one printable line (`judge.base.text.one_line`).
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from judge.base.errors import InputError
from judge.base.text import quote
from judge.formats.steps import Stepped
from judge.games.gomoku import Gomoku, Rule
from judge.games.gomoku.board import GomokuBoard
from judge.games.gomoku.requests import RULE_BITS, Square
from judge.games.gomoku.rules import winning_row
from judge.games.types import Verdict
from judge.referee.verify import winner_of

Move = tuple[int, int, int]
"""x and y from 0, and milliseconds (0 for a stone of the opening)."""

Outcome = Literal["black", "white", "draw", ""]
"""Empty: unknown, or a game that does not count."""

WINNERS: tuple[Outcome, Outcome] = ("black", "white")

NEAR_FULL_SQUARES = 25
"""Empty squares at which Piskvork draws any game, and Gomocup a renju game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveRecord:
    """Stones alternate in colour; the first is black.

    `width` and `height` are 0 if only the result is known. The first `opening` moves are the opening. `rule` is a word
    of `Rule`, `verdict` one of `Verdict`; `names` are (black, white). Empty text and None mean unknown.
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
        return self.width > 0 and self.height > 0


def five_of(replay: Stepped) -> FiveRecord:
    """A record, with the winner by the rules. The first stone of an answer has its time.

    Raises InputError for a contradiction to the rules or another game.
    """
    record, game = replay.record_and_game(Gomoku, "five in a row")
    laid = [len(step.view.tokens) for step in replay.steps]
    times = [0] * laid[-1]
    for ms, (before, after) in zip(replay.charged_ms, pairwise(laid), strict=True):
        if before < after:
            times[before] = round(ms)
    outcome: Outcome = ""
    verdict = Verdict.VOID
    if game.end is not None and record.verdict is not Verdict.VOID:
        winner, verdict = winner_of(game.end), game.end.verdict
        outcome = "draw" if winner is None else WINNERS[winner ^ game.black]
    date = ""
    with suppress(ValueError):
        date = datetime.fromisoformat(record.started_at).date().isoformat()
    return FiveRecord(
        width=game.width,
        height=game.height,
        moves=tuple((x, y, ms) for (x, y, _), ms in zip(game.stones, times, strict=True)),
        opening=laid[0],
        rule=game.rule.value,
        names=(replay.names[game.black], replay.names[1 - game.black]),
        outcome=outcome,
        verdict=verdict.value,
        event=record.spec.policy.name,
        round=str(record.spec.number + 1),
        date=date,
    )


class Laying:
    """Collects stones on empty squares of the board."""

    def __init__(self, width: int, height: int, source: str, say: Callable[[int, int], str]) -> None:
        self.moves: list[Move] = []
        self._width, self._height = width, height
        self._source, self._say = source, say
        self._stones: dict[Square, int] = {}

    def add(self, x: int, y: int, ms: int, line: int, text: str) -> None:
        """Raises InputError if the stone cannot be placed."""
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
    """Rule for its word or INFO rule number; else empty."""
    word = text.strip().lower()
    words = {str(number): name for name, number in RULE_BITS.items()} | {r: r for r in RULE_BITS}
    return words.get(word, "")


def verdict_word(text: str) -> str:
    """`text` if it is a word of `Verdict`; else empty."""
    return text if text in set(Verdict) else ""


def iso_date(text: str) -> str:
    """From a PGN date."""
    return re.sub(r"^([0-9]{4})\.([0-9]{2})\.([0-9]{2})(?![0-9])", r"\1-\2-\3", text)


def outcome_on_board(record: FiveRecord) -> Outcome:
    """Winner of a game that ended by its rules, as far as the stones show it.

    Exactly five through the last stone win under every rule; a longer row may be a foul. Without a row, at most 25
    empty squares mean a draw.
    """
    board = GomokuBoard(record.width, record.height)
    at = -1
    for number, (x, y, _) in enumerate(record.moves):
        at = board.place(x, y, number & 1)
    if at < 0:
        return ""
    row = winning_row(board.cells, board.stride, at, Rule.FREESTYLE)
    if row is None:
        return "draw" if board.width * board.height - len(board.stones) <= NEAR_FULL_SQUARES else ""
    exact = winning_row(board.cells, board.stride, at, Rule.STANDARD)
    return "" if exact is None else WINNERS[exact.colour]


def need_board(record: FiveRecord, form: str) -> None:
    """Raises InputError without a board, which only PGN supports."""
    if not record.has_board:
        names = " - ".join(map(quote, record.names or ("?", "?")))
        raise InputError(f"{names}: only the result is known, and {form} needs the moves; use pgn")
