"""The certificate on simulated contests: it finds what is unfair, and nothing in what is fair."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from judge.contest_games import GameConditions, GameResult
from judge.games.types import Verdict
from judge.statistics.fairness import SCORE, TIME, FairnessTest, fairness_tests
from judge.statistics.scales import chi_square_shift, variance_ratio_point, variance_ratio_tail
from tests.examples import RecordFigure, sized
from tests.statistics.simulated_contests import play, play_pairs

CONTESTS = sized(20, 1_000)
POWERS = sized(1, 100)


def of(tests: Sequence[FairnessTest], factor: str, response: str) -> FairnessTest:
    return next(test for test in tests if (test.factor, test.response) == (factor, response))


def test_an_agent_against_itself_gives_uniform_p_values(record_property: RecordFigure) -> None:
    """Kolmogorov's distance from uniform of each test's p-values, and how many fair contests are called unfair."""
    found: dict[tuple[str, str], list[float]] = {}
    called_unfair = 0
    for seed in range(CONTESTS):
        tests = fairness_tests(*play(seed, 240))
        called_unfair += any(test.has_effect for test in tests)
        for test in tests:
            if test.p is not None:
                found.setdefault((test.factor, test.response), []).append(test.p)

    assert 12 == len(found)
    for of_test, p_values in found.items():
        ordered = np.sort(p_values)
        steps = np.arange(1, len(ordered) + 1) / len(ordered)
        distance = max(np.abs(steps - ordered).max(), np.abs(steps - 1 / len(ordered) - ordered).max())
        # Of 12 tests one is beyond this by chance in one of 200 runs; slots of a game that both play are no continuum.
        record_property("figure", f"{of_test}: {len(ordered)} p-values, distance {distance:.4f}")
        assert distance < 2.0 / math.sqrt(len(ordered)), of_test
    record_property("figure", f"called unfair: {called_unfair} of {CONTESTS}")
    assert called_unfair <= 0.05 * CONTESTS + 3 * math.sqrt(0.05 * 0.95 * CONTESTS)


def test_a_slot_that_is_1_percent_slower_is_found_in_2000_games(record_property: RecordFigure) -> None:
    """By nine in ten contests at least, of agents that differ; and but for one in a hundred it is named."""
    hits, effects = 0, list[float]()
    for seed in range(POWERS):
        test = of(fairness_tests(*play(seed, 2000, agents=8, differ=0.5, slow={2: 1.01})), "slot", TIME)
        assert test.found is not None
        assert test.found < 0.011
        hits += test.has_effect
        if test.has_effect and "host-0 2" == test.level and test.effect is not None:
            effects.append(test.effect)

    record_property("figure", f"found {hits} of {POWERS}, named {len(effects)}, {np.mean(effects):.4f}")
    assert hits >= 0.9 * POWERS - 2 * math.sqrt(0.09 * POWERS)
    assert len(effects) >= 0.99 * hits - 2 * math.sqrt(0.01 * POWERS)
    assert np.mean(effects) == pytest.approx(0.01, abs=0.001 + 0.006 / math.sqrt(len(effects)))


def test_unfair_condition_is_found_under_its_name() -> None:
    slow_host = fairness_tests(*play(1, 800, agents=6, differ=0.5, slow={0: 1.05, 2: 1.05}))
    busy = fairness_tests(*play(2, 1500, agents=6, differ=0.5, hosts=1, neighbour=0.2))
    helped = fairness_tests(*play(3, 1500, agents=6, differ=0.5, helped=0.3))

    assert of(slow_host, "host", TIME).has_effect
    assert of(slow_host, "host", TIME).level in ("host-0", "host-1")
    assert not of(slow_host, "slot", SCORE).has_effect
    assert of(helped, "slot", SCORE).has_effect
    assert "host-0 0" == of(helped, "slot", SCORE).level
    assert of(busy, "neighbours", TIME).has_effect


def test_a_drift_is_an_effect_of_the_order() -> None:
    """A machine that gets hot: the last game takes 5 % longer than the first."""
    results, conditions = play(4, 1500, agents=4, differ=0.5)
    drift = [
        row._replace(charged_ms=(row.charged_ms[0] * heat, row.charged_ms[1] * heat))
        for row, heat in zip(results, np.linspace(1, 1.05, len(results)), strict=True)
    ]

    order = of(fairness_tests(drift, conditions), "order", TIME)
    assert order.has_effect
    assert order.effect == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("times", [0.5, 2.0, 10.0])
def test_a_large_effect_on_times_is_a_share_of_time(times: float) -> None:
    """Half of the time is 50 % less, and twice the time 100 % more; the logarithms differ by 69 % in both."""
    tests = fairness_tests(*play(8, 600, agents=4, differ=0.5, hosts=2, slow={0: times, 2: times}))

    slow, seat = of(tests, "host", TIME), of(tests, "seat", TIME)
    low, effect, high = (math.nan if value is None else value for value in (slow.low, slow.effect, slow.high))
    ends = sorted((times - 1, 1 / times - 1))
    assert any(effect == pytest.approx(end, rel=0.1) for end in ends)
    assert -1 < low < effect < high
    assert any(low < end < high for end in ends)
    assert slow.found is not None
    assert (seat.low or 0.0) < 0 < (seat.high or 0.0)


def test_an_interval_leaves_out_nothing_if_and_only_if_there_is_an_effect() -> None:
    """Of one degree of freedom it is the set of effects that are not refused. Of two, it may have nothing in it where p
    is small, since another comparison than of one level with the rest is meant."""
    compared = 0
    for seed in range(20):
        for test in fairness_tests(*play(seed, 200, hosts=2)):
            if test.p is None or test.low is None or test.high is None or test.effect is None:
                continue
            compared += 1
            assert test.low <= test.effect <= test.high
            if test.factor in ("host", "order", "neighbours", "seat"):
                assert (test.low <= 0 <= test.high) == (test.p >= 0.05)
            elif test.p >= 0.05:
                assert test.low <= 0 <= test.high
    assert compared > 200


def test_an_agent_that_often_plays_on_one_slot_is_no_property_of_the_slot() -> None:
    """A slow agent that the schedule put there."""
    results, conditions = play(5, 1000, agents=4)
    moved, slots = [], []
    for row, each in zip(results, conditions, strict=True):
        is_there = "agent-0" in row.agents and each.began % 5 > 0.5
        slots.append(GameConditions("host-0", "0" if is_there else "1", each.began, each.seconds, each.hour))
        times = [ms * (2 if agent == "agent-0" else 1) for agent, ms in zip(row.agents, row.charged_ms, strict=True)]
        moved.append(row._replace(charged_ms=(times[0], times[1])))

    assert not of(fairness_tests(moved, slots), "slot", TIME).has_effect


@pytest.mark.parametrize("games", [2, 4, 16])
def test_pair_effects_are_not_effects_of_order_hour_or_host(games: int) -> None:
    """Where a pair's games follow each other, as in leagues of agents that keep folders."""
    factors = ("order", "hour", "host", "slot")
    times = [test for seed in range(CONTESTS) for test in fairness_tests(*play_pairs(seed, 8, games))]
    found = [test.p for test in times if test.factor in factors and test.p is not None]
    if games == 2:  # what the first seat is worth is one number then
        found = [test.p for test in times if test.factor in factors and test.response == TIME and test.p is not None]

    assert found
    low = sum(p <= 0.05 for p in found)
    assert low <= 0.05 * len(found) + 3 * math.sqrt(4 * 0.05 * 0.95 * len(found))


def test_one_slot_cannot_be_compared_and_equal_results_without_times_are_no_evidence() -> None:
    tests = fairness_tests(*play(1, 100, slots=1, hosts=1))

    assert (None, "nothing to compare") == (of(tests, "slot", TIME).p, of(tests, "slot", TIME).why)
    assert (None, "nothing to compare") == (of(tests, "host", SCORE).p, of(tests, "host", SCORE).why)
    assert of(tests, "order", TIME).p is not None
    # No agent ever answered, and the first seat won everything.
    results = [GameResult("a", "b", "a", Verdict.WIN)] * 60
    assert {None} == {test.p for test in fairness_tests(results, play(1, 60)[1])}


@pytest.mark.parametrize("games", [0, 1, 2, 3, 7])
def test_few_games_give_no_statistics(games: int) -> None:
    tests = fairness_tests(*play(1, games))

    assert bool(tests) == bool(games)
    for test in tests:
        assert test.p is None or 0 <= test.p <= 1
        assert not test.has_effect


def test_the_tests_do_not_depend_on_the_order_of_the_games() -> None:
    results, conditions = play(7, 200, agents=3, differ=0.5)
    mixed = np.random.default_rng(0).permutation(200)

    before = fairness_tests(results, conditions)
    after = fairness_tests([results[at] for at in mixed], [conditions[at] for at in mixed])
    assert [test.p for test in before] == pytest.approx([test.p for test in after])


@pytest.mark.parametrize(
    ("ratio", "degrees", "residual"),
    # The 5 % points of tables of F.
    [(4.965, 1, 10), (3.708, 3, 10), (4.351, 1, 20), (2.375, 8, 23), (1.939, 10, 90), (1.554, 30, 120)],
)
def test_tails_of_the_variance_ratio_are_those_of_the_tables(ratio: float, degrees: int, residual: int) -> None:
    assert variance_ratio_tail(ratio, degrees, residual) == pytest.approx(0.05, abs=0.0005)
    point = variance_ratio_point(0.05, degrees, residual)
    assert variance_ratio_tail(point, degrees, residual) == pytest.approx(0.05)


def test_power_agrees_with_simulations() -> None:
    """Noncentral chi-square values above the level of 0.004 with a shift for a power of 0.9."""
    chance = np.random.default_rng(3)
    for degrees in (1, 3, 23):
        shift = chi_square_shift(0.004, degrees, 0.9)
        drawn = chance.noncentral_chisquare(degrees, shift, 20_000)
        level = np.quantile(chance.chisquare(degrees, 400_000), 0.996)
        assert (drawn > level).mean() == pytest.approx(0.9, abs=0.02)
