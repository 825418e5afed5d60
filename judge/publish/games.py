"""One game's part of an export: its public record, its page, its PGN, and what goes to its authors alone.

Each game is done by itself and needs nothing of the others, so many are done at once, in processes of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from judge.catalog import game_entry
from judge.documents import parse_json
from judge.games.types import SEATS, Verdict
from judge.publish.match_page import Frame, game_page
from judge.publish.redaction import private_part, public_part
from judge.records.gomoku.pgn import write_pgn
from judge.records.gomoku.record import FiveRecord
from judge.referee.spec import MatchRecord, RecordFile
from judge.referee.transcript import EntryKind
from judge.store.files import Files


@dataclass(frozen=True, slots=True)
class GameJob:
    """A game to publish: where its record is, its page's frame, and where the agents' private files go, by seat."""

    files: Path
    record: str
    frame: Frame
    target: Path
    private: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class GameDone:
    """What the rest of the export needs of it: its game in PGN, and what each agent said of itself."""

    number: int
    pgn: bytes
    about: Mapping[str, Mapping[str, str]]


def publish_game(job: GameJob) -> GameDone:
    """Write the files of a game; InputError where its record is missing or was changed."""
    stem = job.frame.stem
    file = read_stored(job.files, job.record)
    public = write_public(file, job.target / f"records/{stem}.json")
    write_private(file, job.private, stem)
    (job.target / f"games/{stem}.html").write_bytes(game_page(public, job.frame))
    record = file.record
    return GameDone(job.frame.number, pgn_of(public, job.frame), {seat.name: dict(seat.about) for seat in record.seats})


def read_stored(files: Path, digest: str) -> RecordFile:
    """A record of the store; InputError names its file."""
    stored = Files(files)
    return parse_json(RecordFile, stored.get(digest), f"{stored.path(digest)}: not a record of a match")


def write_public(file: RecordFile, path: Path) -> RecordFile:
    """Write what everybody may see of a record, and return it."""
    public = public_part(file)
    path.write_bytes(public.to_json(as_read=True))
    return public


def write_private(file: RecordFile, folders: tuple[Path, Path], stem: str) -> None:
    """Write what was withheld of each seat into its own folder, stderr also as it was; nothing where there is none."""
    for seat in SEATS:
        part = private_part(file, seat)
        if not part.entries:
            continue
        folder = folders[seat]
        # Two seats may be one agent.
        name = stem if folders[0] != folders[1] else f"{stem}.seat-{seat}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_bytes(part.model_dump_json(ensure_ascii=True).encode())
        stderr = part.said(EntryKind.STDERR)
        if stderr:
            (folder / f"{name}.stderr").write_bytes(stderr)


def pgn_of(file: RecordFile, frame: Frame) -> bytes:
    """The game for programs that rate: five in a row with its moves, other games with their result alone."""
    record = file.record
    five = game_entry(record.spec.policy.game.name).pgn(file) or _bare(record)
    named = replace(five, event=frame.contest, round=f"{frame.round}.{frame.table}.{frame.number}")
    return write_pgn(named)


def _bare(record: MatchRecord) -> FiveRecord:
    if record.verdict is Verdict.DRAW:
        outcome = "draw"
    else:
        # Nobody wins where both are at fault: of that a rating program is told nothing.
        outcome = "" if record.winner is None else ("black", "white")[record.winner]
    return FiveRecord(
        width=0,
        height=0,
        moves=(),
        names=(record.seats[0].name, record.seats[1].name),
        outcome=outcome,  # type: ignore[arg-type]
        verdict=record.verdict.value,
        date=record.started_at[:10],
    )
