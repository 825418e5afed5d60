"""Who meets whom: entries, the tables of a round, and the seats and openings of the games of a pairing.

Agents are known here by their ids alone. All of it is plain data: a row of the store or a line of a schedule.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from judge.contest_games import Pairing


@dataclass(frozen=True, slots=True)
class Competitor:
    """An agent of a contest. `seed` is its rank before play, 1 for the best, and no two have the same.

    One that is not `active` is disqualified: it is not paired any more, and its results count for nobody.
    """

    id: str
    seed: int
    active: bool = True


def seats(pairing: Pairing, game: int) -> tuple[str, str]:
    """The agents of seat 0 and seat 1 in a game of a pairing, counted from 0: seats change with each game. Raises
    ValueError for a bye, which has no games."""
    if pairing.second is None:
        raise ValueError("a bye has no games")
    return (pairing.second, pairing.first) if game % 2 else (pairing.first, pairing.second)


def opening_number(pairing: Pairing, game: int, games: int) -> int:
    """The number of the opening of a game, from 0; `judge.tournament.openings.schedule` says which opening that is.

    Two games that follow each other share an opening, over meetings too: if an odd number ends in the middle of one,
    the next meeting of the two begins with its other half. All pairings play the same openings, as at Gomocup.
    """
    return (pairing.meeting * games + game) // 2


def by_seed(entries: Iterable[Competitor]) -> list[Competitor]:
    """The entries, best first."""
    return sorted(entries, key=lambda entry: entry.seed)


def next_number(pairings: Iterable[Pairing]) -> int:
    """The number of the round after these."""
    return max((pairing.round for pairing in pairings), default=0) + 1


def set_tables(
    pairs: Iterable[tuple[str, str | None, str]], round_number: int, earlier: Sequence[Pairing]
) -> list[Pairing]:
    """Pairings of (first, second, group), on tables from 1 in this order; two that met before change seats."""
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
