"""Compares several candidates with one base.

The p-value is that of Student's t, because the variance is estimated from the same pairs. Holm's procedure adjusts the
p-values.
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
    """`p` is of a single test, `adjusted` of the whole list."""

    agent: str
    counts: MatchCounts
    estimate: MatchEstimate
    p: float
    adjusted: float

    @property
    def is_stronger(self) -> bool:
        """Whether it is stronger. The probability of any error in the list is at most 5 %."""
        return self.adjusted <= SIGNIFICANCE


def p_value(counts: MatchCounts, estimate: MatchEstimate) -> float:
    """Probability of these or better results if the side is not stronger."""
    n = counts.total
    if max(counts.counts) == n:
        return 1 - estimate.los
    squares = sum(count * (of - estimate.score) ** 2 for count, of in zip(counts.counts, counts.scores, strict=True))
    return student_tail((estimate.score - 0.5) / math.sqrt(squares / (n - 1) / n), n - 1)


def compare_candidates(results: Iterable[GameResult], base: str) -> list[Candidate]:
    """All opponents of `base`, most certain first."""
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
