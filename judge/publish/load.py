"""What of an export is read as it stands: what was frozen, and what no record and no course tells.

That is the pairings (which are checked against the course), the states of games without a result, what the organiser
decided, and the log. All other numbers are computed again by `judge.publish.verify_export`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from judge.contest.chance import commitment_to
from judge.contest.snapshot import Frozen, thaw
from judge.documents import parse_json
from judge.errors import InputError
from judge.publish.manifest import read_bounded
from judge.referee.chance import Key
from judge.store.types import JournalLine, Paired

DOCUMENT, CHANCE = "contest.json", "chance.json"

LARGEST_TABLE = 256 << 20
"""Bytes; ten thousand games have a hundredth of that."""

Rows = TypeVar("Rows")


class _Row(BaseModel):
    """What a table has beyond the columns that are read is compared later, as a whole."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _PairingRow(_Row):
    round: int
    table: int
    first: str
    second: str | None
    meeting: int
    group: str


class GameRow(_Row):
    """What no record tells of a game."""

    number: int
    state: str
    why: str
    attempt: int | None


class _OutRow(_Row):
    agent: str
    why: str


class AttemptRow(_Row):
    """What no record tells of an attempt that does not count."""

    number: int
    attempt: int
    state: str
    why: str


class _LogRow(_Row):
    at: str
    event: str
    match: str | None
    attempt: int | None
    text: str


class Revealed(BaseModel):
    """What `chance.json` says when a contest is over: the secret that all its chance follows from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contest: str
    commitment: Key
    """SHA-256 of the secret's 32 bytes, which contest.json has had from the start."""
    secret: Key


@dataclass(frozen=True, slots=True)
class Export:
    """The parts of an export that are not recomputed; `games` and `uncounted` by the number of the game.

    `secret` is what the contest's chance follows from, once it was revealed.
    """

    directory: Path
    frozen: Frozen
    document: str
    secret: Key | None
    out: Mapping[str, str]
    pairings: Sequence[Paired]
    games: Mapping[int, GameRow]
    uncounted: Mapping[int, Sequence[AttemptRow]]
    journal: Sequence[JournalLine]


def read_export(directory: Path) -> Export:
    """Read what is not recomputed; InputError names the file that is not what an export has there."""
    document = read_bounded(directory / DOCUMENT, LARGEST_TABLE).decode("utf-8", "replace")
    frozen = thaw(document)
    games = _table(directory, "games", list[GameRow])
    attempts: dict[int, list[AttemptRow]] = {}
    for row in _table(directory, "attempts", list[AttemptRow]):
        attempts.setdefault(row.number, []).append(row)
    return Export(
        directory=directory,
        frozen=frozen,
        document=document.removesuffix("\n"),
        secret=_secret(directory / CHANCE, frozen),
        out={row.agent: row.why for row in _table(directory, "disqualified", list[_OutRow])},
        pairings=[
            Paired(row.round, row.table, row.first, row.second, row.meeting, row.group)
            for row in _table(directory, "pairings", list[_PairingRow])
        ],
        games={row.number: row for row in games},
        uncounted=attempts,
        journal=[
            JournalLine(row.at, row.event, row.match, row.attempt, row.text)
            for row in _table(directory, "journal", list[_LogRow])
        ],
    )


def _secret(path: Path, frozen: Frozen) -> Key | None:
    """The revealed secret; InputError where it is not the one that the contest has committed to."""
    if not path.is_symlink() and not path.exists():
        return None
    data = read_bounded(path, LARGEST_TABLE)
    revealed = parse_json(Revealed, data, f"{path.name}: not a contest's chance")
    is_own = (revealed.contest, revealed.commitment) == (frozen.name, frozen.commitment)
    if not is_own or commitment_to(revealed.secret) != frozen.commitment:
        raise InputError(f"{path.name}: not the secret that {DOCUMENT} has committed to")
    return revealed.secret


def _table(directory: Path, name: str, kind: type[Rows]) -> Rows:
    path = directory / "data" / f"{name}.json"
    return parse_json(kind, read_bounded(path, LARGEST_TABLE), f"{path}: not a table of an export")
