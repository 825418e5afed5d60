"""Candidates against one: who is found, and how often nobody should have been."""

import numpy as np
import pytest

from judge.matches import ResultRow
from judge.statistics.candidates import compare_candidates
from tests.contest.rounds import game, games


def test_the_surest_comes_first_and_p_values_are_adjusted() -> None:
    found = compare_candidates(
        games("good>base*60 base>good*30 fair>base*50 base>fair*45 bad>base*20 base>bad*60"), "base"
    )

    assert ["good", "fair", "bad"] == [candidate.agent for candidate in found]
    assert [True, False, False] == [candidate.is_stronger for candidate in found]
    assert found[0].adjusted == pytest.approx(3 * found[0].p)


def test_games_without_the_base_do_not_matter() -> None:
    assert compare_candidates(games("a>base*3 base>a*2"), "base") == compare_candidates(
        games("a>base*3 base>a*2 a>b*9"), "base"
    )
    assert [] == compare_candidates(games("a>b"), "base")


def some_games(chance: np.random.Generator, agent: str) -> list[ResultRow]:
    """Fifteen pairs of equals."""
    return [
        game(f"{first}{chance.choice(['<', '=', '>'])}{second}", number=2 * pair + turn)
        for pair in range(15)
        for turn, (first, second) in enumerate([(agent, "base"), ("base", agent)])
    ]


def test_of_equals_somebody_is_found_in_one_list_of_twenty() -> None:
    """Ten candidates who are no stronger, 60 times: without the adjustment 40 % of the lists have a finding."""
    chance = np.random.default_rng(7)
    lists = [
        compare_candidates([row for n in range(10) for row in some_games(chance, f"c{n}")], "base") for _ in range(60)
    ]

    assert sum(any(each.is_stronger for each in listed) for listed in lists) <= 8
    assert sum(any(each.p <= 0.05 for each in listed) for listed in lists) > 12
