"""contest.toml, read: what an organiser plans, every mistake in it named with its line before anything is played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field, model_validator

from judge.agents.agents import PERSONS
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.toml_files import parse, read_text, validated
from judge.catalog import game_entry
from judge.catalog.entry import Opening
from judge.contest.opening_files import read_openings
from judge.host.house_agents import house_agent_names
from judge.referee.policy import Policy, load_policy
from judge.sandbox.box import BoxKind
from judge.submissions.intake import IntakePolicy
from judge.submissions.windows import Windows, aware_moment, moment_text
from judge.tournament.formats import AnyFormat
from judge.tournament.points import Duel
from judge.tournament.snapshot import FailuresPlan, WitnessKey
from judge.transparency.checkpoint import read_witness_key

PLAN_FILE = "contest.toml"
NAME = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
"""What a contest may be called, as a regular expression."""


StrictDatetime = Annotated[datetime, Field(strict=True)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentPlan(_Table):
    """Who takes part."""

    path: str
    """A house agent, an executable or a directory, from the file's own folder."""
    name: str = Field(default="", pattern=r"^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})?$")
    """What the tables call it; empty: its own name."""


class OpeningsPlan(_Table):
    """The openings, which all pairings play alike, each with both colours."""

    file: str = ""
    """From the file's own folder; empty: every game begins on an empty board."""
    shuffle: bool = False
    """In an order that chance decides, else in the file's."""
    transform: bool = False
    """Turned and mirrored when they come again."""


class FoldersPlan(_Table):
    """Where the agents' persistent folders begin."""

    from_: str = Field(default="", alias="from")
    """A directory of folders, or another contest, from the file's own folder; empty: every agent begins with an empty
    one, unless folders were imported."""


class RatingsPlan(_Table):
    """Contests with which the ratings are joined on the pages, so that each agent has a history. It changes no game."""

    with_: tuple[str, ...] = Field(default=(), alias="with", max_length=100)
    """Other contests, or exports, from the file's own folder."""
    anchors: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    """Agents whose joined ratings are given, by name."""

    @model_validator(mode="after")
    def _anchors_what_it_joins(self) -> Self:
        if self.anchors and not self.with_:
            raise ValueError("anchors hold joined ratings: name the other contests in with, or leave anchors out")
        return self


class BroadcastPlan(_Table):
    """What the public sees while games are played: after which delay, and how many may watch.

    A result is told at once.
    """

    delay_plies: int = Field(default=0, ge=0, le=1000)
    """A move is told after so many more."""
    delay_s: float = Field(default=0, ge=0, le=3600)
    """A move is told so many seconds later."""
    viewers: int = Field(default=5000, ge=1)
    """Connections at once."""
    connections_per_address: int = Field(default=64, ge=1)
    requests_per_minute: int = Field(default=1200, ge=1)
    """Of an address."""

    @property
    def is_given(self) -> bool:
        """Whether there is a delay."""
        return bool(self.delay_plies or self.delay_s)


class SubmissionsPlan(_Table):
    """From when to when authors may submit by HTTP, while a service runs."""

    opens: StrictDatetime | None = None
    closes: StrictDatetime | None = None


class StartPlan(_Table):
    """When a service starts the contest by itself."""

    starts: StrictDatetime | None = None


class WitnessPlan(_Table):
    """Who signs the contest's log on another machine."""

    key: WitnessKey
    """The line of its public key, which judge witness prints: NAME+ID+KEY."""
    url: str = Field(default="", pattern=r"^(https?://[!-~]{1,400})?$")
    """Where it is asked, as C2SP's tlog-witness says; empty: it comes by itself, and judge contest cosign --from takes
    what it signed."""
    draw: bool = True
    """Whether the draw follows from its signature; only with url, and not with a fixed seed. false for a witness of
    other software, which signs with a time alone."""

    @property
    def name(self) -> str:
        """Its name."""
        return read_witness_key(self.key)[0]

    @property
    def public(self) -> Ed25519PublicKey:
        """Its key."""
        return read_witness_key(self.key)[1]

    @property
    def signs_draw(self) -> bool:
        """Whether the draw may follow from its signature."""
        return self.draw and bool(self.url)


class SlotsPlan(_Table):
    """The machine's share in it."""

    cores: int = Field(default=1, ge=1)
    """Whole processors that a game has to itself."""


class Plan(_Table):
    """A contest.toml."""

    name: str = Field(pattern=NAME)
    about: str = ""
    policy: str
    """A name, `name:variant`, or a .toml file from the file's own folder."""
    change: tuple[str, ...] = ()
    """Single numbers of the policy, as `section.key=value`."""
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    """A fixed seed. Anybody who knows it can predict all chance: lots, the order of openings and the chance in games.
    None: all chance follows from a secret that is drawn when the contest begins."""
    seeding: Literal["listed", "drawn"] = "listed"
    """Who is the first seed: the agents as they are listed, or by lot."""
    seeds: tuple[str, ...] = ()
    """Names of agents, listed or submitted, best first; all others are behind them."""
    store: str = "sqlite:///contest.db"
    """The URL of the database; the path of an SQLite file is relative to the directory of contest.toml."""
    box: BoxKind = "docker"
    format: AnyFormat
    duel: Duel | None = None
    """Given: a pairing's games score together, as Gomocup's did until 2016."""
    openings: OpeningsPlan = OpeningsPlan()
    folders: FoldersPlan = FoldersPlan()
    failures: FailuresPlan = FailuresPlan()
    ratings: RatingsPlan = RatingsPlan()
    slots: SlotsPlan = SlotsPlan()
    broadcast: BroadcastPlan = BroadcastPlan()
    intake: IntakePolicy = IntakePolicy()
    """What authors may send, and how often."""
    zone: str = ""
    """The zone of times without an offset, such as Europe/Prague."""
    submissions: SubmissionsPlan = SubmissionsPlan()
    contest: StartPlan = StartPlan()
    agents: tuple[AgentPlan, ...] = ()
    witnesses: tuple[WitnessPlan, ...] = Field(default=(), max_length=16)

    @property
    def windows(self) -> Windows:
        """The moments that it names, with their zones. Raises ValueError for one that does not say when it is."""

        def moment(key: str, given: datetime | None) -> datetime | None:
            return None if given is None else aware_moment(key, given, self.zone)

        return Windows(
            moment("submissions.opens", self.submissions.opens),
            moment("submissions.closes", self.submissions.closes),
            moment("contest.starts", self.contest.starts),
        )

    @model_validator(mode="after")
    def _names_moments_in_their_order(self) -> Self:
        windows = self.windows
        named = [
            (key, moment)
            for key, moment in (
                ("submissions.opens", windows.opens),
                ("submissions.closes", windows.closes),
                ("contest.starts", windows.starts),
            )
            if moment is not None
        ]
        for (first, early), (second, late) in pairwise(named):
            if early > late or (early == late and second == "submissions.closes"):
                raise ValueError(
                    f"{second} is {moment_text(late)}, before {first}, {moment_text(early)}: bring them into order"
                )
        return self

    @model_validator(mode="after")
    def _seeds_each_agent_once(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds names an agent twice: leave one out")
        if self.seeds and self.seeding == "drawn":
            raise ValueError('seeds gives an order, and seeding = "drawn" draws one: leave one of them out')
        return self

    @model_validator(mode="after")
    def _names_each_witness_once(self) -> Self:
        names = [witness.name for witness in self.witnesses]
        if len(set(names)) < len(names):
            raise ValueError("two [[witnesses]] have the same name: leave one out")
        return self

    @model_validator(mode="after")
    def _refuses_what_a_contest_cannot_be(self) -> Self:
        if self.box == "process":
            raise ValueError('box = "process" isolates nothing, so no contest is played in it; leave the key out')
        return self


@dataclass(frozen=True, slots=True)
class Planned:
    """A contest.toml with what it names: the folder that it is in is the contest's."""

    path: Path
    text: str
    plan: Plan
    policy: Policy

    @property
    def name(self) -> str:
        """Of the contest."""
        return self.plan.name

    @property
    def folder(self) -> Path:
        """Where the contest's files are."""
        return self.path.parent

    @property
    def agents(self) -> Path:
        """The frozen agents' files, each in a directory by its digest."""
        return self.folder / "agents"

    @property
    def files(self) -> Path:
        """Records and folders' states by digest."""
        return self.folder / "files"

    @property
    def store_url(self) -> str:
        """Of the database; a file of SQLite that is no absolute path lies in the folder."""
        start, name = "sqlite:///", self.plan.store.removeprefix("sqlite:///")
        if not self.plan.store.startswith(start) or name.startswith("/"):
            return self.plan.store
        return f"{start}{(self.folder / name).resolve()}"

    @property
    def has_no_store(self) -> bool:
        """Whether its store is a file that is not there: asking about a contest must not make one."""
        start, name = "sqlite:///", self.store_url.removeprefix("sqlite:///")
        return self.store_url.startswith(start) and not Path(name).exists()

    def not_begun(self) -> InputError:
        """The error for what there is only of a contest that has begun."""
        waits = self.waits_for()
        how = f"{waits}" if waits else f"judge contest run {self.path} begins it"
        return InputError(f"the contest {self.name!r} has not begun; {how}")

    def waits_for(self, now: datetime | None = None) -> str:
        """What the contest waits for before it may begin, with the moments of its file: the end of submissions, its
        start. Empty if both are over, or the file names neither."""
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
        """The openings of the file, or the empty one; InputError that names its line."""
        return openings_of(self.path, self.plan.openings, self.policy)

    def lacks_agents(self, count: int) -> str | None:
        """The reason why the format cannot be played with so many agents; None if it can."""
        least, most = self.plan.format.agents
        if count >= least and (most is None or count <= most):
            return None
        wanted = f"{least}" if least == most else f"{least} or more"
        return (
            f"{self.path}: the format {self.plan.format.name} needs {wanted} agents, "
            f"in [[agents]] or submitted; there are {count}"
        )

    def locate(self, agent: AgentPlan) -> str:
        """The agent's path from here, or the name of a house agent; nothing else is looked for anywhere else."""
        return located(self.folder, agent)


def openings_of(path: Path, chosen: OpeningsPlan, policy: Policy) -> list[Opening]:
    """The openings that an `[openings]` of the file at `path` names, or the empty one; InputError that names a line."""
    if not chosen.file and not chosen.transform:
        return [()]
    game = policy.game
    written = game_entry(game.name).openings(game.options)
    if written is None:
        raise InputError(f"{path}: [openings]: {game.name} has no openings of stones; leave the table out")
    return read_openings(path.parent / chosen.file, written) if chosen.file else [()]


def located(folder: Path, agent: AgentPlan) -> str:
    """The path of an `[[agents]]` of a file in `folder`, or the name of a house agent."""
    path = folder / agent.path
    is_name = agent.path in (*house_agent_names(), *PERSONS) and not is_file(path) and not is_directory(path)
    return agent.path if is_name else str(path)


def policy_of(path: Path, name: str, changes: Sequence[str]) -> Policy:
    """The policy that the file at `path` names, which may lie beside it, with its `change`; InputError names both."""
    own = path.parent / name.partition(":")[0]
    named = f"{path.parent}/{name}" if own.suffix == ".toml" else name
    try:
        return load_policy(named, changes, "change")
    except InputError as error:
        raise InputError(f"{path}: policy: {error}") from None


def load_plan(path: Path) -> Planned:
    """The plan in a file, or in a folder's contest.toml; InputError that names the file, the line and the fix."""
    if is_directory(path):
        path /= PLAN_FILE
    text = read_text(path, "a contest file; judge contest init NAME --policy POLICY makes one")
    plan = validated(Plan, parse(path, text), path, text)
    return Planned(path, text, plan, policy_of(path, plan.policy, plan.change))
