"""What a contest was begun with: one document that nothing changes afterwards, and that says all that decides it.

Policies, agents and images may change on disk while a contest runs; what is played and what is verified is this.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.catalog.entry import Opening
from judge.referee.policy import Policy
from judge.referee.seeds import Key, Seed, numbers
from judge.referee.spec import WRITTEN_BY_FIRST_VERSION, BoxKind, SeatSpec
from judge.tournament.formats import AnyFormat
from judge.tournament.points import Duel
from judge.tournament.seeds import Freeze
from judge.transparency.checkpoint import read_witness_key


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FailuresPlan(_Value):
    """When an agent is disqualified for failing by itself (Gomocup: 10 %)."""

    limit: float = Field(default=0.1, ge=0, le=1)
    """Largest share of its games that it may fail in; 1: no agent is disqualified."""
    after: int = Field(default=20, ge=1)
    """The number of games it must have played before it can be disqualified."""


def _line_of_witness(line: str) -> str:
    try:
        read_witness_key(line)
    except InputError as error:
        raise ValueError(str(error)) from None
    return line.strip()


WitnessKey = Annotated[str, AfterValidator(_line_of_witness)]
"""The line of a witness's public key."""


class SnapshotEntry(_Value):
    """Who takes part: `rank` is its seed, 1 for the best; `seat` is how every game names it."""

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
    """To the secret that all chance follows from (`judge.tournament.seeds`)."""
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
    """The document of a store or an export. Raises InputError if it is not one that this version reads."""
    snapshot = parse_json(Snapshot, document, "not a contest of this judge")
    if "freeze" not in snapshot.model_fields_set:
        raise InputError(WRITTEN_BY_FIRST_VERSION)
    return snapshot


def terms_digest(document: str) -> str:
    """SHA-256 of all that decides a contest before its draw: its document without ranks, and without what is said of
    the judge and its host."""
    terms = {key: value for key, value in json.loads(document).items() if key not in _NO_TERMS}
    terms["entries"] = [{key: value for key, value in entry.items() if key != "rank"} for entry in terms["entries"]]
    return hashlib.sha256(json.dumps(terms, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


_NO_TERMS = frozenset({"judge", "frozen_at", "freeze", "images", "host"})


def ranks_of(count: int, seeding: Literal["listed", "drawn"], seed: Seed) -> list[int]:
    """The ranks of so many agents, in the order in which they entered: as they are listed, or by lot."""
    ranks = list(range(1, count + 1))
    if seeding == "drawn":
        numbers(seed, "seeds").shuffle(ranks)
    return ranks
