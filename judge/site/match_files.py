"""One match's part of an export: its public record, its page, its PGN, and what only its authors get.

A match needs nothing of the others, so many are published at once, in processes of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from judge.base.parsing import parse_json
from judge.catalog import game_entry
from judge.catalog.steps import steps_of
from judge.games.types import SEATS, Verdict
from judge.matches import GameConditions
from judge.publish.conditions import conditions_of
from judge.publish.redaction import private_part
from judge.records.gomoku.pgn import write_pgn
from judge.records.gomoku.record import WINNERS, FiveRecord, Outcome
from judge.referee.spec import RecordFile, public_part
from judge.referee.transcript import EntryKind
from judge.site.match_page import MatchContext, match_pages, match_picture
from judge.site.pages import PagePlace
from judge.store.files import Files
from judge.translations.language import languages


@dataclass(frozen=True, slots=True)
class MatchJob:
    """A match to publish: where the store's files are, the digest of the record, the context of its page, the export,
    and the directories of its agents' private files, by seat."""

    files: Path
    record: str
    context: MatchContext
    target: Path
    private: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class MatchFiles:
    """What the rest of the export needs of a match: its game in PGN, what agents said of themselves, its conditions."""

    pgn: bytes
    about: Mapping[str, Mapping[str, str]]
    conditions: GameConditions


def publish_match(job: MatchJob) -> MatchFiles:
    """Write the files of a match. Raises InputError if its record is missing or was changed."""
    context, match = job.context, job.context.match
    file = read_stored(job.files, job.record)
    public = write_public(file, job.target / match.record_path)
    write_private(file, job.private, match.stem)
    replay = steps_of(public)
    spoken = languages(context.languages)
    places = [PagePlace(f"games/{match.stem}.html", language, spoken) for language in spoken]
    for place, page in zip(places, match_pages(replay, public.record, context, places), strict=True):
        (job.target / place.file).write_bytes(page)
    if context.address:
        (job.target / match.picture_path).write_bytes(match_picture(replay, public.record, context.contest))
    about = {seat.name: dict(seat.about) for seat in file.record.seats}
    return MatchFiles(_pgn(public, context), about, conditions_of(file.record))


def read_stored(files: Path, digest: str) -> RecordFile:
    """A record of the store. Raises InputError that names the file if it is not one."""
    stored = Files(files)
    return parse_json(RecordFile, stored.get(digest), f"{stored.path(digest)}: not a record of a match")


def write_public(file: RecordFile, path: Path) -> RecordFile:
    """Write the public part of a record, and return it."""
    public = public_part(file)
    path.write_bytes(public.to_json(as_read=True))
    return public


def write_private(file: RecordFile, folders: tuple[Path, Path], stem: str) -> None:
    """Write what was withheld of each seat into the directory of its agent, with a file of its stderr as it was."""
    for seat in SEATS:
        part = private_part(file, seat)
        if not part.entries:
            continue
        folder = folders[seat]
        # Two seats may be one agent.
        name = stem if folders[0] != folders[1] else f"{stem}.seat-{seat}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_bytes(part.model_dump_json(ensure_ascii=True).encode())
        stderr = part.bytes_of(EntryKind.STDERR)
        if stderr:
            (folder / f"{name}.stderr").write_bytes(stderr)


def _pgn(file: RecordFile, context: MatchContext) -> bytes:
    """The match for rating programs: five in a row with its moves, other games with their result alone."""
    record, match = file.record, context.match
    five = game_entry(record.spec.policy.game.name).pgn(file)
    if five is None:
        # If both are at fault, nobody wins; rating programs have no result for that.
        outcome: Outcome = "draw" if record.verdict is Verdict.DRAW else ""
        five = FiveRecord(
            width=0,
            height=0,
            moves=(),
            names=(record.seats[0].name, record.seats[1].name),
            outcome=outcome if record.winner is None else WINNERS[record.winner],
            verdict=record.verdict.value,
            date=record.started_at[:10],
        )
    return write_pgn(replace(five, event=context.contest, round=f"{match.round}.{match.table}.{match.number}"))
