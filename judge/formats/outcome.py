"""Result and score of a game.

Names and reasons come from agents: callers must make the text printable.
"""

from judge.base.text import points_text, sentence
from judge.games.types import Verdict
from judge.record.spec import GameRecord


def game_scores(verdict: str, winner: int | None) -> tuple[float, float]:
    """1 for a win, 0.5 for a draw, else 0."""
    if verdict == Verdict.DRAW:
        return 0.5, 0.5
    return float(winner == 0), float(winner == 1)


def outcome_for(seat: int, verdict: str, winner: int | None) -> str:
    """won, lost, drawn or void."""
    if verdict == Verdict.VOID:
        return "void"
    if verdict == Verdict.DRAW:
        return "drawn"
    return "won" if winner == seat else "lost"


def score_text(verdict: str, winner: int | None, between: str = " : ") -> str:
    """Such as `1 : 0`, `½ : ½` or `void`."""
    if verdict == Verdict.VOID:
        return "void"
    return between.join(map(points_text, game_scores(verdict, winner)))


def outcome_text(verdict: str, winner: int | None, names: tuple[str, str]) -> str:
    """The outcome in words."""
    if verdict == Verdict.VOID:
        return sentence("void: does not count")
    if winner is not None:
        name = names[winner]
        return sentence(f"{name} wins")
    return sentence("drawn") if verdict == Verdict.DRAW else sentence("nobody wins")


def outcome_sentence(verdict: str, winner: int | None, names: tuple[str, str], reason: str) -> str:
    """Such as `anna wins: 5 in a row` or `anna wins (crash): ended by ...`."""
    outcome = outcome_text(verdict, winner, names)
    if verdict in (Verdict.WIN, Verdict.DRAW, Verdict.VOID):
        return sentence(f"{outcome}: {reason}")
    return sentence(f"{outcome} ({verdict}): {reason}")


def record_outcome(record: GameRecord, names: tuple[str, str] | None = None) -> str:
    """The sentence of a record, with other names than its own if they are given."""
    names = names or (record.seats[0].name, record.seats[1].name)
    return outcome_sentence(record.verdict, record.winner, names, record.reason)
