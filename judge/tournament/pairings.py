"""Entries, tables of a round, seats and openings of games, with agents' ids."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from judge.contest_games import Pairing


@dataclass(frozen=True, slots=True)
class Competitor:
    """`seed` is the unique rank before play, 1 for the best.

    An inactive one is disqualified: not paired, and its results do not count.
    """

    id: str
    seed: int
    active: bool = True


def seats(pairing: Pairing, game: int) -> tuple[str, str]:
    """Agents of seats 0 and 1 in a game (from 0). Raises ValueError for a bye."""
    if pairing.second is None:
        raise ValueError("a bye has no games")
    return (pairing.second, pairing.first) if game % 2 else (pairing.first, pairing.second)


def opening_number(pairing: Pairing, game: int, games: int) -> int:
    """The opening's number from 0, for `judge.tournament.openings.schedule`.

    Two consecutive games share one, also across meetings. All pairings use the same openings.
    """
    return (pairing.meeting * games + game) // 2


def by_seed(entries: Iterable[Competitor]) -> list[Competitor]:
    """Entries, best first."""
    return sorted(entries, key=lambda entry: entry.seed)


def next_number(pairings: Iterable[Pairing]) -> int:
    """Number of the next round."""
    return max((pairing.round for pairing in pairings), default=0) + 1


class Rounds:
    """Pairings of rounds, to which rounds are added."""

    def __init__(self, earlier: Iterable[Pairing]) -> None:
        self.pairings = list(earlier)
        self.next_number = next_number(self.pairings)
        self._last = {each.agents: each for each in sorted(self.pairings, key=lambda pairing: pairing.round)}

    def add(self, pairs: Iterable[tuple[str, str | None, str]]) -> list[Pairing]:
        """A round of (first, second, group) on tables from 1; repeated pairings change seats."""
        tables: list[Pairing] = []
        for table, (first, second, group) in enumerate(pairs, 1):
            pairing = Pairing(first, second, self.next_number, table, group=group)
            before = self._last.get(pairing.agents)
            if before is not None and second is not None:
                seats = (second, first) if before.first == first else (first, second)
                pairing = replace(pairing, first=seats[0], second=seats[1], meeting=before.meeting + 1)
            tables.append(pairing)
        self._last |= {pairing.agents: pairing for pairing in tables}
        self.pairings += tables
        self.next_number += 1
        return tables
