"""An evaluation: a candidate plays a frozen pool, until a test has an answer or its score is known well enough.

The pool is frozen at first use: its opponents by digest, the policy, the openings, and a seed from which the chance of
every game follows. So all candidates play the same games, and a game of the same files is the same game, wherever it
was played: it is not played again, which is also how an evaluation goes on after a kill. A parent plays the same games
as the candidate, and is compared with it pair by pair.

No folder is kept from one game to the next: every game begins as the first one does.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge.catalog.entry import NOT_TURNED, Turn
from judge.contest.plan import AgentPlan, OpeningsPlan
from judge.records.outcome import game_scores
from judge.referee.policy import Policy
from judge.referee.seeds import Key, derived
from judge.referee.spec import GameSpec, SeatSpec
from judge.sandbox.box import BoxKind
from judge.statistics.paired_scores import PairedScores
from judge.statistics.sprt import Sprt, SprtDecision
from judge.tournament.openings import schedule, turns_of

POOL_FILE, FROZEN_FILE = "pool.toml", "pool.json"
RECORDS = "records"
"""The folder, beside the pool's file, of all games against it."""
LEAST_PAIRS = 20
"""Before so many, no width of an interval ends an evaluation: a few equal results would look certain."""

_BEGINNING = re.compile(rb'\s*\{\s*"format":\s*"judge-evaluation-')

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PoolPlan(_Value):
    """A pool.toml."""

    policy: str
    """A name, `name:variant`, or a .toml file from the file's own folder."""
    change: tuple[str, ...] = ()
    """Single numbers of the policy, as `section.key=value`."""
    openings: OpeningsPlan = OpeningsPlan()
    box: BoxKind = "docker"
    agents: tuple[AgentPlan, ...] = Field(min_length=1)
    """The opponents."""


class Pool(_Value):
    """A frozen pool."""

    format: Literal["judge-pool-1"] = "judge-pool-1"
    policy: Policy
    box: BoxKind
    openings: tuple[tuple[tuple[int, int], ...], ...] = Field(min_length=1)
    shuffle: bool
    transform: bool
    seed: Key
    agents: tuple[SeatSpec, ...] = Field(min_length=1)

    def encoded(self) -> bytes:
        """The bytes of its file."""
        return f"{json.dumps(self.model_dump(mode='json'), indent=1)}\n".encode()

    def digest(self) -> Digest:
        """SHA-256 of these bytes."""
        return sha256(self.encoded()).hexdigest()

    @property
    def turns(self) -> Sequence[Turn]:
        """The symmetries in which openings come again."""
        return turns_of(self.policy) if self.transform else NOT_TURNED

    @property
    def different_pairs(self) -> int:
        """After so many pairs of games openings come again as they were."""
        return len(self.agents) * len(self.openings) * len(self.turns)

    def pair(self, number: int, seat: SeatSpec) -> tuple[GameSpec, GameSpec]:
        """The pair of games `number`, from 0, of an agent: opponents take turns, then comes the next opening."""
        turn, place = divmod(number, len(self.agents))
        opponent = self.agents[place]
        opening = schedule(self.openings, turn, self.seed if self.shuffle else None, self.turns)
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
    """The seat of a candidate or a parent: its name has the beginning of its digest, which tells versions apart."""
    return seat.model_copy(update={"name": f"{seat.name}@{seat.digest[:8]}"})


class StopRule(_Value):
    """When an evaluation ends: by a test, or when the 95 % interval is as narrow as wished; at the latest after
    `pairs` pairs of games of the candidate."""

    test: Sprt | None = None
    width: float | None = Field(default=None, gt=0, le=1)
    """Of the interval of the score a game, or of the difference of two."""
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
        """Whether the test has ended, or the interval is as narrow as wished. Never while all pairs ended even: their
        variance of nothing would end any test."""
        if scores.are_even:
            return False
        if self.test is not None:
            return scores.state(self.test).decision is not SprtDecision.GO_ON
        return scores.pairs >= LEAST_PAIRS and scores.width <= (self.width or 0)


class EvaluationVerdict(StrEnum):
    """What an evaluation found; `verdict_words` says it in full."""

    STRONGER = "stronger"
    NOT_STRONGER = "not stronger"
    WEAKER = "weaker"
    UNDECIDED = "undecided"


def verdict_of(rule: StopRule, scores: PairedScores) -> EvaluationVerdict:
    """What these pairs say under a rule."""
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
        said, error = _above(rule.test.elo0), rule.test.alpha
    else:
        said, error = _below(rule.test.elo1), rule.test.beta
    return f"{said} than {other}, {100 * (1 - error):g} %"


def _above(elo: float) -> str:
    """What an agent is of which H1 was accepted, in comparison."""
    if elo == 0:
        return "stronger"
    return f"more than {elo:g} Elo stronger" if elo > 0 else f"less than {-elo:g} Elo weaker"


def _below(elo: float) -> str:
    """What an agent is of which H0 was accepted, in comparison."""
    if elo == 0:
        return "not stronger"
    return f"less than {elo:g} Elo stronger" if elo > 0 else f"more than {-elo:g} Elo weaker"


class Evaluation(_Value):
    """What was played and what it says. `games` are the SHA-256 of the records in the order of play: of each pair the
    candidate's two games, then the parent's if there is one."""

    judge: str
    """Version of the judge."""
    pool: Digest
    candidate: SeatSpec
    parent: SeatSpec | None
    rule: StopRule
    games: tuple[Digest, ...]
    counts: tuple[int, ...]
    """As `judge.statistics.paired_scores.PairedScores`."""
    score: float
    """A game's, 0 to 1; with a parent, what it is more than the parent's."""
    low: float
    high: float
    llr: float | None
    """Of the test, if there is one."""
    verdict: str


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What an evaluation takes of a game: who won, and the SHA-256 of its record's file."""

    verdict: str
    winner: int | None
    digest: str


def evaluate(
    pool: Pool,
    candidate: SeatSpec,
    parent: SeatSpec | None,
    rule: StopRule,
    play: Callable[[GameSpec], PlayedGame],
) -> Iterator[tuple[PairedScores, list[str]]]:
    """The scores and all records so far, after each turn of all opponents; ends when the rule says so.

    `play` gives the game of a spec: played now, or before, or read from a record.
    """
    digests: list[str] = []
    scores: tuple[list[float], list[float]] = ([], [])
    number = 0
    while True:
        for _ in pool.agents:
            for seat, pairs in zip((candidate, parent), scores, strict=True):
                if seat is not None:
                    games = [play(spec) for spec in pool.pair(number, seat)]
                    digests += [game.digest for game in games]
                    points = (game_scores(game.verdict, game.winner)[at] for at, game in enumerate(games))
                    pairs.append(sum(points) / 2)
            number += 1
        found = PairedScores.of(scores[0], None if parent is None else scores[1])
        yield found, digests
        if rule.is_over(found):
            return


def is_evaluation(path: Path) -> bool:
    """Whether a file begins as the signed one of an evaluation does (`judge.export.evaluation_file`)."""
    try:
        with path.open("rb") as stream:
            return _BEGINNING.match(stream.read(100)) is not None
    except OSError:
        return False


def evaluation_of(
    version: str,
    pool: Pool,
    seats: tuple[SeatSpec, SeatSpec | None],
    rule: StopRule,
    scores: PairedScores,
    games: list[str],
) -> Evaluation:
    """The evaluation that these games come to; `seats` are the candidate's and the parent's."""
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
