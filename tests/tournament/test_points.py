"""What a game scores: the policies' tables, the words that must be in them, and Gomocup's duels."""

import pytest

from judge.base.errors import InputError
from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.record.policy import load_policy, policy_names, variants_of
from judge.tournament.results import VERDICT_POINTS, Duel, PointsTable, Scoring, missing_words, points_table, score
from tests.contest.rounds import game, games

ALL_POLICIES = [
    f"{name}:{variant}" if variant else name for name in policy_names() for variant in ["", *variants_of(name)]
]


def table_of(policy: str) -> PointsTable:
    return points_table(load_policy(policy))


def ended(result: str, winner: str | None, verdict: Verdict) -> GameResult:
    return GameResult("a", "b", winner, verdict, result=result)


@pytest.mark.parametrize("policy", ALL_POLICIES)
def test_every_policy_of_the_judge_scores_every_word(policy: str) -> None:
    assert [] == missing_words(load_policy(policy))


def test_every_verdict_but_a_void_has_points_and_a_table_of_verdicts_must_have_all() -> None:
    assert set(Verdict) - {Verdict.VOID} == set(VERDICT_POINTS)
    poor = load_policy("gomocup-freestyle").model_copy(update={"points": {"win": (3, 0)}})
    assert sorted(set(VERDICT_POINTS) - {"win"}) == missing_words(poor)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("stratego-2012", ("ILLEGAL", "BAD_SETUP")),
        ("stratego-2011", ("INTERNAL_ERROR",)),
        ("stratego-seed", ("DEFAULT", "DEFEAT")),
        ("qchess-2013", ("TIMEOUT",)),
    ],
)
def test_a_round_without_points_for_a_word_does_not_start(policy: str, words: tuple[str, ...]) -> None:
    """The scripts of 2012 and 2013 met such words in the middle of a round, and scored nothing or the wrong thing."""
    whole = load_policy(policy)
    points = {word: pair for word, pair in whole.points.items() if word not in words}
    poor = whole.model_copy(update={"points": points})

    assert sorted(words) == missing_words(poor)
    with pytest.raises(InputError) as refused:
        points_table(poor)
    said = f"policy {poor.name}: a {poor.game.name} game can end with {', '.join(sorted(words))}"
    assert str(refused.value).startswith(said)
    assert f"write {min(words)} = [" in str(refused.value)


@pytest.mark.parametrize(
    ("played", "points"),
    [
        (game("a>b"), (1, 0)),
        (game("a<b"), (0, 1)),
        (game("a=b"), (0.5, 0.5)),
        (game("a<b", Verdict.FOUL), (0, 1)),
        (game("a>b", Verdict.CRASH), (1, 0)),
        (game("a<b", Verdict.TURN_TIME), (0, 1)),
        (GameResult("a", "b", None, Verdict.ILLEGAL), (0, 0)),
    ],
)
def test_a_win_is_one_point_and_a_draw_a_half(played: GameResult, points: tuple[float, float]) -> None:
    assert points == table_of("gomocup-freestyle").of(played)


def test_a_policy_may_score_verdicts_its_own_way() -> None:
    """A crash may cost a point: the side that is at fault is the named one."""
    points = {**VERDICT_POINTS, Verdict.CRASH: (-1.0, 1.0)}
    policy = load_policy("renju-15").model_copy(update={"points": points})
    table = points_table(policy)

    assert (1, -1) == table.of(game("a>b", Verdict.CRASH))
    assert (-1, 1) == table.of(game("a<b", Verdict.CRASH))
    assert (-1, -1) == table.of(GameResult("a", "b", None, Verdict.CRASH))


@pytest.mark.parametrize(
    ("policy", "result", "winner", "verdict", "points"),
    [
        ("stratego-2012", "a RED VICTORY 117 12 8", "a", Verdict.WIN, (3, 1)),
        ("stratego-2012", "b BLUE VICTORY 117 12 8", "b", Verdict.WIN, (1, 3)),
        ("stratego-2012", "a RED SURRENDER 3 148 148", "b", Verdict.RESIGNED, (0, 3)),
        ("stratego-2012", "b BLUE DRAW 40 0 0", None, Verdict.DRAW, (2, 2)),
        ("stratego-2012", "b BLUE DRAW_DEFAULT 1000 9 9", None, Verdict.DRAW, (1, 1)),
        ("stratego-2012", "a RED ILLEGAL 5 148 148", "b", Verdict.CRASH, (-1, 2)),
        ("stratego-2012", "b BLUE BAD_SETUP 0 148 0", "a", Verdict.ILLEGAL, (2, -1)),
        ("stratego-2012", "neither BOTH BAD_SETUP 0 0 0", None, Verdict.ILLEGAL, (-1, -1)),
        # The manager called it BOTH_ILLEGAL with the offender's name.
        ("stratego-2011", "b BLUE BOTH_ILLEGAL 0 148 0", "a", Verdict.ILLEGAL, (2, -1)),
        ("stratego-2012:preliminary", "a RED VICTORY 117 12 8", "a", Verdict.WIN, (0.3, 0.1)),
        ("qchess-2013", "white", "a", Verdict.WIN, (3, 1)),
        ("qchess-2013", "black", "b", Verdict.WIN, (1, 3)),
        ("qchess-2013", "white DRAW", None, Verdict.DRAW, (2, 2)),
        ("qchess-2013", "black ILLEGAL", "a", Verdict.ILLEGAL, (3, 0)),
        ("qchess-2013", "white UNRESPONSIVE", "b", Verdict.CRASH, (0, 3)),
        ("qchess-2013", "white terminated", "b", Verdict.RESIGNED, (0, 3)),
    ],
)
def test_policies_score_the_words_of_their_games(
    policy: str, result: str, winner: str | None, verdict: Verdict, points: tuple[float, float]
) -> None:
    assert points == table_of(policy).of(ended(result, winner, verdict))


@pytest.mark.parametrize("result", ["", "white WHATEVER", "grey", "a RED VICTORY 1 2 3"])
def test_a_word_without_points_is_an_error_and_not_silence(result: str) -> None:
    with pytest.raises(InputError, match=r"round 1, table 1, game 0: the result .* has no points"):
        table_of("qchess-2013").of(ended(result, "a", Verdict.WIN))


ONE = Pairing("a", "b", 1, 1)


def scoring(duel: Duel | None = None) -> Scoring:
    return Scoring(table_of("gomocup-freestyle"), duel)


def test_a_pairing_scores_the_sum_of_its_games_and_a_bye_as_if_all_were_won() -> None:
    bye = Pairing("a", None, 1, 2)
    [played] = score([ONE], games("a>b b>a a=b b<a"), scoring(), games=4)

    assert (2.5, 1.5) == played.points
    assert (2.5, 1.5) == (played.side_of("a").score, played.side_of("b").score)
    assert (4, 0) == score([bye], [], scoring(), games=4)[0].points
    assert (3, 0) == score([bye], [], scoring(Duel()), games=4)[0].points
    # Three games of 0.1 are 0.3, not 0.30000000000000004.
    lost = ended("b BLUE VICTORY 117 12 8", "b", Verdict.WIN)
    assert (0.3, 0.9) == Scoring(table_of("stratego-2012:preliminary")).of(ONE, [lost] * 3, 3)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("a>b b<a", (3, 0)),
        ("a>b b=a", (3, 0)),
        ("a>b b>a", (1, 1)),
        ("a=b b=a", (1, 1)),
        ("a<b b=a", (0, 3)),
        ("a<b", (0, 0)),
    ],
)
def test_a_duel_is_won_by_games(text: str, points: tuple[float, float]) -> None:
    """Gomocup until 2016: 3, 1, 0; one of which a game is missing scores nothing yet."""
    [played] = score([ONE], games(text), scoring(Duel()), games=2)

    assert points == played.points


def test_games_find_their_pairing_by_round_and_table_or_are_refused() -> None:
    second = Pairing("b", "a", 2, 1)
    later = GameResult("b", "a", "b", Verdict.WIN, round=2)
    played = score([ONE, second], [later, game("a>b")], scoring(), games=1)

    assert [(1, 0), (1, 0)] == [each.points for each in played]
    with pytest.raises(ValueError, match="results without a pairing"):
        score([ONE], [GameResult("a", "b", "a", Verdict.WIN, round=7)], scoring(), games=1)
    with pytest.raises(ValueError, match="was not played by"):
        score([ONE], [game("a>c")], scoring(), games=1)
