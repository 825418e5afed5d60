"""Sequential probability ratio test: whether one agent is stronger than another by enough, stopped as soon as it shows.

H0 says that the first agent's strength against the second is `elo0`, H1 that it is `elo1`, on one of the three scales
of `judge.statistics.scales`. The logarithm of their likelihoods' ratio (LLR, `judge.statistics.likelihood_ratio`) is
held against Wald's bounds (Sequential Tests of Statistical Hypotheses, 1945): ln(beta / (1 - alpha)) accepts H0 and
ln((1 - beta) / alpha) accepts H1. At the first, H0 is at least (1 - alpha) / beta times as likely as H1, so that of
all tests that end there at most beta do under H1; likewise at the second. It is a bound and not an equality for two
reasons that oppose each other: the ratio steps past its bounds, and the likeliest distribution flatters either
hypothesis while there are few results.

Where the scale is logistic or BayesElo's, a hypothesis is a score; where it is normalized, a t-value, which for a pair
is the square root of 2 times that of a game. BayesElo's scale needs the draw margin, which is that of the games so far
(as at fishtest until 2020): for pairs it must be known which of their games were drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge.base.errors import InputError
from judge.statistics.likelihood_ratio import ratio_of_means, ratio_of_t_values, seen
from judge.statistics.match_counts import MatchCounts
from judge.statistics.scales import NORMALIZED_ELO, bayes_elo_score, draw_elo_of, expected_score

SprtModel = Literal["logistic", "normalized", "bayesian"]


class SprtDecision(StrEnum):
    """What the test says."""

    GO_ON = "go on"
    H0 = "accept H0"
    H1 = "accept H1"


@dataclass(frozen=True, slots=True)
class SprtState:
    """The ratio so far, the bounds that it is held against, and what follows."""

    llr: float
    lower: float
    upper: float
    decision: SprtDecision


class Sprt(BaseModel):
    """A test: the two hypotheses in Elo of `model`, and how often it may err under either."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    elo0: float = Field(default=0, ge=-4000, le=4000)
    elo1: float = Field(default=10, ge=-4000, le=4000)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """The probability that H1 is accepted if H0 is true."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """The probability that H0 is accepted if H1 is true."""
    model: SprtModel = "logistic"
    """The scale of `elo0` and `elo1`."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be less than elo1")
        return self

    @property
    def lower(self) -> float:
        """At this LLR and below H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At this LLR and above H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def state(self, counts: MatchCounts) -> SprtState:
        """The state after results of the first agent against the second.

        InputError if the model is bayesian and the counts of pairs do not tell how many games were drawn.
        """
        return self._held(self._ratio(counts))

    def state_of_means(self, counts: Sequence[int], scores: Sequence[float], mean0: float, mean1: float) -> SprtState:
        """The state after results of any kinds, of which H0 and H1 fix the mean score; `scores` ascend."""
        return self._held(ratio_of_means(seen(counts), scores, mean0, mean1) if any(counts) else 0.0)

    def _held(self, ratio: float) -> SprtState:
        """The ratio, held against the bounds."""
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
