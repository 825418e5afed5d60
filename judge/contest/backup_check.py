"""Form and checks of a backup, and of the dump of a PostgreSQL database in it.

backup.json             contents, written last
former.json             of the backup before
database/SHA256         both databases: copies or dumps
files/ab/SHA256         records, folder states, packed agents, other files
"""

import hashlib
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field
from sqlalchemy import Boolean, Float, Integer, LargeBinary
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import Column, Table

from judge.agents.program_files import digest_of_files
from judge.agents.store import AgentStore
from judge.base.durable_files import read_bounded, sha256_of
from judge.base.errors import HostError, InputError, StoreDamagedError, os_errors_as
from judge.base.owner import owned_directory
from judge.base.parsing import FailFastMapping, FailFastTuple, FrozenModel, parse_json
from judge.base.progress import Tracker, untracked
from judge.base.text import printable
from judge.base.worker_processes import in_parallel
from judge.contest_games import GameResult, ScheduledGame, schedule_digest
from judge.journal.events import Created, Digest, Entered, Scheduled
from judge.journal.state import JournalLine, state_after
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.spec import GameSpec, RecordFile
from judge.referee.verify import verify
from judge.store.contests import Store
from judge.store.database import Database
from judge.store.files import Files
from judge.store.sqlite_files import damage_of
from judge.store.tables import files, metadata
from judge.store.types import EntryRow, FileKind
from judge.tournament.snapshot import Snapshot, read_snapshot
from judge.transparency.log import ContestLog

MANIFEST = "backup.json"
FORMER = "former.json"

MAX_MANIFEST_BYTES = 512 << 20

StoreKind = Literal["sqlite", "postgresql"]


class FileCopy(FrozenModel):
    """A file in the contest's folder."""

    sha256: Digest
    mode: int = Field(ge=0, le=0o777)


class BackupManifest(FrozenModel):
    """The contents of a backup. `log_size` and `log_root` are the log's checkpoint."""

    format: Literal["judge-backup-1"] = "judge-backup-1"
    judge: str
    contest: str
    taken_at: str
    store: StoreKind
    database: Digest
    log_size: int = Field(ge=0)
    log_root: Digest
    games: int = Field(ge=0)
    """Games with a result."""
    files: FailFastMapping[str, FileCopy]
    """By path in the contest's folder."""
    keys: FailFastTuple[str] = ()
    """Paths of private keys and passwords, not in the backup."""
    programs: Mapping[str, Digest] = {}
    """Digests of listed agents by path."""
    agents: Mapping[Digest, Digest]
    """SHA-256 of the packed files, by agent digest."""
    stored: FailFastTuple[Digest]
    """Records and folder states."""


@dataclass(frozen=True, slots=True)
class StoreContents:
    """`records`: of all attempts. `results`: by record."""

    log: ContestLog
    records: frozenset[str]
    results: Mapping[str, GameResult]


def read_manifest(directory: Path, name: str = MANIFEST) -> BackupManifest:
    """Read the manifest of a backup. Raises InputError."""
    path = directory / name
    data = read_bounded(path, MAX_MANIFEST_BYTES, "give a directory that judge contest backup completed")
    return parse_json(BackupManifest, data, f"{path}: not a backup")


def check_backup(
    directory: Path, manifest: BackupManifest, sample: int, agents: Mapping[str, str], track: Tracker = untracked
) -> tuple[StoreContents, int]:
    """Check all that a restore needs; replay `sample` games and return their number. `agents`: to unpack.

    Raises InputError.
    """
    copies = Files(directory / "files")
    for copy in manifest.files.values():
        copies.copy(copy.sha256)
    for digest in track(manifest.stored, len(manifest.stored), "checking records"):
        copies.copy(digest)
    with owned_directory() as folder:
        for digest, packed in agents.items():
            copies.copy(packed)
            with copies.opened(packed) as file:
                AgentStore(folder).put_packed(digest, file)
    for path, digest in manifest.programs.items():
        if digest_of_copies(manifest.files, path) != digest:
            raise InputError(f"{path}: the copy of the agent differs from the agent: back up again")
    database = directory / "database" / manifest.database
    if not database.is_file() or sha256_of(database) != manifest.database:
        raise InputError(f"{database}: missing or changed; use another backup")
    with opened_copy(database, manifest.store) as store:
        contents = read_contents(store, manifest.contest)
    refuse_other_log(manifest, contents.log, len(contents.results))
    if missing := sorted(contents.records - set(manifest.stored)):
        raise InputError(f"{len(missing)} records are missing in the backup, first {missing[0]}")
    chosen = random.SystemRandom().sample(sorted(contents.records), min(sample, len(contents.records)))
    jobs = [(copies.path(digest), contents.results.get(digest)) for digest in chosen]
    for problems in track(in_parallel(_replay_problems, jobs), len(jobs), "replaying games"):
        if problems:
            raise InputError(f"a replay of the records failed: {problems[0]}")
    return contents, len(jobs)


def digest_of_copies(copies: Mapping[str, FileCopy], program: str) -> str:
    """The digest of the agent at the path `program`."""
    prefix = f"{program}/"
    return digest_of_files(
        (name.removeprefix(prefix), bool(copy.mode & 0o100), bytes.fromhex(copy.sha256))
        for name, copy in sorted(copies.items(), key=lambda item: PurePosixPath(item[0]))
        if name.startswith(prefix)
    )


_OF_WRONG_VALUES = (TypeError, ValueError, LookupError, OverflowError)


@contextmanager
def opened_copy(database: Path, kind: StoreKind) -> Iterator[Store]:
    """Load a copy or dump into a temporary store. Raises InputError."""
    with owned_directory() as folder:
        loaded = folder / "contest.db"
        try:
            if kind == "sqlite":
                shutil.copyfile(database, loaded)
            else:
                load_dump(database, loaded)
            if (said := damage_of(loaded)) is not None:
                raise _damaged(said)
            with closing(Store(f"sqlite:///{loaded}")) as store:
                yield store
        except (SQLAlchemyError, StoreDamagedError, sqlite3.Error, *_OF_WRONG_VALUES) as error:
            raise _damaged(str(error).partition("\n")[0]) from None


def _damaged(said: str) -> InputError:
    return InputError(f"the copy of the database is damaged: {printable(said)}; use another backup")


def read_contents(store: Store, contest: str) -> StoreContents:
    """Raises InputError if results or games differ from the log, or the terms of games from those of the contest."""
    lines = store.journal(contest)
    records = frozenset(attempt.record for attempt in store.attempts(contest) if attempt.record is not None)
    results = {result.record: result for result in store.results(contest)}
    created = [line.digest for line in lines if isinstance(line.change, Created) and line.digest is not None]
    documents = [store.document(contest)] if created else []
    digests = [hashlib.sha256(f"{document}\n".encode()).hexdigest() for document in documents]
    counted = {game: each.counted for game, each in state_after(lines).games.items() if each.counted is not None}
    are_same = counted == {result.id: result.attempt for result in results.values()} and digests == created
    if not are_same or not results.keys() <= records:
        raise InputError("the database differs from its log: it was changed or damaged; use another backup")
    games = store.games(contest)
    _refuse_other_schedule(games, lines)
    for document in documents:
        snapshot = read_snapshot(document)
        _refuse_other_specs(games, snapshot)
        _refuse_other_entries(store.entries(contest), snapshot, lines)
    return StoreContents(ContestLog.of(contest, lines), records, results)


def _refuse_other_schedule(games: Sequence[ScheduledGame], lines: Iterable[JournalLine]) -> None:
    start = 0
    ordered = sorted(games, key=lambda game: game.number)
    for line in lines:
        datetime.fromisoformat(line.at)
        if isinstance(line.change, Scheduled):
            end = start + line.change.games
            if schedule_digest(ordered[start:end]) != line.digest:
                raise InputError("the games differ from the log: they were changed or damaged; use another backup")
            start = end


def _refuse_other_specs(games: Sequence[ScheduledGame], snapshot: Snapshot) -> None:
    """Later games are played by these specs; late entries are not in the snapshot."""
    digests = {entry.name: entry.seat.digest for entry in snapshot.entries}
    for game in games:
        spec = GameSpec.model_validate_json(game.spec)
        seats = {seat.name: seat.digest for seat in spec.seats}
        is_same = all(digests.get(name, digest) == digest for name, digest in seats.items())
        policy = snapshot.policy_of(game.first, game.second)
        if spec.policy != policy or seats.keys() != {game.first, game.second} or not is_same:
            raise InputError(f"the terms of game {game.number} were changed or damaged; use another backup")


def _refuse_other_entries(rows: Iterable[EntryRow], snapshot: Snapshot, lines: Iterable[JournalLine]) -> None:
    entered, by_name = {line.digest for line in lines if isinstance(line.change, Entered)}, snapshot.by_name()
    for row in rows:
        entry, digest = by_name.get(row.name), hashlib.sha256(row.entry.encode()).hexdigest()
        if (digest not in entered) if entry is None else entry.model_dump_json() != row.entry:
            raise InputError(f"the entry {row.name} was changed or damaged; use another backup")


def refuse_other_log(manifest: BackupManifest, log: ContestLog, games: int, place: str = "") -> None:
    """Raise InputError unless the log, and the number of games with a result, are those of the backup."""
    if (log.size, log.tree.root().hex(), games) != (manifest.log_size, manifest.log_root, manifest.games):
        raise InputError(
            f"{place}the database has a log of {log.size} leaves, the backup one of {manifest.log_size}, or their "
            "leaves differ: this database is not that of the backup"
        )


def refuse_fork(size: int, root: str, log: ContestLog, source: str) -> None:
    """Raise InputError unless `log` continues a log of this size and root."""
    if size > log.size:
        raise InputError(
            f"{source}: its log has {size} leaves and this one only {log.size}: the contest was set back, "
            "and continuing would fork its history"
        )
    if log.tree.root(size).hex() != root:
        raise InputError(
            f"{source}: its first {size} leaves differ from this log: the history of the contest was forked"
        )


def _replay_problems(job: tuple[Path, GameResult | None]) -> Sequence[str]:
    path, result = job
    file = parse_json(RecordFile, read_bounded(path, MAX_RECORD_BYTES), f"{path}: not a record of a game")
    problems = [f"{path.name}: {problem}" for problem in verify(file).problems]
    if result is not None and not problems:
        record, seats = file.record, file.record.seats
        winner = None if record.winner is None else seats[record.winner].name
        charged = tuple(seat.charged_ms for seat in seats)
        theirs = (record.verdict, winner, record.reason, record.result, charged, record.seconds)
        if theirs != (result.verdict, result.winner, result.reason, result.result, result.charged_ms, result.seconds):
            problems.append(f"{path.name}: the database has another result of game {result.number}")
    return problems


# --- dumps of PostgreSQL ----------------------------------------------------------------------------------------------


_COPY = re.compile(r"COPY (?:\w+\.)?\"?(\w+)\"? \((.*)\) FROM stdin;")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

MAX_ERROR_BYTES = 1000

Value = str | int | float | bytes | None


def load_dump(dump: Path, target: Path) -> None:
    """Load a dump of `pg_dump --format=custom` into a new SQLite file, without the data of `files`.

    Raises InputError if it is damaged.
    """
    Database(f"sqlite:///{target}").close()
    loaded = set()
    with closing(sqlite3.connect(target)) as database, database:
        for table, columns, rows in _tables(_pg_restore(dump), dump):
            loaded.add(table.name)
            names = ", ".join(f'"{column.name}"' for column in columns)
            marks = ", ".join("?" * len(columns))
            command = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608 our names
            database.executemany(command, rows)
    if missing := sorted(set(metadata.tables) - loaded):
        raise InputError(f"{dump}: not a complete dump of a store: the data of {', '.join(missing)} is missing")


def _pg_restore(dump: Path) -> Iterator[str]:
    with tempfile.TemporaryFile() as errors:  # a full pipe would stop it
        with os_errors_as(HostError, "pg_restore", "; install the client programs of PostgreSQL"):
            process = subprocess.Popen(
                ["pg_restore", "--data-only", "--file=-", str(dump)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        with process:
            if process.stdout is not None:
                yield from process.stdout
        errors.seek(0)
        said = errors.read(MAX_ERROR_BYTES).decode(errors="replace")
    if process.returncode:
        raise InputError(
            f"{dump}: pg_restore cannot read it: {printable(said)}; make a new dump with pg_dump "
            "--format=custom, and look at its exit code"
        )


def _tables(output: Iterator[str], dump: Path) -> Iterator[tuple[Table, list[Column[object]], Iterator[list[Value]]]]:
    for line in output:
        found = _COPY.match(line)
        if found is None or (table := metadata.tables.get(found[1])) is None:
            continue
        names = [name.strip(' "') for name in found[2].split(",")]
        if unknown := sorted(set(names) ^ {column.name for column in table.columns}):
            raise InputError(
                f"{dump}: the columns of {table.name} are of another version of judge: {', '.join(unknown)}"
            )
        columns = [table.c[name] for name in names]
        yield table, columns, _rows(output, columns, dump)


def _rows(output: Iterator[str], columns: list[Column[object]], dump: Path) -> Iterator[list[Value]]:
    for line in output:
        if line == "\\.\n":
            return
        try:
            cells = zip(columns, line.rstrip("\n").split("\t"), strict=True)
            row = [_value(column, cell) for column, cell in cells]
        except ValueError as error:
            raise InputError(f"{dump}: {columns[0].table.name}: a damaged row: {printable(str(error))}") from None
        yield _without_data(row, columns, dump) if columns[0].table is files else row
    raise InputError(f"{dump}: the dump ends inside {columns[0].table.name}: it was cut short")


def _without_data(row: list[Value], columns: list[Column[object]], dump: Path) -> list[Value]:
    by_name = dict(zip((column.name for column in columns), row, strict=True))
    data, digest = by_name["data"], str(by_name["digest"])
    is_whole = isinstance(data, bytes) and hashlib.sha256(data).hexdigest() == digest
    if by_name["kind"] == FileKind.FILE and not is_whole:
        raise InputError(f"{dump}: files: {printable(digest)}: its SHA-256 differs: the dump is damaged")
    return [b"" if column.name == "data" else value for column, value in zip(columns, row, strict=True)]


def _value(column: Column[object], text: str) -> Value:
    if text == r"\N":
        return None
    plain = _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
    if isinstance(column.type, Boolean):
        return {"t": 1, "f": 0}[plain] if plain in ("t", "f") else int(plain)
    if isinstance(column.type, Integer):
        return int(plain)
    if isinstance(column.type, Float):
        return float(plain)
    if isinstance(column.type, LargeBinary):
        return bytes.fromhex(plain.removeprefix(r"\x"))
    return plain
