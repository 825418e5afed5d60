"""How often sequential tests err, by playing thousands of them: under either hypothesis about as often as they say."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from judge.statistics.scales import CONFIDENCE_95, NORMALIZED_ELO, bayes_elo_score, draw_elo_of, expected_score
from judge.statistics.sprt import Sprt, SprtModel
from tests.examples import sized
from tests.statistics.many_ratios import ratios

TESTS = sized(100, 5_000)

WIDE, NARROW = 100.0, 5.0
"""Elo between the hypotheses: with a few tests, and with many, where the steps past a bound must be small."""

LOOKS_EVERY = 10
"""Results between two looks at the ratio, as in a round of `format = "sprt"`."""

PAIRS = np.array([0.05, 0.2, 0.45, 0.22, 0.08])
GAMES = np.array([0.25, 0.45, 0.3])


def tilted(shares: npt.NDArray[np.float64], mean: float) -> npt.NDArray[np.float64]:
    """Shares with another mean score: the wins at the cost of the losses, by an exponential."""
    scores = np.linspace(0, 1, len(shares))
    low, high = -50.0, 50.0
    for _ in range(100):
        slope = (low + high) / 2
        moved = shares * np.exp(slope * scores)
        moved /= moved.sum()
        low, high = (slope, high) if moved @ scores < mean else (low, slope)
    return moved


def of_strength(model: SprtModel, elo: float, kinds: int) -> npt.NDArray[np.float64]:
    """A distribution of results that has this strength exactly."""
    shares = PAIRS if kinds == 5 else GAMES
    for _ in range(100):
        # Draws and spread change with the mean, and what the mean must be changes with them.
        scores = np.linspace(0, 1, kinds)
        if model == "logistic":
            mean = expected_score(elo)
        elif model == "bayesian":
            mean = bayes_elo_score(elo, draw_elo_of(shares[-1], shares[0]))
        else:
            sigma = math.sqrt(shares @ (scores - shares @ scores) ** 2) * math.sqrt(2 if kinds == 5 else 1)
            mean = 0.5 + elo * sigma / NORMALIZED_ELO
        shares = tilted(shares, mean)
    return shares


def accepted(test: Sprt, truth: npt.NDArray[np.float64], seed: int) -> float:
    """The share of tests that accept H1 when results are drawn from `truth`; every test ends."""
    chance = np.random.default_rng(seed)
    counts = np.zeros((TESTS, len(truth)))
    going = np.arange(TESTS)
    wins = 0
    while going.size:
        counts[going] += chance.multinomial(LOOKS_EVERY, truth, going.size)
        found = ratios(test, counts[going])
        wins += int((found >= test.upper).sum())
        going = going[(test.lower < found) & (found < test.upper)]
    return wins / TESTS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "kinds"), [("normalized", 5), ("logistic", 5), ("bayesian", 3), ("normalized", 3), ("logistic", 3)]
)
def test_a_test_errs_as_often_as_it_says(model: SprtModel, kinds: int) -> None:
    """Within 5 % of alpha and beta, and what the number of tests leaves to chance."""
    width = WIDE if TESTS < 2000 else NARROW
    test = Sprt(elo0=0, elo1=width, alpha=0.05, beta=0.1, model=model)

    false_h1 = accepted(test, of_strength(model, 0, kinds), 1)
    false_h0 = 1 - accepted(test, of_strength(model, width, kinds), 2)

    print(f"{model}, {kinds} kinds: alpha {false_h1:.4f}, beta {false_h0:.4f}")  # noqa: T201 a figure to report
    for rate, promised in ((false_h1, test.alpha), (false_h0, test.beta)):
        of_chance = CONFIDENCE_95 * 1.5 * math.sqrt(promised * (1 - promised) / TESTS)
        # Rarer errors than promised are what wide steps past a bound give.
        fewest = 0.95 * promised if width is NARROW else 0
        assert fewest - of_chance <= rate <= 1.05 * promised + of_chance
