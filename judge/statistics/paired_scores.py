"""Scores of a candidate's pairs of games against a pool, alone or compared with its parent.

A pair is one opening against one opponent with both colours. If a parent plays the same pairs (opponent, opening,
seeds), the effects of opponent and opening cancel in the difference of scores.

A hypothesis in Elo is the expected score against equal opponents, or for differences, that minus 1/2. Against a much
stronger or weaker pool a test may take longer, but does not err more often. Tests are evaluated after each round
of all opponents. The variance includes that between opponents, so intervals are rather too wide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from judge.statistics.match_estimate import PAIR_SCORES, interval_of_mean
from judge.statistics.scales import expected_score
from judge.statistics.sprt import Sprt, SprtState

DIFFERENCES = tuple(quarters / 4 for quarters in range(-4, 5))
"""The candidate's score minus its parent's, in points per game."""


@dataclass(frozen=True)
class PairedScores:
    """Results of each kind, worst first: five kinds of scores or nine of differences."""

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
