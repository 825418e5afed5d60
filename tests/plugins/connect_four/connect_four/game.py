"""What the judge knows of Connect Four."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.base.errors import InputError
from judge.base.text import quote
from judge.catalog.entry import GameEntry, Openings, Partner, Question, Questions
from judge.formats.registry import FileFormat, FileFormats
from judge.formats.views import BoardView, Mark, Surface, Token
from judge.games.person import PersonWords, UnclearError
from judge.games.types import Decision, Event, Game, Reply, Request, RuleResult, Verdict, decided

from .rules import COLUMNS, ROWS, Column, ConnectFour, Drop, Dropped, from_options


class ConnectFourEntry(GameEntry):
    """Connect Four."""

    name = "connect-four"
    protocol = "drop"
    partners = (Partner(str(Path(__file__).parent / "example")),)
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> ConnectFour:
        """A game with these options."""
        return from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:
        """Numbered discs; the line that won is marked."""
        assert isinstance(game, ConnectFour)
        tokens, heights = {}, [0] * COLUMNS
        for number, column in enumerate(game.played, 1):
            tokens[column, ROWS - 1 - heights[column]] = Token((number - 1) % 2, number)
            heights[column] += 1
        has_won = isinstance(game.end, RuleResult) and game.end.verdict is Verdict.WIN
        return BoardView(
            Surface.LINES,
            tuple(str(column + 1) for column in range(COLUMNS)),
            tuple(str(ROWS - row) for row in range(ROWS)),
            tokens,
            ("first", "second"),
            marks={(x, ROWS - 1 - y): Mark.ROW for x, y in game.line()} if has_won else {},
            caption=f"{len(game.played)}. column {game.played[-1] + 1}" if game.played else "",
        )

    def public(self, game: Game) -> BoardView:
        """All of it: nothing is hidden."""
        return self.view(game)

    def formats(self) -> FileFormats[str]:
        """The columns in one line, which is written beside each record."""
        columns = FileFormat(".c4", str.encode, is_export=True)
        return FileFormats(lambda game: " ".join(step.said for step in game.steps[1:]) + "\n", {"c4": columns})

    def person(self) -> PersonWords:
        """What a person is asked, and what the person types."""
        return ConnectFourWords()

    def openings(self, options: Mapping[str, Any]) -> Openings:
        """Columns, such as 4 4 3; they may come again mirrored."""
        return Openings(read_opening, "4 4 or 4 4 3 5", (lambda x, y: (x, y), lambda x, y: (6 - x, y)))

    def questions(self, options: Mapping[str, Any]) -> Questions:
        """A free game in both seats, and positions with one right answer."""
        return Questions(
            (
                Question("begin", "an empty board", seat=0, turns=2),
                Question("begin", "the opponent began", seat=1, turns=2),
                Question(
                    "win",
                    "three lie above each other",
                    read_opening("1 2 1 2 1 2"),
                    answers=(Column(0),),
                ),
                Question(
                    "block",
                    "the opponent has three",
                    read_opening("7 1 6 1 7 1"),
                    answers=(Column(0),),
                ),
            ),
            answer_harmlessly,
            say,
        )


class ConnectFourWords(PersonWords):
    """A person types the number of a column, or chooses a square of it with the cursor."""

    speaks = frozenset({Drop, Dropped})

    def question(self, request: Request, typed: int = 0) -> str:
        """The only question of the game."""
        return "drop a disc"

    def tips(self, request: Request) -> Sequence[str]:
        """Columns have the numbers that stand above them."""
        return (f"a column: 1 to {COLUMNS}",)

    def tell(self, event: Event, names: tuple[str, str]) -> str:
        """A disc that fell."""
        assert isinstance(event, Dropped)
        return f"column {event.column + 1}"

    def read(self, request: Request, text: str) -> Reply:
        """A number; whether the column is full is for the rules to say."""
        if not (text.isascii() and text.isdecimal() and len(text) < 4):
            raise UnclearError(f"{quote(text)} is no column: type a number from 1 to {COLUMNS}")
        return decided(Column(int(text) - 1), text)

    def square(self, x: int, y: int) -> str:
        """Its column."""
        return str(x + 1)


def read_opening(text: str) -> tuple[tuple[int, int], ...]:
    """The discs of `4 4 3`: squares of which the column counts, from 0."""
    words = text.split()
    for word in words:
        if word not in map(str, range(1, COLUMNS + 1)):
            raise InputError(f"{word[:20]!r} is no column; write columns from 1 to {COLUMNS}, such as 4 4 3")
    opening = tuple((int(word) - 1, 0) for word in words)
    from_options({"opening": opening})
    return opening


def answer_harmlessly(request: Request) -> Reply:
    """The first column that is not full, from the right."""
    assert isinstance(request, Drop)
    free = [column for column in range(COLUMNS) if request.played.count(column) < ROWS]
    return decided(Column(free[-1]), str(free[-1] + 1))


def say(decision: Decision) -> str:
    """A column by its number."""
    return f"column {decision.column + 1}" if isinstance(decision, Column) else ""


ENTRY = ConnectFourEntry()
