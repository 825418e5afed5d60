"""Sequential probability ratio test: decides whether one agent is stronger than another, and stops early.

It reads the scores of pairs of games.

The first agent is `elo0` stronger under H0, `elo1` under H1, on a scale of `judge.statistics.scales`. The
log-likelihood ratio (LLR) is compared with Wald's bounds (Sequential Tests of Statistical Hypotheses, 1945):
ln(beta / (1 - alpha)) accepts H0, ln((1 - beta) / alpha) accepts H1. Actual errors differ from alpha and beta: the
ratio oversteps its bounds, and with few results the likeliest distribution favours either hypothesis.

On the logistic and BayesElo scales a hypothesis is a score, on the normalized scale a t-value (for a pair
sqrt(2) times that of a game). BayesElo's scale uses the draw margin of the games so far, as fishtest until
2020, so the drawn games must be known.

Results have K kinds with scores a, in shares q of n results. A hypothesis fixes one number of the distribution p of
results, and is given the p under which q is likeliest. The logarithm of the generalised likelihood ratio is

    LLR = n * sum(q * (ln p1 - ln p0))

**Fixed mean** s (logistic and BayesElo's Elo): p = q / (1 + x (a - s)), where x solves
sum(q (a - s) / (1 + x (a - s))) = 0 between the two poles. (Owen, Empirical Likelihood, 1988; Van den Bergh,
cantate.be/Fishtest/support_MLE_multinomial.pdf, 1.1.)

**Fixed t-value** (normalized Elo): h(p) = mean - 1/2 - t * sigma = 0. By symmetry let t >= 0, and let u = a - 1/2. The
standard deviation is the minimum of (v + s ** 2) / (2 s) over s > 0, v being the second moment about the mean. So

    E[phi] = E[u] - t / 2 * (s + E[(u - t s) ** 2] / s),   phi = (1 + t ** 2) (u - t s / 2) - t u ** 2 / (2 s)

is never above h, and equals it where s is sigma and t s is the mean. It is linear in p, so for each s the likeliest p
with E[phi] = 0 is found as above. At the right s the likelihood's derivative is zero, E[u ** 2] = (1 + t ** 2) s ** 2,
and then h = 0. The steps from s to sqrt(E[u ** 2] / (1 + t ** 2)) are Van den Bergh's,
cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1; secants between them save steps.

The root is between u1 t / (1 + t ** 2), u1 being the least positive u, and 1/2 / sqrt(1 + t ** 2). If nearly all
results are of the middle kind, or t is large, there can be two maxima: the search starts from both ends.

A kind without results counts as a thousandth, as in fishtest and fastchess.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.statistics.match_estimate import PAIR_SCORES, MatchCounts, interval_of_mean
from judge.statistics.scales import (
    MAX_SPRT_ELO,
    NORMALIZED_ELO,
    SprtModel,
    bayes_elo_score,
    draw_elo_of,
    expected_score,
)

_UNSEEN = 1e-3
_MAX_STEPS = 200
_HALVE_AFTER = 30
"""After these steps, every other step halves the interval."""
_CLOSE = 1e-5
"""Relative size of the last step, compared with the distance to a pole; the error is about its square."""
_MAX_TANGENTS = 100
_SAME = 1e-7
"""Relative change of the spread in the last step; the ratio's error is its square."""
_SECANTS = ((0.003, 100.0), (0.1, 4.0))
"""Maximum length of a secant in tangent steps, if those are shorter than the first number; longer ones might skip a
maximum.
"""


def seen(counts: Sequence[float]) -> list[float]:
    """Zeros become a thousandth."""
    return [float(count) or _UNSEEN for count in counts]


def ratio_of_means(counts: Sequence[float], scores: Sequence[float], mean0: float, mean1: float) -> float:
    """The LLR of positive counts for a mean of `mean1` against `mean0`.

    `scores` ascend; the means are between the first and the last.
    """
    logs = [_log_weights(_shares(counts), [score - mean for score in scores])[0] for mean in (mean0, mean1)]
    return _ratio(counts, *logs)


def ratio_of_t_values(counts: Sequence[float], scores: Sequence[float], t0: float, t1: float) -> float:
    """The LLR of positive counts for a t-value of `t1` against `t0`.

    The t-value is (mean - 1/2) / sigma of one result. `scores` are symmetric, from 0 to 1.
    """
    leads = [score - 0.5 for score in scores]
    return _ratio(counts, *(_log_weights_of_t(_shares(counts), leads, t) for t in (t0, t1)))


def _shares(counts: Sequence[float]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def _ratio(counts: Sequence[float], logs0: Sequence[float], logs1: Sequence[float]) -> float:
    return math.fsum(count * (log0 - log1) for count, log0, log1 in zip(counts, logs0, logs1, strict=True))


def _log_weights_of_t(shares: Sequence[float], leads: Sequence[float], t: float) -> list[float]:
    if t < 0:
        return _log_weights_of_t(shares[::-1], leads, -t)[::-1]
    if t == 0:
        return _log_weights(shares, leads)[0]
    least = math.log(min(lead for lead in leads if lead > 0) * t / (1 + t * t))
    most = math.log(leads[-1]) - math.log1p(t * t) / 2
    maxima = [_maximum(shares, leads, t, least, most, start) for start in (least, most)]
    losses = [math.fsum(share * log for share, log in zip(shares, logs, strict=True)) for logs in maxima]
    return maxima[losses.index(min(losses))]


def _maximum(
    shares: Sequence[float], leads: Sequence[float], t: float, left: float, right: float, spread: float
) -> list[float]:
    factor = 1 + t * t
    squares = [lead * lead for lead in leads]

    def tangent(spread: float) -> list[float]:
        s = math.exp(spread)
        return [factor * (lead - t * s / 2) - t * square / (2 * s) for lead, square in zip(leads, squares, strict=True)]

    place = before = None
    logs: list[float] = []
    for _ in range(_MAX_TANGENTS):
        logs, place = _log_weights(shares, tangent(spread), place)
        moment = math.fsum(
            share * square * math.exp(-log) for share, square, log in zip(shares, squares, logs, strict=True)
        )
        step = math.log(moment / factor) / 2 - spread
        if abs(step) <= _SAME:
            break
        left, right = (spread, right) if step > 0 else (left, spread)
        steps = [step, (left + right) / 2 - spread]
        if before is not None and before[1] != step:
            secant = step * (spread - before[0]) / (before[1] - step)
            longest = next((times for below, times in _SECANTS if abs(step) < below), 0.0)
            steps = [secant, *steps] if 0 < secant / step <= longest else steps
        before = spread, step
        # A tangent step always leads to a function with both signs.
        spread += next((by for by in steps if left < spread + by < right and max(tangent(spread + by)) > 0), step)
    return logs


def _log_weights(
    shares: Sequence[float], offsets: Sequence[float], place: float | None = None
) -> tuple[list[float], float]:
    """ln(q / p) for the likeliest p with a zero mean of `offsets`, and the place of its multiplier.

    The offsets d have both signs, with the ends d+ and d-. The multiplier x is between the poles -1 / d+ and -1 / d-,
    at
    the place y: x = (-1 / d+ - e ** y / d-) / (1 + e ** y). Then

        1 + x d = (alpha + e ** y beta) / (1 + e ** y),   alpha = 1 - d / d+ >= 0,   beta = 1 - d / d- >= 0

    without differences of near numbers. The sums of q |d| / (alpha + e ** y beta) over positive and negative d must be
    equal. The logarithm of their ratio is nearly linear in y near the poles, so Newton's method is fast.
    1 + x d is at least q, which bounds y.
    """
    highest, lowest = max(offsets), min(offsets)
    parts = [(1 - offset / highest, 1 - offset / lowest) for offset in offsets]
    above, below = (
        [(share * abs(d), *part) for share, d, part in zip(shares, offsets, parts, strict=True) if d * end > 0]
        for end in (highest, lowest)
    )
    low = shares[offsets.index(highest)] / (1 - highest / lowest)
    high = shares[offsets.index(lowest)] / (1 - lowest / highest)
    left, right = math.log(low / (1 - low)), math.log((1 - high) / high)
    y = math.log(-lowest / highest) if place is None else place
    for step in range(_MAX_STEPS):
        e = math.exp(y)
        (over, over_slope), (under, under_slope) = _sums(above, e), _sums(below, e)
        excess = math.log(over / under)
        left, right = (y, right) if excess > 0 else (left, y)
        slope = e * (over_slope / over - under_slope / under)
        newton = y + excess / slope if slope > 0 else math.inf
        is_inside = left <= newton <= right and (step < _HALVE_AFTER or step % 2)
        before, y = y, newton if is_inside else (left + right) / 2
        if abs(y - before) <= _CLOSE:
            break
    e = math.exp(y)
    return [math.log((alpha + e * beta) / (1 + e)) for alpha, beta in parts], y


def _sums(terms: Sequence[tuple[float, float, float]], e: float) -> tuple[float, float]:
    total = slope = 0.0
    for a, alpha, beta in terms:
        weight = alpha + e * beta
        part = a / weight
        total += part
        slope += part * beta / weight
    return total, slope


class SprtDecision(StrEnum):
    """Decision of the test."""

    GO_ON = "go on"
    H0 = "accept H0"
    H1 = "accept H1"


@dataclass(frozen=True, slots=True)
class SprtState:
    """Current ratio, bounds, and decision."""

    llr: float
    lower: float
    upper: float
    decision: SprtDecision


class Sprt(FrozenModel):
    """A test: two hypotheses in Elo of `model`, and its error probabilities."""

    elo0: float = Field(default=0, ge=-MAX_SPRT_ELO, le=MAX_SPRT_ELO)
    elo1: float = Field(default=10, ge=-MAX_SPRT_ELO, le=MAX_SPRT_ELO)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """Probability of accepting H1 if H0 is true."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """Probability of accepting H0 if H1 is true."""
    model: SprtModel = "logistic"
    """Scale of `elo0` and `elo1`."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be less than elo1")
        return self

    @property
    def lower(self) -> float:
        """H0 is accepted at or below this LLR."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """H1 is accepted at or above this LLR."""
        return math.log((1 - self.beta) / self.alpha)

    def state(self, counts: MatchCounts) -> SprtState:
        """The state after these results of the first agent.

        Raises InputError if the bayesian model lacks the number of drawn games.
        """
        return self._state_of(self._ratio(counts))

    def state_of_means(self, counts: Sequence[int], scores: Sequence[float], mean0: float, mean1: float) -> SprtState:
        """The state after results with ascending `scores`, if H0 and H1 fix the mean score."""
        return self._state_of(ratio_of_means(seen(counts), scores, mean0, mean1) if any(counts) else 0.0)

    def _state_of(self, ratio: float) -> SprtState:
        if ratio >= self.upper:
            decision = SprtDecision.H1
        elif ratio <= self.lower:
            decision = SprtDecision.H0
        else:
            decision = SprtDecision.GO_ON
        return SprtState(ratio, self.lower, self.upper, decision)

    def _ratio(self, counts: MatchCounts) -> float:
        if not counts.total:
            return 0.0
        table = seen(counts.counts)
        if self.model == "normalized":
            of_result = NORMALIZED_ELO / math.sqrt(2 if counts.are_pairs else 1)
            return ratio_of_t_values(table, counts.scores, self.elo0 / of_result, self.elo1 / of_result)
        if self.model == "logistic":
            return ratio_of_means(table, counts.scores, expected_score(self.elo0), expected_score(self.elo1))
        if counts.games is None:
            raise InputError(
                "the bayesian model needs the number of drawn games: write six counts of pairs (LL LD DD WL WD WW) or"
                " three of games (lost drawn won)"
            )
        lost, drawn, won = seen(counts.games)
        margin = draw_elo_of(won / (lost + drawn + won), lost / (lost + drawn + won))
        mean0, mean1 = (bayes_elo_score(elo, margin) for elo in (self.elo0, self.elo1))
        return ratio_of_means(table, counts.scores, mean0, mean1)


DIFFERENCES = tuple(quarters / 4 for quarters in range(-4, 5))
"""The candidate's score minus its parent's, in points per game."""


@dataclass(frozen=True)
class PairedScores:
    """Results of a candidate's pairs of games against a pool, alone or compared with its parent.

    A pair is one opening against one opponent with both colours. If a parent plays the same pairs (opponent, opening,
    seeds), the effects of opponent and opening cancel in the difference of scores. `counts` are results of each kind,
    worst first: five kinds of scores or nine of differences.

    A hypothesis in Elo is the expected score against equal opponents, or for differences, that minus 1/2. Against a
    much stronger or weaker pool a test may take longer, but does not err more often. Tests are evaluated after each
    round of all opponents. The variance includes that between opponents, so intervals are rather too wide.
    """

    counts: tuple[int, ...]

    @classmethod
    def of(cls, candidate: Sequence[float], parent: Sequence[float] | None = None) -> Self:
        """Scores are 0 to 1 in quarters; the parent's are of the same pairs in the same order."""
        if parent is None:
            return cls(tuple(candidate.count(score) for score in PAIR_SCORES))
        more = [ours - theirs for ours, theirs in zip(candidate, parent, strict=True)]
        return cls(tuple(more.count(difference) for difference in DIFFERENCES))

    @property
    def are_differences(self) -> bool:
        """Whether there is a parent."""
        return len(self.counts) == len(DIFFERENCES)

    @property
    def pairs(self) -> int:
        return sum(self.counts)

    @property
    def are_even(self) -> bool:
        """Whether the candidate always scored like its parent, or 1/2 against the pool."""
        return self.pairs > 0 and self.counts[len(self.counts) // 2] == self.pairs

    @cached_property
    def interval(self) -> tuple[float, float, float]:
        """The mean and its 95 % interval. Needs a pair."""
        return interval_of_mean(self.counts, self._scores)

    @property
    def width(self) -> float:
        _, low, high = self.interval
        return high - low

    def state(self, test: Sprt) -> SprtState:
        """The state of a test with the logistic model."""
        base = 0.5 if self.are_differences else 0.0
        return test.state_of_means(
            self.counts, self._scores, expected_score(test.elo0) - base, expected_score(test.elo1) - base
        )

    @property
    def _scores(self) -> Sequence[float]:
        return DIFFERENCES if self.are_differences else PAIR_SCORES
