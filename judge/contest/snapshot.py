"""What a contest was begun with: one document that nothing changes afterwards, and that says all that decides it.

Policies, agents and images may change on disk while a contest runs; what is played and what is verified is this.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

import judge
from judge.agents.store import AgentStore
from judge.catalog.entry import Opening
from judge.contest.entries import entrants
from judge.contest.formats import AnyFormat
from judge.contest.plan import FailuresPlan, Planned, WitnessKey
from judge.contest.points import Duel, points_table
from judge.contest.seeds import Freeze, commitment_to, contest_key
from judge.errors import InputError
from judge.parsing import parse_json
from judge.referee.policy import Policy
from judge.referee.seeds import Key, Seed, numbers
from judge.referee.setup import check_playable, in_contest
from judge.referee.spec import MatchSpec, SeatSpec
from judge.sandbox.box import BoxKind
from judge.sandbox.images import listing, runtime_image
from judge.transparency.checkpoint import read_witness_key


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SnapshotEntry(_Value):
    """Who takes part: `rank` is its seed, 1 for the best; `seat` is how every match names it."""

    name: str
    rank: int
    seat: SeatSpec
    calls_itself: str
    """Its own name, which its temporary folder has: see `Agent.calls_itself`."""
    description: str = ""
    submission: int | None = None
    """Its number in the register of submissions, if it was sent."""
    persistent: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the state that its persistent folder begins with; None: it begins empty."""


Begins = Callable[[Sequence[tuple[str, str]]], tuple[str, Mapping[str, str]]]


def _nothing(_agents: Sequence[tuple[str, str]]) -> tuple[str, Mapping[str, str]]:
    return "", {}


class SnapshotWitness(_Value):
    """Who was announced to sign the contest's log: the line of its key, as `judge witness` prints it."""

    key: WitnessKey
    draw: bool
    """Whether the draw follows from its signature of the log as it was when the entries were frozen."""

    @property
    def name(self) -> str:
        """Its name."""
        return read_witness_key(self.key)[0]

    @property
    def id(self) -> str:
        """The id of its key, in hex."""
        return self.key.split("+")[1]


class SnapshotImage(_Value):
    """A runtime: the image's id here, and the SHA-256 of its contents, which is the same on every host."""

    id: str
    content: str


class Snapshot(_Value):
    """A contest as it was begun."""

    document: Literal["judge-contest-1"] = "judge-contest-1"
    judge: str
    """Version of the judge."""
    name: str
    about: str = ""
    frozen_at: str
    """UTC."""
    plan_sha256: str
    """Of the contest.toml that this was made from."""
    policy: Policy
    format: AnyFormat
    duel: Duel | None = None
    failures: FailuresPlan
    seed: int | None = None
    """The organiser's own, from which all chance can be foretold; None: chance is committed to."""
    commitment: Key | None = None
    """To the secret that all chance follows from (`judge.contest.seeds`)."""
    freeze: Freeze | None = None
    """The log when the entries were frozen, from which chance follows too; None: before there were logs."""
    witnesses: tuple[SnapshotWitness, ...] = ()
    """Who signs the log, with names that differ."""
    seeding: Literal["listed", "drawn"] = "listed"
    openings: tuple[Opening, ...] = Field(min_length=1)
    shuffle: bool
    transform: bool
    box: BoxKind = "docker"
    folders_from: str = ""
    """Where the agents' persistent folders come from, as the organiser named it; empty: nowhere, all begin empty."""
    entries: tuple[SnapshotEntry, ...] = Field(min_length=2)
    images: dict[str, SnapshotImage]
    """The runtimes that the entries need, by name."""
    host: dict[str, Any] = Field(default_factory=dict)
    """What the contest's host said of itself; information only."""

    @model_validator(mode="after")
    def _has_one_chance(self) -> Self:
        if (self.seed is None) == (self.commitment is None):
            raise ValueError("a contest has a seed or a commitment, and not both")
        return self

    @property
    def hides_openings(self) -> bool:
        """Whether the order of the openings is secret until the contest is over."""
        return self.commitment is not None and self.shuffle

    def by_name(self) -> Mapping[str, SnapshotEntry]:
        """The entries by their names."""
        return {entry.name: entry for entry in self.entries}


def read_snapshot(document: str) -> Snapshot:
    """The document of a store or an export. Raises InputError if it is not one."""
    return parse_json(Snapshot, document, "not a contest of this judge")


def take_snapshot(
    planned: Planned,
    staging: Path,
    host: dict[str, Any],
    secret: Key | None,
    begins: Begins = _nothing,
    freeze: Callable[[str], Freeze | None] = lambda _: None,
) -> Snapshot:
    """Copy the agents and fix everything that decides the contest. Raises InputError for mistakes that would otherwise
    show only during a match.

    `staging` is an empty directory. All chance follows from `secret`; None: from the plan's own seed. `begins` is
    called with the names and digests of the agents, and returns where their persistent folders come from and, by name,
    the digests of those that do not begin empty. `freeze` is called when all is fixed but the draw, with the digest of
    that, and returns the log as it is then.
    """
    plan = planned.plan
    if secret is None and plan.seed is None:
        raise ValueError("a contest without a seed needs a secret")
    points_table(planned.policy)
    entered = entrants(planned, staging, _raised)
    if (why := planned.lacks_agents(len(entered))) is not None:
        raise InputError(why)
    names = distinct([each.name for each in entered], planned.path)
    source, states = begins([(name, each.agent.digest) for name, each in zip(names, entered, strict=True)])
    entries = tuple(
        SnapshotEntry(
            name=each.name,
            rank=rank,
            seat=in_contest(each.agent.seat(planned.policy), planned.policy).model_copy(update={"name": each.name}),
            calls_itself=each.agent.calls_itself(planned.policy),
            description=each.agent.manifest.description,
            submission=each.submission,
            persistent=states.get(each.name),
        )
        for rank, each in enumerate(entered, 1)
    )
    for entry in entries:
        check_playable(MatchSpec(seats=(entry.seat, entry.seat), policy=planned.policy, box=plan.box))
    agents = AgentStore(planned.agents)
    for each in entered:
        agents.put(each.agent.program)
    terms = Snapshot(
        judge=judge.__version__,
        name=plan.name,
        about=plan.about,
        frozen_at=datetime.now(UTC).isoformat(timespec="seconds"),
        plan_sha256=hashlib.sha256(planned.text.encode()).hexdigest(),
        policy=planned.policy,
        format=plan.format,
        duel=plan.duel,
        failures=plan.failures,
        seed=None if secret is not None else plan.seed,
        commitment=None if secret is None else commitment_to(secret),
        witnesses=tuple(
            SnapshotWitness(key=each.key, draw=each.signs_draw and secret is not None) for each in plan.witnesses
        ),
        seeding=plan.seeding,
        openings=tuple(planned.openings()),
        shuffle=plan.openings.shuffle,
        transform=plan.openings.transform,
        box=plan.box,
        folders_from=source,
        entries=entries,
        images=images_of(entry.seat.runtime for entry in entries),
        host=host,
    )
    return _drawn(terms, secret, freeze(terms_digest(terms.model_dump_json())))


def _drawn(terms: Snapshot, secret: Key | None, freeze: Freeze | None) -> Snapshot:
    """The snapshot with the ranks that follow from chance."""
    seed = terms.seed if secret is None else contest_key(secret, terms.name, freeze)
    if seed is None:
        raise ValueError("a contest without a seed needs a secret")
    ranks = ranks_of(len(terms.entries), terms.seeding, seed)
    ranked = zip(terms.entries, ranks, strict=True)
    entries = tuple(entry.model_copy(update={"rank": rank}) for entry, rank in ranked)
    return terms.model_copy(update={"entries": entries, "freeze": freeze})


def terms_digest(document: str) -> str:
    """SHA-256 of all that decides a contest before its draw: its document without ranks, and without what is said of
    the judge and its host."""
    terms = {key: value for key, value in json.loads(document).items() if key not in _NO_TERMS}
    terms["entries"] = [{key: value for key, value in entry.items() if key != "rank"} for entry in terms["entries"]]
    return hashlib.sha256(json.dumps(terms, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


_NO_TERMS = frozenset({"judge", "frozen_at", "freeze", "images", "host"})


def _raised(error: InputError) -> None:
    raise error


def images_of(runtimes: Iterable[str]) -> dict[str, SnapshotImage]:
    """The images of some runtimes on this Engine. Raises HostError if one of ours is missing or out of date, InputError
    if an organiser's own is missing."""
    contents = {state.id: state.content for state in listing()}
    ids = {runtime: runtime_image(runtime) for runtime in sorted(set(runtimes))}
    return {name: SnapshotImage(id=image, content=contents.get(image, "")) for name, image in ids.items()}


def distinct(names: Sequence[str], path: Path) -> Sequence[str]:
    """The names. Raises InputError if two agents of the contest file at `path` have the same name."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"{path}: two [[agents]] are called {name!r}; give one of them another name =, "
                "or withdraw the submission that has it"
            )
    return names


def ranks_of(count: int, seeding: Literal["listed", "drawn"], seed: Seed) -> list[int]:
    """The ranks of so many agents, in the order in which they entered: as they are listed, or by lot."""
    ranks = list(range(1, count + 1))
    if seeding == "drawn":
        numbers(seed, "seeds").shuffle(ranks)
    return ranks
