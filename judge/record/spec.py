"""Data models: `GameSpec` (input) and `GameRecord` (output).

A game's id is a digest of its spec, or for a contest game its id in the schedule. Attempts share it.

Texts on a result have names and reasons that come from agents: callers must make them printable.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from judge.base.durable_files import read_bounded, write_durably
from judge.base.parsing import (
    FailFastDict,
    FailFastTuple,
    FrozenModel,
    Model,
    MomentText,
    canonical_json,
    parse_foreign,
)
from judge.base.text import points_text, sentence
from judge.games.types import MAX_POSITION_CHARACTERS, Verdict, opening_options
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.policy import Policy
from judge.record.seeds import Seed
from judge.record.transcript import SealedTranscript, withhold
from judge.sandbox.box import BoxKind as BoxKind
from judge.sandbox.box import FolderKind, ImageFacts
from judge.sandbox.evidence import Evidence

_DIGEST = "^[0-9a-f]{64}$"


class KeptFolders(FrozenModel):
    """An agent's kept folders, with digests of their start states."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")
    """Name of the agent and its temporary folder."""
    temporary: str | None = Field(default=None, pattern=_DIGEST)
    """SHA-256 of the state's archive. None: start without the folder."""
    persistent: str | None = Field(default=None, pattern=_DIGEST)

    @property
    def digests(self) -> dict[FolderKind, str]:
        states = {FolderKind.TEMPORARY: self.temporary, FolderKind.PERSISTENT: self.persistent}
        return {kind: digest for kind, digest in states.items() if digest is not None}


class SeatSpec(FrozenModel):
    """An agent (by digest), its command and its protocol."""

    name: str
    digest: str
    """SHA-256 of the agent's files, names and modes."""
    command: FailFastTuple[str]
    runtime: str
    protocol: str
    protocol_options: dict[str, Any] = Field(default_factory=dict)
    author: str = ""
    folders: KeptFolders | None = None
    """None: no files are kept."""


OpeningField = (
    FailFastTuple[tuple[int, int]] | Annotated[str, StringConstraints(min_length=1, max_length=MAX_POSITION_CHARACTERS)]
)


class GameSpec(FrozenModel):
    """Everything that determines a game except agents' actions."""

    seats: tuple[SeatSpec, SeatSpec]
    policy: Policy
    opening: OpeningField = ()
    """Stones set before the first move, in play order (seat 0 has the first colour), or a position as text."""
    seed: Seed = 0
    """Seed of all random events. In a schedule, the contest's commitment may replace it
    (`judge.tournament.schedule`).
    """
    number: int = 0
    """Number in its pairing, from 0."""
    box: BoxKind = "docker"
    scheduled_as: str | None = Field(default=None, pattern="^[0-9a-z]{1,64}$")
    """Id in the contest's schedule."""

    @property
    def id(self) -> str:
        """`scheduled_as`, or the first 80 bits of the SHA-256 of the canonical JSON without it."""
        return self.scheduled_as or _id_of(self.model_dump(mode="json", exclude={"scheduled_as"}))

    @property
    def id_as_read(self) -> str:
        """From the given fields only: older specs lack newer fields."""
        return self.scheduled_as or _id_of(self.model_dump(mode="json", exclude_unset=True))

    def is_called(self, name: str) -> bool:
        return name in (self.id, self.id_as_read)

    def game_options(self) -> dict[str, Any]:
        return {**self.policy.game.options, **opening_options(self.opening)}

    @property
    def opening_moves(self) -> int:
        return 0 if isinstance(self.opening, str) else len(self.opening)


def _id_of(document: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()[:20]


class PlyRecord(FrozenModel):
    """One answer: seat, bounded text, charged milliseconds."""

    seat: int = Field(ge=0, le=1)
    said: str
    ms: float
    search: dict[str, str] = Field(default_factory=dict)
    """Latest values of the agent's search report (`depth`, `score`, `pv`)."""
    memory_bytes: int | None = None
    """Memory of its box after the answer, as counted for the cap; None: unknown."""


class FolderRecord(FrozenModel):
    """A kept folder after the game."""

    digest: str = Field(pattern=_DIGEST)
    """The final state; the initial one if the game is void or nothing could be kept."""
    used_bytes: int | None = None
    """Use of the whole file system; None: unknown."""
    used_inodes: int | None = None
    notes: FailFastTuple[str] = ()
    """Files that are not stored, with reasons; names are escaped."""


class ClockRecord(FrozenModel):
    """The final clock of a seat with a time control."""

    control: str
    answers: int
    added_ms: float
    """Time at the beginning + added - charged = left."""
    left_ms: float | None
    moves_to_go: int | None = None
    periods_left: int = 0


class SeatRecord(FrozenModel):
    """The outcome for one seat."""

    name: str
    fault: Verdict | None
    """Against this seat, if any."""
    why: str
    """Reason of the fault, or ""."""
    evidence: Evidence | None
    charged_ms: float
    clock: ClockRecord | None = Field(default=None, exclude_if=lambda clock: clock is None)
    memory_peak_bytes: int | None
    cpu_ms: int | None
    lingered_ms: float = 0.0
    """After its kill; its slot was closed during this time."""
    lingered_cpu_ms: float = 0.0
    """Of its box in this time. More than `referee.STILL_MS` is a failure."""
    about: dict[str, str]
    """Its self-description, by keyword."""
    notes: FailFastTuple[str]
    """Messages and ignored output, without private ones."""
    folders: FailFastDict[FolderKind, FolderRecord] = Field(default_factory=dict)


class Placement(FrozenModel):
    """Where a game was played."""

    box: FailFastTuple[str]
    """Kind of each seat's box, such as `docker-pipes`; with `, fresh` or `, reused` if `box.reuse` is `agent`.
    A box that replaces another one during a game is always fresh.
    """
    judge_cores: FailFastTuple[int]
    slot_cores: FailFastTuple[int]
    seat_cores: FailFastTuple[FailFastTuple[int]] = Field(default=(), max_length=2, exclude_if=lambda cores: not cores)
    """Parts of `slot_cores`, if agents may ponder."""
    freezer: str = ""
    """What stopped the boxes out of turn: `unified`, `v1`, `engine` or `none`."""
    thaw_ms: float = Field(default=0.0, exclude_if=lambda ms: ms == 0)
    """The longest call that thawed a box with the freezer `engine`. It is part of the turn's time."""
    host: str = ""
    """Machine that played the game."""
    images: FailFastDict[str, ImageFacts] = Field(
        default_factory=dict, max_length=2, exclude_if=lambda images: not images
    )
    """Of the seats' boxes, by runtime."""


def game_scores(verdict: str, winner: int | None) -> tuple[float, float]:
    """1 for a win, 0.5 for a draw, else 0."""
    if verdict == Verdict.DRAW:
        return 0.5, 0.5
    return float(winner == 0), float(winner == 1)


def outcome_for(seat: int, verdict: str, winner: int | None) -> str:
    """won, lost, drawn or void."""
    if verdict == Verdict.VOID:
        return "void"
    if verdict == Verdict.DRAW:
        return "drawn"
    return "won" if winner == seat else "lost"


def score_text(verdict: str, winner: int | None, between: str = " : ") -> str:
    """Such as `1 : 0`, `½ : ½` or `void`."""
    if verdict == Verdict.VOID:
        return "void"
    return between.join(map(points_text, game_scores(verdict, winner)))


def outcome_text(verdict: str, winner: int | None, names: tuple[str, str]) -> str:
    """The outcome in words."""
    if verdict == Verdict.VOID:
        return sentence("void: does not count")
    if winner is not None:
        name = names[winner]
        return sentence(f"{name} wins")
    return sentence("drawn") if verdict == Verdict.DRAW else sentence("nobody wins")


def outcome_sentence(verdict: str, winner: int | None, names: tuple[str, str], reason: str) -> str:
    """Such as `anna wins: 5 in a row` or `anna wins (crash): ended by ...`."""
    outcome = outcome_text(verdict, winner, names)
    if verdict in (Verdict.WIN, Verdict.DRAW, Verdict.VOID):
        return sentence(f"{outcome}: {reason}")
    return sentence(f"{outcome} ({verdict}): {reason}")


MAX_SECONDS = 366 * 86_400
"""Of a game's duration."""


def _duration(seconds: float) -> float:
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"a game lasts 0 to {MAX_SECONDS} seconds")
    return seconds


class GameRecord(FrozenModel):
    """A played game. `winner` is None for a draw or a void."""

    format: Literal["judge-record-3"] = "judge-record-3"
    judge: str
    id: str
    attempt: int
    spec: GameSpec
    verdict: Verdict
    winner: int | None = Field(ge=0, le=1)
    reason: str
    result: str
    """In the usual manager's format; contests score its words."""
    seats: tuple[SeatRecord, SeatRecord]
    plies: FailFastTuple[PlyRecord]
    started_at: MomentText
    """When it got its slot (UTC); information only."""
    seconds: Annotated[float, AfterValidator(_duration)]
    """Duration of the transcript: `SealedTranscript.seconds`."""
    placement: Placement
    unclosed: str = ""
    """Host failure after the game, which does not change the verdict."""
    judge_late_ms: float = 0.0
    """Maximum time without a poll, or lateness at a deadline."""
    transcript_sha256: str

    @property
    def names(self) -> tuple[str, str]:
        return self.seats[0].name, self.seats[1].name

    def outcome(self, names: tuple[str, str] | None = None) -> str:
        """The sentence of the result, with other names than its own if they are given."""
        return outcome_sentence(self.verdict, self.winner, names or self.names, self.reason)


class RecordFile(Model):
    """The content of a record file."""

    model_config = ConfigDict(extra="forbid")

    record: GameRecord
    transcript: SealedTranscript

    def to_json(self, *, as_read: bool = False) -> bytes:
        """All ASCII, within `Policy.bounds`.

        `as_read`: only the fields it was read with, which define the ids of older judges.
        """
        return self.__pydantic_serializer__.to_json(self, ensure_ascii=True, exclude_unset=as_read)


def public_part(file: RecordFile) -> RecordFile:
    """The record without private entries, which can still be verified."""
    return RecordFile(record=file.record, transcript=withhold(file.transcript))


def write_record(path: Path, file: RecordFile) -> None:
    """Write atomically. Raises OSError."""
    write_durably(path, file.to_json())


def read_record(path: Path) -> RecordFile:
    """Raises InputError naming the file and the field."""
    return parse_record(read_bounded(path, MAX_RECORD_BYTES, links=True), path)


def parse_record(data: bytes, path: Path) -> RecordFile:
    """The record in a file's data. Raises InputError as `read_record`."""
    return parse_foreign(RecordFile, data, f"{path}: not a record of a game")
