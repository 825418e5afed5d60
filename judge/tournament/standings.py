"""The table of a contest: places by criteria, which are applied one after another until no two agents are equal.

A criterion is applied to agents that are equal in all criteria before it. Agents that are equal in all of them share a
place.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from judge.statistics.rating_model import GOMOCUP_MODEL
from judge.statistics.ratings import rate
from judge.tournament.points import DECIMALS
from judge.tournament.results import PlayedPairing, SideScore

Tiers = list[list[str]]
"""Agents best first; those of an inner list share a place."""

Values = Mapping[str, tuple[float, ...]]
"""Of each agent a number by each criterion of a ranking; more is better."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """An agent's line of the table. `place` counts from 1; after a shared place the next ones are left out.

    `done` sums up its games; `values` are what it was ranked by (`compared`).
    """

    place: int
    agent: str
    points: float
    byes: int
    done: SideScore
    values: tuple[float, ...]


class Record:
    """What one agent has done: its pairings, and its games added up."""

    def __init__(self, agent: str, played: Sequence[PlayedPairing]) -> None:
        """Add up `played`, all of it the agent's."""
        self.agent = agent
        self.played = played
        self.points = _rounded(sum(each.points_of(agent) for each in played))
        self.byes = sum(each.pairing.second is None for each in played)
        self.done = SideScore()
        for each in played:
            self.done.add(each.side_of(agent))

    def opponents(self) -> list[tuple[PlayedPairing, str]]:
        """Each pairing with its opponent; byes are left out."""
        return [(each, opponent) for each in self.played for opponent in each.pairing.agents if opponent != self.agent]


class Records(dict[str, Record]):
    """Everybody's record, by agent."""

    @cached_property
    def elo(self) -> Mapping[str, float]:
        """Gomocup's rating since 2017, from all games; agents outside the largest pool are below it."""
        games = {id(game): game for record in self.values() for each in record.played for game in each.games}
        ratings = {rating.agent: rating for rating in rate(games.values(), GOMOCUP_MODEL).ratings}
        return {
            agent: round(ratings[agent].elo, _ELO_DECIMALS) - _POOLS_APART * ratings[agent].pool
            if agent in ratings
            else -_POOLS_APART * len(self)
            for agent in self
        }


class Criterion(NamedTuple):
    """What a ranking compares. `values` takes all records and the agents that are still equal, and returns a number for
    each of these; more is better. `head` and `meaning` are messages of the standings' column."""

    values: Callable[[Records, Sequence[str]], Mapping[str, float]]
    head: str
    meaning: str


def _points(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Points, of pairings or of games as the contest scores them."""
    return {agent: records[agent].points for agent in equal}


def _wins(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Games won."""
    return {agent: records[agent].done.wins for agent in equal}


def _ratio(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Games won divided by games lost (Piskvork; its 1e-8 keeps it finite and puts 5:0 above 4:0)."""
    return {agent: (records[agent].done.wins + 1e-8) / (records[agent].done.losses + 1e-8) for agent in equal}


def _direct(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Points from the pairings among the equal agents; does not apply if two of them have not met."""
    points = dict.fromkeys(equal, 0.0)
    for agent in equal:
        met = {agent}
        for each, opponent in records[agent].opponents():
            if opponent in points:
                points[agent] += each.points_of(agent)
                met.add(opponent)
        if len(met) < len(equal):
            return dict.fromkeys(equal, 0.0)
    return points


def _sonneborn_berger(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """The points of every opponent, times the games that were won against it, draws as halves."""
    return {
        agent: sum(
            each.side_of(agent).score * records[opponent].points for each, opponent in records[agent].opponents()
        )
        for agent in equal
    }


def _buchholz(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """The points of all opponents; a bye is an opponent as good as oneself (FIDE's since 2023)."""
    return {
        agent: sum(records[opponent].points for _, opponent in records[agent].opponents())
        + records[agent].byes * records[agent].points
        for agent in equal
    }


def _koya(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Points against opponents that have at least half of the points of their own pairings (FIDE C.07, Koya system)."""

    def has_half(agent: str) -> bool:
        total = sum(sum(each.points) for each in records[agent].played)
        return 2 * records[agent].points >= _rounded(total)

    return {
        agent: sum(each.points_of(agent) for each, opponent in records[agent].opponents() if has_half(opponent))
        for agent in equal
    }


def _time(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Less time for a reply is better (Piskvork: does not apply if one of them never replied)."""
    done = {agent: records[agent].done for agent in equal}
    if not all(side.replies for side in done.values()):
        return dict.fromkeys(equal, 0.0)
    return {agent: -side.charged_ms / side.replies for agent, side in done.items()}


def _elo(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Gomocup's rating since 2017."""
    return {agent: records.elo[agent] for agent in equal}


_ELO_DECIMALS = 6
"""Rounded to the precision of the fit, so that equal agents have equal ratings."""

_POOLS_APART = 1e5
"""Elo; no prior lets two agents of a pool be so far apart."""

CRITERIA: Mapping[str, Criterion] = {
    "points": Criterion(_points, "Points there", "points in the stage that the agent has reached"),
    "wins": Criterion(_wins, "Won there", "games won in the stage that the agent has reached"),
    "ratio": Criterion(_ratio, "Ratio", "games won divided by games lost"),
    "direct": Criterion(_direct, "Direct", "points in the games among the tied agents"),
    "sonneborn-berger": Criterion(
        _sonneborn_berger, "SB", "Sonneborn-Berger: the points of each opponent times the score against it"
    ),
    "buchholz": Criterion(_buchholz, "Buchholz", "the points of all opponents"),
    "koya": Criterion(_koya, "Koya", "points against opponents with at least half of the points"),
    "time": Criterion(_time, "Time", "milliseconds per answer, as a negative number"),
    "elo": Criterion(_elo, "Elo", "Gomocup's rating"),
}
"""By the names that a contest file uses. Standings show points and wins as criteria only where there are stages."""


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in CRITERIA:
            raise ValueError(f"no criterion is called {name!r}; there are {', '.join(CRITERIA)}")
    return names


Ranking = Annotated[tuple[str, ...], AfterValidator(_known)]
"""Names of criteria, in the order in which they are asked."""

BY_POINTS: Ranking = ("points", "direct", "sonneborn-berger", "wins")
BY_SWISS_POINTS: Ranking = ("points", "buchholz", "sonneborn-berger", "direct", "wins")


def records_of(agents: Iterable[str], played: Iterable[PlayedPairing]) -> Records:
    """The record of each of `agents`, and of everybody they met."""
    of_agent: dict[str, list[PlayedPairing]] = {agent: [] for agent in agents}
    for each in played:
        for agent in each.pairing.agents:
            of_agent.setdefault(agent, []).append(each)
    return Records((agent, Record(agent, its_own)) for agent, its_own in sorted(of_agent.items()))


def tiers_of(values: Values) -> Tiers:
    """Agents by what they were compared by, best first; those that share a place are in the order of their ids."""
    return sorted(_equal(values), key=lambda tier: values[tier[0]], reverse=True)


def compared(agents: Iterable[str], records: Records, ranking: Ranking) -> Values:
    """What each of `agents` has by each criterion of `ranking`, asked among those that are equal in all before it."""
    values: dict[str, tuple[float, ...]] = dict.fromkeys(agents, ())
    for name in ranking:
        for equal in _equal(values):
            asked = CRITERIA[name].values(records, equal)
            values |= {agent: (*values[agent], _rounded(asked[agent])) for agent in equal}
    return values


def _equal(values: Values) -> Tiers:
    """Those that have the same values, together, in the order of their ids."""
    together: dict[tuple[float, ...], list[str]] = {}
    for agent in sorted(values):
        together.setdefault(values[agent], []).append(agent)
    return list(together.values())


def _rounded(value: float) -> float:
    """As far as numbers are compared; `+ 0.0` makes a negative zero a zero."""
    return round(value, DECIMALS) + 0.0


def standings(tiers: Tiers, records: Records, values: Values) -> list[TableLine]:
    """The lines of the table for agents in `tiers`, with the values by which they were ranked."""
    lines: list[TableLine] = []
    for tier in tiers:
        place = len(lines) + 1
        lines += [
            TableLine(
                place=place,
                agent=agent,
                points=records[agent].points,
                byes=records[agent].byes,
                done=records[agent].done,
                values=values[agent],
            )
            for agent in tier
        ]
    return lines
