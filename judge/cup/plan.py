"""Reads cup.toml. Each league is an ordinary contest in a folder next to it.

The announcement has the leagues with digests of their terms, fixed before the start: each league's log begins with its
SHA-256.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, model_validator

from judge.base.durable_files import is_directory, is_file, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.parsing import FailFastTuple, FrozenModel, canonical_json
from judge.base.resources import house_agent_names
from judge.base.text import quote, suggest
from judge.base.toml_files import parse, place_of, read_text, toml_value, validated
from judge.contest.begin import announce
from judge.contest.contest import has_begun, open_store
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.contest.plan import (
    NAME,
    AgentPlan,
    CupReference,
    Plan,
    Planned,
    StartPlan,
    SubmissionsPlan,
    WitnessPlan,
    contradictions,
    load_plan,
    policy_of,
)
from judge.contest.plan_edits import move_paths
from judge.journal.events import Announced
from judge.record.policy import Policy
from judge.record.spec import OpeningField
from judge.submissions.intake import IntakePolicy
from judge.tournament.formats.base import skip_of
from judge.translations.language import CODES

ANNOUNCEMENT = "announcement.json"

LEAGUE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,30}$"
"""Regular expression of names of leagues and their folders."""

RESERVED = frozenset({"agents", "data", *CODES})
"""Folders of an exported cup other than leagues."""

SHARED = ("zone", "store", "submissions", "contest", "intake", "agents_per_author", "witnesses")
"""Keys of contest.toml that the cup sets for leagues without their own."""

_HEAD = f"# judge writes this file from {CUP_FILE}. Change that file instead."

_OWN = frozenset({"name", "after", "promoted", "promotes_new", "medals", "agents"})


class League(Plan):
    """A contest of the cup: all keys of contest.toml except `agents`."""

    name: str = Field(pattern=LEAGUE_NAME)
    """Name of the league and of its folder. The contest is named CUP-LEAGUE."""
    after: str = ""
    """An earlier league of this file. This one begins after its end, and its best agents also play here."""
    promoted: int = Field(default=4, ge=1)
    """Number of agents of `after` that also play here."""
    promotes_new: bool = False
    """If the best agents of `after` are all new (without a rating in its `skip`), all of them, even more than
    `promoted`."""
    medals: bool = True
    """Whether its first three places count as medals."""

    @model_validator(mode="after")
    def _has_no_agents(self) -> "League":
        if self.cup:
            raise ValueError("judge writes the key cup; remove it")
        if self.agents:
            raise ValueError("agents of a cup are in [[entries]], each with its leagues; remove the league's agents")
        for key in ("promoted", "promotes_new"):
            if key in self.model_fields_set and not self.after:
                raise ValueError(f"{key} needs after: the league whose best agents also play here")
        return self


class CupEntry(AgentPlan):
    """An agent of the cup."""

    leagues: tuple[str, ...] = Field(min_length=1)
    """Names of the leagues in which it plays."""

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return self.name or self.path


class CupMachine(FrozenModel):
    """A machine that plays, for estimates and pages."""

    name: str = Field(pattern=NAME)
    cores: int = Field(ge=1)
    """Cores for games. judge needs one more."""


class Cup(FrozenModel):
    """A cup.toml."""

    name: str = Field(pattern=NAME)
    """Name of the cup."""
    about: str = ""
    """One sentence for the pages."""
    zone: str = ""
    """Time zone of times without an offset, such as Europe/Prague."""
    store: str = "sqlite:///contest.db"
    """URL of the database; an SQLite path is relative to each league's folder."""
    leagues_at_once: int = Field(default=0, ge=0)
    """Maximum number of leagues that play at the same time; 0: no limit."""
    submissions: SubmissionsPlan = SubmissionsPlan()
    contest: StartPlan = StartPlan()
    intake: IntakePolicy = IntakePolicy()
    agents_per_author: int = Field(default=0, ge=0)
    """Maximum number of agents of one author in a league; 0: no limit."""
    witnesses: tuple[WitnessPlan, ...] = Field(default=(), max_length=16)
    machines: tuple[CupMachine, ...] = ()
    leagues: tuple[League, ...] = Field(min_length=1, max_length=100)
    entries: tuple[CupEntry, ...] = ()

    @property
    def by_name(self) -> Mapping[str, League]:
        return {league.name: league for league in self.leagues}


class AnnouncedLeague(FrozenModel):
    """`terms`: digest of policy, format and openings."""

    name: str
    contest: str
    after: str
    promoted: int
    promotes_new: bool
    medals: bool
    terms: str = Field(pattern=r"^[0-9a-f]{64}$")


class Announcement(FrozenModel):
    """The file announcement.json."""

    format: Literal["judge-cup-announcement-1"] = "judge-cup-announcement-1"
    name: str
    leagues: FailFastTuple[AnnouncedLeague]

    def encoded(self) -> bytes:
        return f"{self.model_dump_json(indent=1)}\n".encode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.encoded()).hexdigest()

    def differences(self, other: "Announcement") -> Iterator[str]:
        """Changed leagues."""
        mine, others = ({league.name: league for league in each.leagues} for each in (self, other))
        yield from (f"{name} was removed" for name in mine if name not in others)
        yield from (f"{name} was added" for name in others if name not in mine)
        yield from (f"{name} was changed" for name, league in mine.items() if others.get(name, league) != league)


@dataclass(frozen=True)
class PlannedCup:
    """A cup.toml with the policies of its leagues."""

    path: Path
    cup: Cup
    documents: Mapping[str, Mapping[str, Any]]
    """The leagues' tables as read, with the cup's shared keys."""
    policies: Mapping[str, Policy]

    @property
    def folder(self) -> Path:
        return self.path.parent

    def file_of(self, league: str) -> Path:
        """Path of the league's contest.toml, which may be missing."""
        return self.folder / league / PLAN_FILE

    def contest(self, league: str) -> Planned:
        """The league's contest as cup.toml describes it, without its file. Paths in it are absolute."""
        document = self._document(league, f"{self.folder.resolve()}/")
        return Planned(self.file_of(league), "", Plan.model_validate(document), self.policies[league])

    @cached_property
    def announcement(self) -> Announcement:
        """Raises InputError."""
        leagues = tuple(
            AnnouncedLeague(
                name=league.name,
                contest=f"{self.cup.name}-{league.name}",
                after=league.after,
                promoted=league.promoted if league.after else 0,
                promotes_new=league.promotes_new,
                medals=league.medals,
                terms=self._terms(league.name),
            )
            for league in self.cup.leagues
        )
        return Announcement(name=self.cup.name, leagues=leagues)

    @property
    def reference(self) -> CupReference:
        """Raises InputError."""
        return CupReference(name=self.cup.name, announcement=self.announcement.digest)

    def _terms(self, league: str) -> str:
        plan = Plan.model_validate(self._document(league, "../"))
        openings = _OPENINGS.dump_json(tuple(self.contest(league).openings()))
        document = {
            **plan.model_dump(mode="json", include={"name", "duel", "failures", "seed", "seeding", "box"}),
            "policy": json.loads(self.policies[league].model_dump_json()),
            "format": json.loads(plan.format.model_dump_json()),
            "clocks": dict(plan.clocks),
            "openings": json.loads(openings),
            "shuffle": plan.openings.shuffle,
            "transform": plan.openings.transform,
        }
        return league_terms(document)

    def announce(self) -> Mapping[str, str | None]:
        """Start each league's log; return commitments, or None with a fixed seed. Raises HostError and InputError."""
        self.refuse_changes()
        commitments = {}
        for league in self.cup.leagues:
            contest = self.begun(league.name) or self.write(league.name, is_complete=not league.after)
            with closing(open_store(contest)) as store:
                announce(store, contest)
                commitments[league.name] = store.leaves(contest.name, 0, 1)[0].digest
        return commitments

    def refuse_changes(self) -> None:
        """Raises InputError if other leagues were announced."""
        for league in self.cup.leagues:
            planned = self._stored(league.name)
            if planned is None:
                continue
            with closing(open_store(planned)) as store:
                announced = [line.change for line in store.leaves(planned.name, 0, 1)]
            if announced == [Announced()]:
                raise InputError(f"{self.file_of(league.name)}: announced without its cup; use a new folder and name")
            if announced and announced != [self.reference.announced]:
                raise InputError(f"{self.path}: the leagues differ from those that were announced: {self._changes()}")

    def _stored(self, league: str) -> Planned | None:
        planned = load_plan(self.file_of(league)) if self._former_text(league) else None
        return None if planned is None or planned.has_no_store else planned

    def _changes(self) -> str:
        found: Sequence[str] = ()
        with suppress(InputError, ValueError):
            former = Announcement.model_validate_json(read_text(self.folder / ANNOUNCEMENT, "an announcement"))
            found = [*former.differences(self.announcement)]
        return f"{', '.join(found) or 'its name or order'}; restore {self.path.name}, or use a new folder and name"

    @cached_property
    def _is_announced(self) -> bool:
        self.refuse_changes()
        path = self.folder / ANNOUNCEMENT
        with os_errors_as(HostError, path):
            write_durably(path, self.announcement.encoded())
        return True

    def begun(self, league: str) -> Planned | None:
        """The league's contest from its folder, if begun. Raises InputError."""
        planned = self._stored(league)
        if planned is None:
            return None
        with closing(open_store(planned)) as store:
            return planned if has_begun(store, planned) else None

    def write(self, league: str, promoted: Sequence[AgentPlan] = (), *, is_complete: bool = True) -> Planned:
        """Write the league's contest.toml unless it has begun or is unchanged; return the contest.

        Raises HostError, and InputError if the file was not written by this function.
        """
        path = self.file_of(league)
        document = self._document(league, "../", promoted)
        document["cup"] = self.reference.model_dump()
        if not is_complete:
            document.pop("contest", None)
        lines = [f"{key} = {toml_value(value)}" for key, value in document.items()]
        text = "\n".join([_HEAD, *lines, ""])
        if self._former_text(league) != text and self.begun(league) is None and self._is_announced:
            with os_errors_as(HostError, path):
                path.parent.mkdir(exist_ok=True)
                write_durably(path, text.encode())
        return load_plan(path)

    def _former_text(self, league: str) -> str:
        path = self.file_of(league)
        text = read_text(path, "a contest file") if is_file(path) else ""
        if text and not text.startswith(_HEAD):
            raise InputError(f"{path}: not written by judge; rename the league {league}, or remove the file")
        return text

    def _document(self, league: str, prefix: str, promoted: Sequence[AgentPlan] = ()) -> dict[str, Any]:
        given = {key: value for key, value in self.documents[league].items() if key not in _OWN}
        document: dict[str, Any] = deepcopy(given)
        move_paths(document, partial(_prefixed, prefix=prefix))
        document["name"] = f"{self.cup.name}-{league}"
        document["agents"] = []
        for agent in (*(entry for entry in self.cup.entries if league in entry.leagues), *promoted):
            path = self.folder / agent.path
            is_name = agent.path in house_agent_names() and not is_file(path) and not is_directory(path)
            listed = {"path": agent.path if is_name else _prefixed(agent.path, prefix)}
            document["agents"].append(listed | ({"name": agent.name} if agent.name else {}))
        return document


_TERMS = ("name", "policy", "format", "duel", "failures", "seed", "seeding", "openings", "shuffle", "transform", "box")


def league_terms(document: Mapping[str, Any]) -> str:
    """SHA-256 of a contest's terms that do not depend on agents."""
    terms = {key: document[key] for key in _TERMS}
    if clocks := document.get("clocks"):
        terms["clocks"] = clocks
    form = terms["format"] = {**terms["format"]}
    for key in ("skip", "seats"):
        if (table := form.get(key)) is not None:
            form[key] = {name: value for name, value in table.items() if name != "agents"}
    return hashlib.sha256(canonical_json(terms).encode()).hexdigest()


_OPENINGS = TypeAdapter(tuple[OpeningField, ...])


def _prefixed(path: str, prefix: str) -> str:
    return path if not path or Path(path).is_absolute() else prefix + path


def load_cup(path: Path) -> PlannedCup:
    """Load a cup from a file or a folder. Raises InputError with file, line and fix."""
    if is_directory(path):
        path /= CUP_FILE
    text = read_text(path, "a cup file; judge contest init NAME --cup makes one")
    document = parse(path, text)
    leagues = document.get("leagues")
    shared = {key: document[key] for key in SHARED if key in document}
    if isinstance(leagues, list):
        document["leagues"] = leagues = [
            {**shared, **league} if isinstance(league, dict) else league for league in leagues
        ]
    cup = validated(Cup, document, path, text)
    for keys, complaint in _complaints(cup):
        raise InputError(f"{place_of(path, keys, text)}: {complaint}")
    policies = {}
    for number, league in enumerate(cup.leagues):
        where = ["leagues", str(number)]
        try:
            policies[league.name] = policy = policy_of(path, league.policy, league.change)
        except InputError as error:
            place, why = place_of(path, [*where, "policy"], text), str(error).removeprefix(f"{path}: ")
            raise InputError(f"{place}: leagues.{league.name}.{why}") from None
        for keys, complaint in contradictions(league, policy):
            raise InputError(f"{place_of(path, [*where, *keys], text)}: leagues.{league.name}.{complaint}")
    return PlannedCup(path, cup, {league["name"]: league for league in leagues or ()}, policies)


def _complaints(cup: Cup) -> Iterator[tuple[list[str], str]]:
    names: list[str] = []
    for number, league in enumerate(cup.leagues):
        keys = ["leagues", str(number)]
        if league.name in names:
            yield [*keys, "name"], f"leagues.name: two leagues are named {league.name}; rename one"
        if league.name in RESERVED:
            yield [*keys, "name"], f"leagues.name: {league.name} is a folder of the site; rename the league"
        if len(f"{cup.name}-{league.name}") > 64:
            yield [*keys, "name"], "leagues.name: the names of cup and league have more than 63 characters together"
        if league.after and league.after not in names:
            hint = suggest(league.after, names) if names else "write that league first"
            yield [*keys, "after"], f"leagues.{league.name}.after: no earlier league {quote(league.after)}; {hint}"
        if league.promotes_new and league.after in names and skip_of(cup.by_name[league.after].format) is None:
            why = f"leagues.{league.after} needs format.skip: agents without a rating there are new"
            yield [*keys, "promotes_new"], f"leagues.{league.name}.promotes_new: {why}"
        names.append(league.name)
    shown: list[str] = []
    for number, entry in enumerate(cup.entries):
        keys = ["entries", str(number)]
        if entry.shown in shown:
            yield keys, f"entries: {entry.shown} is listed twice; leave one out, or set another name"
        shown.append(entry.shown)
        for place, name in enumerate(entry.leagues):
            where = f"entries.{entry.shown}.leagues"
            if name not in names:
                yield [*keys, "leagues"], f"{where}: no league {quote(name)}; {suggest(name, names)}"
            if name in entry.leagues[:place]:
                yield [*keys, "leagues"], f"{where}: {name} is listed twice; leave one out"
