"""Several candidates against one: which of them are stronger, with one bound for the error of the whole list.

Each candidate's p-value is the probability of its results or better ones if it were no stronger, from the pairs of
games against the base: by Student's t, because their variance is estimated from as many pairs as their mean (the
normal distribution, which LOS is of, finds somebody in 5.7 % of lists of five equals with 100 pairs each). They are
adjusted by Holm's procedure. Dunnett's, the usual one for several treatments against
a control, gains from what the comparisons have in common when all use the same sample of the control. Here they have
nothing in common: the base plays other games against each candidate. It also needs normal results of one variance.
Holm's needs neither.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from judge.contest_games import GameResult
from judge.statistics.match_counts import MatchCounts
from judge.statistics.match_estimate import MatchEstimate, estimate_match
from judge.statistics.significance import SIGNIFICANCE, holm, student_tail


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent that met the base. `p` is of one test, `adjusted` of one among all of the list."""

    agent: str
    counts: MatchCounts
    estimate: MatchEstimate
    p: float
    adjusted: float

    @property
    def is_stronger(self) -> bool:
        """Whether it is stronger than the base; in all the list this errs with a probability of 5 % at most."""
        return self.adjusted <= SIGNIFICANCE


def p_value(counts: MatchCounts, estimate: MatchEstimate) -> float:
    """The probability of these results, or better ones, of a side that is no stronger."""
    n = counts.total
    if max(counts.counts) == n:
        return 1 - estimate.los
    squares = sum(count * (of - estimate.score) ** 2 for count, of in zip(counts.counts, counts.scores, strict=True))
    return student_tail((estimate.score - 0.5) / math.sqrt(squares / (n - 1) / n), n - 1)


def compare_candidates(results: Iterable[GameResult], base: str) -> list[Candidate]:
    """Everybody who met `base`, the surest first."""
    met: dict[str, list[GameResult]] = {}
    for result in results:
        if base in result.agents and result.first != result.second:
            met.setdefault(result.agents[result.first == base], []).append(result)
    found = []
    for agent, games in sorted(met.items()):
        counts = MatchCounts.of_results(games, agent)
        estimate = estimate_match(counts)
        if estimate is not None:
            found.append((agent, counts, estimate, p_value(counts, estimate)))
    adjusted = holm([p for *_, p in found])
    listed = [Candidate(*each, of_all) for each, of_all in zip(found, adjusted, strict=True)]
    return sorted(listed, key=lambda candidate: (candidate.p, candidate.agent))
