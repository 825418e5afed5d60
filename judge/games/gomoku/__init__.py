"""Five in a row: winning rules, renju fouls, openings and swaps."""

from judge.games.gomoku.game import Gomoku, OpeningError
from judge.games.gomoku.options import GomokuOptions
from judge.games.gomoku.rules import Rule

__all__ = ["Gomoku", "GomokuOptions", "OpeningError", "Rule"]
