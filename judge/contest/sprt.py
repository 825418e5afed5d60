"""Sequential probability ratio test: whether one agent is stronger than another by enough, stopped as soon as it shows.

H0 says that the first agent's strength against the second is `elo0`, H1 that it is `elo1`. The test is the generalised
one (GSPRT): each hypothesis is given the most likely distribution of results that has its mean score, and the logarithm
of their likelihoods' ratio (LLR) is held against Wald's bounds. Games count one by one (win, draw, loss: trinomial) or,
better where two games share an opening and so hang together, by pairs (pentanomial). Formulas: facts of fastchess and
of Van den Bergh's notes, checked against both definitions in the tests.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge.matches import ResultRow

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of two games, a game's worth: from two losses to two wins."""

_UNSEEN = 1e-3
"""What a kind of result that did not come counts for, so that no likelihood is 0 (as in fastchess)."""

_HALVINGS = 100
"""A bisection is then as narrow as a float."""


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
    """A test: the two hypotheses in Elo, and how often it may err under either."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    elo0: float = 0
    elo1: float = 10
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """The probability that H1 is accepted if H0 is true."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """The probability that H0 is accepted if H1 is true."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be less than elo1")
        return self

    def state(self, counts: Sequence[int], scores: Sequence[float] = PAIR_SCORES) -> SprtState:
        """The state after so many results in which the first agent scored each of `scores`."""
        ratio = llr(counts, scores, expected_score(self.elo0), expected_score(self.elo1))
        lower = math.log(self.beta / (1 - self.alpha))
        upper = math.log((1 - self.beta) / self.alpha)
        if ratio >= upper:
            decision = SprtDecision.H1
        elif ratio <= lower:
            decision = SprtDecision.H0
        else:
            decision = SprtDecision.GO_ON
        return SprtState(ratio, lower, upper, decision)


def count_pairs(results: Iterable[ResultRow], agent: str) -> list[int]:
    """How many pairs of games (games 0 and 1 of a pairing, 2 and 3, ...) `agent` scored 0, a half, ... 2 in.

    Pairs of which a game is missing are not counted.
    """
    pairs: dict[tuple[int, int, int], list[float]] = {}
    for result in results:
        scored = result.scores[result.agents.index(agent)]
        pairs.setdefault((result.round, result.table, result.game // 2), []).append(scored)
    counts = [0] * len(PAIR_SCORES)
    for scores in pairs.values():
        if len(scores) == 2:
            counts[round(2 * sum(scores))] += 1
    return counts


def expected_score(elo: float) -> float:
    """What a side that is `elo` stronger scores a game."""
    return 1 / (1 + 10 ** (-elo / 400))


def llr(counts: Sequence[int], scores: Sequence[float], score0: float, score1: float) -> float:
    """The logarithm of how much likelier `counts` are under a mean of `score1` than of `score0`; 0 without results."""
    if not any(counts):
        return 0.0
    weights = [count or _UNSEEN for count in counts]
    total = sum(weights)
    shares = [weight / total for weight in weights]
    under0 = _likeliest(shares, scores, score0)
    under1 = _likeliest(shares, scores, score1)
    return total * sum(share * math.log(p1 / p0) for share, p0, p1 in zip(shares, under0, under1, strict=True))


def _likeliest(shares: Sequence[float], scores: Sequence[float], mean: float) -> list[float]:
    """Of all distributions over `scores` with this mean the one under which `shares` are likeliest.

    By Lagrange it is share / (1 + t (score - mean)) for the one t that gives the mean.
    """
    offsets = [score - mean for score in scores]
    # Every probability must be positive; in between, the excess falls as t grows.
    low, high = -1 / max(offsets), -1 / min(offsets)
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        excess = sum(share * offset / (1 + t * offset) for share, offset in zip(shares, offsets, strict=True))
        low, high = (t, high) if excess > 0 else (low, t)
    return [share / (1 + t * offset) for share, offset in zip(shares, offsets, strict=True)]
