"""Five in a row: its entry, the texts for a person, the questions of `judge check`, openings in files.

A person types a square as on the board (`h8`) or as in protocols (`7,7`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from judge.base.errors import InputError
from judge.base.text import quote, sentence
from judge.catalog.entry import GameEntry, Openings, Partner, Question, Questions, one_per_line
from judge.games.gomoku import Gomoku, Rule
from judge.games.gomoku.positions import positions, squares_of
from judge.games.gomoku.requests import (
    COLOURS,
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    StonesRequest,
    Swap,
    square_at,
    square_name,
)
from judge.games.person import PersonWords, UnclearError
from judge.games.types import Decision, Event, Game, Reply, Request, decided

if TYPE_CHECKING:
    from judge.formats.gomoku.record import FiveRecord
    from judge.formats.registry import FileFormats
    from judge.formats.steps import Stepped
    from judge.formats.views import BoardView

HEAD_LINES = 50
"""Of a file of openings, to recognise its format."""

_SQUARE = re.compile(r"[\s;]*(?:([a-zA-Z]{1,2}[0-9]{1,2})|([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3}))[\s;]*")


class GomokuWords(PersonWords):
    """Texts for five in a row."""

    speaks = frozenset({PlaceStone, LayStones, AnswerSwap, OfferFifths, ChooseFifth, StonePlaced, ColoursSettled})

    def question(self, request: Request, typed: int = 0) -> str:  # noqa: ARG002 answers are sent one by one
        match request:
            case PlaceStone(colour=colour):
                return f"place a {COLOURS[colour]} stone"
            case LayStones(count=count):
                return f"lay the first {count} stones, black and white in turn"
            case AnswerSwap(adds=adds):
                more = f", or place {adds} stones and let the other choose" if adds else ""
                return f"swap (play black), or place a white stone (play white){more}"
            case OfferFifths(count=count, offered=offered):
                return f"offer {count - len(offered)} squares for black's fifth stone"
            case ChooseFifth():
                return "choose one of the squares that black offers"
            case _:
                raise TypeError(f"a person has no words for {request!r}")

    def tips(self, request: Request) -> Sequence[str]:
        match request:
            case LayStones() | OfferFifths():
                return ("squares: h8 i9 j7",)
            case AnswerSwap(adds=adds):
                return ("swap", "or a square: h8 or 7,7", *([f"or {adds} squares: h8 i9"] if adds else []))
            case _:
                return ("a square: h8 or 7,7",)

    def tell(self, event: Event, names: tuple[str, str]) -> str:
        match event:
            case StonePlaced(x=x, y=y, colour=colour):
                return f"{COLOURS[colour]} {square_name(x, y)}"
            case ColoursSettled(black=black):
                return f"{names[black]} plays black"
            case _:
                raise TypeError(f"a person has no words for {event!r}")

    def read(self, request: Request, text: str) -> Reply:
        if isinstance(request, AnswerSwap) and text.lower() == "swap":
            return decided(Swap(), "SWAP")
        squares = _squares(text)
        said = " ".join(f"{x},{y}" for x, y in squares)
        is_one = len(squares) == 1 and not isinstance(request, LayStones)
        return decided(Stone(*squares[0]) if is_one else Stones(squares), said)

    def squares(self, request: Request) -> int:
        match request:
            case LayStones(count=count):
                return count
            case OfferFifths(count=count, offered=offered):
                return count - len(offered)
            case _:
                return 1

    def square(self, x: int, y: int) -> str:
        return square_name(x, y)


def _squares(text: str) -> tuple[Square, ...]:
    squares, at = [], 0
    while at < len(text):
        match = _SQUARE.match(text, at)
        if match is None:
            raise UnclearError(f"{quote(text)} is not a square: type h8 or 7,7")
        squares.append(square_at(match[1].lower()) if match[1] else (int(match[2]), int(match[3])))
        at = match.end()
    if not squares:
        raise UnclearError("type a square: h8 or 7,7")
    return tuple(squares)


_LINES: Mapping[Rule, str] = {
    Rule.FREESTYLE: sentence("five or more stones"),
    Rule.STANDARD: sentence("exactly five stones"),
    Rule.RENJU: sentence("five stones"),
    Rule.CARO: sentence("exactly five stones"),
    Rule.CARO_OVERLINE: sentence("five or more stones"),
}

_BLOCKED = sentence("A line of five does not count if stones of the opponent block both its ends.")

_DETAILS: Mapping[Rule, str] = {
    Rule.RENJU: sentence(
        "White may also line up more. Black may not make a line of six or more, two fours or two open threes with one "
        "stone."
    ),
    Rule.CARO: _BLOCKED,
    Rule.CARO_OVERLINE: _BLOCKED,
}


PLAIN = {"swap": "none", "fifths": 1}


def _mistakes(width: int, height: int) -> Mapping[str, Mapping[str, Callable[[Decision], Decision]]]:
    def corrected(change: Callable[[int, int], Square]) -> Callable[[Decision], Decision]:
        return lambda decision: Stone(*change(decision.x, decision.y)) if isinstance(decision, Stone) else decision

    largest = sentence(f"the largest are {width - 1},{height - 1}")
    changes: Mapping[str, Mapping[str, Callable[[int, int], Square]]] = {
        "gomocup": {
            sentence(f"its answers count from 1: column and row count from 0, {largest}"): lambda x, y: (x - 1, y - 1),
            sentence("its answers have x and y exchanged: x is the column and comes first"): lambda x, y: (y, x),
            sentence(
                "its answers have x and y exchanged and count from 1: the column comes first, and both count from 0"
            ): lambda x, y: (y - 1, x - 1),
            sentence(
                "its answers count rows from the other side of the board: the row of a move is numbered as in TURN and "
                "BOARD"
            ): lambda x, y: (x, height - 1 - y),
        },
        "agi": {
            sentence("its answers have row and column exchanged: the row (0 to E) comes first"): lambda x, y: (y, x),
            sentence(
                "its answers have row and column exchanged: the row (0 to E) comes first, then the column (1 to F)"
            ): lambda x, y: (y - 1, x + 1),
            sentence("its columns count from 0: columns are 1 to F, rows 0 to E"): lambda x, y: (x + 1, y),
            sentence("its rows count from 1: rows are 0 to E, columns 1 to F"): lambda x, y: (x, y - 1),
            sentence("its answers count rows from the bottom: row 0 is at the top"): lambda x, y: (x, height - 1 - y),
        },
    }
    return {
        protocol: {advice: corrected(change) for advice, change in by_advice.items()}
        for protocol, by_advice in changes.items()
    }


def name_stone(decision: Decision) -> str:
    """Empty for other decisions."""
    return square_name(decision.x, decision.y) if isinstance(decision, Stone) else ""


def answer_harmlessly(request: Request) -> Reply:
    """A legal answer without a threat."""
    match request:
        case PlaceStone() | AnswerSwap():
            return decided(Stone(*_free(request)[0]))
        case LayStones(count=count):
            return decided(Stones(tuple(_free(request)[:count])))
        case OfferFifths(free=free):
            return decided(Stone(*free[0]))
        case ChooseFifth(offers=offers):
            return decided(Stone(*offers[0]))
        case _:
            raise TypeError(f"the interviewer cannot answer {request!r}")


MAX_OPENING_STONES = 5
"""Stones after which every opening stage is over."""
MIN_DISTANCE = 3
"""Distance of the opponent's later stones from all others, which avoids threats and fouls."""


def _free(request: StonesRequest) -> list[Square]:
    taken = {(x, y) for x, y, _ in request.stones}
    squares = [(x, y) for y in range(request.height) for x in range(request.width) if (x, y) not in taken]
    middle = request.width // 2, request.height // 2
    is_late = len(taken) >= MAX_OPENING_STONES

    def badness(at: Square) -> tuple[bool, int]:
        return is_late and any(_distance(at, stone) < MIN_DISTANCE for stone in taken), _distance(at, middle)

    return sorted(squares, key=badness)


def _distance(one: Square, other: Square) -> int:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


class GomokuEntry(GameEntry):
    """Five in a row with all its rules and openings."""

    name = "gomoku"
    protocol = "gomocup"
    policy = "gomocup-freestyle"
    partners = (Partner("house-instant", ("centre",)), Partner("house-agi-instant"), Partner("house-agi"))
    practice = (
        *(Partner("house-instant", ("centre",)), Partner("house-strong"), Partner("house-renju")),
        *(Partner("house-agi-instant"), Partner("house-agi")),
    )
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> Gomoku:
        return Gomoku.from_options(options)

    def goal(self, options: Mapping[str, Any]) -> Sequence[str]:
        game = self.new(options).describe()
        rule = Rule(game["rule"])
        stones, details = _LINES[rule], [_DETAILS[rule]] if rule in _DETAILS else []
        if not game["continuous"]:
            first = sentence(f"The first player who lines up {stones} without a gap, straight or diagonally, wins.")
            return [first, *details]
        first = sentence(f"Each player who lines up {stones} without a gap, straight or diagonally, scores a point.")
        return [first, *details, sentence("The board is played full, and more points win.")]

    def view(self, game: Game, seat: int | None = None) -> BoardView:  # noqa: ARG002 nothing is hidden
        from judge.formats.gomoku.view import stones_view

        if not isinstance(game, Gomoku):
            raise TypeError(f"not a game of five in a row: {game!r}")
        return stones_view(game)

    def public(self, game: Game) -> BoardView:
        return self.view(game)

    def formats(self) -> FileFormats[FiveRecord]:
        from judge.formats.gomoku.formats import GOMOKU_FORMATS

        return GOMOKU_FORMATS

    def write_pgn(self, replay: Stepped, event: str, round_name: str) -> bytes:
        from judge.formats.gomoku.pgn import write_pgn
        from judge.formats.gomoku.record import five_of

        return write_pgn(replace(five_of(replay), event=event, round=round_name))

    def read_log(self, data: bytes, source: str) -> Stepped:
        """The first game of a file."""
        from judge.formats.gomoku.formats import first_game

        return first_game(data, source)

    def openings(self, options: Mapping[str, Any]) -> Openings:
        """Offsets or squares, or the games of a file."""
        from judge.games.gomoku.options import symmetries
        from judge.games.gomoku.positions import EXAMPLE, parse_opening

        board = self.new(options).describe()
        width, height, rule = board["width"], board["height"], board["rule"]
        return Openings(
            lambda text: parse_opening(text, width, height, rule, continuous=board["continuous"]),
            EXAMPLE,
            symmetries(width, height),
            _split_openings,
        )

    def unsuited(self, agent: str, options: Mapping[str, Any]) -> str:
        board = self.new(options).describe()
        if agent in _TWO_RULES and board["rule"] not in ("freestyle", "standard"):
            return f"it plays freestyle and standard, not {board['rule']}"
        if agent in (*_TWO_RULES, *_NO_SWAPS) and board["swap"] == "swap2":
            return "it does not play swap2"
        return ""

    def balanced_openings(self, options: Mapping[str, Any]) -> str:
        """Boards on which agents choose colours or offer stones need none."""
        board = self.new(options).describe()
        is_plain = board["swap"] == "none" and board["fifths"] == 1 and not board["continuous"]
        return f"{board['rule']}-{board['width']}" if is_plain and board["width"] == board["height"] else ""

    def person(self) -> PersonWords:
        return GomokuWords()

    def questions(self, options: Mapping[str, Any]) -> Questions:
        """Commands, then positions."""
        game = self.new({**options, **PLAIN}).describe()
        width, height = game["width"], game["height"]
        asked = [
            Question("begin", sentence("an empty board"), seat=0, turns=2),
            Question("turn", sentence("the opponent began"), seat=1),
        ]
        for position in positions(game["rule"], width, height):
            stones, answers = (squares_of(text, width, height) for text in (position.stones, position.answers))
            # One turn if the answer is forced, or in an opening, where many agents use all their time.
            turns = 1 if answers or len(stones) <= MAX_OPENING_STONES else 2
            wanted, what = tuple(Stone(*at) for at in answers), position.what or position.stones
            asked.append(Question(position.check, what, stones, turns=turns, answers=wanted))
        hard = Question("stop", opening=squares_of("h8h9i9g7j8f8k9i8h7h6i10", width, height))
        return Questions(asked, answer_harmlessly, name_stone, PLAIN, hard, _mistakes(width, height))


def _split_openings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Openings as squares: one per line, or the games of a PSQ, SGF or PGN file, with the number of line or game.

    A game's opening is its stones that are marked as opening, else all of its stones. Raises InputError.
    """
    from judge.formats.gomoku.formats import GOMOKU_FORMATS
    from judge.formats.registry import MAX_FILE_BYTES

    every = (line.rstrip("\r\n") for line in lines)
    read = list(islice(every, HEAD_LINES))
    start = _encoded(read)
    formats = (GOMOKU_FORMATS.by_name[name] for name in ("psq", "sgf", "pgn"))
    form = next((form for form in formats if form.looks_like(start)), None)
    if form is None:
        yield from one_per_line(chain(read, every))
        return
    size = len(start)
    for line in every:
        read.append(line)
        size += len(line) + 1
        if size > MAX_FILE_BYTES:
            raise InputError(f"games of more than {MAX_FILE_BYTES} bytes; split the file")
    for number, game in enumerate(form.read(_encoded(read), "games"), 1):
        stones = game.moves[: game.opening] if game.opening else game.moves
        yield number, "".join(square_name(x, y) for x, y, _ in stones)


def _encoded(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogateescape")


_TWO_RULES = ("house-strong", "house-python", "house-java")
_NO_SWAPS = ("house-instant", "house-stamp")


ENTRY = GomokuEntry()
