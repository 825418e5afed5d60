"""A game is a value: `GameSpec` in, `GameRecord` out, both plain data that survive JSON.

The id of a game is a digest of its spec, so the same spec is the same game wherever it is played. A game of a
contest has the id of its schedule, which is made before its seed and its folders are known. A void game is played
again under the same id and the next attempt number.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from judge.base.durable_files import read_bounded, write_durably
from judge.base.parsing import parse_json
from judge.games.types import Verdict
from judge.referee.blame import Evidence
from judge.referee.bounds import LARGEST_RECORD
from judge.referee.policy import Policy
from judge.referee.seeds import Seed
from judge.referee.transcript import SealedTranscript, withhold
from judge.sandbox.box import BoxKind as BoxKind
from judge.sandbox.box import FolderKind

RECORD_FORMAT = 3
"""The number of the record format that this version writes."""

WRITTEN_BY_FIRST_VERSION = (
    "judge 0.1.0 (commit 08c8ff3) wrote this, and this version cannot read it; use judge 0.1.0 (commit 08c8ff3)"
)

_DIGEST = "^[0-9a-f]{64}$"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KeptFolders(_Value):
    """Which of an agent's folders are kept after the game, each with the digest of the state that it starts from."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")
    """What the agent calls itself, and its temporary folder in the working directory."""
    temporary: str | None = Field(default=None, pattern=_DIGEST)
    """SHA-256 of the state's archive; None: not kept, the game begins without."""
    persistent: str | None = Field(default=None, pattern=_DIGEST)

    @property
    def digests(self) -> dict[FolderKind, str]:
        """The states, of those that are kept."""
        states = {FolderKind.TEMPORARY: self.temporary, FolderKind.PERSISTENT: self.persistent}
        return {kind: digest for kind, digest in states.items() if digest is not None}


class SeatSpec(_Value):
    """A seat: the agent by the digest of its files, how it is run, and its protocol."""

    name: str
    digest: str
    """SHA-256 of the agent's files, names and modes."""
    command: tuple[str, ...]
    runtime: str
    protocol: str
    protocol_options: dict[str, Any] = Field(default_factory=dict)
    author: str = ""
    folders: KeptFolders | None = None
    """None: the agent begins without any files, and leaves none."""


class GameSpec(_Value):
    """Everything that decides a game except the actions of the agents."""

    seats: tuple[SeatSpec, SeatSpec]
    policy: Policy
    opening: tuple[tuple[int, int], ...] = ()
    """Stones set before the first move, in play order; seat 0 has the first colour."""
    seed: Seed = 0
    """All chance of the game comes from it. In a schedule the contest's commitment may stand in its place: the game is
    given its seed when it is played (`judge.tournament.schedule`)."""
    number: int = 0
    """The number of the game in its pairing, from 0."""
    box: BoxKind = "docker"
    scheduled_as: str | None = Field(default=None, pattern="^[0-9a-z]{1,64}$")
    """The game's id in the schedule of its contest; None without a schedule."""

    @property
    def id(self) -> str:
        """`scheduled_as`, or else the first 80 bits of the SHA-256 of the spec's canonical JSON without it."""
        return self.scheduled_as or _id_of(self.model_dump(mode="json", exclude={"scheduled_as"}))

    @property
    def id_as_read(self) -> str:
        """The id computed from the given fields only: specs of older judges lack newer fields."""
        return self.scheduled_as or _id_of(self.model_dump(mode="json", exclude_unset=True))

    def is_called(self, name: str) -> bool:
        """Whether this id is the spec's, as it is or as an older judge wrote it, whose policies had fewer fields."""
        return name in (self.id, self.id_as_read)

    def game_options(self) -> dict[str, Any]:
        """The options that the game is made with."""
        options = dict(self.policy.game.options)
        if self.opening:
            options["opening"] = [list(stone) for stone in self.opening]
        return options


def _id_of(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class PlyRecord(_Value):
    """One answer: the seat, what was said (bounded), and the time charged in milliseconds."""

    seat: int
    said: str
    ms: float
    search: dict[str, str] = Field(default_factory=dict)
    """What the agent reported of its search: the latest value of each keyword (`depth`, `score`, `pv`)."""
    memory_bytes: int | None = None
    """What its box used after the answer, as the cap counts it; None if unknown, and in older records."""


class FolderRecord(_Value):
    """A kept folder after the game."""

    digest: str
    """The state that it is in now: the one before where nothing else could be kept, or the game is void."""
    used_bytes: int | None = None
    """How full the file system was, other files in the working directory included; None if unknown."""
    used_inodes: int | None = None
    notes: tuple[str, ...] = ()
    """Files that are not stored, and why; their names are escaped."""


class SeatRecord(_Value):
    """The outcome for one seat."""

    name: str
    fault: Verdict | None
    """The verdict against this seat; None if it was not at fault."""
    why: str
    """What it did wrong, in words; empty without a fault."""
    evidence: Evidence | None
    """What the verdict on it rests on."""
    charged_ms: float
    """All time charged to its game clock."""
    memory_peak_bytes: int | None
    cpu_ms: int | None
    lingered_ms: float = 0.0
    """For how long its processes ran on after they were killed, when the game was over; its slot was closed so long."""
    about: dict[str, str]
    """The agent's description of itself, by keyword."""
    notes: tuple[str, ...]
    """Messages and what was set aside, without private ones; the transcript has all."""
    folders: dict[FolderKind, FolderRecord] = Field(default_factory=dict)
    """The folders that are kept."""


class Placement(_Value):
    """Where a game was played."""

    box: tuple[str, ...]
    """The kind of each seat's box, such as `docker-pipes`; where `box.reuse` is `agent`, with `, fresh` or `, reused`
    behind it. A box that takes the place of another in the middle of a game is always fresh."""
    judge_cores: tuple[int, ...]
    slot_cores: tuple[int, ...]
    freezer: str = ""
    host: str = ""
    """The name of the machine, in a cluster that of its worker."""


class GameRecord(_Value):
    """A played game. `winner` is a seat, or None for a draw or a void."""

    format: Literal["judge-record-2", "judge-record-3"] = "judge-record-3"
    """`judge.referee.former` replays records of format 2."""
    judge: str
    """Version of the judge."""
    id: str
    attempt: int
    spec: GameSpec
    verdict: Verdict
    winner: int | None
    reason: str
    result: str
    """The line with which the field's own manager reports the end; contests score by its words."""
    seats: tuple[SeatRecord, SeatRecord]
    plies: tuple[PlyRecord, ...]
    started_at: str
    """When the game had its slot, wall-clock time, UTC; information only."""
    seconds: float
    """For how long it had it: its boxes were ready before, and were removed after."""
    placement: Placement
    unclosed: str = ""
    """How the host failed after the game was over, which does not change the verdict; empty if it did not."""
    judge_late_ms: float = 0.0
    """How late the judge itself was at most: for so long it did not look at its agents, or overslept a deadline."""
    transcript_sha256: str

    @field_validator("format", mode="before")
    @classmethod
    def _is_readable(cls, value: object) -> object:
        if value == "judge-record-1":
            raise ValueError(WRITTEN_BY_FIRST_VERSION)
        return value

    @property
    def format_number(self) -> int:
        """The number of the format."""
        return int(self.format.removeprefix("judge-record-"))


class RecordFile(BaseModel):
    """What a record file holds."""

    model_config = ConfigDict(extra="forbid")

    record: GameRecord
    transcript: SealedTranscript

    def to_json(self, *, as_read: bool = False) -> bytes:
        """The file's bytes, all ASCII; at most as many as `Policy.bounds` says.

        `as_read`: with those fields alone that it was read with, of which the id of an older judge's is a digest.
        """
        return self.__pydantic_serializer__.to_json(self, ensure_ascii=True, exclude_unset=as_read)


def public_part(file: RecordFile) -> RecordFile:
    """The record without the entries that only the agents' authors may see; it verifies."""
    return RecordFile(record=file.record, transcript=withhold(file.transcript))


def write_record(path: Path, file: RecordFile) -> None:
    """Write a record: after a crash the file is complete or absent. Raises OSError."""
    write_durably(path, file.to_json())


def read_record(path: Path) -> RecordFile:
    """Read a record file; InputError that names the file and the field when it is none."""
    data = read_bounded(path, LARGEST_RECORD, links=True)
    return parse_json(RecordFile, data, f"{path}: not a record of a game")
