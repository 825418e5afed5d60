"""Quantum Chess: its entry among the games."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge.catalog.entry import GameEntry, Partner, ResultWord, ResultWords
from judge.games.person import PersonWords
from judge.games.quantum_chess import QuantumChess
from judge.games.types import Game
from judge.records.formats import FileFormat, FileFormats
from judge.records.steps import Stepped
from judge.records.views import BoardView

if TYPE_CHECKING:
    from judge.records.quantum_chess.log import QchessLog

_LOG = re.compile(rb"# (Log starts|Short log)")

_WORDS = frozenset(
    {"WIN", "DRAW", "ILLEGAL", "BOUNDS", "EMPTY", "COLOUR", "GIBBERISH", "TIMEOUT", "UNRESPONSIVE", "terminated"}
)


class QuantumChessEntry(GameEntry):
    """Quantum Chess as UCC's contest of 2013 played it."""

    name = "quantum-chess"
    protocol = "qchess"
    partners = (Partner("house-qchess-instant"),)
    practice = (Partner("house-qchess"), Partner("house-qchess-instant"))
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> QuantumChess:
        """A game with these options."""
        return QuantumChess.from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:
        """Pieces with both their types."""
        from judge.records.quantum_chess.view import chess_view

        return chess_view(_chess(game), seat)

    def public(self, game: Game) -> BoardView:
        """Without the types that no agent knows yet; what one agent knows, the other knows too."""
        return self.view(game, 0)

    def formats(self) -> "FileFormats[QchessLog]":
        """The log of UCC's manager."""
        from judge.records.quantum_chess.log import read_log, write_log
        from judge.records.quantum_chess.replay import qchess_log

        log = FileFormat(
            ".log",
            write_log,
            lambda data, source: (read_log(data, source),),
            lambda data: _LOG.match(data) is not None,
            is_export=True,
        )
        return FileFormats(lambda file: qchess_log(file.record), {"log": log}, lambda game: game.result is not None)

    def read_log(self, data: bytes, source: str) -> Stepped:
        """The game, chance answered from the log."""
        from judge.records.quantum_chess.log import read_log
        from judge.records.quantum_chess.steps import qchess_steps

        return qchess_steps(read_log(data, source))

    def replay_log(self, data: bytes, source: str) -> str:
        """The result line."""
        from judge.records.quantum_chess.log import read_log
        from judge.records.quantum_chess.replay import replay_qchess_log

        log = read_log(data, source)
        return f"quantum chess, {replay_qchess_log(log).game.result(log.names) or 'unfinished'}"

    def result_words(self, options: Mapping[str, Any]) -> ResultWords:  # noqa: ARG002 all options have the same
        """The second word of the result line; `white` alone is white's win."""
        return ResultWords(_WORDS, _read_result)

    def person(self) -> PersonWords:
        """All its requests and events."""
        from judge.catalog.quantum_chess_person import QuantumChessWords

        return QuantumChessWords()


def _chess(game: Game) -> QuantumChess:
    if not isinstance(game, QuantumChess):
        raise TypeError(f"not a game of Quantum Chess: {game!r}")
    return game


def _read_result(line: str) -> ResultWord | None:
    colour, _, word = line.partition(" ")
    if colour not in ("white", "black"):
        return None
    return ResultWord(word or "WIN", int(colour == "black"))


ENTRY = QuantumChessEntry()
