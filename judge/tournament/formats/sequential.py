"""A sequential test: two agents play until the test is decided."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from judge.contest_games import Pairing
from judge.referee.seeds import Seed
from judge.statistics.match_counts import MatchCounts
from judge.statistics.sprt import Sprt, SprtDecision, SprtState
from judge.tournament.formats.base import TournamentFormat
from judge.tournament.pairings import Competitor, by_seed, next_number, set_tables
from judge.tournament.results import PlayedPairing


class Sequential(TournamentFormat):
    """After each round the test decides whether to continue. Pairs of games share an opening."""

    agents: ClassVar[tuple[int, int | None]] = (2, 2)
    orders_by_strength: ClassVar[bool] = False

    name: Literal["sprt"] = "sprt"
    games: int = Field(default=20, ge=2, multiple_of=2)
    """Games of a round: at least the number of simultaneous games; even, because two share an opening."""
    rounds: int = Field(default=100, ge=1)
    """Maximum number of rounds, then undecided."""
    test: Sprt = Sprt()

    @property
    def counts_games(self) -> bool:
        """Never."""
        return False

    def next_round(
        self,
        entries: Sequence[Competitor],
        played: Sequence[PlayedPairing],
        seed: Seed,  # noqa: ARG002
    ) -> list[Pairing]:
        """The pairing until the test is decided."""
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
        """The test may end after any round."""
        return 0

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The second seed: the first is tested."""
        return by_seed(entries)[1].id

    def state(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> SprtState:
        """State of the test."""
        first = by_seed(entries)[0]
        games = [game for each in played for game in each.games]
        return self.test.state(MatchCounts.of_results(games, first.id))
