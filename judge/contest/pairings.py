"""Who meets whom: entries, pairings, and the games that a pairing consists of, two from each opening.

Agents are known here by their ids alone. All of it is plain data: a row of the store or a line of a schedule.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Status(StrEnum):
    """Whether an agent still plays."""

    PLAYING = "playing"
    WITHDRAWN = "withdrawn"
    """It is paired no more; what it played counts."""
    DISQUALIFIED = "disqualified"
    """It is paired no more, and what it played counts for nobody's place."""


@dataclass(frozen=True, slots=True)
class Competitor:
    """An agent of a contest. `seed` is its rank before play, 1 for the best, and no two have the same."""

    id: str
    seed: int
    status: Status = Status.PLAYING

    @property
    def active(self) -> bool:
        """It may be paired."""
        return self.status is Status.PLAYING


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two agents who meet in a round. `first` has the first seat in its first game; `second` None is a bye for `first`.

    `round` and `table` count from 1 and name the pairing; `meeting` counts from 0 how often the two have met before;
    `group` is the group or the league they meet in, empty where the format has none.
    """

    first: str
    second: str | None
    round: int
    table: int
    meeting: int = 0
    group: str = ""

    @property
    def agents(self) -> frozenset[str]:
        """Whoever takes part: two, or one with a bye."""
        return frozenset({self.first} if self.second is None else {self.first, self.second})


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game that is to be played: `first` in seat 0, `second` in seat 1.

    `game` counts the games of its pairing from 0. `opening` is the number of its pair of games, which share an opening;
    `judge.contest.openings.schedule` says which.
    """

    first: str
    second: str
    round: int
    table: int
    game: int
    opening: int


def fixtures(pairing: Pairing, games: int, start: int = 0) -> list[Fixture]:
    """The `games` games of a pairing, seats changing with each; none for a bye.

    Two games that follow each other share an opening, over meetings too: when an odd number ends in the middle of one,
    the next meeting of the two begins with its other half. `start` is the number of the opening with which the two
    begin, the same in all their meetings; 0 for everybody lets all pairings play the same openings, as Gomocup does.
    """
    if pairing.second is None:
        return []
    seats = (pairing.first, pairing.second)
    return [
        Fixture(
            first=seats[game % 2],
            second=seats[1 - game % 2],
            round=pairing.round,
            table=pairing.table,
            game=game,
            opening=start + (pairing.meeting * games + game) // 2,
        )
        for game in range(games)
    ]


def by_seed(entries: Iterable[Competitor]) -> list[Competitor]:
    """The entries, best first."""
    return sorted(entries, key=lambda entry: entry.seed)


def next_number(pairings: Iterable[Pairing]) -> int:
    """The number of the round after these."""
    return max((pairing.round for pairing in pairings), default=0) + 1


def set_tables(
    pairs: Iterable[tuple[str, str | None, str]], round_number: int, earlier: Sequence[Pairing]
) -> list[Pairing]:
    """Pairings of (first, second, group), on tables from 1 in this order; who met before changes seats."""
    last: dict[frozenset[str], Pairing] = {}
    for pairing in sorted(earlier, key=lambda pairing: pairing.round):
        last[pairing.agents] = pairing
    tables: list[Pairing] = []
    for table, (first, second, group) in enumerate(pairs, 1):
        pairing = Pairing(first, second, round_number, table, group=group)
        before = last.get(pairing.agents)
        if before is not None and second is not None:
            seats = (second, first) if before.first == first else (first, second)
            pairing = replace(pairing, first=seats[0], second=seats[1], meeting=before.meeting + 1)
        tables.append(pairing)
    return tables
