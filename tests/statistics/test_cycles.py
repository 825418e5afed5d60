"""Rings are found where they are, and where results follow from ratings as often as the level says."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from judge.contest_games import GameResult
from judge.statistics.cycles import check_ratings
from judge.statistics.scales import chi_square_tail, holm, normal_tail
from tests.contest.rounds import games


def beats(one: str, other: str) -> str:
    """Four of five games, from either seat."""
    return f"{one}>{other}*20 {other}<{one}*20 {one}<{other}*5 {other}>{one}*5"


@pytest.mark.parametrize(("pairs", "ring"), [(("ab", "bc", "ca"), "abc"), (("ba", "cb", "ac"), "acb")])
def test_stone_scissors_paper_is_a_ring_in_its_direction(pairs: Sequence[str], ring: str) -> None:
    check = check_ratings(games(" ".join(beats(*pair) for pair in pairs)))

    assert [tuple(ring)] == [found.agents for found in check.rings]
    assert check.p < 1e-6
    assert check.rings[0].elo > 300


def drawn_games(seed: int, strengths: Mapping[str, float], each: int) -> list[GameResult]:
    chance = np.random.default_rng(seed)
    words = []
    for first, one in strengths.items():
        for second, other in strengths.items():
            if first != second:
                won = chance.binomial(each, 1 / (1 + 10 ** ((other - one - 30) / 400)))
                words += [f"{first}>{second}*{won}"] * bool(won) + [f"{first}<{second}*{each - won}"] * bool(each - won)
    return games(" ".join(words))


def test_p_values_are_uniform_where_ratings_explain_the_results() -> None:
    """Six agents of different strength with an advantage of the first seat; the 60 contests are always the same."""
    strengths = dict(zip("abcdef", (0, 40, 90, 150, 160, 260), strict=True))
    checks = [check_ratings(drawn_games(seed, strengths, 40)) for seed in range(60)]

    assert {10} == {check.degrees for check in checks}
    below = [sum(check.p < level for check in checks) for level in (0.1, 0.5, 0.9)]
    assert below == pytest.approx([6, 30, 54], abs=12)
    assert sum(bool(check.rings) for check in checks) <= 9
    assert (1.0, ()) == (check_ratings(games("a>b*3 b>a")).p, check_ratings([]).rings)


@pytest.mark.parametrize(
    ("x", "degrees", "tail"),
    [
        # Table 26.8 of Abramowitz and Stegun, and of the NIST handbook.
        (3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (18.307, 10, 0.05), (43.773, 30, 0.05),
        (6.635, 1, 0.01), (23.209, 10, 0.01), (124.342, 100, 0.05), (149.449, 100, 0.001), (0.004, 1, 0.95),
    ],
)  # fmt: skip
def test_tails_of_chi_square_are_those_of_the_tables(x: float, degrees: int, tail: float) -> None:
    assert chi_square_tail(x, degrees) == pytest.approx(tail, rel=2e-3)


def test_tails_stay_tails() -> None:
    assert 1.0 == chi_square_tail(0, 3) == chi_square_tail(7, 0)
    assert chi_square_tail(1e6, 5) == pytest.approx(0, abs=1e-300)
    assert chi_square_tail(1000, 1000) == pytest.approx(0.494, abs=1e-3)
    assert normal_tail(1.959963985) == pytest.approx(0.025)


def test_holm_by_hand() -> None:
    """Of four: 0.01 * 4, then 0.02 * 3; 0.03 * 2 is not below the one before it, 0.5 * 1."""
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert [] == holm([])
    assert [1.0, 1.0] == holm([0.9, 0.8])
