"""Quantum Chess: its entry, and the texts for a person.

A person types the square of a piece, then its destination, each as `x y`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.base.text import quote, sentence
from judge.catalog.entry import GameEntry, Openings, Partner, ResultWord, ResultWords
from judge.games.person import PersonWords, UnclearError
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.game import Variant
from judge.games.quantum_chess.words import Destination, Moved, OnSquare, Selected, Selection, TurnLost, announcement
from judge.games.types import Event, Game, Reply, Request, decided

if TYPE_CHECKING:
    from judge.formats.quantum_chess.log import QchessLog
    from judge.formats.registry import FileFormats
    from judge.formats.steps import Stepped
    from judge.formats.views import BoardView

_ON_SQUARE = re.compile(r"([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3})")


class QuantumChessWords(PersonWords):
    """Texts for selections and destinations."""

    speaks = frozenset({Selection, Destination, Selected, Moved, TurnLost})

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        if isinstance(request, Destination):
            return f"move the piece on {request.x} {request.y}"
        return "select a piece"

    def tips(self, request: Request) -> Sequence[str]:  # noqa: ARG002 both requests ask for a square
        return ("a square: x y, such as 3 6",)

    def tell(self, event: Event, names: tuple[str, str]) -> str:  # noqa: ARG002 sides have colours
        match event:
            case Selected() | Moved():
                return f"{('white', 'black')[event.seat]} {announcement(event)}"
            case TurnLost(words=words):
                return words
            case _:
                raise TypeError(f"a person has no words for {event!r}")

    def read(self, request: Request, text: str) -> Reply:  # noqa: ARG002 both requests ask for a square
        match = _ON_SQUARE.fullmatch(text)
        if match is None:
            raise UnclearError(f"{quote(text)} is not a square: type x y, such as 3 6")
        x, y = int(match[1]), int(match[2])
        return decided(OnSquare(x, y), f"{x} {y}")

    def strict(self, game: Game) -> Game:
        if not isinstance(game, QuantumChess):
            raise TypeError(f"not a game of Quantum Chess: {game!r}")
        game.options = game.options.model_copy(update={"illegal": "loses-game"})
        return game


_LOG = re.compile(rb"# (Log starts|Short log)")

_WORDS = frozenset(
    {"WIN", "DRAW", "ILLEGAL", "BOUNDS", "EMPTY", "COLOUR", "GIBBERISH", "TIMEOUT", "UNRESPONSIVE", "terminated"}
)


class QuantumChessEntry(GameEntry):
    """Quantum Chess as in UCC's contest of 2013."""

    name = "quantum-chess"
    protocol = "qchess"
    policy = "qchess-seed"
    partners = (Partner("house-qchess-instant"),)
    practice = (Partner("house-qchess"), Partner("house-qchess-instant"))
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> QuantumChess:
        return QuantumChess.from_options(options)

    def goal(self, options: Mapping[str, Any]) -> Sequence[str]:
        first = sentence("The player who captures the opponent's king wins; there is no check.")
        if self.new(options).options.variant is Variant.CLASSICAL:
            return [first]
        return [
            first,
            sentence("A piece may be one of two types: chance decides which when a player selects it for a move."),
        ]

    def view(self, game: Game, seat: int | None = None) -> BoardView:
        from judge.formats.quantum_chess.log import chess_view

        if not isinstance(game, QuantumChess):
            raise TypeError(f"not a game of Quantum Chess: {game!r}")
        return chess_view(game, seat)

    def public(self, game: Game) -> BoardView:
        """Hides types that no agent knows yet; both agents know the same."""
        return self.view(game, 0)

    def formats(self) -> FileFormats[QchessLog]:
        from judge.formats.quantum_chess.log import qchess_log, read_log, write_log
        from judge.formats.registry import FileFormat, FileFormats

        log = FileFormat(
            ".log",
            write_log,
            lambda data, source: (read_log(data, source),),
            lambda data: _LOG.match(data) is not None,
            is_export=True,
        )
        return FileFormats(qchess_log, {"log": log}, lambda game: game.result is not None)

    def read_log(self, data: bytes, source: str) -> Stepped:
        """Random results are in the log."""
        from judge.formats.quantum_chess.log import qchess_steps, read_log

        return qchess_steps(read_log(data, source))

    def replay_log(self, data: bytes, source: str) -> str:
        from judge.formats.quantum_chess.log import read_log, replay_qchess_log

        log = read_log(data, source)
        return f"quantum chess, {replay_qchess_log(log).game.result(log.names) or 'unfinished'}"

    def result_words(self, options: Mapping[str, Any]) -> ResultWords:  # noqa: ARG002 all options have the same
        """`white` alone is a win for white."""
        return ResultWords(_WORDS, _read_result)

    def openings(self, options: Mapping[str, Any]) -> Openings:
        from judge.games.quantum_chess.words import EXAMPLE

        def parse(text: str) -> str:
            position = " ".join(text.split())
            if position:
                self.new({**options, "position": position})
            return position

        return Openings(parse, EXAMPLE)

    def has_chance(self, options: Mapping[str, Any]) -> bool:
        return bool(self.new(options).describe()["variant"] == "quantum")

    def person(self) -> PersonWords:
        return QuantumChessWords()


def _read_result(line: str) -> ResultWord | None:
    colour, _, word = line.partition(" ")
    if colour not in ("white", "black"):
        return None
    return ResultWord(word or "WIN", int(colour == "black"))


ENTRY = QuantumChessEntry()
