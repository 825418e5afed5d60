"""Estimates the strength difference of two sides: Elo, normalized Elo, and intervals.

With n results of mean score s and variance v, the standard error of s is sqrt(v / n). The ends of the 95 % interval of
s are converted to Elo. Normalized Elo divides by the standard deviation of a game, for pairs sqrt(2 v). The likelihood
of superiority (LOS), P(s > 1/2) with a uniform prior, is Phi((s - 1/2) / error).

If all results are of one kind, v is 0, and the interval follows Clopper and Pearson (1934): at least 0.025
** (1 / n) of all results are of that kind, and the rest may be anything. A score of 1 is compatible with
any superiority, so its Elo and the interval's upper end are unlimited.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from judge.statistics.match_counts import MatchCounts
from judge.statistics.scales import CONFIDENCE_95, NORMAL, NORMALIZED_ELO, elo_of_score

_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % interval; None where the results give no limit."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MatchEstimate:
    """Estimates for the first side. `score` is per game, 0 to 1, `los` a probability.

    `draws`: share of drawn games; None if the pairs do not show it.
    """

    games: int
    score: float
    elo: Interval
    normalized: Interval
    los: float
    draws: float | None


def estimate_match(counts: MatchCounts) -> MatchEstimate | None:
    """Return the estimate; None without results."""
    n = counts.total
    if not n:
        return None
    score = sum(count * of for count, of in zip(counts.counts, counts.scores, strict=True)) / n
    variance = sum(count * (of - score) ** 2 for count, of in zip(counts.counts, counts.scores, strict=True)) / n
    games = n * (2 if counts.are_pairs else 1)
    draws = None if counts.games is None else counts.games[1] / sum(counts.games)
    if max(counts.counts) == n:
        low, high = _ends_of_one_kind(score, n, 0, 1)
        normalized = Interval(0.0 if score == 0.5 else None, None, None)
        los = _los_of_one_kind(score, n)
    else:
        error = math.sqrt(variance / n)
        low, high = score - CONFIDENCE_95 * error, score + CONFIDENCE_95 * error
        unit = NORMALIZED_ELO / math.sqrt(variance * games / n)
        middle, reach = (score - 0.5) * unit, CONFIDENCE_95 * error * unit
        normalized = Interval(middle, middle - reach, middle + reach)
        los = NORMAL.cdf((score - 0.5) / error)
    elo = Interval(elo_of_score(score), elo_of_score(low), elo_of_score(high))
    return MatchEstimate(games, score, elo, normalized, los, draws)


def interval_of_mean(counts: Sequence[int], scores: Sequence[float]) -> tuple[float, float, float]:
    """The mean score and its interval. `scores` ascend, and at least one count is positive."""
    n = sum(counts)
    mean = sum(count * of for count, of in zip(counts, scores, strict=True)) / n
    if max(counts) == n:
        return mean, *_ends_of_one_kind(mean, n, scores[0], scores[-1])
    variance = sum(count * (of - mean) ** 2 for count, of in zip(counts, scores, strict=True)) / n
    reach = CONFIDENCE_95 * math.sqrt(variance / n)
    return mean, max(mean - reach, scores[0]), min(mean + reach, scores[-1])


def _ends_of_one_kind(score: float, n: int, worst: float, best: float) -> tuple[float, float]:
    """Interval if all n results have the same score."""
    certain = _TAIL ** (1 / n)
    return certain * score + (1 - certain) * worst, certain * score + (1 - certain) * best


def _los_of_one_kind(score: float, n: int) -> float:
    """LOS of a side that only won, or only lost: from Beta(n + 1, 1)."""
    if score == 0.5:
        return 0.5
    return 1 - 0.5 ** (n + 1) if score > 0.5 else 0.5 ** (n + 1)
