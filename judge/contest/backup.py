"""Copies a contest to another directory while it runs.

    backup.json             the contents, written last; a directory without it is not a backup
    database/SHA256         the database: SQLite's own copy, or the dump of pg_dump
    files/ab/SHA256         records, folder states, packed agents and the other files of the contest's folder

The database is copied first: files are stored before the rows that name them, so later copies are complete. A second
backup into the same directory adds only new files. A killed backup leaves the former `backup.json`.
"""

import hashlib
import shutil
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

import judge
from judge.agents.store import AgentStore, pack_agent
from judge.base.durable_files import PARTIAL, create_private, read_bounded, sha256_of, sync, write_durably
from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock_directory
from judge.base.parsing import parse_json
from judge.base.progress import Tracker, untracked
from judge.contest.contest import open_store
from judge.contest.plan import Planned
from judge.contest.postgres_dump import journal_of_dump
from judge.contest_games import AttemptState
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.types import JournalLine
from judge.transparency.log import ContestLog

MANIFEST = "backup.json"

MAX_MANIFEST_BYTES = 512 << 20

MAX_FILE_BYTES = 1 << 30
"""Bytes of a file that is not a record."""

_SHA256 = r"^[0-9a-f]{64}$"
_Digest = Annotated[str, Field(pattern=_SHA256)]
_SQLITE = "sqlite:///"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileCopy(_Value):
    """A file in the contest's folder."""

    sha256: str = Field(pattern=_SHA256)
    mode: int = Field(ge=0, le=0o777)


class BackupManifest(_Value):
    """The contents of a backup. `log_size` and `log_root` are the log's checkpoint."""

    format: Literal["judge-backup-1"] = "judge-backup-1"
    judge: str
    contest: str
    taken_at: str
    store: Literal["sqlite", "postgresql"]
    database: str = Field(pattern=_SHA256)
    log_size: int = Field(ge=0)
    log_root: str = Field(pattern=_SHA256)
    games: int = Field(ge=0)
    """Games with a result."""
    files: Mapping[str, FileCopy]
    """By path in the contest's folder."""
    keys: tuple[str, ...] = ()
    """Paths of private keys and passwords, not in the backup."""
    agents: Mapping[_Digest, _Digest]
    """SHA-256 of the packed files, by agent digest."""
    stored: tuple[_Digest, ...]
    """Records and folder states."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The manifest and the number of files that earlier backups lack."""

    manifest: BackupManifest
    new_files: int


def back_up(
    planned: Planned,
    target: Path,
    keys: Path | None = None,
    dump: Path | None = None,
    track: Tracker = untracked,
) -> BackupReport:
    """Copy a contest into `target`: new, empty, or an earlier backup of it.

    `keys`: new directory for private keys. `dump`: from pg_dump. Raises InputError if the log does not continue the
    earlier one, HostError if a record is missing.
    """
    if planned.has_no_store:
        raise InputError(f"{planned.path}: the contest has no store yet, so there is nothing to back up")
    home, place = planned.folder.resolve(), target.resolve()
    if place.is_relative_to(home) or home.is_relative_to(place):
        raise InputError(f"{target}: must be outside the contest's folder, best on another disk")
    names = {path.name for path in target.iterdir()} if target.is_dir() else set()
    if MANIFEST not in names and names - {"lock", "database", "files"}:
        raise InputError(f"{target}: neither empty nor a backup; name another directory")
    try:
        if keys is not None:
            keys.mkdir(mode=0o700, parents=True)
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = try_lock_directory(target)
        if held is None:
            raise HostError(f"{target}: another backup is being written there")
        with held:
            return _Backup(planned, target, track).write(keys, dump)
    except FileExistsError:
        raise InputError(f"{keys}: exists; name a new directory for the keys") from None
    except (OSError, sqlite3.Error) as error:
        raise HostError(f"{target}: the backup is not complete: {error}; a former one is unchanged") from None


def read_manifest(directory: Path) -> BackupManifest:
    """Read the manifest of a backup. Raises InputError."""
    path = directory / MANIFEST
    data = read_bounded(path, MAX_MANIFEST_BYTES, "give a directory that judge contest backup completed")
    return parse_json(BackupManifest, data, f"{path}: not a backup")


def database_file(planned: Planned) -> Path | None:
    """The contest's SQLite file; None with PostgreSQL."""
    url = planned.store_url
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def log_of(store: Store, contest: str) -> ContestLog:
    """A contest's log."""
    return ContestLog(contest, partial(store.leaves, contest))


class _Backup:
    def __init__(self, planned: Planned, target: Path, track: Tracker) -> None:
        self._planned = planned
        self._target = target
        self._track = track
        self._copies = Files(target / "files")
        self._new = 0
        self._keys: set[str] = set()

    def write(self, keys: Path | None, dump: Path | None) -> BackupReport:
        planned, name = self._planned, self._planned.name
        former = read_manifest(self._target) if (self._target / MANIFEST).exists() else None
        if former is not None and former.contest != name:
            raise InputError(f"{self._target}: has a backup of {former.contest!r}; name another directory")
        self._copies.sweep()
        # Before the database: no file is newer than it.
        others = self._copy_others({})
        kind, database, log, attempts, games = self._copy_database(dump)
        if former is not None:
            refuse_fork(former.log_size, former.log_root, log, f"{self._target / MANIFEST}")
        # Uploads are stored before their rows.
        others |= self._copy_others(others)
        agents = self._copy_agents()
        stored = self._copy_stored()
        if missing := sorted(attempts - stored):
            raise HostError(f"{planned.files}: {len(missing)} records are missing, first {missing[0]}")
        if keys is not None:
            for path in sorted(self._keys):
                create_private(keys / path.replace("/", "-"), (planned.folder / path).read_bytes())
        manifest = BackupManifest(
            judge=judge.__version__,
            contest=name,
            taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
            store=kind,
            database=database,
            log_size=log.size,
            log_root=log.tree.root().hex(),
            games=games,
            files=others,
            keys=tuple(sorted(self._keys)),
            agents=agents,
            stored=tuple(sorted(stored)),
        )
        write_durably(self._target / MANIFEST, manifest.model_dump_json().encode())
        for old in (self._target / "database").iterdir():
            if old.name != database:
                old.unlink()
        return BackupReport(manifest, self._new)

    # --- the database ------------------------------------------------------------------------------------------------

    def _copy_database(
        self, dump: Path | None
    ) -> tuple[Literal["sqlite", "postgresql"], str, ContestLog, set[str], int]:
        folder, name = self._target / "database", self._planned.name
        folder.mkdir(exist_ok=True)
        partial_copy = folder / PARTIAL
        for path in folder.glob(f"{PARTIAL}*"):
            path.unlink()
        source = database_file(self._planned)
        if source is not None:
            if dump is not None:
                raise InputError("--dump is for contests in PostgreSQL; judge copies SQLite itself")
            with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(partial_copy)) as copy:
                live.backup(copy)
            with closing(Store(f"{_SQLITE}{partial_copy.absolute()}")) as store:
                log, attempts, games = log_of(store, name), _records(store, name), len(store.results(name))
            return "sqlite", self._keep(partial_copy), log, attempts, games
        if dump is None:
            raise InputError(
                "the contest is in PostgreSQL: first run pg_dump --format=custom --file=cup.dump DATABASE, "
                "then give --dump cup.dump"
            )
        with closing(open_store(self._planned)) as store:
            shutil.copyfile(dump, partial_copy)
            lines: Sequence[JournalLine] = journal_of_dump(partial_copy, name)
            log = ContestLog.of(name, lines)
            refuse_fork(log.size, log.tree.root().hex(), log_of(store, name), str(dump))
            attempts = _records(store, name)
        return "postgresql", self._keep(partial_copy), log, attempts, len(counted_attempts(lines))

    def _keep(self, partial_copy: Path) -> str:
        digest = sha256_of(partial_copy)
        sync(partial_copy)
        partial_copy.chmod(0o600)
        partial_copy.replace(partial_copy.with_name(digest))
        sync(partial_copy.parent)
        return digest

    # --- files -------------------------------------------------------------------------------------------------------

    def _copy_stored(self) -> set[str]:
        source = Files(self._planned.files)
        digests = sorted(source.digests())
        for digest in self._track(digests, len(digests), "copying records"):
            self._put(digest, partial(source.get, digest))
        return set(digests)

    def _copy_agents(self) -> dict[str, str]:
        source = AgentStore(self._planned.agents)
        packed = {}
        for digest in sorted(source.digests()):
            data = pack_agent(source.get(digest))
            packed[digest] = hashlib.sha256(data).hexdigest()
            self._put(packed[digest], lambda data=data: data)  # type: ignore[misc]
        return packed

    def _put(self, digest: str, read: Callable[[], bytes]) -> None:
        if self._copies.path(digest).exists():
            return
        self._copies.put(read())
        self._new += 1

    def _copy_others(self, known: Collection[str]) -> dict[str, FileCopy]:
        copies = {}
        for name in self._other_files():
            # Services remove files at any time.
            with suppress(FileNotFoundError):
                if name not in known:
                    copies[name] = self._copy(name)
        return copies

    def _copy(self, name: str) -> FileCopy:
        path = self._planned.folder / name
        mode = stat.S_IMODE(path.stat().st_mode) & 0o777
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB; move it out of the contest's folder")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        self._put(digest, lambda: data)
        return FileCopy(sha256=digest, mode=mode)

    def _other_files(self) -> Iterator[str]:
        home, database = self._planned.folder, database_file(self._planned)
        left_out = {self._planned.files.resolve(), self._planned.agents.resolve()}
        own = set()
        if database is not None:
            own = {database.with_name(database.name + end).resolve() for end in ("", "-wal", "-shm", "-journal")}
        mail = self._planned.plan.intake.notices.password_file
        waiting = [home]
        while waiting:
            found: list[Path] = []
            with suppress(FileNotFoundError):
                found = sorted(waiting.pop().iterdir())
            for path in found:
                if path.is_symlink() or path.resolve() in left_out:
                    continue
                if path.is_dir():
                    # An export can be written again.
                    if not (path / "manifest.sig").exists():
                        waiting.append(path)
                elif path.is_file() and path.resolve() not in own and not _is_derived(path):
                    name = path.relative_to(home).as_posix()
                    if name == mail or _is_private_key(path):
                        self._keys.add(name)
                    else:
                        yield name


def _is_derived(path: Path) -> bool:
    is_lock = path.name == "lock" or path.suffix == ".lock" or path.name == ".lock"
    return is_lock or path.name.endswith(PARTIAL) or path.name in ("events.ndjson", "export-pages.ndjson")


def _is_private_key(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"PRIVATE KEY-----" in file.read(200)
    except FileNotFoundError:
        return False


def counted_attempts(lines: Iterable[JournalLine]) -> dict[str, int]:
    """The attempt that counts, by game."""
    counted: dict[str, int] = {}
    for line in lines:
        if line.event == AttemptState.ACCEPTED:
            counted[line.game or ""] = line.attempt or 0
        elif line.event == AttemptState.ANNULLED:
            counted.pop(line.game or "", None)
    return counted


def _records(store: Store, contest: str) -> set[str]:
    return {attempt.record for attempt in store.attempts(contest) if attempt.record is not None}


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
