"""Groups with promotion: round robins, the best of which go on to the next one.

`Groups` plays all of its groups at once and then a final among the best of each (Gomocup 2005). `Leagues` is Gomocup's
ladder since 2009: the last league plays first, its best join the one above, and so on to the first league; what was
played below does not count there.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Self

from pydantic import Field, model_validator

from judge.base.text import sentence
from judge.contest_games import Pairing
from judge.referee.seeds import Seed
from judge.tournament.formats.base import Pair, TournamentFormat, ranked, ranked_by
from judge.tournament.formats.round_robin import berger
from judge.tournament.pairings import Competitor, by_seed, next_number, set_tables
from judge.tournament.results import PlayedPairing
from judge.tournament.standings import Ranking, Tiers, Values

FINAL = "final"


@dataclass(frozen=True, slots=True)
class Group:
    """A round robin within a contest, by its name in `Pairing.group`."""

    name: str
    members: tuple[Competitor, ...]

    def left_to_play(self, cycles: int, played: Sequence[PlayedPairing]) -> list[list[Pair]]:
        """Its rounds with the pairings that are not played yet, without the withdrawn agents."""
        met = Counter(each.pairing.agents for each in played if each.pairing.group == self.name)
        rounds: list[list[Pair]] = []
        for pairs in berger(by_seed(self.members), cycles):
            rounds.append([])
            for first, second in pairs:
                agents = frozenset({first.id, second.id})
                met[agents] -= 1
                if met[agents] < 0 and first.active and second.active:
                    rounds[-1].append((first, second))
        return rounds

    def order(self, played: Sequence[PlayedPairing], ranking: Ranking) -> Tiers:
        """Its members by what was played in it, best first."""
        return ranked(self.members, self.played_in(played), ranking)

    def compared(self, played: Sequence[PlayedPairing], ranking: Ranking) -> Values:
        """What its members have by each criterion, of what was played in it."""
        return ranked_by(self.members, self.played_in(played), ranking)

    def played_in(self, played: Sequence[PlayedPairing]) -> list[PlayedPairing]:
        """What was played in it."""
        return [each for each in played if each.pairing.group == self.name]

    def best(self, played: Sequence[PlayedPairing], ranking: Ranking, count: int, above: str) -> list[Competitor]:
        """The `count` members that advance to the group `above`; of those that share a place the better seed advances.

        An agent that withdrew before it played there does not advance. An agent that has played there stays there, even
        if a later disqualification changes the order here.
        """
        there = {agent for each in played if each.pairing.group == above for agent in each.pairing.agents}
        entry = {entry.id: entry for entry in self.members}
        ordered = [member for tier in self.order(played, ranking) for member in by_seed(entry[agent] for agent in tier)]
        promoted = [member for member in ordered if member.id in there]
        others = [member for member in ordered if member.active and member.id not in there]
        return [*promoted, *others][:count]


class _Staged(TournamentFormat):
    """Stages one after another, each of groups that play at the same time."""

    cycles: int = Field(default=1, ge=1)
    """How often everybody of a group meets everybody."""
    promoted: int = Field(default=2, ge=1)
    """How many of a group go on."""

    def next_round(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        """The next round of the first stage that is not over."""
        rounds = self.next_rounds(entries, played, seed)
        return rounds[0] if rounds else []

    def next_rounds(
        self,
        entries: Sequence[Competitor],
        played: Sequence[PlayedPairing],
        seed: Seed,  # noqa: ARG002 nothing is drawn
    ) -> list[list[Pairing]]:
        """All rounds of the first stage that is not over, which do not depend on each other's results."""
        earlier = [each.pairing for each in played]
        rounds: list[list[Pairing]] = []
        for stage in self.stages(entries, played)[-1:]:
            for pairs in self._left_to_play(stage, played):
                rounds.append(set_tables(pairs, next_number(earlier), earlier))
                earlier += rounds[-1]
        return rounds

    def stages(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> list[list[Group]]:
        """All stages before the first of which pairings are not drawn, and that one."""
        stages: list[list[Group]] = []
        while (stage := self.stage_after(stages, entries, played)) is not None:
            stages.append(stage)
            if self._left_to_play(stage, played):
                break
        return stages

    def reached(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> list[list[Group]]:
        """The stages whose members are known: all that were drawn, and the next one if all games are over."""
        stages = self.stages(entries, played)
        active = {entry.id for entry in entries if entry.active}
        drawn = {each.pairing.group for each in played}
        running = {each.pairing.group for each in played if not each.is_over and each.pairing.agents <= active}
        for number, stage in enumerate(stages, 1):
            is_last = drawn.isdisjoint(group.name for later in stages[number:] for group in later)
            if is_last and not running.isdisjoint(group.name for group in stage):
                return stages[:number]
        return stages

    @abstractmethod
    def stage_after(
        self, stages: Sequence[list[Group]], entries: Sequence[Competitor], played: Sequence[PlayedPairing]
    ) -> list[Group] | None:
        """The stage that follows when all of `stages` is played; None after the last."""

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:
        """The group of the last stage that an agent reached."""
        return {
            member.id: group.name
            for stage in self.reached(entries, played)
            for group in stage
            for member in group.members
        }

    def yet_to_play(self, stages: Sequence[list[Group]], entries: Sequence[Competitor]) -> Tiers:  # noqa: ARG002
        """Those whose first stage comes after `stages`, the best first: nobody, if all begin with the first one."""
        return []

    def order(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Tiers:
        """By the last stage that an agent reached, then by its place there; equal places of two groups are shared."""
        stages = self.reached(entries, played)
        tiers = self.yet_to_play(stages, entries)
        listed = {agent for tier in tiers for agent in tier}
        for stage in reversed(stages):
            orders = [group.order(played, self.ranking) for group in stage]
            for equal in zip_longest(*orders, fillvalue=()):
                tier = sorted({agent for agents in equal for agent in agents} - listed)
                listed.update(tier)
                tiers += [tier] if tier else []
        rest = sorted({entry.id for entry in entries} - listed)
        return [*tiers, rest] if rest else tiers

    def compared(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Values:
        """What each agent has in the last group that it reached."""
        values = dict(ranked_by(entries, [], self.ranking))
        for stage in self.reached(entries, played):
            for group in stage:
                values |= group.compared(played, self.ranking)
        return values

    def _left_to_play(
        self, stage: Sequence[Group], played: Sequence[PlayedPairing]
    ) -> list[list[tuple[str, str, str]]]:
        """The rounds to come, the groups side by side, each pair with its group's name."""
        by_group = [
            [
                [(first.id, second.id, group.name) for first, second in pairs]
                for pairs in group.left_to_play(self.cycles, played)
            ]
            for group in stage
        ]
        rounds = [[pair for pairs in together for pair in pairs] for together in zip_longest(*by_group, fillvalue=[])]
        return [pairs for pairs in rounds if pairs]


class Groups(_Staged):
    """So many groups of about the same strength, then a final of the best of each."""

    places_by = sentence(
        "Places are by the last group that an agent reached and by its results there. The points in this "
        "table are of all games, so who has more of them may have the same place or a worse one."
    )

    name: Literal["groups"] = "groups"
    groups: int = Field(default=2, ge=2)

    def stage_name(self, group: str) -> str:
        """Groups have letters."""
        return sentence("Final") if group == FINAL else sentence(f"Group {group}")

    def stage_after(
        self, stages: Sequence[list[Group]], entries: Sequence[Competitor], played: Sequence[PlayedPairing]
    ) -> list[Group] | None:
        """The groups, then the final."""
        if not stages:
            return [
                Group(chr(ord("A") + number), tuple(members))
                for number, members in enumerate(dealt(by_seed(entries), self.groups))
            ]
        if len(stages) == 1:
            best = [group.best(played, self.ranking, self.promoted, FINAL) for group in stages[0]]
            return [Group(FINAL, tuple(entry for members in best for entry in members))]
        return None


class Leagues(_Staged):
    """Leagues by seed, played from the last to the first, the best of each joining the one above."""

    places_by = sentence(
        "Places are by the last league that an agent reached and by its results there. The points in "
        "this table are of all games, so who has more of them may have the same place or a worse one."
    )

    name: Literal["leagues"] = "leagues"
    sizes: tuple[int, ...] = (6, 6, 6)
    """How many the leagues hold before anybody is promoted, the first one first; the rest are a league of their own."""
    promoted: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _holds_somebody(self) -> Self:
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError("sizes: give at least one league, each of one agent or more")
        return self

    def stage_after(
        self, stages: Sequence[list[Group]], entries: Sequence[Competitor], played: Sequence[PlayedPairing]
    ) -> list[Group] | None:
        """The league above the one that was played last, with the agents that advance to it."""
        drawn = cut(by_seed(entries), self.sizes)
        number = len(drawn) - len(stages)
        if number == 0:
            return None
        name = str(number)
        risen = stages[-1][0].best(played, self.ranking, self.promoted, name) if stages else []
        return [Group(name, (*drawn[number - 1], *risen))]

    def stage_name(self, group: str) -> str:
        """Leagues have numbers, 1 for the first."""
        return sentence(f"League {group}")

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:
        """The last league that an agent reached, or the one that it will begin in."""
        drawn = enumerate(cut(by_seed(entries), self.sizes), 1)
        begins = {entry.id: str(number) for number, league in drawn for entry in league}
        return {**begins, **super().groups_now(entries, played)}

    def yet_to_play(self, stages: Sequence[list[Group]], entries: Sequence[Competitor]) -> Tiers:
        """The members of the leagues above, a place for each league."""
        drawn = cut(by_seed(entries), self.sizes)
        return [sorted(entry.id for entry in league) for league in drawn[: len(drawn) - len(stages)]]


def dealt(entries: Sequence[Competitor], groups: int) -> list[list[Competitor]]:
    """Entries dealt to groups there and back: 1, 4, 5, 8 and 2, 3, 6, 7 for two."""
    hands: list[list[Competitor]] = [[] for _ in range(groups)]
    for place, entry in enumerate(entries):
        lap, seat = divmod(place, groups)
        hands[seat if lap % 2 == 0 else groups - 1 - seat].append(entry)
    return hands


def cut(entries: Sequence[Competitor], sizes: Sequence[int]) -> list[list[Competitor]]:
    """Entries cut into leagues of `sizes` and the rest; leagues that nobody is left for are not there."""
    leagues: list[list[Competitor]] = []
    start = 0
    for size in [*sizes, len(entries)]:
        if start < len(entries):
            leagues.append(list(entries[start : start + size]))
        start += size
    return leagues
