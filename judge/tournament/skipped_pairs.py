"""Pairs that a contest leaves out because their ratings differ too much, as the Gomocup cup does."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from judge.base.errors import InputError

RatingTable = Mapping[str, float]
"""Elo by agent in order of place, without disqualified agents."""


@dataclass(frozen=True, slots=True)
class PreviousTable:
    """The final table of an earlier league, and a phrase for it."""

    source: str
    ratings: RatingTable


@dataclass(frozen=True, slots=True)
class SourcedRating:
    """A rating that decides which pairs are left out; 0: the agent meets all others."""

    rating: float
    reason: str


def is_left_out(first: float, second: float, difference: float) -> bool:
    """Return whether two agents with these ratings do not meet: both are above 0 and at least `difference` apart."""
    return first > 0 and second > 0 and abs(first - second) >= difference


def league_ratings(
    agents: Sequence[str], tables: Sequence[PreviousTable], updated: Collection[str] = ()
) -> Mapping[str, SourcedRating]:
    """Return each agent's rating from the tables of the previous year: this league first, then the ones above.

    An agent that played above is relegated: its Elo there is shifted by the difference that the last promoted agent
    has between the two tables. Agents in no table, and `updated` ones, have 0. Raises InputError if no agent links
    two tables.
    """
    own, *above = tables
    scale = {agent: round_elo(elo) for agent, elo in own.ratings.items()}
    reasons = {agent: f"Elo {elo} in {own.source}" for agent, elo in scale.items()}
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
        if agent in scale:
            if agent in updated:
                return SourcedRating(0, f"updated since {own.source}")
            return SourcedRating(max(0, scale[agent]), reasons[agent])
        return SourcedRating(0, f"new: not ranked in {' or '.join(table.source for table in tables)}")

    return {agent: rated(agent) for agent in agents}


def round_elo(elo: float) -> int:
    """Round half away from zero, as BayesElo prints ratings."""
    return int(abs(elo) + 0.5) * (1 if elo >= 0 else -1)
