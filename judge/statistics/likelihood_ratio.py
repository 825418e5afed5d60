"""The generalised likelihood ratio of two hypotheses about strength, from counts of results.

Results come in K kinds with scores a, in shares q of n results. A hypothesis fixes one number of the distribution p of
results and leaves the rest free; it is given the p under which q is likeliest. The logarithm of the ratio is then

    LLR = n * sum(q * (ln p1 - ln p0))

**The mean is fixed** to s (logistic and BayesElo's Elo). By Lagrange, p = q / (1 + x (a - s)) for the one x at which
the mean of p is s: x solves sum(q (a - s) / (1 + x (a - s))) = 0, whose left side falls between its two poles. That p
sums to 1 follows. (Owen, Empirical Likelihood, 1988; Van den Bergh, cantate.be/Fishtest/support_MLE_multinomial.pdf,
1.1.) `_log_weights` says how it is solved.

**The t-value is fixed** (normalized Elo): h(p) = mean - 1/2 - t * sigma = 0. A negative t is a positive one seen from
the other side, so let t >= 0, and let u = a - 1/2. The standard deviation is the least value of (v + s ** 2) / (2 s)
over s > 0, v being the second moment about the mean or larger about any other value; so the function

    E[phi] = E[u] - t / 2 * (s + E[(u - t s) ** 2] / s),   phi = (1 + t ** 2) (u - t s / 2) - t u ** 2 / (2 s)

is nowhere above h and touches it where s is sigma and t s the mean. It is linear in p. So for each s the likeliest p
with E[phi] = 0 is found as above, with phi in place of a - s, and s is right where the slope of the likelihood by s
vanishes: E[u ** 2] = (1 + t ** 2) s ** 2. With E[phi] = 0 that gives E[u] = t s, so sigma = s and h = 0. The linear
problems, and their steps from s to sqrt(E[u ** 2] / (1 + t ** 2)), are those of Van den Bergh,
cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1; secants between them take fewer.

For every p with h = 0 the root lies between u1 t / (1 + t ** 2), u1 being the least positive u, which is the spread of
a p on 0 and u1 alone, and 1/2 / sqrt(1 + t ** 2), because u ** 2 is 1/4 at most. Where nearly all results are of the
middle kind, or t is large, the likelihood can have two maxima, by which kinds have the rest. They are looked for from
both ends, and the higher one counts.

A kind that did not come counts for a thousandth, as at fishtest and fastchess, so that no likelihood is 0.
"""

import math
from collections.abc import Sequence

_UNSEEN = 1e-3
_MOST_STEPS = 200
"""Of one root, which takes three to ten."""
_HALVE_AFTER = 30
"""Then every other step halves the interval, which ends at the precision of a float."""
_CLOSE = 1e-5
"""A step by less, as a share of the distance to a pole, is the last: what is left is about its square."""
_MOST_TANGENTS = 100
"""Of one maximum, which takes four to eight."""
_SAME = 1e-7
"""A spread that changes by less, as a share of it, is found; the ratio errs by the square of that."""
_SECANTS = ((0.003, 100.0), (0.1, 4.0))
"""How many times as long as a step of the tangents a secant may be, where that step is shorter than the first number;
others might pass the next maximum."""


def seen(counts: Sequence[float]) -> list[float]:
    """Counts as floats; a kind that did not come counts for a thousandth."""
    return [float(count) or _UNSEEN for count in counts]


def ratio_of_means(counts: Sequence[float], scores: Sequence[float], mean0: float, mean1: float) -> float:
    """The LLR of counts (all positive) for a mean score of `mean1` against `mean0`.

    `scores` are those of the kinds, ascending; the means are between the first and the last.
    """
    logs = [_log_weights(_shares(counts), [score - mean for score in scores])[0] for mean in (mean0, mean1)]
    return _ratio(counts, *logs)


def ratio_of_t_values(counts: Sequence[float], scores: Sequence[float], t0: float, t1: float) -> float:
    """The LLR of counts (all positive) for a t-value of `t1` against `t0`.

    The t-value is (mean - 1/2) / sigma of one result. `scores` are those of the kinds, from 0 to 1, symmetric.
    """
    leads = [score - 0.5 for score in scores]
    return _ratio(counts, *(_log_weights_of_t(_shares(counts), leads, t) for t in (t0, t1)))


def _shares(counts: Sequence[float]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def _ratio(counts: Sequence[float], logs0: Sequence[float], logs1: Sequence[float]) -> float:
    return math.fsum(count * (log0 - log1) for count, log0, log1 in zip(counts, logs0, logs1, strict=True))


def _log_weights_of_t(shares: Sequence[float], leads: Sequence[float], t: float) -> list[float]:
    """ln(q / p) for the likeliest p with this t-value; `leads` are the scores less a half."""
    if t < 0:
        return _log_weights_of_t(shares[::-1], leads, -t)[::-1]
    if t == 0:
        return _log_weights(shares, leads)[0]
    least = math.log(min(lead for lead in leads if lead > 0) * t / (1 + t * t))
    most = math.log(leads[-1]) - math.log1p(t * t) / 2
    maxima = [_maximum(shares, leads, t, least, most, start) for start in (least, most)]
    # What each p is less likely than q.
    losses = [math.fsum(share * log for share, log in zip(shares, logs, strict=True)) for logs in maxima]
    return maxima[losses.index(min(losses))]


def _maximum(
    shares: Sequence[float], leads: Sequence[float], t: float, left: float, right: float, spread: float
) -> list[float]:
    """ln(q / p) at the maximum next to `spread`, the logarithm of s; it is between `left` and `right`."""
    factor = 1 + t * t
    squares = [lead * lead for lead in leads]

    def tangent(spread: float) -> list[float]:
        s = math.exp(spread)
        return [factor * (lead - t * s / 2) - t * square / (2 * s) for lead, square in zip(leads, squares, strict=True)]

    place = before = None
    logs: list[float] = []
    for _ in range(_MOST_TANGENTS):
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
        # The step of the tangents always leads to a function of both signs.
        spread += next((by for by in steps if left < spread + by < right and max(tangent(spread + by)) > 0), step)
    return logs


def _log_weights(
    shares: Sequence[float], offsets: Sequence[float], place: float | None = None
) -> tuple[list[float], float]:
    """ln(q / p) for the likeliest p under which the mean of `offsets` is 0, and the place of its multiplier.

    The offsets have both signs; with d those and d+ and d- their ends, the multiplier x is between the poles -1 / d+
    and -1 / d-. Its place y tells where: x = (-1 / d+ - e ** y / d-) / (1 + e ** y). Then

        1 + x d = (alpha + e ** y beta) / (1 + e ** y),   alpha = 1 - d / d+ >= 0,   beta = 1 - d / d- >= 0

    without any difference of near numbers, and the equation says that the sum of q |d| / (alpha + e ** y beta) over the
    positive d equals that over the negative ones. The logarithm of their ratio falls with y and is nearly a line of
    slope -1 near either pole, so Newton's method on it finds roots that are next to a pole as fast as others. No
    share of p is above 1, so that 1 + x d is at least q; this gives the ends for y.
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
    for step in range(_MOST_STEPS):
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
    """The sum of a / (alpha + e beta), and minus its derivative by e."""
    total = slope = 0.0
    for a, alpha, beta in terms:
        weight = alpha + e * beta
        part = a / weight
        total += part
        slope += part * beta / weight
    return total, slope
