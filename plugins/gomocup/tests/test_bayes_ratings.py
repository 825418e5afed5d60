"""Ratings with intervals: by hand, of a real league, and of all leagues in the directory that JUDGE_DATA names."""

import math

import pytest
from judge_gomocup.bayes_ratings import BayesRating, bayes_ratings

from judge.contest_games import PairResult
from judge.tournament.skipped_pairs import round_elo
from tests.statistics.cup_records import CARO_2026, data, league_results, results_of, rows

NUMBERS = ("elo", "plus", "minus", "games", "wins", "draws", "score_percent", "opponents", "draws_percent")


def numbers(rating: BayesRating) -> tuple[int, ...]:
    rounded = map(round_elo, (rating.elo, rating.plus, rating.minus))
    counts = (rating.games, rating.wins, rating.draws)
    return (*rounded, *counts, rating.score_percent, round_elo(rating.opponents), rating.draw_percent)


def test_two_players_by_hand() -> None:
    """Wins 3 : 1, a draw and two virtual draws give sums of 6 and 4. The draw margin adds 0.01 * (6 - 4) / (6 + 4)."""
    difference = 400 * math.log10(6 / 4) + 0.01 * 2 / 10

    first, second = bayes_ratings([PairResult("a", "b", 3, 1, 1)])
    assert ("a", "b") == (first.player, second.player)
    assert (first.elo, second.elo) == pytest.approx((1600 + difference / 2, 1600 - difference / 2), abs=0.001)
    assert (first.opponents, second.opponents) == (second.elo, first.elo)
    assert (5, 3, 1, 70, 20) == (first.games, first.wins, first.draws, first.score_percent, first.draw_percent)
    assert first.plus == pytest.approx(second.minus, abs=0.001)


def test_interval_of_even_games_by_hand() -> None:
    """The logistic density of many even games is nearly normal: with k wins and k losses its variance is 2 / k.

    The others move against the player, so the difference grows by n / (n - 1) = 2 per Elo.
    """
    first, _ = bayes_ratings([PairResult("a", "b", 48, 0, 48)])

    reach = 1.96 * math.sqrt(2 / 50) * 400 / math.log(10) / 2
    assert (first.plus, first.minus) == pytest.approx((reach, reach), rel=0.02)


def test_rating_beyond_the_grid_has_a_negative_interval() -> None:
    """1501 points end at 1500 Elo above the mean."""
    chain = [PairResult(one, other, 10_000, 0, 1) for one, other in ("ab", "bc", "cd", "de", "ef")]

    best = bayes_ratings(chain)[0]
    assert best.elo > 3100
    assert best.plus < 0 < best.minus


def test_real_league_has_the_published_figures() -> None:
    """Gomocup 2026, caro."""
    published = [
        ("ALPHAGOMOKU.MK26", (2097, 75, 69, 144, 121, 19, 91, 1517, 13)),
        ("JAX25", (2016, 65, 64, 144, 104, 30, 83, 1531, 21)),
        ("EMBRYO26", (1939, 69, 70, 144, 100, 17, 75, 1543, 12)),
        ("KATAGOMO26", (1505, 79, 75, 144, 61, 1, 43, 1616, 1)),
        ("LAVENDER", (1334, 74, 75, 144, 40, 2, 28, 1644, 1)),
        ("SQUIRREL24", (1305, 74, 76, 144, 37, 3, 27, 1649, 2)),
        ("PELA23", (1003, 92, 121, 144, 3, 4, 3, 1699, 3)),
    ]

    assert published == [(rating.player, numbers(rating)) for rating in bayes_ratings(results_of(CARO_2026))]


def test_every_given_league_has_the_published_figures() -> None:
    """Order and all figures. The order of the two faulty records is not that of their figures."""
    for path in sorted((data() / "expected/places").glob("*.csv")):
        expected = [row for row in rows(path) if row["elo"]]
        found = {rating.player: numbers(rating) for rating in bayes_ratings(league_results(path.stem))}

        figures = {row["program"]: tuple(int(row[key]) for key in NUMBERS) for row in expected}
        assert figures == {player: found[player] for player in figures}, path.stem
        if expected[0]["status"] == "ranked":
            assert list(figures) == list(found), path.stem


def test_no_games_have_no_ratings() -> None:
    assert [] == bayes_ratings([PairResult("a", "b", 0, 0, 0)])
