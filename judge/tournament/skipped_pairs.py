"""Pairs that a contest leaves out because their ratings differ too much."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from judge.base.errors import InputError
from judge.base.parsing import FailFastMapping, FailFastTuple, FrozenModel


@dataclass(frozen=True, slots=True)
class PreviousTable:
    """Final table of an earlier league, and a phrase for it."""

    source: str
    ratings: Mapping[str, float]
    """Elo by agent, best first, without disqualified agents."""


MAX_RATING = 100_000
"""Largest rating, in Elo."""


class SourcedRating(FrozenModel):
    """A table for each agent: a rating that decides which pairs are left out."""

    rating: float = Field(ge=0, le=MAX_RATING, allow_inf_nan=False)
    """Elo; 0: the agent meets all others."""
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    """Why the agent has this rating."""


class Skip(FrozenModel):
    """Pairs that do not meet because their ratings differ too much."""

    rating_difference: float = Field(default=400, gt=0, le=MAX_RATING, allow_inf_nan=False)
    """Two agents with this difference or more do not meet, if both have a rating above 0."""
    ratings: str = Field(default="", max_length=1000)
    """A CSV file with the columns agent and rating, or an earlier contest or its export, relative to this file."""
    above: str = Field(default="", max_length=1000)
    """The earlier contest of the league above, whose relegated agents play here; empty: none."""
    groups: FailFastTuple[str] = ()
    """Groups or leagues that leave out pairs, such as "2"; empty: all."""
    agents: FailFastMapping[str, SourcedRating] = Field(default_factory=dict)
    """Ratings set by hand, by agent. In a contest that has begun: the ratings in use."""

    @model_validator(mode="after")
    def _has_ratings(self) -> Self:
        if not self.ratings and not self.agents:
            raise ValueError("no ratings: name a file or an earlier contest in ratings, or set agents")
        if self.above and not self.ratings:
            raise ValueError("above needs ratings: the earlier contest of the league itself")
        return self

    def rating_of(self, agent: str) -> float:
        """The agent's rating, or 0."""
        rated = self.agents.get(agent)
        return 0 if rated is None else rated.rating

    def leaves_out(self, first: str, second: str, group: str = "") -> bool:
        """Whether two agents do not meet in a group."""
        if self.groups and group not in self.groups:
            return False
        return is_left_out(self.rating_of(first), self.rating_of(second), self.rating_difference)


def is_left_out(first: float, second: float, difference: float) -> bool:
    """Whether agents with these ratings do not meet."""
    return first > 0 and second > 0 and abs(first - second) >= difference


def league_ratings(
    agents: Sequence[str], tables: Sequence[PreviousTable], updated: Collection[str] = ()
) -> Mapping[str, SourcedRating]:
    """Ratings from last year's tables: this league first, then the ones above.

    The Elo of an agent that played above is shifted by the last promoted agent's difference between both tables. New
    and `updated` agents have 0. Raises InputError if no agent links two tables.
    """
    league_table, *above = tables
    scale = {agent: round_elo(elo) for agent, elo in league_table.ratings.items()}
    reasons = {agent: f"Elo {elo} in {league_table.source}" for agent, elo in scale.items()}
    for table in above:
        upper = {agent: round_elo(elo) for agent, elo in table.ratings.items()}
        link = next((agent for agent in reversed(list(scale)) if agent in upper), None)
        if link is None:
            raise InputError(
                f"no agent is ranked in {table.source} and also in the league below it, so the ratings of relegated "
                "agents are unknown; set them by hand in format.skip.agents"
            )
        shift = scale[link] - upper[link]
        scale = {agent: elo + shift for agent, elo in upper.items()} | {
            agent: elo for agent, elo in scale.items() if agent not in upper
        }
        for agent, elo in upper.items():
            reasons[agent] = f"Elo {elo} in {table.source}, shifted by {shift:+d} as {link}"

    def rated(agent: str) -> SourcedRating:
        if agent not in scale:
            return SourcedRating(rating=0, reason=f"new: not ranked in {' or '.join(table.source for table in tables)}")
        if agent in updated:
            return SourcedRating(rating=0, reason=f"updated since {league_table.source}")
        return SourcedRating(rating=max(0, scale[agent]), reason=reasons[agent])

    return {agent: rated(agent) for agent in agents}


def round_elo(elo: float) -> int:
    """Round half away from zero, as BayesElo prints ratings."""
    return int(abs(elo) + 0.5) * (1 if elo >= 0 else -1)
