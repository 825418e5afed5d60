"""Evaluates a candidate against a locked-in pool, until a test decides or the score is precise enough.

At first use the pool fixes opponents, policy, openings and seed, so all candidates play the same games. Games already
played with the same files are not repeated. A parent plays the same games and is compared pair by pair.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from judge.base.parsing import FailFastTuple, FrozenModel
from judge.catalog.entry import NOT_TURNED, Turn
from judge.contest.opening_files import OpeningsPlan
from judge.contest.plan import AgentPlan
from judge.contest_games import Outcome
from judge.record.policy import Policy
from judge.record.seeds import Key, derived
from judge.record.spec import GameSpec, OpeningField, SeatSpec, game_scores
from judge.sandbox.box import BoxKind
from judge.statistics.sprt import PairedScores, Sprt, SprtDecision
from judge.tournament.schedule import opening_of_pair, turns_of

POOL_FILE, FROZEN_FILE = "pool.toml", "pool.json"
RECORDS = "records"
"""Folder of records, next to the pool file."""
MIN_PAIRS = 20
"""Pairs before the interval width can end an evaluation: few equal results look certain."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class PoolPlan(FrozenModel):
    """A pool.toml."""

    policy: str
    """A name, `name:variant`, or a .toml file, relative to this file's folder."""
    change: tuple[str, ...] = ()
    """Changes of single policy values, as `section.key=value`."""
    openings: OpeningsPlan = OpeningsPlan()
    box: BoxKind = "docker"
    agents: tuple[AgentPlan, ...] = Field(min_length=1)


class Pool(FrozenModel):
    """A locked-in pool."""

    format: Literal["judge-pool-1"] = "judge-pool-1"
    policy: Policy
    box: BoxKind
    openings: FailFastTuple[OpeningField] = Field(min_length=1)
    shuffle: bool
    transform: bool
    seed: Key
    agents: FailFastTuple[SeatSpec] = Field(min_length=1)

    def encoded(self) -> bytes:
        return f"{json.dumps(self.model_dump(mode='json'), indent=1)}\n".encode()

    def digest(self) -> Digest:
        return sha256(self.encoded()).hexdigest()

    @property
    def turns(self) -> Sequence[Turn]:
        """Symmetries applied when openings repeat."""
        return turns_of(self.policy) if self.transform else NOT_TURNED

    @property
    def different_pairs(self) -> int:
        """Pairs of games after which openings repeat unchanged."""
        return len(self.agents) * len(self.openings) * len(self.turns)

    def pair(self, number: int, seat: SeatSpec) -> tuple[GameSpec, GameSpec]:
        """An agent's pair `number` (from 0): all opponents in turn, then the next opening."""
        turn, place = divmod(number, len(self.agents))
        opponent = self.agents[place]
        opening = opening_of_pair(self.openings, turn, self.seed if self.shuffle else None, self.turns)
        first, second = (
            GameSpec(
                seats=seats,
                policy=self.policy,
                opening=opening,
                seed=derived(self.seed, "game", number, game),
                number=game,
                box=self.box,
            )
            for game, seats in enumerate(((seat, opponent), (opponent, seat)))
        )
        return first, second


def seat_of_version(seat: SeatSpec) -> SeatSpec:
    """Append the digest's start to the seat's name."""
    return seat.model_copy(update={"name": f"{seat.name}@{seat.digest[:8]}"})


class StopRule(FrozenModel):
    """End of an evaluation: by a test or interval width, at the latest after the candidate's `pairs` pairs."""

    test: Sprt | None = None
    width: float | None = Field(default=None, gt=0, le=1)
    """Target width of the 95 % interval of the score per game or the score difference."""
    pairs: int = Field(ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.test is None) == (self.width is None):
            raise ValueError("an evaluation ends by a test or by a width: give one of them")
        if self.test is not None and self.test.model != "logistic":
            raise ValueError("the test of an evaluation is in logistic Elo")
        return self

    def is_over(self, scores: PairedScores) -> bool:
        """Whether an evaluation ends after these pairs."""
        return scores.pairs >= self.pairs or self.is_reached(scores)

    def is_reached(self, scores: PairedScores) -> bool:
        """Whether the test is decided or the interval narrow enough. False while all pairs are even: zero variance
        would decide any test.
        """
        if scores.are_even:
            return False
        if self.test is not None:
            return scores.state(self.test).decision is not SprtDecision.GO_ON
        return scores.pairs >= MIN_PAIRS and scores.width <= (self.width or 0)


class EvaluationVerdict(StrEnum):
    """The result of an evaluation; in full: `verdict_words`."""

    STRONGER = "stronger"
    NOT_STRONGER = "not stronger"
    WEAKER = "weaker"
    UNDECIDED = "undecided"


def verdict_of(rule: StopRule, scores: PairedScores) -> EvaluationVerdict:
    """The verdict of a rule."""
    if rule.test is not None:
        return {
            SprtDecision.H1: EvaluationVerdict.STRONGER,
            SprtDecision.H0: EvaluationVerdict.NOT_STRONGER,
            SprtDecision.GO_ON: EvaluationVerdict.UNDECIDED,
        }[scores.state(rule.test).decision]
    even = 0.0 if scores.are_differences else 0.5
    _, low, high = scores.interval
    if low > even:
        return EvaluationVerdict.STRONGER
    return EvaluationVerdict.WEAKER if high < even else EvaluationVerdict.UNDECIDED


def verdict_words(rule: StopRule, scores: PairedScores) -> str:
    """The verdict in words, such as `stronger than its parent, 95 %`."""
    other = "its parent" if scores.are_differences else "the pool"
    verdict = verdict_of(rule, scores)
    if rule.test is None:
        is_open = verdict is EvaluationVerdict.UNDECIDED
        return f"no difference from {other} shown" if is_open else f"{verdict} than {other}, 95 %"
    if verdict is EvaluationVerdict.UNDECIDED:
        return f"not decided against {other} in {2 * scores.pairs} games"
    if verdict is EvaluationVerdict.STRONGER:
        bound, error = _bound(rule.test.elo0, is_lower=True), rule.test.alpha
    else:
        bound, error = _bound(rule.test.elo1, is_lower=False), rule.test.beta
    return f"{bound} than {other}, {100 * (1 - error):g} %"


def _bound(elo: float, *, is_lower: bool) -> str:
    if elo == 0:
        return "stronger" if is_lower else "not stronger"
    amount = "more" if is_lower == (elo > 0) else "less"
    return f"{amount} than {abs(elo):g} Elo {'stronger' if elo > 0 else 'weaker'}"


class Evaluation(FrozenModel):
    """Games and result of an evaluation. `games`: record digests as played; per pair the candidate's two games, then
    the parent's.
    """

    judge: str
    pool: Digest
    candidate: SeatSpec
    parent: SeatSpec | None
    rule: StopRule
    games: FailFastTuple[Digest]
    counts: FailFastTuple[int]
    """See `judge.statistics.sprt.PairedScores`."""
    score: float
    """Score per game, 0 to 1; with a parent, the difference."""
    low: float
    high: float
    llr: float | None
    """Log-likelihood ratio of the test."""
    verdict: str


def evaluate(
    pool: Pool, candidate: SeatSpec, parent: SeatSpec | None, rule: StopRule, play: Callable[[GameSpec], Outcome]
) -> Iterator[tuple[PairedScores, list[str]]]:
    """Yield the scores and all records after each round of opponents, until the rule ends it.

    `play` plays a spec, or reads its record.
    """
    digests: list[str] = []
    scores: tuple[list[float], list[float]] = ([], [])
    number = 0
    while True:
        for _ in pool.agents:
            for seat, pairs in zip((candidate, parent), scores, strict=True):
                if seat is not None:
                    games = [play(spec) for spec in pool.pair(number, seat)]
                    digests += [game.record for game in games]
                    points = (game_scores(game.verdict, game.winner)[at] for at, game in enumerate(games))
                    pairs.append(sum(points) / 2)
            number += 1
        found = PairedScores.of(scores[0], None if parent is None else scores[1])
        yield found, digests
        if rule.is_over(found):
            return


def evaluation_of(
    version: str,
    pool: Pool,
    seats: tuple[SeatSpec, SeatSpec | None],
    rule: StopRule,
    scores: PairedScores,
    games: list[str],
) -> Evaluation:
    """The evaluation; `seats` are the candidate's and the parent's."""
    score, low, high = scores.interval
    return Evaluation(
        judge=version,
        pool=pool.digest(),
        candidate=seats[0],
        parent=seats[1],
        rule=rule,
        games=tuple(games),
        counts=scores.counts,
        score=round(score, 6),
        low=round(low, 6),
        high=round(high, 6),
        llr=None if rule.test is None else round(scores.state(rule.test).llr, 6),
        verdict=verdict_words(rule, scores),
    )
