"""Gauntlet: a few challengers meet all others."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Pair, TournamentFormat, remaining
from judge.tournament.pairings import Competitor, by_seed
from judge.tournament.results import PlayedPairing


class Gauntlet(TournamentFormat):
    """One agent, or a few challengers, meet all others. Challengers do not meet each other."""

    name: Literal["gauntlet"] = "gauntlet"
    challengers: int = Field(default=1, ge=1)
    """Number of challengers: the first seeds."""

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """All meetings of the challengers."""
        return remaining(gauntlet(by_seed(entries), self.challengers), played)

    def last_round(self, agents: int) -> int:
        return max(self.challengers, agents - self.challengers)

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The challenger if there is only one."""
        return by_seed(entries)[0].id if self.challengers == 1 else None


def gauntlet(agents: Sequence[Competitor], challengers: int) -> list[list[Pair]]:
    """Rounds of pairs (first, second); challengers alternate seats."""
    running, others = agents[:challengers], agents[challengers:]
    length = max(len(running), len(others)) if others else 0
    rounds: list[list[Pair]] = []
    for number in range(length):
        meetings = [
            (challenger, others[(number + place) % length])
            for place, challenger in enumerate(running)
            if (number + place) % length < len(others)
        ]
        rounds.append([(one, other) if number % 2 == 0 else (other, one) for one, other in meetings])
    return rounds
