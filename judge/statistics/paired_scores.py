"""What pairs of games say of a candidate: of it alone against a pool, or of it and its parent against the same pool.

A pair is one opening against one opponent with both colours, so its score is one of `PAIR_SCORES`. A parent that plays
the same pair (the same opponent, opening and seeds) meets the same difficulty: the difference of both scores is freed
of what opponent and opening did to both, and varies less than two separate scores. Its kinds are nine, from -1 to 1.

A hypothesis in Elo is a mean: the score of an agent that is so much stronger than equal opponents, and for differences
what that is more than a half. Against a pool that is much stronger or weaker, the same Elo change the score by less; so
a test may take longer there and does not err more often. The opponents take turns, and a test looks after each turn of
them all: counted as if every pair had drawn its opponent by lot, the variance includes that between opponents, so an
interval is rather too wide than too narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from judge.statistics.match_counts import PAIR_SCORES
from judge.statistics.match_estimate import interval_of_mean
from judge.statistics.scales import expected_score
from judge.statistics.sprt import Sprt, SprtState

DIFFERENCES = tuple(quarters / 4 for quarters in range(-4, 5))
"""Of two pairs: what the candidate scored more than its parent, in points a game."""


@dataclass(frozen=True)
class PairedScores:
    """How often each kind of result came, the worst first: five kinds of scores, or nine of differences."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, candidate: Sequence[float], parent: Sequence[float] | None = None) -> Self:
        """From the scores of pairs, 0 to 1 in quarters; those of the parent are of the same pairs in the same order."""
        if parent is None:
            return cls(tuple(candidate.count(score) for score in PAIR_SCORES))
        more = [ours - theirs for ours, theirs in zip(candidate, parent, strict=True)]
        return cls(tuple(more.count(difference) for difference in DIFFERENCES))

    @property
    def are_differences(self) -> bool:
        """Whether a parent played too."""
        return len(self.counts) == len(DIFFERENCES)

    @property
    def pairs(self) -> int:
        """How many pairs were counted."""
        return sum(self.counts)

    @property
    def are_even(self) -> bool:
        """Whether every pair ended even: the candidate scored as much as its parent, or half against the pool. Such
        pairs tell nothing apart, however many they are."""
        return self.pairs > 0 and self.counts[len(self.counts) // 2] == self.pairs

    @cached_property
    def interval(self) -> tuple[float, float, float]:
        """The mean with its 95 % interval; there is at least one pair."""
        return interval_of_mean(self.counts, self._scores)

    @property
    def width(self) -> float:
        """From one end of the interval to the other."""
        _, low, high = self.interval
        return high - low

    def state(self, test: Sprt) -> SprtState:
        """The state of a test, whose model is logistic, after these pairs."""
        base = 0.5 if self.are_differences else 0.0
        return test.state_of_means(
            self.counts, self._scores, expected_score(test.elo0) - base, expected_score(test.elo1) - base
        )

    @property
    def _scores(self) -> Sequence[float]:
        return DIFFERENCES if self.are_differences else PAIR_SCORES
