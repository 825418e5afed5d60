"""Sequential probability ratio test: decides whether one agent is stronger than another, and stops early.

The first agent is `elo0` stronger under H0, `elo1` under H1, on a scale of `judge.statistics.scales`. The
log-likelihood ratio (LLR, `judge.statistics.likelihood_ratio`) is compared with Wald's bounds (Sequential Tests of
Statistical Hypotheses, 1945): ln(beta / (1 - alpha)) accepts H0, ln((1 - beta) / alpha) accepts H1. Actual errors
differ from alpha and beta: the ratio oversteps its bounds, and with few results the likeliest distribution favours
either hypothesis.

On the logistic and BayesElo scales a hypothesis is a score, on the normalized scale a t-value (for a pair
sqrt(2) times that of a game). BayesElo's scale uses the draw margin of the games so far, as fishtest until
2020, so the drawn games must be known.
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


class Sprt(BaseModel):
    """A test: two hypotheses in Elo of `model`, and its error probabilities."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    elo0: float = Field(default=0, ge=-4000, le=4000)
    elo1: float = Field(default=10, ge=-4000, le=4000)
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
        return self._held(self._ratio(counts))

    def state_of_means(self, counts: Sequence[int], scores: Sequence[float], mean0: float, mean1: float) -> SprtState:
        """The state after results with ascending `scores`, if H0 and H1 fix the mean score."""
        return self._held(ratio_of_means(seen(counts), scores, mean0, mean1) if any(counts) else 0.0)

    def _held(self, ratio: float) -> SprtState:
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
