"""A contest as it is published: everything that its data and its pages say, and nothing that they do not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from judge.contest.points import Points
from judge.contest.ratings import Rating, RatingList
from judge.contest.results import GameResult
from judge.contest.standings import Cell, TableLine
from judge.store.types import JournalLine as LogLine
from judge.store.types import Paired


@dataclass(frozen=True, slots=True)
class Participant:
    """Who took part; all but the digest is the author's own words. `number` counts from 1 and names its pages."""

    number: int
    name: str
    digest: str = ""
    seed: int = 0
    author: str = ""
    runtime: str = ""
    protocol: str = ""
    description: str = ""
    out: str = ""
    """Why it no longer takes part; empty while it does."""


@dataclass(frozen=True, slots=True)
class Uncounted:
    """An attempt that has a record and does not count: its number, what became of it, why, and the record's digest."""

    attempt: int
    state: str
    why: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class PublishedGame:
    """A game of the schedule with its result, if it has one.

    `number` is its place in the schedule, from 1; `match` its id; `record` the digest of its record in the store.
    `state` is the store's word (`done`, `pending`, `running`, `held`, `cancelled`), `why` what was said of it last.
    """

    number: int
    match: str
    round: int
    table: int
    game: int
    first: str
    second: str
    state: str
    why: str = ""
    result: GameResult | None = None
    attempt: int = 0
    record: str = ""
    seconds: float = 0.0
    points: Points | None = None
    """What it scored, in order of seats; None where a pairing's games are weighed as one."""
    uncounted: tuple[Uncounted, ...] = ()

    @property
    def stem(self) -> str:
        """What its files are called; of digits and letters, whatever the agents are called."""
        return f"{self.number:05d}"


@dataclass(frozen=True)
class Publication:
    """Everything to publish. `table` and `cells` (rows and columns in the table's order) are the standings.

    `facts` are lines for the front page: what was played, how, on which machine. `ranking` names the criteria whose
    values the lines of `table` have.
    """

    name: str
    about: str
    facts: Mapping[str, str]
    participants: Sequence[Participant]
    games: Sequence[PublishedGame]
    table: Sequence[TableLine]
    cells: Sequence[Sequence[Cell | None]]
    ranking: Sequence[str]
    ratings: RatingList | None = None
    journal: Sequence[LogLine] = ()
    pairings: Sequence[Paired] = ()
    """All pairings so far, byes too."""
    out: Mapping[str, str] = field(default_factory=dict)
    """Who was disqualified, in that order, and why."""

    @cached_property
    def by_name(self) -> Mapping[str, Participant]:
        """The participants by their names."""
        return {participant.name: participant for participant in self.participants}

    @cached_property
    def rated(self) -> Mapping[str, Rating]:
        """The ratings by agent; empty where nobody is rated."""
        return {} if self.ratings is None else {each.agent: each for each in self.ratings.ratings}

    @cached_property
    def lines(self) -> Mapping[str, TableLine]:
        """The lines of the table by agent."""
        return {line.agent: line for line in self.table}

    @cached_property
    def byes(self) -> Mapping[int, Sequence[str]]:
        """Who had a bye, for each round that was drawn."""
        found: dict[int, list[str]] = {each.round: [] for each in self.pairings}
        for each in self.pairings:
            if each.second is None:
                found[each.round].append(each.first)
        return found

    @cached_property
    def rounds(self) -> Mapping[int, Sequence[PublishedGame]]:
        """The games of each round, in the schedule's order."""
        found: dict[int, list[PublishedGame]] = {number: [] for number in self.byes}
        for game in self.games:
            found.setdefault(game.round, []).append(game)
        return dict(sorted(found.items()))

    @cached_property
    def meetings(self) -> Mapping[frozenset[str], Sequence[PublishedGame]]:
        """The games of each two agents, in the schedule's order."""
        return _grouped(self.games)

    @property
    def open_games(self) -> Sequence[PublishedGame]:
        """The games that are yet to be played, or decided."""
        return [game for game in self.games if game.state not in ("done", "cancelled")]

    @property
    def played(self) -> Sequence[PublishedGame]:
        """The games that have a result."""
        return [game for game in self.games if game.result is not None]


def _grouped(games: Iterable[PublishedGame]) -> Mapping[frozenset[str], Sequence[PublishedGame]]:
    found: dict[frozenset[str], list[PublishedGame]] = {}
    for game in games:
        found.setdefault(frozenset({game.first, game.second}), []).append(game)
    return found


def score_of(game: PublishedGame, agent: str) -> float | None:
    """1, a half or 0 for one of the two; None while there is no result."""
    if game.result is None:
        return None
    return game.result.scores[agent != game.first]
