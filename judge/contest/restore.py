"""Restores a contest from a backup, complete or not at all."""

import glob
import hashlib
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from sqlalchemy.exc import SQLAlchemyError

from judge.agents.store import AgentStore
from judge.base.durable_files import PARTIAL, read_bounded, sha256_of, sync
from judge.base.errors import HostError, InputError
from judge.base.locks import lock, try_lock
from judge.base.parsing import parse_json
from judge.base.progress import Tracker, untracked
from judge.base.text import printable
from judge.base.worker_processes import in_parallel
from judge.contest.backup import (
    BackupManifest,
    counted_attempts,
    database_file,
    log_of,
    read_manifest,
    refuse_fork,
)
from judge.contest.contest import open_store
from judge.contest.plan import PLAN_FILE, Planned, load_plan
from judge.contest_games import GameResult
from judge.referee.bounds import MAX_RECORD_BYTES
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.store.files import Files
from judge.store.tables import metadata
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, read_checkpoint

_PLAN = f"{PLAN_FILE}{PARTIAL}"
_URLS = {"sqlite": "sqlite:///", "postgresql": "postgresql"}


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """Manifest and number of replayed games."""

    manifest: BackupManifest
    replayed: int


def restore(
    source: Path, target: Path, sample: int = 50, since: Path | None = None, track: Tracker = untracked
) -> RestoreReport:
    """Restore a backup into `target`, which is new or empty, and replay `sample` games.

    `since`: a published checkpoint that the log must contain. Raises InputError if a file or the log differs from the
    manifest, HostError if writing fails; then `target` is unchanged.
    """
    manifest = read_manifest(source)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{target}: not empty; a contest is restored into a new folder only")
    try:
        with _partial_folder(target) as partial:
            _write(source, partial, manifest, track)
            replayed = _check(partial, manifest, sample, since, track)
            # Last: a killed restore leaves no contest.
            (partial / _PLAN).rename(partial / PLAN_FILE)
            for path in (partial, *partial.rglob("*")):
                sync(path)
            partial.replace(target)
            sync(partial.parent)
    except OSError as error:
        raise HostError(f"{error.filename or target}: {error.strerror}: nothing is restored") from None
    return RestoreReport(manifest, replayed)


@contextmanager
def _partial_folder(target: Path) -> Iterator[Path]:
    """Locked, next to `target`. Removes those of killed restores."""
    home, prefix = target.absolute().parent, f".{target.name[:100]}."
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{glob.escape(prefix)}????????{PARTIAL}"):
        with suppress(OSError), _opened(left) as folder:
            if try_lock(folder):
                shutil.rmtree(left)
    partial = Path(tempfile.mkdtemp(prefix=prefix, suffix=PARTIAL, dir=home))
    try:
        with _opened(partial) as folder:
            lock(folder)
            yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield found
    finally:
        os.close(found)


def _write(source: Path, folder: Path, manifest: BackupManifest, track: Tracker) -> None:
    copies = Files(source / "files")
    for name, copy in manifest.files.items():
        path = folder / (_PLAN if name == PLAN_FILE else _plain(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(copies.get(copy.sha256))
        path.chmod(copy.mode)
    if not (folder / _PLAN).is_file():
        raise InputError(f"{source}: the backup has no {PLAN_FILE}")
    planned = load_plan(folder / _PLAN)
    if not planned.plan.store.startswith(_URLS[manifest.store]):
        raise InputError(f"{PLAN_FILE}: store: the backup has a database of {manifest.store}, this names another one")
    stored = Files(planned.files)
    for digest in track(manifest.stored, len(manifest.stored), "copying records"):
        path = stored.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(copies.get(digest))
    agents = AgentStore(planned.agents)
    for digest, packed in manifest.agents.items():
        agents.put_packed(digest, BytesIO(copies.get(packed)))
    database = source / "database" / manifest.database
    if not database.is_file() or sha256_of(database) != manifest.database:
        raise InputError(f"{database}: missing or changed; use another backup")
    if manifest.store == "sqlite":
        path = _database_of(planned)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(database, path)
        path.chmod(0o600)


def _database_of(planned: Planned) -> Path:
    path, home = database_file(planned), planned.folder.resolve()
    if path is None or "?" in planned.plan.store or not path.resolve().is_relative_to(home):
        raise InputError(f"{path}: the contest's database is outside its folder; move it to its place by hand")
    return path


def _plain(name: str) -> str:
    path = PurePosixPath(name)
    is_other = str(path) != name or "\0" in name or name.endswith(PARTIAL)
    if path.is_absolute() or ".." in path.parts or not path.parts or is_other:
        raise InputError(f"{name!r:.100}: not a valid path of a file in a backup")
    return name


def _check(folder: Path, manifest: BackupManifest, sample: int, since: Path | None, track: Tracker) -> int:
    planned = load_plan(folder / _PLAN)
    if planned.name != manifest.contest:
        raise InputError(f"{PLAN_FILE} names the contest {planned.name!r}, the backup {manifest.contest!r}")
    try:
        records, results = _read_store(planned, manifest, since)
    except (SQLAlchemyError, sqlite3.Error, TypeError, ValueError, LookupError) as error:
        said = printable(str(error).partition("\n")[0])
        raise InputError(f"the database of the backup is damaged: {said}; use another backup") from None
    if missing := sorted(records - set(manifest.stored)):
        raise InputError(f"{len(missing)} records are missing in the backup, first {missing[0]}")
    chosen = random.SystemRandom().sample(sorted(records), min(sample, len(records)))
    jobs = [(Files(planned.files).path(digest), results.get(digest)) for digest in chosen]
    for problems in track(in_parallel(_replay_problems, jobs), len(jobs), "replaying games"):
        if problems:
            raise InputError(f"a replay of the restored records failed: {problems[0]}")
    return len(jobs)


def _read_store(
    planned: Planned, manifest: BackupManifest, since: Path | None
) -> tuple[set[str], Mapping[str, GameResult]]:
    with closing(open_store(planned)) as store:
        log = log_of(store, planned.name)
        if manifest.store == "postgresql" and not log.size and manifest.log_size:
            raise InputError(
                f"the database of {PLAN_FILE} has no such contest; first load the dump into an empty database: "
                f"pg_restore --clean --if-exists --no-owner --dbname=DATABASE database/{manifest.database}"
            )
        if (log.size, log.tree.root().hex()) != (manifest.log_size, manifest.log_root):
            raise InputError(
                f"the database has a log of {log.size} leaves, the backup one of {manifest.log_size}, or their leaves "
                "differ: this database is not that of the backup"
            )
        if since is not None:
            old = read_checkpoint(read_bounded(since, MAX_CHECKPOINT_BYTES), str(since))
            if old.origin != log.origin:
                raise InputError(f"{since}: of another log, {old.origin!r:.100}")
            refuse_fork(old.size, old.root.hex(), log, str(since))
        records = {attempt.record for attempt in store.attempts(planned.name) if attempt.record is not None}
        results = {result.record: result for result in store.results(planned.name)}
        lines = store.journal(planned.name)
        created = [line.digest for line in lines if line.event == "created" and line.digest is not None]
        documents = [store.document(planned.name)] if created else []
    digests = [hashlib.sha256(f"{document}\n".encode()).hexdigest() for document in documents]
    counted = counted_attempts(lines)
    is_same = {result.id: result.attempt for result in results.values()} == counted and results.keys() <= records
    if not is_same or len(counted) != manifest.games or digests != created:
        raise InputError("the database differs from its log: it was changed; use another backup")
    if (path := database_file(planned)) is not None:
        _refuse_other_tables(path)
    return records, results


def _refuse_other_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        found = set(database.execute("SELECT type, name FROM sqlite_master WHERE type != 'index'"))
        (said,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    lacking = sorted({("table", name) for name in metadata.tables} - found)
    other = sorted(each for each in found if each[0] != "table") or lacking
    if other or said != "ok":
        raise ValueError(" ".join(other[0]) if other else said)


def _replay_problems(job: tuple[Path, GameResult | None]) -> Sequence[str]:
    path, result = job
    data = read_bounded(path, MAX_RECORD_BYTES)
    file = parse_json(RecordFile, data, f"{path}: not a record of a game")
    problems = [f"{path.name}: {problem}" for problem in verify(file).problems]
    if result is not None and not problems:
        record, seats = file.record, file.record.seats
        winner = None if record.winner is None else seats[record.winner].name
        charged = tuple(seat.charged_ms for seat in seats)
        theirs = (record.verdict, winner, record.reason, record.result, charged, record.seconds)
        if theirs != (result.verdict, result.winner, result.reason, result.result, result.charged_ms, result.seconds):
            problems.append(f"{path.name}: the database has another result of game {result.number}")
    return problems
