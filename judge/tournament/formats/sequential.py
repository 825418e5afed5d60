"""A sequential test: two agents play until the test is decided.

Pairings count in the order of the draw, each when all earlier ones are over (docs/organise/first-contest.md).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

from pydantic import Field

from judge.contest_games import GameContent, GameResult, Pairing, without_copied_pairs
from judge.record.seeds import Seed
from judge.statistics.match_estimate import MatchCounts
from judge.statistics.sprt import Sprt, SprtDecision, SprtState
from judge.tournament.formats.base import Competitor, Rounds, TournamentFormat, by_seed
from judge.tournament.results import PlayedPairing


@dataclass(frozen=True, slots=True)
class SprtProgress:
    """The test after some pairings."""

    counts: MatchCounts
    state: SprtState
    new: frozenset[GameContent] = frozenset()
    """Unseen games."""

    @property
    def is_decided(self) -> bool:
        return self.state.decision is not SprtDecision.GO_ON


class Sequential(TournamentFormat):
    """A match of two agents, which ends when its result is significant (SPRT)."""

    waits: ClassVar[bool] = False
    agents: ClassVar[tuple[int, int]] = (2, 2)
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
        return False

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        if len(entries) != 2:
            return []
        last = max((each.pairing for each in played), key=lambda pairing: pairing.round, default=None)
        following = self.pairing_after(entries, last)
        if not all(entry.active for entry in entries) or following.round > self.rounds:
            return []
        return [following] if self.state(entries, played).decision is SprtDecision.GO_ON else []

    def pairing_after(self, entries: Sequence[Competitor], last: Pairing | None) -> Pairing:
        first, second = by_seed(entries)
        (pairing,) = Rounds([] if last is None else [last]).add([(first.id, second.id, "")])
        return pairing

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        return 0

    def base(self, entries: Sequence[Competitor]) -> str | None:
        """The second seed: the first is tested."""
        return by_seed(entries)[1].id

    def state(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> SprtState:
        """State of the test after the pairings that count."""
        progress, agent = self.progress(), by_seed(entries)[0].id
        seen: set[GameContent] = set()
        for each in played:
            if not each.is_over or progress.is_decided:
                break
            progress = self.progress_with(progress, each.games, agent, seen)
            seen |= progress.new
        return progress.state

    def progress(self) -> SprtProgress:
        """Before the first pairing."""
        counts = MatchCounts.of_numbers([0] * 6)
        return SprtProgress(counts, _state(self.test, counts))

    def progress_with(
        self, progress: SprtProgress, games: Iterable[GameResult], agent: str, seen: Collection[GameContent] = ()
    ) -> SprtProgress:
        """With the next pairing, unless `seen`. `agent`: the first seed."""
        if not (results := without_copied_pairs(games, seen)):
            return replace(progress, new=frozenset())
        counts = progress.counts.plus(MatchCounts.of_results(results, agent))
        new = frozenset(game.content for game in results if game.content is not None and game.content not in seen)
        return SprtProgress(counts, _state(self.test, counts), new)


@lru_cache(maxsize=1 << 16)
def _state(test: Sprt, counts: MatchCounts) -> SprtState:
    return test.state(counts)
