"""Who won a game and what it scores: the one place that says so, for every line, page and table.

`verdict` is a `Verdict` or its word, `winner` is a seat. Names and reasons come from agents: whoever prints a text of
this module makes it printable first.
"""

from judge.base.text import points_text, sentence
from judge.games.types import Verdict


def game_scores(verdict: str, winner: int | None) -> tuple[float, float]:
    """The score of each seat: 1 for a win, a half for a draw, 0 for a loss, and 0 for both if nobody wins."""
    if verdict == Verdict.DRAW:
        return 0.5, 0.5
    return float(winner == 0), float(winner == 1)


def score_text(verdict: str, winner: int | None, between: str = " : ") -> str:
    """The score of both seats as text, such as `1 : 0` or `½ : ½`; `void` for a game that does not count."""
    if verdict == Verdict.VOID:
        return "void"
    return between.join(map(points_text, game_scores(verdict, winner)))


def outcome_text(verdict: str, winner: int | None, names: tuple[str, str]) -> str:
    """Who won: `NAME wins`, `drawn`, `nobody wins` (both are at fault), or `void: does not count`."""
    if verdict == Verdict.VOID:
        return sentence("void: does not count")
    if winner is not None:
        name = names[winner]
        return sentence(f"{name} wins")
    return sentence("drawn") if verdict == Verdict.DRAW else sentence("nobody wins")


def outcome_sentence(verdict: str, winner: int | None, names: tuple[str, str], reason: str) -> str:
    """Who won and why: `anna wins: 5 in a row`, or with the verdict of a fault: `anna wins (crash): ended by ...`."""
    outcome = outcome_text(verdict, winner, names)
    if verdict in (Verdict.WIN, Verdict.DRAW, Verdict.VOID):
        return sentence(f"{outcome}: {reason}")
    return sentence(f"{outcome} ({verdict}): {reason}")
