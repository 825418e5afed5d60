"""Who won in words, and the score of a game: the same for a record, a row of the store and a page."""

import pytest

from judge.games.types import Verdict
from judge.record.spec import game_scores, outcome_sentence, outcome_text, score_text

NAMES = ("anna", "bert")


@pytest.mark.parametrize(
    ("verdict", "winner", "scores", "score", "outcome"),
    [
        (Verdict.WIN, 0, (1.0, 0.0), "1 : 0", "anna wins"),
        (Verdict.CRASH, 1, (0.0, 1.0), "0 : 1", "bert wins"),
        (Verdict.DRAW, None, (0.5, 0.5), "½ : ½", "drawn"),
        (Verdict.FOUL, None, (0.0, 0.0), "0 : 0", "nobody wins"),
        (Verdict.VOID, None, (0.0, 0.0), "void", "void: does not count"),
    ],
)
def test_every_outcome_has_a_score_and_words(
    verdict: Verdict, winner: int | None, scores: tuple[float, float], score: str, outcome: str
) -> None:
    assert scores == game_scores(verdict, winner) == game_scores(verdict.value, winner)
    assert score == score_text(verdict, winner)
    assert outcome == outcome_text(verdict.value, winner, NAMES)


def test_sentence_gives_winner_means_and_reason() -> None:
    assert "bert wins (crash): signal 11" == outcome_sentence(Verdict.CRASH, 1, NAMES, "signal 11")
    assert "anna wins: 5 in a row" == outcome_sentence(Verdict.WIN, 0, NAMES, "5 in a row")
    assert "drawn: the board is full" == outcome_sentence(Verdict.DRAW, None, NAMES, "the board is full")
    assert "void: does not count: no Engine" == outcome_sentence(Verdict.VOID, None, NAMES, "no Engine")
    assert "1-0" == score_text(Verdict.WIN, 0, "-")
