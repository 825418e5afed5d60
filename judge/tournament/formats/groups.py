"""Groups with promotion: round robins whose best agents advance.

`Groups` plays all groups at once, then a final of the best. In `Leagues` the last league plays first, and its best join
the league above. Lower results do not count there.
"""

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest
from typing import Literal, Self, TypeVar

from pydantic import Field, model_validator

from judge.base.parsing import FailFastTuple, FrozenModel
from judge.base.text import sentence
from judge.contest_games import Pairing
from judge.record.seeds import Seed
from judge.tournament.formats.base import Competitor, Pair, Rounds, SkippingFormat, by_seed, rank
from judge.tournament.formats.round_robin import berger
from judge.tournament.results import PlayedPairing
from judge.tournament.standings import Ranking, Tiers, Values

FINAL = "final"


class Seats(FrozenModel):
    """The agents of the first league at its start."""

    previous: str = Field(default="", max_length=1000)
    """Last year's contest or its export, relative to this file: all but the last agents of its first league."""
    down: int | None = Field(default=None, ge=0)
    """Number of last agents without a seat; by default `promoted`."""
    successors: Mapping[str, str] = {}
    """New versions that keep a seat, by the name of the former version."""
    agents: FailFastTuple[str] = ()
    """Seats given by hand. In a contest that has begun: all seats."""

    @model_validator(mode="after")
    def _has_seats(self) -> Self:
        if not self.previous and not self.agents:
            raise ValueError("no seats: name last year's contest in previous, or set agents")
        if len(set(self.agents)) < len(self.agents):
            raise ValueError("agents names an agent twice: leave one out")
        if self.successors and not self.previous:
            raise ValueError("successors need previous: last year's contest")
        return self


@dataclass(frozen=True, slots=True)
class Group:
    """A round robin within a contest, `Pairing.group`."""

    name: str
    members: tuple[Competitor, ...]

    def remaining_pairs(self, cycles: int, played: Sequence[PlayedPairing]) -> list[list[Pair]]:
        met = Counter(each.pairing.agents for each in self.played_in(played))
        rounds: list[list[Pair]] = []
        for pairs in berger(by_seed(self.members), cycles):
            rounds.append([])
            for first, second in pairs:
                agents = frozenset({first.id, second.id})
                met[agents] -= 1
                if met[agents] < 0 and first.active and second.active:
                    rounds[-1].append((first, second))
        return rounds

    def played_in(self, played: Sequence[PlayedPairing]) -> list[PlayedPairing]:
        return [each for each in played if each.pairing.group == self.name]

    def rank(self, played: Sequence[PlayedPairing], ranking: Ranking) -> tuple[Tiers, Values]:
        return rank(self.members, self.played_in(played), ranking)

    def best(
        self, played: Sequence[PlayedPairing], ranking: Ranking, count: int, above: str, new: Collection[str] = ()
    ) -> list[Competitor]:
        """The `count` members that advance to `above`; the better seed decides a shared place. More advance if all up
        to a later place are `new`.

        An agent that has played there stays, even if a disqualification changes the order. One that withdrew before
        does not advance.
        """
        there = {agent for each in played if each.pairing.group == above for agent in each.pairing.agents}
        entry = {entry.id: entry for entry in self.members}
        tiers, _ = self.rank(played, ranking)
        ordered = [member for tier in tiers for member in by_seed(entry[agent] for agent in tier)]
        promoted = [member for member in ordered if member.id in there]
        others = [member for member in ordered if member.active and member.id not in there]
        if new and promoted:
            return promoted
        return [*promoted, *others][: promoted_count([member.id for member in others], count, new)]


class _Staged(SkippingFormat):
    cycles: int = Field(default=1, ge=1)
    """Number of times that members of a group meet."""
    promoted: int = Field(default=2, ge=1)
    """Number of members of a group that advance."""

    def next(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing], seed: Seed) -> list[Pairing]:
        drawn = Rounds(each.pairing for each in played)
        for stage in self.stages(entries, played)[-1:]:
            for pairs in self._remaining_pairs(stage, played):
                drawn.add(pairs)
        return drawn.pairings[len(played) :]

    @property
    @abstractmethod
    def first_stage(self) -> frozenset[str]:
        """Groups with members known in advance."""

    @property
    def counts_games(self) -> bool:
        return self.skip is None or (bool(self.skip.groups) and self.first_stage.issuperset(self.skip.groups))

    def to_come(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> int:
        if self.counts_games:
            return super().to_come(entries, played)
        return 0 if played else len(self.next(entries, played, 0))

    def stages(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> list[list[Group]]:
        """Up to the first stage with undrawn pairings."""
        stages: list[list[Group]] = []
        while (stage := self.stage_after(stages, entries, played)) is not None:
            stages.append(stage)
            if self._remaining_pairs(stage, played):
                break
        return stages

    def reached(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> list[list[Group]]:
        """Drawn stages, and the next one if all games are over."""
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
    ) -> list[Group] | None: ...

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:
        return {
            member.id: group.name
            for stage in self.reached(entries, played)
            for group in stage
            for member in group.members
        }

    def yet_to_play(self, stages: Sequence[list[Group]], entries: Sequence[Competitor]) -> Tiers:
        return []

    def rank(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> tuple[Tiers, Values]:
        stages = self.reached(entries, played)
        tiers = self.yet_to_play(stages, entries)
        listed = {agent for tier in tiers for agent in tier}
        ranks = [[group.rank(played, self.ranking) for group in stage] for stage in stages]
        for stage in reversed(ranks):
            by_place: defaultdict[int, set[str]] = defaultdict(set)
            for order, _ in stage:
                places = accumulate(map(len, order), initial=1)
                for place, equal in zip(places, order, strict=False):
                    by_place[place].update(equal)
            for _, agents in sorted(by_place.items()):
                tier = sorted(agents - listed)
                listed.update(tier)
                tiers += [tier] if tier else []
        rest = sorted({entry.id for entry in entries} - listed)
        values = dict(rank(entries, [], self.ranking)[1])
        for stage in ranks:
            for _, of_group in stage:
                values |= of_group
        return [*tiers, rest] if rest else tiers, values

    def _remaining_pairs(
        self, stage: Sequence[Group], played: Sequence[PlayedPairing]
    ) -> list[list[tuple[str, str, str]]]:
        by_group = [
            [
                [(first.id, second.id, group.name) for first, second in pairs]
                for pairs in self.without_skipped(group.remaining_pairs(self.cycles, played), group.name)
            ]
            for group in stage
        ]
        rounds = [[pair for pairs in together for pair in pairs] for together in zip_longest(*by_group, fillvalue=[])]
        return [pairs for pairs in rounds if pairs]


class Groups(_Staged):
    """Groups of equal strength, then a final of the best."""

    places_by = sentence(
        "Places depend on the last group that an agent reached and on its results there. "
        "The points in this table include all games, so an agent with more points may have an equal or lower "
        "place."
    )

    name: Literal["groups"] = "groups"
    groups: int = Field(default=2, ge=2)

    @property
    def first_stage(self) -> frozenset[str]:
        """All but the final."""
        return frozenset(_letter(number) for number in range(self.groups))

    def stage_name(self, group: str) -> str:
        return sentence("Final") if group == FINAL else sentence(f"Group {group}")

    def stage_after(
        self, stages: Sequence[list[Group]], entries: Sequence[Competitor], played: Sequence[PlayedPairing]
    ) -> list[Group] | None:
        if not stages:
            return [
                Group(_letter(number), tuple(members))
                for number, members in enumerate(deal_into_groups(by_seed(entries), self.groups))
            ]
        if len(stages) == 1:
            best = [group.best(played, self.ranking, self.promoted, FINAL) for group in stages[0]]
            return [Group(FINAL, tuple(entry for members in best for entry in members))]
        return None


def _letter(number: int) -> str:
    return chr(ord("A") + number)


class Leagues(_Staged):
    """Leagues by seed, played from the last to the first."""

    places_by = sentence(
        "Places depend on the last league that an agent reached and on its results there. "
        "The points in this table include all games, so an agent with more points may have an equal or lower "
        "place."
    )

    name: Literal["leagues"] = "leagues"
    sizes: FailFastTuple[int] = (6, 6, 6)
    """Sizes before promotion, first league first. The other agents form another league."""
    promoted: int = Field(default=3, ge=1)
    promotes_new: bool = False
    """If the best agents of a league are all new (without a rating in `skip`), all of them advance, even more than
    `promoted`."""
    seats: Seats | None = None
    """The agents of the first league; replaces the first size."""

    @property
    def counts_games(self) -> bool:
        """Not if more agents may advance."""
        return super().counts_games and not self.promotes_new

    @model_validator(mode="after")
    def _holds_somebody(self) -> Self:
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError("sizes: give at least one league, each with at least one agent")
        if self.promotes_new and self.skip is None:
            raise ValueError("promotes_new needs skip: agents without a rating are new")
        return self

    def leagues(self, entries: Sequence[Competitor]) -> list[list[Competitor]]:
        """Members before promotion, first league first."""
        ordered = by_seed(entries)
        if self.seats is None:
            return cut(ordered, self.sizes)
        first = [entry for entry in ordered if entry.id in self.seats.agents]
        return [first, *cut([entry for entry in ordered if entry.id not in self.seats.agents], self.sizes[1:])]

    def league_sizes(self, count: int) -> list[int]:
        """Numbers of members of `count` entries before promotion, at most, first league first."""
        sizes = self.sizes if self.seats is None else (len(self.seats.agents), *self.sizes[1:])
        return [len(league) for league in cut(range(count), sizes)]

    @property
    def first_stage(self) -> frozenset[str]:
        """The last league."""
        return frozenset({str(len(self.sizes) + 1)})

    def stage_after(
        self, stages: Sequence[list[Group]], entries: Sequence[Competitor], played: Sequence[PlayedPairing]
    ) -> list[Group] | None:
        drawn = self.leagues(entries)
        number = len(drawn) - len(stages)
        if number == 0:
            return None
        name = str(number)
        new = {entry.id for entry in entries if self.promotes_new and self.skip and not self.skip.rating_of(entry.id)}
        risen = stages[-1][0].best(played, self.ranking, self.promoted, name, new) if stages else []
        return [Group(name, (*drawn[number - 1], *risen))]

    def stage_name(self, group: str) -> str:
        return sentence(f"League {group}")

    def groups_now(self, entries: Sequence[Competitor], played: Sequence[PlayedPairing]) -> Mapping[str, str]:
        drawn = enumerate(self.leagues(entries), 1)
        begins = {entry.id: str(number) for number, league in drawn for entry in league}
        return {**begins, **super().groups_now(entries, played)}

    def yet_to_play(self, stages: Sequence[list[Group]], entries: Sequence[Competitor]) -> Tiers:
        """One place per league."""
        drawn = self.leagues(entries)
        return [sorted(entry.id for entry in league) for league in drawn[: len(drawn) - len(stages)]]


def deal_into_groups(entries: Sequence[Competitor], groups: int) -> list[list[Competitor]]:
    """Deal in alternating direction: 1, 4, 5, 8 and 2, 3, 6, 7 for two groups."""
    hands: list[list[Competitor]] = [[] for _ in range(groups)]
    for place, entry in enumerate(entries):
        lap, seat = divmod(place, groups)
        hands[seat if lap % 2 == 0 else groups - 1 - seat].append(entry)
    return hands


Item = TypeVar("Item")


def cut(entries: Sequence[Item], sizes: Sequence[int]) -> list[list[Item]]:
    """Leagues of `sizes` and one of the rest."""
    bounds = [*accumulate(sizes, initial=0), len(entries)]
    return [list(entries[start:end]) for start, end in pairwise(bounds) if start < len(entries)]


def promoted_count(order: Sequence[str], count: int, new: Collection[str]) -> int:
    """`count`, or more if all agents up to a later place are `new`."""
    old = (place for place, agent in enumerate(order) if agent not in new)
    return max(count, next(old, len(order)))


def seated(previous: Sequence[str], down: int, entries: Collection[str], successors: Mapping[str, str]) -> list[str]:
    """Agents of a league at its start: those of `previous`, without the last `down` places.

    `previous` is last year's final order, disqualified agents last. `successors` is as in `Seats`. Seats
    of agents that do not enter stay empty.
    """
    kept = previous[: max(0, len(previous) - down)]
    return [agent for agent in (successors.get(former, former) for former in kept) if agent in entries]
