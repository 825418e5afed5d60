"""Round robin in the rounds of the Berger tables (FIDE Handbook C.05, annex 1)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Pair, SkippingFormat, remaining
from judge.tournament.pairings import Competitor, by_seed
from judge.tournament.results import PlayedPairing


class RoundRobin(SkippingFormat):
    """All agents meet. Withdrawals do not change other pairings."""

    name: Literal["round-robin"] = "round-robin"
    cycles: int = Field(default=1, ge=1)
    """Number of times that agents meet, with seats changed."""

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """All rounds of the Berger tables."""
        return remaining(self.without_skipped(berger(by_seed(entries), self.cycles)), played)

    def last_round(self, agents: int) -> int:
        return self.cycles * (agents - 1 + agents % 2)


class DoubleRoundRobin(SkippingFormat):
    """A round robin of two cycles."""

    name: Literal["double-round-robin"] = "double-round-robin"

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """All rounds of the Berger tables."""
        return RoundRobin(games=self.games, cycles=2, skip=self.skip).next(entries, played, seed)

    def last_round(self, agents: int) -> int:
        return 2 * (agents - 1 + agents % 2)


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
