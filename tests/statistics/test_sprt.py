"""The sequential test against what can be worked by hand, against what others published, and by simulation."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.base.errors import InputError
from judge.statistics.match_estimate import GAME_SCORES, MatchCounts
from judge.statistics.scales import NORMALIZED_ELO, SprtModel, bayes_elo_score, draw_elo_of, expected_score
from judge.statistics.sprt import Sprt, SprtDecision, SprtState
from tests.examples import evidence, examples, sized

TABLES = sized(10, 50_000)
MOST_COMPARED = sized(2, 5)
MAXIMA = sized(20, 100)


def state(test: Sprt, *numbers: int) -> SprtState:
    return test.state(MatchCounts.of_numbers(numbers))


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.05), (0.01, 0.2)])
def test_wald_s_bounds(alpha: float, beta: float) -> None:
    for none in ((0, 0, 0), (0, 0, 0, 0, 0)):
        begun = state(Sprt(elo0=0, elo1=10, alpha=alpha, beta=beta), *none)

        assert begun.lower == pytest.approx(math.log(beta / (1 - alpha)))
        assert begun.upper == pytest.approx(math.log((1 - beta) / alpha))
        assert (0, SprtDecision.GO_ON) == (begun.llr, begun.decision)


@pytest.mark.parametrize(
    ("numbers", "decision"),
    [
        ((1000, 3000, 1300), SprtDecision.H1),
        ((1300, 3000, 1000), SprtDecision.H0),
        ((10, 30, 11), SprtDecision.GO_ON),
        # Openings that decide the game: every pair ends 1:1. Pairs see that nothing varies; single games see a coin.
        ((100, 0, 100), SprtDecision.GO_ON),
        ((0, 0, 100, 0, 0), SprtDecision.H0),
    ],
)
def test_it_stops_on_either_side(numbers: tuple[int, ...], decision: SprtDecision) -> None:
    assert decision is state(Sprt(elo0=0, elo1=20), *numbers).decision


def test_normalized_pairs_are_those_of_fishtest() -> None:
    """An output of its `SPRT_elo` in fishtest's issue 1737, with all digits."""
    test = Sprt(elo0=-1.75, elo1=0.25, model="normalized")

    assert state(test, 93, 18711, 58877, 18739, 100).llr == pytest.approx(2.9420974720708513, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "bounds", "counts", "published"),
    [
        ("normalized", (0, 2), (36027, 68692, 36433), 0.92),
        ("normalized", (-1.75, 0.25), (10650, 20431, 10871), 2.30),
        ("normalized", (0, 10), (0, 0, 4250), 120.56),
        ("logistic", (0.5, 2.5), (21184, 40708, 21404), -1.57),
        ("logistic", (0, 2), (57030, 106593, 57433), -2.59),
        ("bayesian", (0, 2), (68526, 128429, 68965), -1.26),
        ("bayesian", (0.5, 2.5), (21484, 41111, 21629), -1.13),
        # In issue 612 of fishtest, with two digits.
        ("bayesian", (0, 5), (608, 12530, 648), 0.63),
        ("normalized", (0, 2), (365, 16618, 200, 36029, 16974, 390), 2.25),
        ("normalized", (-1.75, 0.25), (127, 4883, 401, 10311, 5150, 104), 3.01),
        ("normalized", (0, 5), (0, 0, 0, 0, 0, 5550), 111.82),
        ("logistic", (0.5, 2.5), (223, 9863, 1000, 20279, 10037, 246), -3.07),
        ("logistic", (0, 2), (871, 26175, 980, 55003, 26678, 821), -4.98),
    ],
)
def test_ratios_are_those_of_fastchess(
    model: SprtModel, bounds: tuple[float, float], counts: tuple[int, ...], published: float
) -> None:
    """The cases of its own tests, which are met to a hundredth."""
    test = Sprt(elo0=bounds[0], elo1=bounds[1], model=model)

    assert state(test, *counts).llr == pytest.approx(published, rel=0.01)


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.integers(0, 50), min_size=5, max_size=5),
    st.floats(-100, 100),
    st.floats(1, 100),
    st.sampled_from(["logistic", "normalized"]),
)
def test_swapping_both_sides_changes_the_sign(counts: list[int], elo0: float, width: float, model: SprtModel) -> None:
    forth = state(Sprt(elo0=elo0, elo1=elo0 + width, model=model), *counts).llr
    back = state(Sprt(elo0=-elo0 - width, elo1=-elo0, model=model), *counts[::-1]).llr

    assert math.isfinite(forth)
    assert forth == pytest.approx(-back, abs=1e-5)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any), st.sampled_from(["logistic", "normalized"]))
def test_a_win_more_speaks_for_the_stronger_hypothesis(counts: list[int], model: SprtModel) -> None:
    lost, drawn, won = counts
    test = Sprt(elo0=0, elo1=70, model=model)

    more, before = state(test, lost, drawn, won + 1).llr, state(test, lost, drawn, won).llr
    # Where nothing but wins came, one more does not raise what a t-value says of the spread that was never seen.
    assert more > before or not (lost or drawn)


@pytest.mark.parametrize("model", ["logistic", "normalized", "bayesian"])
@pytest.mark.parametrize(
    ("kinds", "bounds"),
    [
        (3, (0, 5)), (3, (-4000, 4000)), (6, (0, 5)),
        *(pytest.param(*each, marks=evidence) for each in [(3, (-1500, -500)), (6, (-1500, -500)), (6, (-4000, 4000))]),
    ],
)  # fmt: skip
def test_no_table_is_without_its_ratio(kinds: int, bounds: tuple[float, float], model: SprtModel) -> None:
    """Up to 100,000 of a kind, or none; also at bounds where fastchess hung (its issues 877 and 879). Solved in another
    way, for many tables at once and from many beginnings, the ratio is the same.
    """
    chance = np.random.default_rng(kinds)
    test = Sprt(elo0=bounds[0], elo1=bounds[1], model=model)
    for at in range(0, TABLES, 10_000):
        size = (min(10_000, TABLES - at), kinds)
        tables = np.floor(10 ** chance.uniform(0, 5, size)) * (chance.random(size) > 0.3)
        tables[0] = 100_000 * np.eye(kinds)[kinds // 2]
        counts = [MatchCounts.of_numbers(table) for table in tables.astype(int).tolist()]
        found = [test.state(each).llr for each in counts]

        assert np.isfinite(found).all()
        if at:
            continue
        some = [number for number, each in enumerate(counts) if each.total][:MOST_COMPARED]
        compared = [ratio(test, counts[number].counts, counts[number].games) for number in some]
        # A ratio of many millions has no more digits.
        assert [found[number] for number in some] == pytest.approx(compared, abs=1e-6, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(0, 5), (-1.75, 0.25), (-10, 30)])
def test_of_two_maxima_the_higher_one_counts(bounds: tuple[float, float]) -> None:
    """Nearly all pairs are drawn, and the few others decide whether small leads or large ones made the rest."""
    chance = np.random.default_rng(5)
    tables = np.floor(10 ** chance.uniform(0, 2, (MAXIMA, 5))) * (chance.random((MAXIMA, 5)) > 0.6)
    tables[:, 2] = np.floor(10 ** chance.uniform(2, 5.3, MAXIMA))
    test = Sprt(elo0=bounds[0], elo1=bounds[1], model="normalized")

    for table in tables.astype(int).tolist():
        assert state(test, *table).llr == pytest.approx(ratio(test, table), abs=1e-6)


def test_the_bayesian_model_must_know_of_draws_and_hypotheses_are_in_order() -> None:
    """Two draws and a win with a loss are one count of five; six have them apart."""
    test = Sprt(elo0=0, elo1=5, model="bayesian")

    with pytest.raises(InputError, match="LL LD DD WL WD WW"):
        state(test, 1, 2, 3, 4, 5)
    assert math.isfinite(state(test, 1, 2, 1, 2, 4, 5).llr)
    with pytest.raises(ValidationError, match="elo0 must be less than elo1"):
        Sprt(elo0=10, elo1=10)


# Van den Bergh's steps (cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1), from each of several distributions.

Vector = npt.NDArray[np.float64]

_UNSEEN = 1e-3
"""A kind of result that did not come counts for so many."""


def ratio(test: Sprt, table: Sequence[float], games: Sequence[float] | None = None) -> float:
    """The LLR of three or five counts. `games` are lost, drawn and won games, for the bayesian model."""
    counts = _seen(table)
    shares, scores = counts / counts.sum(), np.linspace(0, 1, len(counts))
    if test.model == "normalized":
        of_result = NORMALIZED_ELO / math.sqrt(1 if len(scores) == len(GAME_SCORES) else 2)
        logs = [_log_weights_of_t(shares, scores, elo / of_result) for elo in (test.elo0, test.elo1)]
    elif test.model == "logistic":
        logs = [_log_weights(shares, scores - expected_score(elo)) for elo in (test.elo0, test.elo1)]
    else:
        lost, _, won = _seen(games or table) / _seen(games or table).sum()
        margin = draw_elo_of(won, lost)
        logs = [_log_weights(shares, scores - bayes_elo_score(elo, margin)) for elo in (test.elo0, test.elo1)]
    return float(counts @ (logs[0] - logs[1]))


def _seen(table: Sequence[float]) -> Vector:
    return np.array([count or _UNSEEN for count in table], dtype=np.float64)


def _log_weights_of_t(shares: Vector, scores: Vector, t: float) -> Vector:
    """ln(q / p) for the likeliest p with the t-value (mean - 1/2) / sigma: of all maxima the highest."""
    if t < 0:
        return _log_weights_of_t(shares[::-1], scores, -t)[::-1]
    return min((_climb(shares, scores, t, start) for start in _starts(scores - 0.5, t)), key=lambda logs: shares @ logs)


def _starts(leads: Vector, t: float) -> Iterator[Vector]:
    """Distributions with the t-value: a uniform one with some sure wins, and all on two kinds of one is no success."""
    uniform = np.full(leads.size, 1 / leads.size)
    variance = float(uniform @ leads**2)
    lean = t * t * (0.25 - variance)
    sure = 2 * (lean + np.sqrt(lean**2 + (1 + t * t) * t * t * variance)) / (1 + t * t)
    yield (1 - sure) * uniform + sure * np.eye(leads.size)[-1]
    for at, other in itertools.product(np.flatnonzero(leads <= 0), np.flatnonzero(leads > 0)) if t else ():
        between = leads[other] - leads[at]
        half = (t * t * between - 2 * leads[at]) / (2 * between * (1 + t * t))
        share = half + np.sqrt(max(half**2 - (leads[at] / between) ** 2 / (1 + t * t), 0))
        yield (1 - share) * np.eye(leads.size)[at] + share * np.eye(leads.size)[other]


def _climb(shares: Vector, scores: Vector, t: float, p: Vector) -> Vector:
    for _ in range(1000):
        mean = p @ scores
        sigma = np.sqrt(p @ (scores - mean) ** 2)
        logs = _log_weights(shares, scores - 0.5 - t / 2 * (sigma + (scores - mean) ** 2 / sigma))
        before, p = p, shares * np.exp(-logs)
        if np.abs(p - before).max() < 1e-10:
            break
    return logs


def _log_weights(shares: Vector, offsets: Vector) -> Vector:
    """ln(q / p) for the likeliest p under which the mean of `offsets`, which have both signs, is 0."""
    # No share of p is above 1, so 1 + x * offset is at least q: the poles are outside.
    with np.errstate(divide="ignore", over="ignore"):  # an offset of next to nothing
        ends = (shares - 1) / offsets
    low, high = ends[offsets > 0].max(), ends[offsets < 0].min()
    for _ in range(100):
        x = (low + high) / 2
        low, high = (x, high) if shares @ (offsets / (1 + x * offsets)) > 0 else (low, x)
    logs: Vector = np.log1p((low + high) / 2 * offsets)
    return logs
