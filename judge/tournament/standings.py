"""The table of a contest, and its crosstable.

Each criterion of the table applies to agents that are equal in earlier ones. Agents equal in all criteria share a
place.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator

from judge.base.parsing import FailFastTuple
from judge.contest_games import PairResult, summed
from judge.tournament.results import PlayedPairing, SideScore, rounded, sums_of

Tiers = list[list[str]]
"""Agents of an inner list share a place."""

Values = Mapping[str, tuple[float, ...]]
"""Each agent's value per criterion; more is better."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """`place` is from 1, with gaps after shared places.

    `done` sums its games; `values` are the criteria's (`compared`).
    """

    place: int
    agent: str
    points: float
    byes: int
    done: SideScore
    values: tuple[float, ...]


class Column(NamedTuple):
    """A column of the standings: `name` and `meaning` in files, `head` for readers, with `title` as its explanation.

    `head` and `title` are messages; a column without a head is in files only. `is_bad`: pages mark values above 0.
    """

    name: str
    value: Callable[[TableLine], float]
    meaning: str
    head: str = ""
    title: str = ""
    is_bad: bool = False


STANDINGS_COLUMNS = (
    Column("points", lambda line: line.points, "as the contest scores", "Points"),
    Column("games", lambda line: line.done.games, "played", "Games"),
    Column("wins", lambda line: line.done.wins, "games won", "Won"),
    Column("draws", lambda line: line.done.draws, "games drawn", "Drawn"),
    Column(
        "losses", lambda line: line.done.losses, "games lost, including those that both agents lost by a fault", "Lost"
    ),
    Column("byes", lambda line: line.byes, "rounds without an opponent"),
    Column(
        "failures",
        lambda line: line.done.failures,
        "games lost by the agent's failure: illegal, unreadable, time, memory, output, crash, refused",
        "Failed",
        "games lost by a failure of the agent: an illegal or unreadable answer, time, memory, output, crash, or "
        "refusal",
        is_bad=True,
    ),
    Column("replies", lambda line: line.done.replies, "answers in all games"),
    Column(
        "charged_ms",
        lambda line: round(line.done.charged_ms, 3),
        "time charged to its clocks in all games, milliseconds",
    ),
)
"""Columns of the standings that follow from the games, in files, terminals and pages."""

SHOWN_COLUMNS = tuple(column for column in STANDINGS_COLUMNS if column.head)


class Record:
    """An agent's pairings and the sum of its games."""

    def __init__(self, agent: str, played: Sequence[PlayedPairing]) -> None:
        self.agent = agent
        self.played = played
        self.points, self.done = sums_of(agent, played)
        byes = [each.due for each in played if each.pairing.second is None]
        self.byes, self.bye_score = len(byes), sum(byes)

    def opponents(self) -> list[tuple[PlayedPairing, str]]:
        """Pairings with opponents, without byes."""
        return [(each, opponent) for each in self.played for opponent in each.pairing.agents if opponent != self.agent]


class Records(dict[str, Record]):
    """Records by agent."""

    @cached_property
    def elo(self) -> Mapping[str, float]:
        """At the maximum of BayesElo's model; agents outside the largest pool are below it."""
        from judge.statistics.rating_model import BAYESELO_MODEL
        from judge.statistics.ratings import rate

        games = {id(game): game for record in self.values() for each in record.played for game in each.games}
        ratings = {rating.agent: rating for rating in rate(games.values(), BAYESELO_MODEL).ratings}
        return {
            agent: round(ratings[agent].elo, _ELO_DECIMALS) - _POOLS_APART * ratings[agent].pool
            if agent in ratings
            else -_POOLS_APART * len(self)
            for agent in self
        }

    @cached_property
    def ratings(self) -> Mapping[str, float]:
        """BayesElo's; agents without games have 0, or less than all others."""
        results = []
        for agent, record in self.items():
            for each, opponent in record.opponents():
                if agent < opponent:
                    mine, its = each.side_of(agent), each.side_of(opponent)
                    results.append(PairResult(agent, opponent, mine.wins, mine.draws, its.wins))
        found = _ratings_of(tuple(results))
        least = min(0.0, *(math.floor(rating) - 1.0 for rating in found.values())) if found else 0.0
        return {agent: found.get(agent, least) for agent in self}


@lru_cache(maxsize=8)
def _ratings_of(results: tuple[PairResult, ...]) -> Mapping[str, float]:
    from judge.statistics.bayeselo import strengths_of

    return strengths_of(summed(results))


class Criterion(NamedTuple):
    """`values` takes records and still equal agents, and returns their values; more is better.

    `head` and `meaning` are the column's messages.
    """

    values: Callable[[Records, Sequence[str]], Mapping[str, float]]
    head: str
    meaning: str

    @classmethod
    def of_each(cls, value: Callable[[Records, Record], float], head: str, meaning: str) -> Self:
        """A criterion whose value does not depend on the other equal agents."""
        return cls(lambda records, equal: {agent: value(records, records[agent]) for agent in equal}, head, meaning)


def _ratio(_: Records, record: Record) -> float:
    """As in Piskvork: 1e-8 keeps it finite and ranks 5:0 above 4:0."""
    return (record.done.wins + 1e-8) / (record.done.losses + 1e-8)


def _direct(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Not used if two of the agents have not met."""
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


def _sonneborn_berger(records: Records, record: Record) -> float:
    """A bye counts as a win against an opponent with the same points, as in Buchholz (FIDE C.07 since 2023)."""
    met = sum(each.side_of(record.agent).score * records[opponent].points for each, opponent in record.opponents())
    return met + record.bye_score * record.points


def _buchholz(records: Records, record: Record) -> float:
    return sum(records[opponent].points for _, opponent in record.opponents()) + record.byes * record.points


def _koya(records: Records, record: Record) -> float:
    """FIDE C.07, Koya system."""

    def has_half(other: Record) -> bool:
        return 2 * other.points >= rounded(sum(sum(each.points) for each in other.played))

    return sum(each.points_of(record.agent) for each, opponent in record.opponents() if has_half(records[opponent]))


def _time(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """As in Piskvork: not used if an agent never replied."""
    done = {agent: records[agent].done for agent in equal}
    if not all(side.replies for side in done.values()):
        return dict.fromkeys(equal, 0.0)
    return {agent: -side.charged_ms / side.replies for agent, side in done.items()}


def _rating(records: Records, equal: Sequence[str]) -> Mapping[str, float]:
    """Ratings less than `_RATING_TIE` apart are equal: rounding errors would order them."""
    values: dict[str, float] = {}
    best = before = math.inf
    for agent in sorted(equal, key=lambda agent: -records.ratings[agent]):
        rating = records.ratings[agent]
        if before - rating >= _RATING_TIE:
            best = rating
        values[agent], before = best, rating
    return values


_RATING_TIE = 0.01

_ELO_DECIMALS = 6

_POOLS_APART = 1e5
"""More Elo than any difference within a pool."""

CRITERIA: Mapping[str, Criterion] = {
    "points": Criterion.of_each(
        lambda _, record: record.points, "Points there", "points in the stage that the agent has reached"
    ),
    "wins": Criterion.of_each(
        lambda _, record: record.done.wins, "Won there", "games won in the stage that the agent has reached"
    ),
    "ratio": Criterion.of_each(_ratio, "Ratio", "games won divided by games lost"),
    "direct": Criterion(_direct, "Direct", "points in the games among the tied agents"),
    "sonneborn-berger": Criterion.of_each(
        _sonneborn_berger, "SB", "Sonneborn-Berger: the points of each opponent times the score against it"
    ),
    "buchholz": Criterion.of_each(_buchholz, "Buchholz", "the points of all opponents"),
    "koya": Criterion.of_each(_koya, "Koya", "points against opponents with at least half of the points"),
    "time": Criterion(_time, "Time", "milliseconds per answer, as a negative number"),
    "elo": Criterion.of_each(
        lambda records, record: records.elo[record.agent], "Elo", "the rating at the maximum of BayesElo's model"
    ),
    "rating": Criterion(_rating, "Rating", "the rating that BayesElo computes from all games"),
}
"""Those with the name of a column are shown as criteria only if there are stages."""

RATINGS = frozenset({"elo", "rating"})
"""Criteria that are ratings."""


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in CRITERIA:
            raise ValueError(f"unknown criterion {name!r}; choose among {', '.join(CRITERIA)}")
    return names


Ranking = Annotated[FailFastTuple[str], AfterValidator(_known)]

BY_POINTS: Ranking = ("points", "direct", "sonneborn-berger", "wins")
BY_SWISS_POINTS: Ranking = ("points", "buchholz", "sonneborn-berger", "direct", "wins")


def records_of(agents: Iterable[str], played: Iterable[PlayedPairing]) -> Records:
    """Records of `agents` and their opponents."""
    of_agent: dict[str, list[PlayedPairing]] = {agent: [] for agent in agents}
    for each in played:
        for agent in each.pairing.agents:
            of_agent.setdefault(agent, []).append(each)
    return Records((agent, Record(agent, its_own)) for agent, its_own in sorted(of_agent.items()))


def tiers_of(values: Values) -> Tiers:
    """Agents, best first; equal ones by id."""
    return sorted(_equal(values), key=lambda tier: values[tier[0]], reverse=True)


def compared(agents: Iterable[str], records: Records, ranking: Ranking) -> Values:
    """Values of `ranking` by agent."""
    values: dict[str, tuple[float, ...]] = dict.fromkeys(agents, ())
    for name in ranking:
        for equal in _equal(values):
            found = CRITERIA[name].values(records, equal)
            values |= {agent: (*values[agent], rounded(found[agent])) for agent in equal}
    return values


def _equal(values: Values) -> Tiers:
    together: dict[tuple[float, ...], list[str]] = {}
    for agent in sorted(values):
        together.setdefault(values[agent], []).append(agent)
    return list(together.values())


def standings(tiers: Tiers, records: Records, values: Values) -> list[TableLine]:
    """The table's lines."""
    lines: list[TableLine] = []
    for tier in tiers:
        place, equal = len(lines) + 1, [records[agent] for agent in tier]
        lines += [TableLine(place, each.agent, each.points, each.byes, each.done, values[each.agent]) for each in equal]
    return lines


MAX_CROSSTABLE_AGENTS = 500
"""With more agents an export has no crosstable; the table of pairs has the same numbers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The row agent's result against the column agent."""

    points: float
    done: SideScore


Crosstable = Mapping[str, Mapping[str, Cell]]
"""Cells of the agents that met, by row and column, both in the order of the standings."""


def crosstable(agents: Iterable[str], played: Iterable[PlayedPairing]) -> Crosstable:
    """The table in the order of `agents`."""
    places = {agent: place for place, agent in enumerate(agents)}
    met: dict[str, dict[str, list[PlayedPairing]]] = {agent: {} for agent in places}
    for each in played:
        first, second = each.pairing.first, each.pairing.second
        if second is not None and first in met and second in met:
            met[first].setdefault(second, []).append(each)
            met[second].setdefault(first, []).append(each)
    return {
        row: {column: Cell(*sums_of(row, of_row[column])) for column in sorted(of_row, key=places.__getitem__)}
        for row, of_row in met.items()
    }
