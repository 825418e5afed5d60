"""Tails of distributions, and what many tests at once may claim."""

import math
from collections.abc import Sequence

SIGNIFICANCE = 0.05
"""What the tests of a list may err by, all together."""


def normal_tail(z: float) -> float:
    """The probability that a standard normal value is at least `z`."""
    return math.erfc(z / math.sqrt(2)) / 2


def chi_square_tail(x: float, degrees: int) -> float:
    """The probability that a chi-square value of so many degrees of freedom is at least `x`.

    The density of k degrees integrates by parts to the tail of k - 2 degrees plus (x / 2) ** (k / 2 - 1) exp(-x / 2) /
    Gamma(k / 2); that of 1 is the tail of the normal distribution on both sides, that of 2 is exp(-x / 2) (Abramowitz
    and Stegun 26.4.4 and 26.4.5). With 0 degrees nothing varies, and the tail is 1.
    """
    if degrees <= 0 or x <= 0:
        return 1.0
    half = x / 2
    begins = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    terms = (
        math.exp((k / 2 - 1) * math.log(half) - half - math.lgamma(k / 2))
        for k in range(3 if degrees % 2 else 2, degrees + 1, 2)
    )
    return min(1.0, begins + math.fsum(terms))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for all of them being looked at: who is below a level there is found with no more than that
    probability of any false finding (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).

    The smallest of m is multiplied by m, the next by m - 1, and so on; none is adjusted to less than one before it. It
    holds however the tests depend on each other, and finds all that Bonferroni's correction finds.
    """
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[at] * (len(p_values) - done)))
        adjusted[at] = least
    return adjusted
