"""A sequential test: two agents play until the test is decided.

Pairings count in the order of the draw, each when all earlier ones are over (docs/organise/first-contest.md).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.referee.seeds import Seed
from judge.statistics.match_estimate import MatchCounts
from judge.statistics.sprt import Sprt, SprtDecision, SprtState
from judge.tournament.formats.base import TournamentFormat
from judge.tournament.pairings import Competitor, by_seed, next_number, set_tables
from judge.tournament.results import PlayedPairing


class Sequential(TournamentFormat):
    """Two agents play until the test is decided. Pairings count in the order of the draw."""

    waits: ClassVar[bool] = False
    agents: ClassVar[tuple[int, int | None]] = (2, 2)
    orders_by_strength: ClassVar[bool] = False

    name: Literal["sprt"] = "sprt"
    games: int = Field(default=2, ge=2, multiple_of=2)
    """Games of a pairing, after which the test may decide; even, because two share an opening. Pairings do not wait
    for each other, so more are useful only for thousands of short games.
    """
    rounds: int = Field(default=1000, ge=1)
    """Maximum number of pairings, then undecided. Each is a round."""
    test: Sprt = Sprt()

    @property
    def counts_games(self) -> bool:
        """Never."""
        return False

    def next(
        self,
        entries: Sequence[Competitor],
        played: Sequence[PlayedPairing],
        seed: Seed,  # noqa: ARG002
    ) -> list[Pairing]:
        """One more pairing until the test is decided."""
        if len(entries) != 2:
            return []
        first, second = by_seed(entries)
        earlier = [each.pairing for each in played]
        number = next_number(earlier)
        if not (first.active and second.active) or number > self.rounds:
            return []
        if self.state(entries, played).decision is not SprtDecision.GO_ON:
            return []
        return set_tables([(first.id, second.id, "")], number, earlier)

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:  # noqa: ARG002
        """The test may end after any pairing."""
        return 0

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The second seed: the first is tested."""
        return by_seed(entries)[1].id

    def state(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> SprtState:
        """State of the test after the pairings that count."""
        counts = MatchCounts.of_numbers([0] * 6)
        state = _state(self.test, counts)
        for each in played:
            if not each.is_over or state.decision is not SprtDecision.GO_ON:
                break
            if each.games:
                counts = counts.plus(MatchCounts.of_results(each.games, by_seed(entries)[0].id))
                state = _state(self.test, counts)
        return state


@lru_cache(maxsize=1 << 16)
def _state(test: Sprt, counts: MatchCounts) -> SprtState:
    return test.state(counts)
