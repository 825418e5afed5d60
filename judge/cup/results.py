"""Results of a cup: all places in all leagues, and medals."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field

from judge.base.parsing import FailFastTuple, FrozenModel
from judge.contest.contest import Contest, open_store
from judge.contest_view.export import load_claimed
from judge.contest_view.view import ContestView
from judge.cup.plan import LEAGUE_NAME, Cup, League, PlannedCup
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.groups import promoted_count
from judge.tournament.standings import TableLine

PODIUM = 3
"""Number of places with a medal."""


class Medals(FrozenModel):
    """An agent's medals."""

    agent: str
    gold: int
    silver: int
    bronze: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of gold, silver and bronze medals."""
        return self.gold, self.silver, self.bronze


@dataclass(frozen=True, kw_only=True)
class LeagueTerms:
    """A league without its results."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=LEAGUE_NAME)]
    about: str = ""
    after: str = ""
    promoted: Annotated[int, Field(ge=0, exclude_if=lambda count: not count)] = 0
    """Number of agents advancing from `after`."""
    promotes_new: Annotated[bool, Field(exclude_if=lambda promotes: not promotes)] = False
    medals: bool = True

    @classmethod
    def of(cls, league: "League | LeagueTerms", **more: Any) -> Self:
        """The same terms, with the fields that `cls` adds."""
        terms = {field.name: getattr(league, field.name) for field in fields(LeagueTerms)}
        return cls(**terms | {"promoted": league.promoted if league.after else 0} | more)


@dataclass(frozen=True, kw_only=True)
class ExportedLeague(LeagueTerms):
    """A league in a cup's document. `contest`, `manifest` and `key` are empty before it begins."""

    contest: str = ""
    manifest: str = ""
    """SHA-256 of its export's manifest."""
    key: str = ""
    """Fingerprint of the key that signed it."""
    is_over: bool = False
    places: FailFastTuple[tuple[int, str]] = ()
    """Place and agent, best first, without disqualified agents."""


class CupDocument(FrozenModel):
    """The file cup.json of an exported cup."""

    format: Literal["judge-cup-1"] = "judge-cup-1"
    name: str
    about: str = ""
    leagues: FailFastTuple[ExportedLeague]
    medals: FailFastTuple[Medals] = ()

    def encoded(self) -> bytes:
        return f"{self.model_dump_json(indent=1)}\n".encode()


@dataclass(frozen=True, kw_only=True)
class LeagueResults(LeagueTerms):
    """A league; `contest` is None before it begins."""

    contest: ContestView | None

    @cached_property
    def places(self) -> Sequence[TableLine]:
        """The table's lines, best first, without disqualified agents."""
        if self.contest is None:
            return ()
        return [line for line in self.contest.table.lines if line.agent not in self.contest.out]

    @property
    def is_over(self) -> bool:
        """Whether its places are final."""
        return self.contest is not None and self.contest.is_over

    @property
    def is_provisional(self) -> bool:
        """Whether it has results and is not over."""
        return self.contest is not None and bool(self.contest.played) and not self.is_over

    @property
    def leaders(self) -> Sequence[TableLine]:
        """Lines of the first three places, final or provisional; empty before the first result."""
        has_places = self.is_over or self.is_provisional
        return [line for line in self.places if line.place <= PODIUM] if has_places else ()

    @property
    def podium(self) -> Sequence[TableLine]:
        """Lines with a medal; empty before the end. An agent that failed in each game gets no medal."""
        if not (self.is_over and self.medals):
            return ()
        return [line for line in self.leaders if line.done.failures < line.done.games]


@dataclass(frozen=True)
class CupResults:
    """A cup's leagues with their results."""

    name: str
    about: str
    leagues: Sequence[LeagueResults]

    @cached_property
    def agents(self) -> Sequence[str]:
        """All playing agents, by name."""
        contests = [league.contest for league in self.leagues if league.contest is not None]
        return sorted({agent for contest in contests for agent in contest.by_name})

    @cached_property
    def medals(self) -> Sequence[Medals]:
        """The agents with medals: most gold medals first, then silver, then bronze."""
        counts: dict[str, list[int]] = {}
        for league in self.leagues:
            for line in league.podium:
                counts.setdefault(line.agent, [0] * PODIUM)[line.place - 1] += 1
        ordered = sorted(counts.items(), key=lambda item: ([-count for count in item[1]], item[0]))
        return [Medals(agent=agent, gold=gold, silver=silver, bronze=last) for agent, (gold, silver, last) in ordered]

    def of_agent(self, agent: str) -> Iterator[tuple[LeagueResults, ContestView]]:
        """Leagues in which an agent plays."""
        for league in self.leagues:
            if league.contest is not None and agent in league.contest.by_name:
                yield league, league.contest

    def document(self, signed: Mapping[str, tuple[str, str]]) -> CupDocument:
        """The results as a document. `signed`: each export's manifest and key."""
        return CupDocument(
            name=self.name,
            about=self.about,
            leagues=tuple(
                ExportedLeague.of(
                    league,
                    contest="" if league.contest is None else league.contest.name,
                    manifest=signed.get(league.name, ("", ""))[0],
                    key=signed.get(league.name, ("", ""))[1],
                    is_over=league.is_over,
                    places=tuple((line.place, line.agent) for line in league.places),
                )
                for league in self.leagues
            ),
            medals=tuple(self.medals),
        )


def load_results(planned: PlannedCup) -> CupResults:
    """Current results from the leagues' stores."""
    contests = {}
    for league in planned.cup.leagues:
        begun = planned.begun(league.name)
        if begun is not None:
            with closing(open_store(begun)) as store:
                contests[league.name] = Contest(store, begun).read()
    return current_results(planned.cup, contests)


def read_exported(cup: Cup | CupDocument, directory: Path, names: Collection[str]) -> CupResults:
    """Results computed from the claims of the exported leagues `names`. Raises InputError."""
    return current_results(cup, {name: load_claimed(directory / name) for name in names})


def advancing(below: ContestView, promoted: int, *, promotes_new: bool) -> Sequence[str]:
    """Agents that advance from the league `below`, best first. A disqualified or withdrawn agent does not advance."""
    order = [line.agent for line in below.table.lines if line.agent not in below.absent]
    skip = skip_of(below.snapshot.format) if promotes_new else None
    new = () if skip is None else [agent for agent in order if not skip.rating_of(agent)]
    return order[: promoted_count(order, promoted, new)]


def current_results(cup: Cup | CupDocument, contests: Mapping[str, ContestView | None]) -> CupResults:
    """Results of contests by league; a league without one has not begun."""
    leagues = [LeagueResults.of(league, contest=contests.get(league.name)) for league in cup.leagues]
    return CupResults(cup.name, cup.about, leagues)
