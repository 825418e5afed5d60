"""A random sample of games to replay, and its chance of finding forged games.

A game's place is the SHA-256 of the seed and the game's number. The verifier chooses the seed after the export is
published, so an organiser cannot know which games are replayed.

Of `all_games` games, of which k are forged, a sample of n contains none with probability
C(all_games - k, n) / C(all_games, n) (hypergeometric distribution).
"""

import hashlib
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """`size` games to replay, chosen by `seed`."""

    size: int
    seed: str

    def choose(self, numbers: Iterable[int]) -> Collection[int]:
        return frozenset(sorted(numbers, key=self._place)[: self.size])

    def _place(self, number: int) -> bytes:
        return hashlib.sha256(f"{self.seed} {number}".encode()).digest()


def chance_to_find(forged: int, sampled: int, all_games: int) -> float:
    """Probability that a sample contains a forged game."""
    if forged > all_games - sampled:
        return 1.0
    return 1 - math.prod((all_games - sampled - number) / (all_games - number) for number in range(forged))


def percent_to_find(forged: int, sampled: int, all_games: int) -> str:
    """`chance_to_find` in percent, rounded down: 100 % only if the forged games cannot all be missed."""
    if forged > all_games - sampled:
        return "100 %"
    tenths = math.floor(round(chance_to_find(forged, sampled, all_games) * 1000, 6))
    return f"{min(tenths, 999) / 10:g} %"
