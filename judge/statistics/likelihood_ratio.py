"""The generalised likelihood ratio of two hypotheses about strength, from counts of results; for many tables at once.

Results come in K kinds with scores a, in shares q of n results. A hypothesis fixes one number of the distribution p of
results and leaves the rest free; it is given the p under which q is likeliest. The logarithm of the ratio is then

    LLR = n * sum(q * (ln p1 - ln p0))

**The mean is fixed** to s (logistic and BayesElo's Elo). By Lagrange, p = q / (1 + x (a - s)) for the one x at which
the mean of p is s: x solves sum(q (a - s) / (1 + x (a - s))) = 0, whose left side falls between its two poles. That p
sums to 1 follows. (Owen, Empirical Likelihood, 1988; Van den Bergh, cantate.be/Fishtest/support_MLE_multinomial.pdf,
1.1.)

**The t-value is fixed** (normalized Elo): h(p) = mean - 1/2 - t * sigma = 0. With m and sigma those of some p, h is
tangent to the linear function of p with the coefficients

    phi = a - 1/2 - t / 2 * sigma * (1 + ((a - m) / sigma) ** 2)

because sigma <= (v + sigma' ** 2) / (2 sigma') for the second moment v about any m' and any sigma' > 0, with equality
at the true ones. So each step solves the linear problem, as above with phi in place of a - s, for phi of the step
before. (Van den Bergh, cantate.be/Fishtest/normalized_elo_practical.pdf, 4.1.) That inequality is also why no step can
fail, which steps from a uniform p can: for t >= 0 the linear function is nowhere above h, so a p with linear part 0
has h >= 0, the next linear part is >= 0 at that p, and phi has both signs. The first p must have h = 0: a uniform one
that is mixed with a share w of sure wins. There (mean - 1/2) ** 2 = w ** 2 / 4 and sigma ** 2 = (1 - w) u + w / 4 - w
** 2 / 4, u being the uniform variance, so h = 0 is a quadratic equation for w. A negative t is a positive one seen
from the other side.

A kind that did not come counts for a thousandth, as at fishtest and fastchess, so that no likelihood is 0.
"""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

_UNSEEN = 1e-3
_MOST_STEPS = 200
"""Of one root. Every fourth step halves the interval, which ends at the precision of a float."""
_CLOSE = 1e-7
"""A root that moves by less, as a share of its distance to the next pole, is found; the ratio errs by its square."""
_MOST_TANGENTS = 50
"""Four to ten are enough but for tables with kinds a million times as frequent as others; their ratio is a near one."""
_SAME = 1e-10
"""A distribution that changes by less is found."""


def seen(counts: npt.ArrayLike) -> Matrix:
    """Counts as floats, tables by kinds; a kind that did not come counts for a thousandth."""
    table = np.asarray(counts, dtype=np.float64)
    return np.where(table > 0, table, _UNSEEN)


def ratio_of_means(counts: Matrix, scores: Vector, mean0: Vector, mean1: Vector) -> Vector:
    """The LLR of each table (rows of `counts`, all positive) for a mean score of `mean1` against `mean0`.

    `scores` are those of the kinds, ascending; the means are between the first and the last.
    """
    total = counts.sum(axis=1, keepdims=True)
    logs = [_log_weights(counts / total, scores - np.reshape(mean, (-1, 1))) for mean in (mean0, mean1)]
    ratios: Vector = (counts * (logs[0] - logs[1])).sum(axis=1)
    return ratios


def ratio_of_t_values(counts: Matrix, scores: Vector, t0: float, t1: float) -> Vector:
    """The LLR of each table (rows of `counts`, all positive) for a t-value of `t1` against `t0`.

    The t-value is (mean - 1/2) / sigma of one result. `scores` are those of the kinds, from 0 to 1, symmetric.
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = [_log_weights_of_t(shares, scores, t) for t in (t0, t1)]
    ratios: Vector = (counts * (logs[0] - logs[1])).sum(axis=1)
    return ratios


def _log_weights_of_t(shares: Matrix, scores: Vector, t: float) -> Matrix:
    """ln(q / p) for the likeliest p with this t-value."""
    if t < 0:
        return _log_weights_of_t(shares[:, ::-1], scores, -t)[:, ::-1]
    uniform = np.full(scores.size, 1 / scores.size)
    variance = float(uniform @ (scores - 0.5) ** 2)
    lean = t * t * (0.25 - variance)
    sure = 2 * (lean + np.sqrt(lean**2 + (1 + t * t) * t * t * variance)) / (1 + t * t)
    start = (1 - sure) * uniform
    start[-1] += sure
    p = np.tile(start, (len(shares), 1))
    logs = np.zeros_like(p)
    moving = np.arange(len(shares))
    for _ in range(_MOST_TANGENTS):
        mean = (p[moving] @ scores)[:, None]
        sigma = np.sqrt((p[moving] * (scores - mean) ** 2).sum(axis=1, keepdims=True))
        logs[moving] = _log_weights(shares[moving], scores - 0.5 - t / 2 * (sigma + (scores - mean) ** 2 / sigma))
        after = shares[moving] * np.exp(-logs[moving])
        change = np.abs(after - p[moving]).max(axis=1)
        p[moving] = after
        moving = moving[change > _SAME]
        if not moving.size:
            break
    return logs


def _log_weights(shares: Matrix, offsets: Matrix) -> Matrix:
    """ln(q / p) for the likeliest p under which the mean of `offsets` is 0; each row of them has both signs.

    Newton's method on the multiplier, between ends that move with every sign that is seen.
    """
    # No share of p is above 1, so 1 + x * offset is at least q: the poles are outside.
    with np.errstate(divide="ignore", over="ignore"):  # an offset of next to nothing
        ends = (shares - 1) / offsets
    low = np.where(offsets > 0, ends, -np.inf).max(axis=1)
    high = np.where(offsets < 0, ends, np.inf).min(axis=1)
    first, last = low, high
    x = np.zeros(len(shares))
    for step in range(_MOST_STEPS):
        parts = offsets / (1 + x[:, None] * offsets)
        excess = (shares * parts).sum(axis=1)
        low, high = np.where(excess > 0, x, low), np.where(excess > 0, high, x)
        slope = -(shares * parts**2).sum(axis=1)
        middle = (low + high) / 2
        newton = x - excess / slope
        is_inside = (low <= newton) & (newton <= high) & (step % 4 != 3)
        before, x = x, np.where(is_inside, newton, middle)
        if (np.abs(x - before) <= _CLOSE * np.minimum(x - first, last - x)).all():
            break
    return np.log1p(x[:, None] * offsets)
