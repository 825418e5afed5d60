"""Ladder: no rounds. A matchmaker chooses each pair from the ratings when a slot is free."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from judge.base.parsing import FailFastMapping, FrozenModel, StrictDatetime
from judge.base.text import sentence
from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Competitor, TournamentFormat, Withdrawal
from judge.tournament.results import PlayedPairing
from judge.tournament.skipped_pairs import MAX_RATING
from judge.tournament.standings import Ranking

MAX_DEVIATION = 2000

Elo = Annotated[float, Field(ge=-MAX_RATING, le=MAX_RATING, allow_inf_nan=False)]


class Matchmaking(FrozenModel):
    """How a ladder chooses its pairs (`judge.tournament.matchmaker`)."""

    anchor_share: float = Field(default=0.05, ge=0, le=1)
    """Share of games between an anchor and another agent, if the ladder has anchors."""
    minimum_games: int = Field(default=1, ge=0, le=100)
    """Minimum number of games of each agent per period."""
    period: float = Field(default=1.4, ge=1, le=1000)
    """Length of a period: number of games per agent and per `minimum_games`."""
    open_games: int = Field(default=2, ge=1, le=1000)
    """Maximum number of an agent's open games."""
    author_share: float = Field(default=0.1, ge=0, le=1)
    """Maximum share of an agent's games against agents of its author."""
    author_weight: int = Field(default=1, ge=1, le=1000)
    """An author with more agents is large: together they play about as many games as this number of agents."""
    opponent_share: float = Field(default=0.1, gt=0, le=1)
    """Maximum share of an agent's games against agents of one large author."""
    long_game: float = Field(default=2, ge=1, le=1000)
    """An agent with games longer than this number of mean games plays proportionally fewer."""
    neighbours: int = Field(default=16, ge=1, le=10_000)
    """Number of stronger opponents, and of weaker ones, that are compared per agent."""


class StartRating(FrozenModel):
    """Rating of an agent at its entry, in Elo."""

    rating: Elo
    deviation: float = Field(gt=0, le=MAX_DEVIATION)
    """Standard deviation."""
    digest: str = Field(default="", pattern="^([0-9a-f]{64})?$", exclude_if=lambda digest: not digest)
    """Files of this deviation, which is wider for others; empty: all."""


class Ladder(TournamentFormat):
    """A season of games without rounds, whose pairs `judge.tournament.ladder` chooses."""

    withdrawal: ClassVar[Withdrawal] = "keeps"

    places_by = sentence("Places depend on the ratings of all games.")

    name: Literal["ladder"] = "ladder"
    games: int = Field(default=1, ge=1, le=1)
    """Always 1. Agents that meet again change seats, and two consecutive games of a pair share an opening."""
    ranking: Ranking = ("rating",)
    total_games: int = Field(default=1000, ge=1, le=1_000_000)
    """Number of games of the season."""
    ends: StrictDatetime | None = Field(default=None, exclude_if=lambda ends: ends is None)
    """Moment from which no game is drawn, if `total_games` is not reached before."""
    deviation: float = Field(default=500, gt=0, le=MAX_DEVIATION)
    """Standard deviation of a new agent's rating, in Elo."""
    version_deviation: float = Field(default=200, ge=0, le=MAX_DEVIATION)
    """Standard deviation of the difference between the ratings of an agent's versions, in Elo."""
    anchors: Mapping[str, Elo] = Field(default_factory=dict)
    """Agents with a fixed rating, in Elo."""
    ratings: FailFastMapping[str, StartRating] = Field(default_factory=dict, exclude_if=lambda ratings: not ratings)
    """Ratings by agent, also for later entries; those of `[ratings] from` are added."""
    matchmaking: Matchmaking = Matchmaking()

    agents: ClassVar[tuple[int, int]] = (2, 2500)
    waits: ClassVar[bool] = False
    has_rounds: ClassVar[bool] = False

    def start_rating(self, agent: str, digest: str) -> StartRating | None:
        """None if unknown."""
        found = self.ratings.get(agent)
        if found is None:
            folded = agent.casefold()
            known = (each for name, each in self.ratings.items() if each.digest and name.casefold() == folded)
            found = next(known, None)
        if found is None or not found.digest:
            return found
        deviation = found.deviation if found.digest == digest else hypot(found.deviation, self.version_deviation)
        return rounded_rating(found.rating, deviation)

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        return []

    def is_season_over(self, drawn: int, *, has_ended: bool) -> bool:
        """Whether no further game is drawn. `has_ended`: the log has the end of the season.

        Agents do not decide it: with fewer than two that can meet, the season waits for others.
        """
        return has_ended or drawn >= self.total_games

    def goes_on(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> bool:
        """Unless the log has the end of the season."""
        return not self.is_season_over(len(played), has_ended=False)

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        return max(0, self.total_games - len(played))


def rounded_rating(rating: float, deviation: float, digest: str = "") -> StartRating:
    """With two decimals."""
    return StartRating(
        rating=round(min(max(rating, -MAX_RATING), MAX_RATING), 2),
        deviation=round(min(max(deviation, 1), MAX_DEVIATION), 2),
        digest=digest,
    )
