"""The certainty of places: against tables of Gomocup's leagues, by hand, and by its coverage in simulated leagues."""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge.contest_games import PairResult
from judge.statistics.bradley_terry import Fit, Likelihood, PairCounts, Vector, fit_leagues
from judge.statistics.certainty import Certainty, assess_places, pair_results, reversed_games
from judge.statistics.rating_model import RatingModel
from judge.statistics.scales import ELO
from tests.contest.rounds import games
from tests.examples import examples, sized

LEAGUES = sized(30, 1_000)

Scores = Mapping[tuple[str, str], tuple[int, int, int]]

CARO_2023: Scores = {
    ("ALPHAGOMOKU.MK23", "EMBRYO23"): (16, 4, 4),
    ("ALPHAGOMOKU.MK23", "LAVENDER"): (24, 0, 0),
    ("ALPHAGOMOKU.MK23", "PELA23"): (24, 0, 0),
    ("EMBRYO23", "LAVENDER"): (23, 1, 0),
    ("EMBRYO23", "PELA23"): (24, 0, 0),
    ("LAVENDER", "PELA23"): (23, 0, 1),
}
"""Wins, draws, losses of 24 games."""


def assess(
    scores: Scores | list[PairResult], places: Mapping[str, int] | None = None, is_running: bool = False
) -> Certainty:
    results = scores if isinstance(scores, list) else [PairResult(*pair, *counts) for pair, counts in scores.items()]
    found = assess_places(results, places, is_running)
    assert found is not None
    return found


def ranges(found: Certainty) -> list[str]:
    return [f"{low}-{high}" if low < high else f"{low}" for low, high in (rank.shown for rank in found.ranks)]


def test_certainty_of_a_small_league() -> None:
    found = assess(CARO_2023)

    assert ("ALPHAGOMOKU.MK23", "EMBRYO23") == (found.first, found.second)
    assert (180, 150) == (round(found.gap), round(found.half_width))
    assert 1.0 <= found.phi < 1.3
    assert 0 == found.strength.neighbours_not_separated
    assert ["1-2", "1-2", "3", "4"] == ranges(found)
    assert (("ALPHAGOMOKU.MK23", "EMBRYO23"), ("LAVENDER",), ("PELA23",)) == found.strength.groups
    assert 7 == found.reversed_games
    assert "EMBRYO23" == found.new_first


def test_result_is_repeatable_and_does_not_depend_on_the_order_of_pairs() -> None:
    turned: Scores = {
        (two, one): (lost, drawn, won) for (one, two), (won, drawn, lost) in reversed(list(CARO_2023.items()))
    }

    assert assess(CARO_2023) == assess(CARO_2023)
    again, found = assess(turned), assess(CARO_2023)
    assert ranges(found) == ranges(again)
    assert found.gap == pytest.approx(again.gap)
    assert found.reversals == again.reversals


def test_one_pair_by_hand() -> None:
    """12 wins of 16 games and 2 + 2 virtual draws: 14 to 6 of 20, so the lead is ln(14/6) in logistic units, and its
    variance 1 / (20 * 0.7 * 0.3)."""
    found = assess({("a", "b"): (12, 0, 4)})

    assert found.gap == pytest.approx(ELO * math.log(14 / 6))
    assert found.half_width == pytest.approx(1.959964 * ELO / math.sqrt(20 * 0.7 * 0.3))
    assert ["1-2", "1-2"] == ranges(found)
    # After four reversed games 8 : 8 is a tie. Of many, the last one is within the tolerance of a tie.
    assert 4 == found.reversed_games
    assert ("a", "b", 4) == (found.reversals[0].winner, found.reversals[0].loser, found.reversals[0].games)
    assert 9_999 == assess({("a", "b"): (60_000, 0, 40_000)}).reversed_games


@pytest.mark.parametrize("games", [1, 2, 3, 4])
def test_the_sign_of_a_score_does_not_change_its_p_value(games: int) -> None:
    """Simulated scores that equal the real one count, however their sums are rounded."""
    first, second = (assess({("a", "b"): score}).deviance_p for score in ((games, 0, 0), (0, 0, games)))

    assert first == pytest.approx(second, abs=0.1)


def test_ten_times_the_games_separate_the_same_score_and_none_separates_equals() -> None:
    found = assess({("a", "b"): (120, 0, 40)})

    assert ["1", "2"] == ranges(found)
    assert (("a",), ("b",)) == found.strength.groups
    assert ("a",) == found.strength.candidates
    assert (0, 0) == found.further_games
    equals = assess({("a", "b"): (4, 2, 4), ("a", "c"): (9, 0, 1), ("b", "c"): (9, 0, 1)})
    assert [1, 1, 3] == [rank.place for rank in equals.ranks]
    assert equals.further_games is None
    assert equals.further_share is None
    assert equals.ranks[0].chance == pytest.approx(0.5, abs=0.05)


def test_given_places_are_kept_and_agents_without_common_opponents_are_never_separated() -> None:
    found = assess({("a", "b"): (90, 0, 10)}, {"a": 2, "b": 1})

    assert ["b", "a"] == [rank.agent for rank in found.ranks]
    assert ["1-2", "1-2"] == ranges(found)
    assert 0 == found.reversed_games
    assert "a" == found.new_first
    found = assess({("a", "b"): (50, 0, 0), ("x", "y"): (50, 0, 0)})
    assert ["1-3", "1-3", "2-4", "2-4"] == sorted(ranges(found))
    assert {"a", "x"} == set(found.strength.candidates)
    assert assess_places([]) is None
    assert assess_places([PairResult("a", "b", 0, 0, 0)]) is None


def test_rings_inflate_and_are_named() -> None:
    """Each beats the next one in nearly all games; the fourth loses to all."""
    scores = {("a", "b"): (36, 0, 4), ("b", "c"): (36, 0, 4), ("a", "c"): (4, 0, 36)}
    scores |= {(agent, "d"): (30, 0, 10) for agent in "abc"}
    found = assess(scores)

    assert 0.001 == found.deviance_p
    assert found.phi > 3
    assert [("a", "b"), ("b", "c"), ("c", "a")] == sorted((pair.agent, pair.opponent) for pair in found.unusual)
    assert found.half_width_phi == pytest.approx(math.sqrt(found.phi) * found.half_width)


def test_ranges_of_a_running_contest_are_wider() -> None:
    scores = dict.fromkeys(combinations("abcdefg", 2), (16, 2, 6))
    over, running = assess(scores), assess(scores, is_running=True)

    assert all(
        wide.low <= one.low <= one.high <= wide.high for one, wide in zip(over.ranks, running.ranks, strict=True)
    )
    assert sum(rank.high - rank.low for rank in over.ranks) < sum(rank.high - rank.low for rank in running.ranks)


def test_reversed_games_are_games_of_the_pairs() -> None:
    played = games("a>b*3 b>a*2 a>c*4 b>c*4")
    found = assess(pair_results(played))
    turned = reversed_games(played, found.reversals)

    assert found.reversed_games == len(turned)
    assert {("a", "b")} == {(reversal.winner, reversal.loser) for reversal in found.reversals}
    assert all({"a", "b"} == set(game.agents) and game.winner == "a" for game in turned)


@pytest.mark.parametrize("has_draws", [True, False])
def test_fits_of_many_leagues_are_those_of_the_single_fit(has_draws: bool) -> None:
    random = np.random.default_rng(1)
    pairs = list(combinations("abcdef", 2))
    model = RatingModel(draws="davidson", advantage=0)
    leagues = [
        PairCounts.of_scores(
            {pair: random.multinomial(24, (0.6, 0.1 * has_draws, 0.4 - 0.1 * has_draws)).tolist() for pair in pairs}
        )
        for _ in range(5)
    ]
    wins, draws, losses = (np.array([getattr(each, kind) for each in leagues]) for kind in ("wins", "draws", "losses"))
    at = fit_leagues(Likelihood(leagues[0], model), np.zeros(8), wins, draws, losses)

    for row, league in enumerate(leagues):
        fit = Fit(league, model)
        assert at[row, :-2] == pytest.approx(fit.ratings, abs=1e-5)
        assert at[row, -1] == pytest.approx(fit.draw, abs=1e-5)


def test_fit_converges_from_a_distant_start() -> None:
    """A plain step of Newton's method would leave from here to infinity."""
    league = PairCounts.of_scores({("a", "b"): (3, 0, 21), ("b", "c"): (24, 0, 0)})
    fit = Fit(league, RatingModel(draws="davidson", advantage=0))
    start = np.array([9.0, -9.0, 0.0, 0.0, 0.0])
    at = fit_leagues(fit.likelihood, start, league.wins[None], league.draws[None], league.losses[None])

    expected = fit.ratings
    assert at[0, :-2] == pytest.approx(expected, abs=1e-5)


def simulated_league(random: np.random.Generator, strengths: Vector, each: int, ring: float = 0.0) -> Scores:
    """Every pair plays `each` games; its lead deviates by `ring` logistic units (standard deviation)."""
    scores = {}
    for one, other in combinations(range(len(strengths)), 2):
        lead = strengths[one] - strengths[other] + ring * random.normal()
        shares = np.exp([lead / 2, -2.0, -lead / 2])
        won, drawn, lost = random.multinomial(each, shares / shares.sum())
        scores[f"{one:03d}", f"{other:03d}"] = (int(won), int(drawn), int(lost))
    return scores


@pytest.mark.slow
def test_ranges_of_equal_agents_include_all_places_in_95_percent_of_leagues() -> None:
    """The hardest case: the ranges include the true places if they separate no agents."""
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(LEAGUES):
        found = assess(simulated_league(random, np.zeros(7), 24))
        covered += all((1, 7) == (rank.low, rank.high) for rank in found.ranks)

    allowed = max(0.015, 3.3 * math.sqrt(0.95 * 0.05 / LEAGUES))
    assert covered / LEAGUES == pytest.approx(0.95, abs=allowed)


@pytest.mark.slow
def test_ranges_of_strength_cover_where_rings_are_added() -> None:
    """With inflation; without it, these leagues have a coverage of about 75 %."""
    random = np.random.default_rng(6)
    covered = 0
    for _ in range(LEAGUES):
        found = assess(simulated_league(random, np.zeros(7), 24, ring=0.4))
        covered += all((1, 7) == (rank.low_phi, rank.high_phi) for rank in found.ranks)

    assert covered / LEAGUES > 0.92 - 3.3 * math.sqrt(0.92 * 0.08 / LEAGUES)


COUNTS = st.integers(0, 3) | st.sampled_from([0, 24, 1000])
ANY_RESULTS = st.dictionaries(
    st.sampled_from(list(combinations("abcdef", 2))), st.tuples(COUNTS, COUNTS, COUNTS), min_size=1
)


@pytest.mark.slow
@given(scores=ANY_RESULTS, is_running=st.booleans())
@example(
    scores={("d", "f"): (0, 0, 3), ("a", "f"): (1, 0, 1000), ("b", "d"): (0, 1000, 24), ("c", "d"): (1, 1, 24)},
    is_running=False,
)
@settings(max_examples=examples(sized(15, 1_000)), deadline=None)
def test_any_results_have_consistent_ranges(scores: Scores, is_running: bool) -> None:
    results = [PairResult(*pair, *counts) for pair, counts in scores.items()]
    found = assess_places(results, is_running=is_running)
    agents = {agent for pair, counts in scores.items() if any(counts) for agent in pair}

    if found is None:
        assert not agents
        return
    assert agents == {rank.agent for rank in found.ranks}
    for rank in found.ranks:
        assert 1 <= rank.low_phi <= rank.low <= rank.high <= rank.high_phi <= len(agents)
        assert math.isfinite(rank.elo)
        assert math.isfinite(rank.error)
    for conclusions in (found.strength, found.repetition):
        assert [rank.agent for rank in found.ranks] == [agent for group in conclusions.groups for agent in group]
        assert conclusions.candidates
        assert 0 <= conclusions.neighbours_not_separated < len(agents)
    assert found.phi >= 1
    assert 0 < found.deviance_p <= 1
    wins = {
        (one, other): won
        for pair, counts in scores.items()
        for (one, other), won in ((pair, counts[0]), (pair[::-1], counts[2]))
    }
    assert all(each.games <= wins[each.winner, each.loser] for each in found.reversals)
