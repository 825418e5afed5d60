"""Gauntlet: a few agents meet everybody else, and the others do not meet each other."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.referee.seeds import Seed
from judge.tournament.formats.base import Pair, TournamentFormat, next_playable
from judge.tournament.pairings import Competitor, by_seed
from judge.tournament.results import PlayedPairing


class Gauntlet(TournamentFormat):
    """The first seeds meet all others."""

    in_advance: ClassVar[bool] = True

    name: Literal["gauntlet"] = "gauntlet"
    challengers: int = Field(default=1, ge=1)
    """How many run the gauntlet: the agents with the first seeds."""

    def next_round(
        self,
        entries: Sequence[Competitor],
        played: Sequence[PlayedPairing],
        seed: Seed,  # noqa: ARG002 nothing is drawn
    ) -> list[Pairing]:
        """Each challenger's next opponent, nobody twice in a round."""
        return next_playable(gauntlet(by_seed(entries), self.challengers), played)

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The challenger, if there is one alone."""
        return by_seed(entries)[0].id if self.challengers == 1 else None


def gauntlet(agents: Sequence[Competitor], challengers: int) -> list[list[Pair]]:
    """The rounds as pairs (first, second); a challenger sits first in every second round."""
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
