"""Five in a row: rules of winning, fouls of renju, openings and swaps, put together as one game."""

from judge.games.gomoku.game import Gomoku, GomokuOptions, OpeningError, Rule

__all__ = ["Gomoku", "GomokuOptions", "OpeningError", "Rule"]
