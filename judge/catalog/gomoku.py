"""Five in a row: its entry among the games."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge.catalog.entry import GameEntry, Openings, Partner, Questions
from judge.games.gomoku import Gomoku
from judge.games.person import PersonWords
from judge.games.types import Game
from judge.records.formats import FileFormats
from judge.records.managers import ContestManager
from judge.records.steps import Stepped
from judge.records.views import BoardView
from judge.referee.spec import RecordFile

if TYPE_CHECKING:
    from judge.records.gomoku.record import FiveRecord


class GomokuEntry(GameEntry):
    """Five in a row with all its rules and openings."""

    name = "gomoku"
    protocol = "gomocup"
    partners = (Partner("house-instant", ("centre",)), Partner("house-agi-instant"), Partner("house-agi"))
    practice = (
        *(Partner("house-instant", ("centre",)), Partner("house-strong"), Partner("house-renju")),
        *(Partner("house-agi-instant"), Partner("house-agi")),
    )
    words_are_public = True

    def new(self, options: Mapping[str, Any]) -> Gomoku:
        """A game with these options."""
        return Gomoku.from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:  # noqa: ARG002 nothing is hidden
        """Numbered stones."""
        from judge.records.gomoku.view import stones_view

        return stones_view(_gomoku(game))

    def public(self, game: Game) -> BoardView:
        """All of it: nothing is hidden."""
        return self.view(game)

    def formats(self) -> "FileFormats[FiveRecord]":
        """Those of Piskvork, Gomocup, SGF, PGN and Renlib."""
        from judge.records.gomoku.formats import GOMOKU_FORMATS

        return GOMOKU_FORMATS

    def managers(self) -> Mapping[str, ContestManager]:
        """GomocupJudge, which today's organisers of Gomocup use."""
        from judge.records.gomoku.gomocup_compare import compare_played
        from judge.records.gomoku.gomocup_result_files import RATING, write_result_files
        from judge.records.gomoku.gomocup_tournament import read_tournament

        return {
            "gomocup": ContestManager(
                about="GomocupJudge: a tournament file of its server, beside its directories opening and engine",
                read=read_tournament,
                write=write_result_files,
                rating=RATING,
                compare=compare_played,
            )
        }

    def pgn(self, file: RecordFile) -> "FiveRecord":
        """The stones."""
        from judge.records.gomoku.replay import five_of

        return five_of(file)

    def read_log(self, data: bytes, source: str) -> Stepped:
        """Of a file that holds many games the first one."""
        from judge.records.gomoku.steps import first_game

        return first_game(data, source)

    def openings(self, options: Mapping[str, Any]) -> Openings:
        """Offsets or squares, in the eight symmetries of the board."""
        from judge.games.gomoku.opening_text import EXAMPLE, parse_opening, symmetries

        board = self.new(options).describe()
        width, height, rule = board["width"], board["height"], board["rule"]
        return Openings(
            lambda text: parse_opening(text, width, height, rule, continuous=board["continuous"]),
            EXAMPLE,
            symmetries(width, height),
        )

    def person(self) -> PersonWords:
        """All its requests and events."""
        from judge.catalog.gomoku_person import GomokuWords

        return GomokuWords()

    def questions(self, options: Mapping[str, Any]) -> Questions:
        """Commands and positions with a forced answer."""
        from judge.catalog.gomoku_check_questions import questions

        return questions(self, options)


def _gomoku(game: Game) -> Gomoku:
    if not isinstance(game, Gomoku):
        raise TypeError(f"not a game of five in a row: {game!r}")
    return game


ENTRY = GomokuEntry()
