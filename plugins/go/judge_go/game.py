"""The entry of Go: board views, openings, SGF, a person's texts and the questions of `judge check`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.base.text import quote
from judge.catalog.entry import GameEntry, Openings, Partner, Question, Questions
from judge.formats.registry import FileFormat, FileFormats
from judge.formats.steps import Stepped
from judge.formats.views import BoardView, Mark, Surface, Token
from judge.games.person import PersonWords, UnclearError
from judge.games.types import Decision, Event, Game, Reply, Request, decided
from judge_go.board import BLACK, COLOURS, LETTERS, MAX_SIZE, WHITE, Board, read_vertex, vertex
from judge_go.positions import EXAMPLE, Moved, Position, read_opening, split_openings
from judge_go.rules import Go, Play, Played, PlayOrPass
from judge_go.sgf import GoSgf, Numbers, looks_like_go, read_sgf, sgf_of_record, steps_of_sgf, write_sgf


class GoEntry(GameEntry):
    """Go."""

    name = "go"
    protocol = "gtp"
    partners = (Partner(str(Path(__file__).parent / "starter")),)
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> Go:
        """A game of `GoOptions`."""
        return Go.from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:  # noqa: ARG002 nothing is hidden
        """Stones with the numbers of their moves."""
        if not isinstance(game, Go):
            raise TypeError(f"not a game of Go: {game!r}")
        moves = game.moves
        numbers = {point: index for index, (_, point) in enumerate(moves, 1) if point is not None}
        return board_view(game.board, numbers, len(moves), moves[-1] if moves else None)

    def public(self, game: Game) -> BoardView:
        """The whole board."""
        return self.view(game)

    def formats(self) -> FileFormats[GoSgf]:
        """SGF with times, next to each record."""
        sgf = FileFormat(".sgf", write_sgf, read_sgf, looks_like_go, holds_many=True, is_export=True)
        return FileFormats(sgf_of_record, {"sgf": sgf})

    def read_log(self, data: bytes, source: str) -> Stepped:
        """The first game of an SGF file."""
        return steps_of_sgf(read_sgf(data, source)[0], board_view)

    def openings(self, options: Mapping[str, Any]) -> Openings:
        """Points, positions and SGF."""
        size = self.new(options).size

        def parse(text: str) -> str:
            opening = read_opening(text, size)
            self.new({**options, "position": opening})
            return opening

        return Openings(parse, EXAMPLE, split=split_openings)

    def person(self) -> PersonWords:
        """Points as D4, and pass."""
        return GoWords()

    def questions(self, options: Mapping[str, Any]) -> Questions:
        """Legal moves in positions with captures, ko, handicap and a pass."""
        size = self.new(options).size
        asked = [
            Question(check, what, read_opening(position, size), seat=seat, turns=turns)
            for check, what, position, seat, turns in QUESTIONS
        ]
        return Questions(asked, answer_harmlessly, say, {"position": "", "handicap": 0})


_KO = "black B2 C1 C3 D2 white D1 D3 E2 to white moves C2"

QUESTIONS = (
    ("begin", "an empty board", "", 0, 2),
    ("begin", "the opponent began", "D4", 1, 2),
    ("capture", "the opponent captured a stone in the corner", "black B1 white A1 C1 to black moves A2", 1, 2),
    ("capture", "black has two handicap stones", "black C3 G7", 1, 2),
    ("ko", "white took a ko", _KO, 0, 2),
    ("pass", "the opponent passed", "D4 pass", 0, 1),
)
"""Check, description, position, seat, turns."""


def board_view(board: Board, numbers: Numbers, played: int, last: Moved | None) -> BoardView:
    """Return the stones with the numbers of their moves, after `played` moves."""
    size = board.size
    tokens = {point: Token(colour, numbers.get(point, 0)) for point, colour in board.stones().items()}
    caption, marks = "", {}
    if last is not None:
        colour, point = last
        caption = f"{played}. {COLOURS[colour]} {vertex(point, size)}"
        marks = {} if point is None else {point: Mark.LAST}
    rows = tuple(str(size - row) for row in range(size))
    return BoardView(
        Surface.LINES,
        tuple(LETTERS[:size]),
        rows,
        tokens,
        (COLOURS[BLACK], COLOURS[WHITE]),
        marks=marks,
        caption=caption,
    )


_NUMBERS = re.compile(r"([0-9]{1,2}),([0-9]{1,2})", re.ASCII)


class GoWords(PersonWords):
    """Texts for a person."""

    speaks = frozenset({PlayOrPass, Played})

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        """The colour that moves."""
        return f"{COLOURS[request.seat]} to move"

    def tips(self, request: Request) -> Sequence[str]:  # noqa: ARG002 the same for all
        """Points and passes."""
        return ("a point: D4", "pass: two passes end the game, and all stones on the board count")

    def tell(self, event: Event, names: tuple[str, str]) -> str:  # noqa: ARG002 sides have colours
        """The move."""
        if not isinstance(event, Played):
            raise TypeError(f"a person has no words for {event!r}")
        return f"{COLOURS[event.seat]} {event.name}"

    def read(self, request: Request, text: str) -> Reply:
        """A point, also as column and row from the top left, or a pass."""
        size = _request(request).size
        if match := _NUMBERS.fullmatch(text):
            text = vertex((min(int(match[1]), MAX_SIZE - 1), int(match[2])), size)
        try:
            point = read_vertex("".join(text.split()), size)
        except ValueError:
            raise UnclearError(f"{quote(text, 20)} is no point: type D4 or pass") from None
        return decided(Play(point), vertex(point, size))

    def square(self, x: int, y: int) -> str:
        """Column and row, because the name depends on the size."""
        return f"{x},{y}"


def _request(request: Request) -> PlayOrPass:
    if not isinstance(request, PlayOrPass):
        raise TypeError(f"no request of Go: {request!r}")
    return request


def answer_harmlessly(request: Request) -> Reply:
    """A legal point in the order of rows that captures nothing and leaves liberties, else a pass."""
    asked = _request(request)
    game = Go.from_options({"size": asked.size, "position": _text(asked)})
    for y in range(asked.size):
        for x in range(asked.size):
            after = game.board.copy()
            if not game.objection((x, y)) and after.play((x, y), asked.seat) == 0 and after.liberties((x, y)) > 1:
                return decided(Play((x, y)), vertex((x, y), asked.size))
    return decided(Play(None), "pass")


def _text(request: PlayOrPass) -> str:
    to_move = request.moves[0][0] if request.moves else request.seat
    return Position(request.stones, to_move, request.moves).text(request.size)


def say(decision: Decision) -> str:
    """A point from the top left, or a pass."""
    if not isinstance(decision, Play):
        return ""
    return "pass" if decision.point is None else f"{decision.point[0]},{decision.point[1]}"


ENTRY = GoEntry()
