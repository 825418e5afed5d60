"""Restores a contest from a backup, complete or not at all."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge.agents.program_files import program_digest
from judge.agents.store import AgentStore
from judge.base.durable_files import PARTIAL, read_bounded, sha256_of, sync
from judge.base.errors import HostError, InputError
from judge.base.locks import lock, try_lock
from judge.base.progress import Tracker, untracked
from judge.contest.backup_check import (
    FORMER,
    MANIFEST,
    BackupManifest,
    check_backup,
    read_manifest,
    refuse_fork,
    refuse_other_log,
)
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import Planned, load_plan
from judge.contest.plan_edits import edited, set_value
from judge.store.files import Files
from judge.store.queries import Reader
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, read_checkpoint
from judge.transparency.log import ContestLog

_PLAN = f"{PLAN_FILE}{PARTIAL}"


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """Manifest and number of replayed games."""

    manifest: BackupManifest
    replayed: int


def restore(
    source: Path,
    target: Path,
    sample: int = 50,
    since: Path | None = None,
    track: Tracker = untracked,
    *,
    store: str = "",
    former: bool = False,
) -> RestoreReport:
    """Restore a backup into `target`, which is new or empty, and replay `sample` games.

    `since`: a published checkpoint that the log must contain. `store`: the database with the loaded dump. `former`: the
    backup before the newest. Raises InputError if a file or the log differs, HostError if writing fails; then `target`
    is unchanged.
    """
    manifest = read_manifest(source, FORMER if former else MANIFEST)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{target}: not empty; a contest is restored into a new folder only")
    try:
        contents, replayed = check_backup(source, manifest, sample, {}, track)
        if since is not None:
            old = read_checkpoint(read_bounded(since, MAX_CHECKPOINT_BYTES), str(since))
            if old.origin != contents.log.origin:
                raise InputError(f"{since}: of another log, {old.origin!r:.100}")
            refuse_fork(old.size, old.root.hex(), contents.log, str(since))
        _check_database(manifest, store)
        with _partial_folder(target) as partial:
            _write(source, partial, manifest, store, track)
            # Last: a killed restore leaves no contest.
            (partial / _PLAN).rename(partial / PLAN_FILE)
            for path in (partial, *partial.rglob("*")):
                sync(path)
            partial.replace(target)
            sync(partial.parent)
    except OSError as error:
        raise HostError(f"{error.filename or target}: {error.strerror}: nothing is restored") from None
    return RestoreReport(manifest, replayed)


def _check_database(manifest: BackupManifest, url: str) -> None:
    if manifest.store == "sqlite":
        if url:
            raise InputError("--store is for a contest in PostgreSQL; this backup has its own database file")
        return
    if not url.startswith("postgresql"):
        raise InputError(
            "the contest is in PostgreSQL: load the dump into an empty database, pg_restore --clean --if-exists "
            f"--no-owner --dbname=DATABASE database/{manifest.database}, then name that database: --store "
            "postgresql+psycopg://USER@HOST/DATABASE"
        )
    with closing(Reader(url)) as reader:
        log = ContestLog.stored(manifest.contest, reader)
    if not log.size and manifest.log_size:
        raise InputError(
            "--store: the database has no such contest; first load the dump into an empty database: "
            f"pg_restore --clean --if-exists --no-owner --dbname=DATABASE database/{manifest.database}"
        )
    refuse_other_log(manifest, log, manifest.games, "--store: ")


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


def _write(source: Path, folder: Path, manifest: BackupManifest, store: str, track: Tracker) -> None:
    copies = Files(source / "files")
    for name, copy in manifest.files.items():
        path = folder / (_PLAN if name == PLAN_FILE else _plain(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            copies.copy(copy.sha256, file)
        path.chmod(copy.mode)
    if not (folder / _PLAN).is_file():
        raise InputError(f"{source}: the backup has no {PLAN_FILE}")
    planned = _load(folder, manifest, store)
    stored = Files(planned.files)
    for digest in track(manifest.stored, len(manifest.stored), "copying records"):
        path = stored.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            copies.copy(digest, file)
    agents = AgentStore(planned.agents)
    for digest, packed in manifest.agents.items():
        with copies.opened(packed) as file:
            agents.put_packed(digest, file)
    for name, digest in manifest.programs.items():
        if program_digest(folder / _plain(name)) != digest:
            raise InputError(f"{name}: the restored agent differs from the agent that was backed up")
    if manifest.store == "sqlite":
        target, database = planned.database_file, source / "database" / manifest.database
        if target is None or not planned.keeps_own_database:
            raise InputError(f"{target}: the contest's database is outside its folder; move it to its place by hand")
        target.parent.mkdir(parents=True, exist_ok=True)
        for end in ("", "-wal", "-shm", "-journal"):  # SQLite would read them with the database that was checked
            if os.path.lexists(f"{target}{end}"):
                raise InputError(f"{source}: {target.name}{end} is among its files; use another backup")
        shutil.copyfile(database, target)
        if sha256_of(target) != manifest.database:
            raise InputError(f"{database}: missing or changed; use another backup")
        target.chmod(0o600)


def _load(folder: Path, manifest: BackupManifest, store: str) -> Planned:
    planned = load_plan(folder / _PLAN)
    if planned.name != manifest.contest:
        raise InputError(f"{PLAN_FILE} names the contest {planned.name!r}, the backup {manifest.contest!r}")
    if (planned.database_file is None) != (manifest.store == "postgresql"):
        raise InputError(f"{PLAN_FILE}: store: the backup has a database of {manifest.store}, this names another one")
    if manifest.store == "postgresql" and planned.plan.store != store:
        text = edited(planned.text, lambda document: set_value(document, ("store",), store))
        planned.path.write_text(text, encoding="utf-8")
        planned = load_plan(planned.path)
    return planned


def _plain(name: str) -> str:
    path = PurePosixPath(name)
    is_other = str(path) != name or "\0" in name or name == _PLAN
    if path.is_absolute() or ".." in path.parts or not path.parts or is_other:
        raise InputError(f"{name!r:.100}: not a valid path of a file in a backup")
    return name
