"""Knockout: the loser of a pairing is out. The best two seeds can only meet in the final."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from judge.base.text import sentence
from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Competitor, Rounds, TournamentFormat, by_seed
from judge.tournament.results import PlayedPairing
from judge.tournament.standings import Tiers, Values


@dataclass(frozen=True, slots=True)
class Tie:
    """A pairing of the bracket; None: free place."""

    top: Competitor | None
    bottom: Competitor | None
    winner: Competitor | None

    @property
    def open_pair(self) -> tuple[Competitor, Competitor] | None:
        """Both agents until all replays have ended."""
        return (self.top, self.bottom) if self.top and self.bottom and not self.winner else None


class Knockout(TournamentFormat):
    """Equal pairings are replayed at most `replays` times; then the better seed advances."""

    orders_by_strength: ClassVar[bool] = False

    places_by = sentence(
        "Places depend on the stage that an agent reached. "
        "The points in this table include all games, so an agent with more points may have an equal or lower "
        "place."
    )

    name: Literal["knockout"] = "knockout"
    replays: int = Field(default=1, ge=0)

    @property
    def counts_games(self) -> bool:
        return False

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """The first undecided stage's pairings; replays are a separate round."""
        pairs = []
        for stage in self.stages(entries, played)[-1:]:
            for table, tie in enumerate(stage):
                if tie.open_pair:
                    better, worse = by_seed(tie.open_pair)
                    pairs.append((better.id, worse.id, "") if table % 2 == 0 else (worse.id, better.id, ""))
        return Rounds(each.pairing for each in played).add(pairs)

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        """Without replays: undrawn pairings of the last known and later stages."""
        stages, met = self.stages(entries, played), {each.pairing.agents for each in played}
        if not stages:
            return 0
        left = [tie.open_pair for tie in stages[-1] if tie.open_pair]
        drawn = sum(frozenset({top.id, bottom.id}) in met for top, bottom in left)
        out = sum(tie.winner is not None and not tie.winner.active for tie in stages[-1])
        return max(0, len(left) - drawn + len(stages[-1]) - 1 - out)

    def stages(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> list[list[Tie]]:
        """Stages up to the first undecided one."""
        meetings: dict[frozenset[str], list[PlayedPairing]] = {}
        for each in played:
            meetings.setdefault(each.pairing.agents, []).append(each)
        standing = bracket(by_seed(entries))
        stages: list[list[Tie]] = []
        while len(standing) > 1 and not any(tie.open_pair for stage in stages[-1:] for tie in stage):
            pairs = zip(standing[::2], standing[1::2], strict=True)
            stages.append([self._tie(top, bottom, meetings) for top, bottom in pairs])
            standing = [tie.winner for tie in stages[-1]]
        return stages

    def rank(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> tuple[Tiers, Values]:
        """Entries by stage, with shared places."""
        reached = {entry.id: 0 for entry in entries}
        for number, stage in enumerate(self.stages(entries, played), 1):
            for tie in stage:
                if tie.winner is not None:
                    reached[tie.winner.id] = number
        tiers = [
            sorted(agent for agent in reached if reached[agent] == stage)
            for stage in sorted(set(reached.values()), reverse=True)
        ]
        return tiers, super().rank(entries, played)[1]

    def _tie(
        self, top: Competitor | None, bottom: Competitor | None, meetings: dict[frozenset[str], list[PlayedPairing]]
    ) -> Tie:
        if top is None or bottom is None:
            return Tie(top, bottom, top or bottom)
        met = meetings.get(frozenset({top.id, bottom.id}), [])
        for each in met:
            lead = each.points_of(top.id) - each.points_of(bottom.id)
            if lead and each.is_over:
                return Tie(top, bottom, top if lead > 0 else bottom)
        better, worse = by_seed([top, bottom])
        if not (top.active and bottom.active):
            return Tie(top, bottom, better if better.active else worse)
        return Tie(top, bottom, better if len(met) > self.replays else None)


def bracket(agents: Sequence[Competitor]) -> list[Competitor | None]:
    """The first stage, two neighbours per pairing: 1-8, 4-5, 2-7, 3-6 for eight agents.

    Unless the number of agents is a power of two, the first seeds have no opponent (None) and advance.
    """
    places = [0]
    while len(places) < len(agents):
        total = 2 * len(places)
        places = [place for seat in places for place in (seat, total - 1 - seat)]
    return [agents[place] if place < len(agents) else None for place in places]
