"""Five in a row: rules of winning, fouls of renju, openings and swaps, put together as one game."""

from judge.games.gomoku.game import Gomoku, OpeningError
from judge.games.gomoku.options import GomokuOptions
from judge.games.gomoku.rules import Rule

__all__ = ["Gomoku", "GomokuOptions", "OpeningError", "Rule"]
