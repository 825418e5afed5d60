"""The entry of chess: board views, openings, PGN, a person's texts and the questions of `judge check`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chess

from judge.base.text import quote
from judge.catalog.entry import GameEntry, Openings, Partner, Question, Questions
from judge.formats.registry import FileFormat, FileFormats
from judge.formats.steps import Stepped
from judge.formats.views import BoardView, Face, Mark, Surface, Token
from judge.games.person import PersonWords, UnclearError
from judge.games.types import NATURE, Decision, Drawn, Event, Game, Reply, Request, decided
from judge_chess.pgn import PgnGame, looks_like_pgn, pgn_of_record, read_pgn, steps_of_pgn, write_pgn
from judge_chess.positions import EXAMPLE, read_opening, split_openings
from judge_chess.rules import COLOURS, Chess, ChessOptions, ChooseMove, Move, Moved

STANDARD = 518
"""Chess960 number of the usual position."""


class ChessEntry(GameEntry):
    """Chess and Chess960."""

    name = "chess"
    protocol = "uci"
    partners = (Partner(str(Path(__file__).parent / "starter")),)
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> Chess:
        """A game of `ChessOptions`."""
        return Chess.from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:  # noqa: ARG002 nothing is hidden
        """Pieces, and the last move."""
        if not isinstance(game, Chess):
            raise TypeError(f"not a game of chess: {game!r}")
        return board_view(game.board)

    def public(self, game: Game) -> BoardView:
        """The whole board."""
        return self.view(game)

    def has_chance(self, options: Mapping[str, Any]) -> bool:
        """Chess960 draws its start position."""
        return self.new(options).draws_start

    def formats(self) -> FileFormats[PgnGame]:
        """PGN with clock times and scores, next to each record."""
        pgn = FileFormat(".pgn", write_pgn, read_pgn, looks_like_pgn, holds_many=True, is_export=True)
        return FileFormats(pgn_of_record, {"pgn": pgn})

    def write_pgn(self, replay: Stepped, event: str, round_name: str) -> bytes:
        """The game with clock times and scores."""
        return write_pgn(pgn_of_record(replay, event, round_name))

    def read_log(self, data: bytes, source: str) -> Stepped:
        """The first game of a PGN file."""
        return steps_of_pgn(read_pgn(data, source)[0], board_view)

    def openings(self, options: Mapping[str, Any]) -> Openings:
        """Moves, FEN, EPD and PGN."""
        game = self.new(options)

        def parse(text: str) -> str:
            return read_opening(text, chess960=game.is_chess960, check=game.check_opening)

        return Openings(parse, EXAMPLE, split=split_openings)

    def person(self) -> PersonWords:
        """Moves in both notations."""
        return ChessWords()

    def questions(self, options: Mapping[str, Any]) -> Questions:
        """Positions with one right answer, and legal moves after special moves."""
        is_chess960 = ChessOptions.model_validate(dict(options)).variant == "chess960"
        asked = [
            Question(
                check,
                what,
                read_opening(position, chess960=is_chess960),
                seat=seat,
                turns=turns,
                answers=tuple(map(Move, answers.split())),
            )
            for check, what, position, seat, turns, answers in QUESTIONS
        ]
        return Questions(asked, answer_harmlessly, say)


QUESTIONS = (
    ("begin", "the first position", "startpos", 0, 2, ""),
    ("begin", "the opponent began", "startpos moves e2e4", 1, 2, ""),
    ("mate", "white mates", "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", None, 1, "d1d8"),
    ("mate", "black mates", "3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", None, 1, "d8d1"),
    ("castling", "castling mates", "R7/8/8/8/8/8/P6Q/1k2K2R w K - 0 1", None, 1, "e1g1 e1h1"),
    ("castling", "the opponent castled", "startpos moves g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1", 1, 2, ""),
    ("en-passant", "en passant mates", "R7/1k6/8/2PpP2P/8/1K6/6B1/8 w - d6 0 1", None, 1, "e5d6"),
    ("en-passant", "the opponent captured", "startpos moves e2e4 g8f6 e4e5 d7d5 e5d6", 1, 2, ""),
    ("promotion", "a promotion mates", "k7/7P/1K6/8/8/8/8/8 w - - 0 1", None, 1, "h7h8q h7h8r"),
    ("repetition", "the first position is there again", "startpos moves g1f3 g8f6 f3g1 f6g8", 0, 2, ""),
    ("promotion", "a knight mates", "7B/1P2KPN1/6k1/P6p/5Q2/p7/8/8 w - - 0 1", None, 1, "f7f8n"),
)
"""Check, description, position, seat, turns, right answers."""


def board_view(board: chess.Board) -> BoardView:
    """Return the pieces, the last move as caption and mark."""
    tokens = {
        _at(square): Token(int(not piece.color), faces=(Face(chess.piece_name(piece.piece_type)),), shows=0)
        for square, piece in board.piece_map().items()
    }
    caption, marks = "", {}
    if board.move_stack:
        before = board.copy(stack=1)
        move = before.pop()
        dots = "." if before.turn else "..."
        caption = f"{before.fullmove_number}{dots} {before.san(move)}"
        marks = {_at(square): Mark.LAST for square in (move.from_square, move.to_square)}
    rows = tuple(reversed(chess.RANK_NAMES))
    return BoardView(Surface.CHEQUERED, tuple(chess.FILE_NAMES), rows, tokens, COLOURS, marks=marks, caption=caption)


def _at(square: chess.Square) -> tuple[int, int]:
    return chess.square_file(square), 7 - chess.square_rank(square)


class ChessWords(PersonWords):
    """Texts for a person: moves as e2e4, e7e8q, Nf3 or O-O."""

    speaks = frozenset({ChooseMove, Moved})

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        """The colour that moves."""
        return f"{COLOURS[not _request(request).is_white]} to move"

    def tips(self, request: Request) -> Sequence[str]:  # noqa: ARG002 the same for all
        """Both notations."""
        return ("a move: e2e4 or e4, Nf3, O-O", "a promotion: e7e8q or e8=Q")

    def tell(self, event: Event, names: tuple[str, str]) -> str:  # noqa: ARG002 sides have colours
        """The move."""
        if not isinstance(event, Moved):
            raise TypeError(f"a person has no words for {event!r}")
        return f"{COLOURS[event.seat]} {event.san}"

    def read(self, request: Request, text: str) -> Reply:
        """A legal move in either notation."""
        board = _request(request).board()
        for parse in (board.parse_uci, board.parse_san):
            try:
                uci = board.uci(parse("".join(text.split())))
            except ValueError:
                continue
            return decided(Move(uci), uci)
        raise UnclearError(f"{quote(text, 20)} is not a legal move: type e2e4 or Nf3")

    def squares(self, request: Request) -> int:  # noqa: ARG002 the same for all
        """From and to."""
        return 2

    def square(self, x: int, y: int) -> str:
        """Its name."""
        return chess.square_name(chess.square(x, 7 - y))


def _request(request: Request) -> ChooseMove:
    if not isinstance(request, ChooseMove):
        raise TypeError(f"no request of chess: {request!r}")
    return request


def answer_harmlessly(request: Request) -> Reply:
    """The first legal move in the order of squares; the usual position in Chess960."""
    if request.seat == NATURE:
        return decided(Drawn(STANDARD))
    board = _request(request).board()
    moves = sorted(board.legal_moves, key=lambda move: (board.is_capture(move), board.gives_check(move), move.uci()))
    return decided(Move(board.uci(moves[0])), board.uci(moves[0]))


def say(decision: Decision) -> str:
    """A move in UCI notation."""
    return decision.uci if isinstance(decision, Move) else ""


ENTRY = ChessEntry()
