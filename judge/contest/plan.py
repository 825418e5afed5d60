"""Reads contest.toml and reports each mistake with its line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.moments import moment_text
from judge.base.parsing import FrozenModel, StrictDatetime
from judge.base.resources import house_agent_names
from judge.base.toml_files import parse, place_of, read_text, validated
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.contest.opening_files import OpeningsPlan, openings_of
from judge.contest.store_url import is_of_others, refuse_parameters
from judge.games.types import Opening
from judge.record.policy import AgentClocks, Policy, load_policy
from judge.sandbox.box import CONTESTS_NEED_PIPES, BoxKind
from judge.submissions.intake import IntakePolicy
from judge.submissions.windows import Windows, aware_moment
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Elo, Ladder
from judge.tournament.results import Duel
from judge.tournament.snapshot import FailuresPlan, FreezeTerms, WitnessKey, refuse_clocks

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from judge.journal.events import Announced

NAME = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
"""Regular expression of contest names."""


class AgentPlan(FrozenModel):
    """An agent of the contest."""

    path: str
    """A house agent, an executable or a directory, relative to this file."""
    name: str = Field(default="", pattern=r"^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})?$")
    """Name in the tables; empty: the agent's own name."""

    def locate(self, folder: Path) -> str:
        """Its path if the file is in `folder`, or a house agent's name."""
        from judge.agents.agents import PERSONS

        path, names = folder / self.path, (*house_agent_names(), *PERSONS)
        return self.path if self.path in names and not is_file(path) and not is_directory(path) else str(path)


class FoldersPlan(FrozenModel):
    """Initial content of the agents' persistent folders."""

    from_: str = Field(default="", alias="from")
    """A directory of folders or another contest, relative to this file; empty: empty folders, unless folders were
    imported.
    """


class RatingsPlan(FrozenModel):
    """Contests rated together with this one on the pages, for each agent's history, and the last season of a ladder."""

    from_: str = Field(default="", alias="from")
    """A contest or an export, relative to this file: a ladder starts from its ratings. The others affect no game."""
    with_: tuple[str, ...] = Field(default=(), alias="with", max_length=100)
    """Contests or exports, relative to this file."""
    anchors: Mapping[str, Elo] = {}
    """Fixed ratings of agents, by name."""

    @model_validator(mode="after")
    def _anchors_what_it_joins(self) -> Self:
        if self.anchors and not self.with_:
            raise ValueError("anchors need joined ratings: name the other contests in with, or remove anchors")
        return self


class BroadcastPlan(FrozenModel):
    """Delay and limits of the live broadcast. Results are not delayed."""

    delay_plies: int = Field(default=0, ge=0, le=1000)
    """A move is shown after this number of further moves."""
    delay_s: float = Field(default=0, ge=0, le=3600)
    """A move is shown this number of seconds later."""
    viewers: int = Field(default=5000, ge=1)
    """Maximum number of streams at once; also of requests, up to 1,024."""
    connections_per_address: int = Field(default=64, ge=1)
    """Maximum number of concurrent requests per address, and of its streams. Its networks have a multiple."""
    requests_per_minute: int = Field(default=1200, ge=1)
    """Maximum per address. Its networks have a multiple."""


class SubmissionsPlan(FrozenModel):
    """When authors may submit by HTTP, while a service runs."""

    opens: StrictDatetime | None = None
    """First moment of submissions."""
    closes: StrictDatetime | None = None
    """End of submissions."""


class StartPlan(FrozenModel):
    """When a service starts the contest automatically, and continues it after a pause."""

    starts: StrictDatetime | None = None
    """Moment at which a running `judge serve` starts the contest."""
    resumes: StrictDatetime | None = None
    """Moment at which a running `judge serve` resumes the contest if it was paused before; the live pages show it
    during the pause. It may be changed later."""


class FreezePlan(FrozenModel):
    """Withholds the results of the last rounds until they are revealed. Without this table all results are public."""

    last_rounds: int | None = Field(default=None, ge=1)
    """Number of withheld rounds. Not for formats whose number of rounds depends on results."""
    at: StrictDatetime | None = None
    """The rounds that begin after this moment are withheld."""
    reveal_at: StrictDatetime | None = None
    """Moment at which a running `judge serve` reveals all results, or after the last game. It may be changed later."""


class WitnessPlan(FrozenModel):
    """A witness that signs the contest's log on another machine."""

    key: WitnessKey
    """Its public key as its program prints it: NAME+ID+KEY."""
    url: str = Field(default="", pattern=r"^(https?://[!-~]{1,400})?$")
    """Its address (C2SP tlog-witness); empty: its signed checkpoint is imported with judge contest cosign --from."""

    @property
    def name(self) -> str:
        from judge.transparency.checkpoint import read_witness_key

        return read_witness_key(self.key)[0]

    @property
    def public(self) -> Ed25519PublicKey:
        from judge.transparency.checkpoint import read_witness_key

        return read_witness_key(self.key)[1]


class SlotsPlan(FrozenModel):
    """The processors of a game."""

    cores: int = Field(default=1, ge=1)
    """Whole cores reserved for each game. With `clock.ponder` each seat has half of them."""


class CupReference(FrozenModel):
    """The cup of a league."""

    name: str
    """Name of the cup."""
    announcement: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the cup's announcement."""

    @property
    def announced(self) -> Announced:
        """The first event of the league's log."""
        from judge.journal.events import Announced

        return Announced(self.name, self.announcement)


class Plan(FrozenModel):
    """A contest.toml."""

    name: str = Field(pattern=NAME)
    """Name of the contest."""
    title: str = Field(default="", max_length=48)
    """Title on the pages; empty: the name."""
    about: str = ""
    """One sentence for the pages."""
    policy: str
    """A name, `name:variant`, or a .toml file, relative to this file's folder."""
    change: tuple[str, ...] = ()
    """Changes of single policy values, as `section.key=value`."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    """A fixed random seed. Anyone who knows it can predict the draw, the order of openings and random events in
    games. Without it a secret is generated when the contest begins.
    """
    seeding: Literal["listed", "drawn"] = "listed"
    """Seeding order: as listed, or drawn by lot."""
    seeds: tuple[str, ...] = ()
    """Names of agents, listed or submitted, best first; all others follow."""
    store: str = "sqlite:///contest.db"
    """URL of the database; an SQLite path is relative to the folder of contest.toml."""
    box: BoxKind = "docker"
    """Kind of the boxes. A contest accepts only `docker`."""
    format: AnyFormat
    """How agents are paired and ranked; `name` chooses one of the formats."""
    clocks: AgentClocks = Field(default_factory=dict)
    """Time controls of single agents, by name, in place of the policy's (time odds)."""
    duel: Duel | None = None
    """If given, a pairing's games score together."""
    openings: OpeningsPlan = OpeningsPlan()
    folders: FoldersPlan = FoldersPlan()
    failures: FailuresPlan = FailuresPlan()
    ratings: RatingsPlan = RatingsPlan()
    slots: SlotsPlan = SlotsPlan()
    freeze: FreezePlan = FreezePlan()
    broadcast: BroadcastPlan = BroadcastPlan()
    intake: IntakePolicy = IntakePolicy()
    """Limits of submissions: size and frequency."""
    zone: str = ""
    """Time zone of times without an offset, such as Europe/Prague."""
    submissions: SubmissionsPlan = SubmissionsPlan()
    contest: StartPlan = StartPlan()
    order: Literal["schedule", "lowest"] = "schedule"
    """Order of the games: as scheduled, or those with the lowest sum of rating minus deviation first."""
    agents_per_author: int = Field(default=0, ge=0)
    """Maximum number of agents of one author; 0: no limit."""
    agents: tuple[AgentPlan, ...] = ()
    witnesses: tuple[WitnessPlan, ...] = Field(default=(), max_length=16)
    cup: CupReference | None = None
    """Only judge writes it, for a league. The log begins with it."""

    @property
    def check_command(self) -> str:
        """The command with which an author checks an agent."""
        changes = "".join(f" --set {shlex.quote(change)}" for change in self.change)
        return f"judge check ./my-agent --policy {shlex.quote(self.policy)}{changes}"

    @property
    def windows(self) -> Windows:
        """The schedule, with time zones. Raises ValueError for an ambiguous moment."""
        return Windows(
            self._moment("submissions.opens", self.submissions.opens),
            self._moment("submissions.closes", self.submissions.closes),
            self._moment("contest.starts", self.contest.starts),
        )

    def _moment(self, key: str, given: datetime | None) -> datetime | None:
        return None if given is None else aware_moment(key, given, self.zone)

    @property
    def freeze_terms(self) -> FreezeTerms | None:
        """None if no results are withheld. Raises ValueError as `windows`."""
        last_rounds, at = self.freeze.last_rounds, self._moment("freeze.at", self.freeze.at)
        if last_rounds is None and at is None:
            return None
        return FreezeTerms(last_rounds=last_rounds, at=None if at is None else at.astimezone(UTC))

    @property
    def reveal_at(self) -> datetime | None:
        """When results are revealed automatically. Raises ValueError as `windows`."""
        return self._moment("freeze.reveal_at", self.freeze.reveal_at)

    @property
    def resumes(self) -> datetime | None:
        """When a paused contest is resumed. Raises ValueError as `windows`."""
        return self._moment("contest.resumes", self.contest.resumes)

    @property
    def season_end(self) -> datetime | None:
        """End of a ladder's season. Raises ValueError as `windows`."""
        return self._moment("format.ends", self.format.ends if isinstance(self.format, Ladder) else None)

    @field_validator("clocks")
    @classmethod
    def _has_no_clocks_in_a_ladder(cls, value: Mapping[str, str], info: ValidationInfo) -> Mapping[str, str]:
        refuse_clocks(value, info.data.get("format"))
        return value

    @model_validator(mode="after")
    def _refuses_contradictions(self) -> Self:
        for why in self._contradictions():
            raise ValueError(why)
        return self

    def _contradictions(self) -> Iterator[str]:
        yield from self._disorder()
        if self.freeze != FreezePlan():
            yield from self._freeze_contradictions()
        if "?" in self.store:
            refuse_parameters(self.store)
        if self.ratings.from_ and not isinstance(self.format, Ladder):
            yield f"ratings.from: {self.format.name} does not start from ratings, only ladder does: remove it"
        if len(set(self.seeds)) < len(self.seeds):
            yield "seeds names an agent twice: leave one out"
        if self.seeds and self.seeding == "drawn":
            yield 'seeds gives an order, and seeding = "drawn" draws one: leave one of them out'
        if len({witness.name for witness in self.witnesses}) < len(self.witnesses):
            yield "two [[witnesses]] have the same name: leave one out"
        if self.box == "process":
            yield 'box = "process" isolates nothing, so no contest is played in it; leave the key out'

    def _disorder(self) -> Iterator[str]:
        windows, freeze, _ = self.windows, self.freeze_terms, self.resumes
        named = [
            (key, moment)
            for key, moment in (
                ("submissions.opens", windows.opens),
                ("submissions.closes", windows.closes),
                ("contest.starts", windows.starts),
                ("format.ends", self.season_end),
                ("freeze.at", None if freeze is None else freeze.at),
                ("freeze.reveal_at", self.reveal_at),
            )
            if moment is not None
        ]
        for (first, early), (second, late) in pairwise(named):
            if early > late or (early == late and second == "submissions.closes"):
                yield f"{second} is {moment_text(late)}, before {first}, {moment_text(early)}: bring them into order"

    def _freeze_contradictions(self) -> Iterator[str]:
        freeze, form = self.freeze, self.format
        if not form.has_rounds:
            yield "freeze: a ladder has no rounds that could be withheld: remove it"
        if self.cup is not None:
            yield "freeze: the tables of a cup need the results of all leagues: remove it"
        if (freeze.last_rounds is None) == (freeze.at is None):
            yield "freeze: give either last_rounds or at"
        if freeze.last_rounds is not None and form.last_round(2) is None:
            yield f"freeze.last_rounds: the number of rounds of {form.name} depends on results: give the moment at"


@dataclass(frozen=True)
class Planned:
    """A contest.toml and the paths it implies."""

    path: Path
    text: str
    plan: Plan
    given_policy: Policy | None = None
    """None: `policy` reads the one that the plan names."""
    has_named_store: bool = False
    """Whether the user named the store, not the file."""

    @property
    def name(self) -> str:
        return self.plan.name

    @cached_property
    def policy(self) -> Policy:
        """Raises InputError for a policy that is invalid, or that the plan contradicts."""
        if self.given_policy is not None:
            return self.given_policy
        policy = policy_of(self.path, self.plan.policy, self.plan.change)
        for keys, why in contradictions(self.plan, policy):
            raise InputError(f"{place_of(self.path, keys, self.text)}: {why}")
        return policy

    @property
    def clocks(self) -> Mapping[str, str]:
        return self.plan.clocks

    @property
    def announced(self) -> Announced:
        """The first event of its log."""
        from judge.journal.events import Announced

        return self.plan.cup.announced if self.plan.cup else Announced()

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def agents(self) -> Path:
        """Locked-in agents by digest."""
        return self.folder / "agents"

    @property
    def files(self) -> Path:
        """Records and folder states by digest."""
        return self.folder / "files"

    @property
    def store_url(self) -> str:
        """The database to open. Raises InputError if only the file of another user names its server."""
        if self.plan.store and self.database_file is None and not self.has_named_store and is_of_others(self.path):
            raise InputError(
                f"{self.path}: another user's file names a database on a server, and is not followed: copy the folder, "
                "or make the file your own"
            )
        return self.written_store_url

    @property
    def written_store_url(self) -> str:
        """Of the file. Relative SQLite paths are resolved in the folder."""
        start, name = "sqlite:///", self.plan.store.removeprefix("sqlite:///")
        if not self.plan.store.startswith(start) or name.startswith("/"):
            return self.plan.store
        return f"{start}{(self.folder / name).resolve()}"

    @property
    def database_file(self) -> Path | None:
        """The SQLite file; None with PostgreSQL."""
        start, url = "sqlite:///", self.written_store_url
        return Path(url.removeprefix(start)) if url.startswith(start) else None

    @property
    def keeps_own_database(self) -> bool:
        """Whether the store is a plain file in the folder."""
        path = self.database_file
        return path is not None and "?" not in self.plan.store and path.resolve().is_relative_to(self.folder.resolve())

    def with_store(self, url: str) -> Planned:
        """With a database that the user named; empty: without one."""
        return replace(self, plan=self.plan.model_copy(update={"store": url}), has_named_store=True)

    @property
    def has_no_store(self) -> bool:
        """Whether its SQLite file is missing, or no database is named. Queries do not create it."""
        path = self.database_file
        if not self.plan.store:
            return True
        return path is not None and not os.path.exists(path)  # noqa: PTH110 - Path raises for long names

    def not_begun(self) -> InputError:
        """The error for queries before the start."""
        how = self.waits_for() or f"judge contest run {self.path} begins it"
        return InputError(f"the contest {self.name!r} has not begun; {how}")

    def waits_for(self, now: datetime | None = None) -> str:
        """Why the contest may not begin yet; empty if it may."""
        windows = self.plan.windows
        now = now or datetime.now(UTC)
        parts = []
        if windows.closes is not None and now < windows.closes:
            verb = "open" if windows.opens is None or now >= windows.opens else "not closed"
            parts.append(f"submissions are {verb} until {moment_text(windows.closes)}")
        if windows.starts is not None and now < windows.starts:
            parts.append(f"it starts by itself at {moment_text(windows.starts)} while judge serve runs")
        elif parts:
            parts.append(f"judge contest run {self.path} begins it then")
        return "; ".join(parts)

    def openings(self) -> list[Opening]:
        """The openings; may be the empty one. Raises InputError with the line."""
        return openings_of(self.path, self.plan.openings, self.policy)

    def lacks_agents(self, count: int) -> str | None:
        """Why the format cannot have `count` agents; None if it can."""
        least, most = self.plan.format.agents
        if least <= count <= most:
            return None
        wanted = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"{self.path}: the format {self.plan.format.name} needs {wanted} agents, "
            f"in [[agents]] or submitted; there are {count}"
        )


def policy_of(path: Path, name: str, changes: Sequence[str]) -> Policy:
    """The policy named in the file `path`, with changes. Raises InputError."""
    file = path.parent / name.partition(":")[0]
    named = f"{path.parent}/{name}" if file.suffix == ".toml" else name
    try:
        return load_policy(named, changes, "change")
    except InputError as error:
        raise InputError(f"{path}: policy: {error}") from None


def load_plan(path: Path) -> Planned:
    """Load a plan and its policy from a file or a folder. Raises InputError with file, line and fix."""
    planned = read_plan(path)
    return replace(planned, given_policy=planned.policy)


def read_plan(path: Path) -> Planned:
    """As `load_plan`, without the policy: a contest that has begun has its own."""
    if is_directory(path):
        if is_file(path / CUP_FILE) and not is_file(path / PLAN_FILE):
            raise InputError(f"{path}: a cup; name one of its leagues, such as {path}/NAME")
        path /= PLAN_FILE
    text = read_text(path, "a contest file; judge contest init NAME --policy POLICY makes one")
    return Planned(path, text, validated(Plan, parse(path, text), path, text))


def contradictions(plan: Plan, policy: Policy) -> Iterator[tuple[list[str], str]]:
    """What the policy excludes: the parts of a key, and the message, which begins with the key."""
    if plan.order == "lowest" and policy.folders.kept and policy.folders.round == "each":
        why = 'order = "lowest": under this policy agents pass folders from game to game in schedule order'
        yield ["order"], f'{why}; add "folders.round=first" to change, or leave order out'
    if reason := policy.box.attach_reason:
        yield ["box"], f"box: {CONTESTS_NEED_PIPES}: {reason}; leave the key out"
    if plan.clocks and policy.clock.control is None:
        why = f"policy {policy.name} limits turns and games, and a clock of one agent replaces a time control"
        yield ["clocks"], f'clocks: {why}; add one for all agents, such as "clock.control=60+0.6", to change'
    cores, needed = plan.slots.cores, policy.slot_cores
    if cores < needed:
        why = f"{policy.slot_reason} in policy {policy.name} need {needed} cores for a game, and a slot has {cores}"
        fix = f"write cores = {needed} under [slots], or change the policy"
        yield ["slots", "cores"], f"slots.cores: {why}: {fix}"
    if policy.clock.ponder and cores % 2:
        why = f"clock.ponder = true gives each seat half of the slot's cores, and {cores} is odd"
        yield ["slots", "cores"], f"slots.cores: {why}: write cores = {cores + 1} under [slots]"
