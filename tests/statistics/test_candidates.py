"""Candidates against one: how often the test finds a stronger one, and how often wrongly."""

import math

import numpy as np
import pytest

from judge.statistics.match_estimate import MatchCounts, compare_candidates, estimate_match, p_value
from judge.statistics.scales import SIGNIFICANCE, holm, student_tail
from tests.contest.rounds import games
from tests.examples import RecordFigure, sized

LISTS = sized(100, 5_000)


def test_the_surest_comes_first_and_p_values_are_adjusted() -> None:
    played = games("good>base*60 base>good*30 fair>base*50 base>fair*45 bad>base*20 base>bad*60")
    found = compare_candidates([played], "base")

    assert ["good", "fair", "bad"] == [candidate.agent for candidate in found]
    assert [True, False, False] == [candidate.is_stronger for candidate in found]
    assert found[0].adjusted == pytest.approx(3 * found[0].p)


def test_games_without_the_base_do_not_matter() -> None:
    alone, among_others = games("a>base*3 base>a*2"), games("a>base*3 base>a*2 a>b*9")
    assert compare_candidates([alone], "base") == compare_candidates([among_others], "base")
    assert [] == compare_candidates([games("a>b")], "base")


def test_pairs_of_several_contests_are_counted_apart() -> None:
    """Games of two contests have the same round and table."""
    [found] = compare_candidates([games("a<base base>a"), games("a>base base<a")], "base")

    assert MatchCounts((1, 0, 0, 0, 1), (2, 0, 2)) == found.counts


@pytest.mark.parametrize(("candidates", "pairs"), [(5, 20), (5, 100), (10, 200)])
def test_one_list_of_equals_in_twenty_has_a_finding(candidates: int, pairs: int, record_property: RecordFigure) -> None:
    """Within 5 % of that, and what the number of lists leaves to chance."""
    chance = np.random.default_rng(3)
    wrong = 0
    for _ in range(LISTS):
        tables = chance.multinomial(pairs, [0.07, 0.2, 0.46, 0.2, 0.07], candidates).tolist()
        counts = [MatchCounts(tuple(table), None) for table in tables]
        p_values = [p_value(each, estimate) for each in counts if (estimate := estimate_match(each))]
        wrong += min(holm(p_values)) <= SIGNIFICANCE

    record_property("figure", f"{candidates} candidates, {pairs} pairs: {wrong} of {LISTS}")
    expected = 1 - (1 - SIGNIFICANCE / candidates) ** candidates
    of_chance = 3 * math.sqrt(expected * (1 - expected) / LISTS)
    assert wrong / LISTS <= 1.05 * SIGNIFICANCE + of_chance
    assert wrong / LISTS >= 0.95 * expected - of_chance


@pytest.mark.parametrize(
    ("t", "degrees"),
    # The 1 % points of tables of Student's t.
    [(31.821, 1), (6.965, 2), (4.541, 3), (3.747, 4), (2.764, 10), (2.462, 29), (2.457, 30), (2.364, 100)],
)
def test_tails_of_student_s_t_are_those_of_the_tables(t: float, degrees: int) -> None:
    assert student_tail(t, degrees) == pytest.approx(0.01, rel=2e-3)
    assert student_tail(-t, degrees) == pytest.approx(0.99, rel=2e-5)
