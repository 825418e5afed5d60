"""Formats with known rounds: round robins (Berger tables, FIDE Handbook C.05, annex 1), gauntlets."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Competitor, Pair, SkippingFormat, TournamentFormat, by_seed, remaining
from judge.tournament.results import PlayedPairing


class RoundRobin(SkippingFormat):
    """All agents meet. Withdrawals do not change other pairings."""

    name: Literal["round-robin"] = "round-robin"
    cycles: int = Field(default=1, ge=1)
    """Number of times that agents meet, with seats changed."""

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        return remaining(self.without_skipped(berger(by_seed(entries), self.cycles)), played)

    def last_round(self, agents: int) -> int:
        return self.cycles * (agents - 1 + agents % 2)


class DoubleRoundRobin(SkippingFormat):
    """A round robin of two cycles."""

    name: Literal["double-round-robin"] = "double-round-robin"

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        return remaining(self.without_skipped(berger(by_seed(entries), 2)), played)

    def last_round(self, agents: int) -> int:
        return 2 * (agents - 1 + agents % 2)


class Gauntlet(TournamentFormat):
    """One agent, or a few challengers, meet all others. Challengers do not meet each other."""

    name: Literal["gauntlet"] = "gauntlet"
    challengers: int = Field(default=1, ge=1)
    """Number of challengers: the first seeds."""

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        return remaining(gauntlet(by_seed(entries), self.challengers), played)

    def last_round(self, agents: int) -> int:
        return max(self.challengers, agents - self.challengers)

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The challenger if there is only one."""
        return by_seed(entries)[0].id if self.challengers == 1 else None


def berger(agents: Sequence[Competitor], cycles: int = 1) -> list[list[Pair]]:
    """Rounds of pairs (first, second). With an odd number of agents one rests in each round.

    Every second cycle changes all seats.
    """
    even = len(agents) + len(agents) % 2
    rounds = []
    for number in range(cycles * (even - 1) if len(agents) > 1 else 0):
        turning = even - 1
        cycle, place = divmod(number, turning)
        shift = place * even // 2
        first_cycle = [
            _turned((shift % turning, turning), place),
            *(((shift + table) % turning, (shift + turning - table) % turning) for table in range(1, even // 2)),
        ]
        pairs = [_turned(pair, cycle) for pair in first_cycle]
        rounds.append([(agents[one], agents[other]) for one, other in pairs if max(one, other) < len(agents)])
    return rounds


def _turned(pair: tuple[int, int], times: int) -> tuple[int, int]:
    return pair[::-1] if times % 2 else pair


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
