"""Copies a contest to another directory while it runs.

`judge.contest.backup_check` shows its form. The database is copied first: files are stored before the rows that name
them, so later copies are complete. A second backup replaces the first after all checks of a restore.
"""

import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Set
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import judge
from judge.agents.program_files import program_digest
from judge.agents.store import AgentStore, pack_agent
from judge.base.durable_files import PARTIAL, create_private, is_directory, sha256_of, sync, write_durably
from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock_directory
from judge.base.progress import Tracker, untracked
from judge.broadcast.log import LOG_FILE
from judge.contest.backup_check import (
    FORMER,
    MANIFEST,
    BackupManifest,
    FileCopy,
    StoreKind,
    check_backup,
    digest_of_copies,
    opened_copy,
    read_contents,
    read_manifest,
    refuse_fork,
)
from judge.contest.contest import open_store
from judge.contest.file_names import EXPORTS, LINKS, LOCK_FILE, PLAYER_DIRECTORY, PUBLISHED
from judge.contest.plan import Planned
from judge.store.files import Files
from judge.store.sqlite_files import connected, refuse_damage
from judge.transparency.log import ContestLog

MAX_FILE_BYTES = 1 << 30
"""Bytes of a file that is not a record."""

DERIVED = frozenset(
    {LOCK_FILE, LOG_FILE, EXPORTS, PUBLISHED, PLAYER_DIRECTORY, "submissions/incoming", "practice/incoming"}
)
"""Left out of backups, because the judge makes them again."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """`new_files`: that earlier backups lack. `links`: not copied."""

    manifest: BackupManifest
    new_files: int
    links: tuple[str, ...] = ()


def back_up(
    planned: Planned,
    target: Path,
    keys: Path | None = None,
    dump: Path | None = None,
    track: Tracker = untracked,
    sample: int = 20,
) -> BackupReport:
    """Copy a contest into `target`: new, empty, or an earlier backup of it.

    `keys`: new directory for private keys. `dump`: from pg_dump. `sample`: games to replay. Raises InputError if it
    cannot be restored or does not continue the earlier log, HostError for damage; an earlier backup then stays.
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
        file = try_lock_directory(target)
        if file is None:
            raise HostError(f"{target}: another backup is being written there")
        with file:
            return _Backup(planned, target, track).write(keys, dump, sample)
    except FileExistsError:
        raise InputError(f"{keys}: exists; name a new directory for the keys") from None
    except (OSError, sqlite3.Error) as error:
        raise HostError(f"{target}: the backup is not complete: {error}; a former one is unchanged") from None


class _Backup:
    def __init__(self, planned: Planned, target: Path, track: Tracker) -> None:
        self._planned = planned
        self._home = planned.folder.resolve()
        self._target = target
        self._track = track
        self._copies = Files(target / "files")
        self._new = 0
        self._checked: set[str] = set()
        self._found: dict[str, FileCopy] = {}
        self._keys: set[str] = set()
        self._links: set[str] = set()
        self._programs = dict(_programs(planned))

    def write(self, keys: Path | None, dump: Path | None, sample: int) -> BackupReport:
        planned, name = self._planned, self._planned.name
        former = read_manifest(self._target) if (self._target / MANIFEST).exists() else None
        if former is not None and former.contest != name:
            raise InputError(f"{self._target}: has a backup of {former.contest!r}; name another directory")
        self._copies.sweep()
        # Before the database: no file is newer than it.
        self._copy_folder()
        kind, database = self._copy_database(dump)
        with opened_copy(database, kind) as store:
            contents = read_contents(store, name)
        if former is not None:
            refuse_fork(former.log_size, former.log_root, contents.log, f"{self._target / MANIFEST}")
        if kind == "postgresql":
            with closing(open_store(planned)) as store:
                refuse_fork(
                    contents.log.size, contents.log.tree.root().hex(), ContestLog.stored(name, store), str(dump)
                )
        # Uploads are stored before their rows.
        self._copy_folder()
        agents = self._copy_agents()
        stored = self._copy_stored()
        if missing := sorted(contents.records - stored):
            raise HostError(f"{planned.files}: {len(missing)} records are missing, first {missing[0]}")
        manifest = BackupManifest(
            judge=judge.__version__,
            contest=name,
            taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
            store=kind,
            database=self._keep(database),
            log_size=contents.log.size,
            log_root=contents.log.tree.root().hex(),
            games=len(contents.results),
            files=self._found,
            keys=tuple(sorted(self._keys)),
            programs=self._digests_of_programs(),
            agents=agents,
            stored=tuple(sorted(stored)),
        )
        proved = {} if former is None else former.agents
        check_backup(self._target, manifest, sample, dict(agents.items() - proved.items()), self._track)
        if keys is not None:
            for path in sorted(self._keys):
                create_private(keys / path.replace("/", "-"), (planned.folder / path).read_bytes())
        self._replace(former, manifest)
        return BackupReport(manifest, self._new, tuple(sorted(self._links)))

    def _replace(self, former: BackupManifest | None, manifest: BackupManifest) -> None:
        kept = {manifest.database}
        if former is not None:
            kept.add(former.database)
            write_durably(self._target / FORMER, former.model_dump_json().encode())
        write_durably(self._target / MANIFEST, manifest.model_dump_json().encode())
        for old in (self._target / "database").iterdir():
            if old.name not in kept:
                old.unlink()

    # --- the database ------------------------------------------------------------------------------------------------

    def _copy_database(self, dump: Path | None) -> tuple[StoreKind, Path]:
        folder = self._target / "database"
        folder.mkdir(exist_ok=True)
        partial_copy = folder / PARTIAL
        for path in folder.glob(f"{PARTIAL}*"):
            path.unlink()
        source = self._planned.database_file
        if source is not None:
            if dump is not None:
                raise InputError("--dump is for contests in PostgreSQL; judge copies SQLite itself")
            refuse_damage(source)
            with closing(connected(source)) as live, closing(sqlite3.connect(partial_copy)) as copy:
                live.backup(copy)
            return "sqlite", partial_copy
        if dump is None:
            raise InputError(
                "the contest is in PostgreSQL: first run pg_dump --format=custom --file=cup.dump DATABASE, "
                "then give --dump cup.dump"
            )
        shutil.copyfile(dump, partial_copy)
        return "postgresql", partial_copy

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
            if not self._has(digest):
                self._put(digest, source.get(digest))
        return set(digests)

    def _copy_agents(self) -> dict[str, str]:
        source = AgentStore(self._planned.agents)
        packed = {}
        for digest in sorted(source.digests()):
            data = pack_agent(source.get(digest))
            packed[digest] = hashlib.sha256(data).hexdigest()
            self._put(packed[digest], data)
        return packed

    def _has(self, digest: str) -> bool:
        """Whether the backup has it; a damaged copy is removed."""
        path = self._copies.path(digest)
        if digest not in self._checked and path.exists():
            if sha256_of(path) == digest:
                self._checked.add(digest)
            else:
                path.unlink()
        return digest in self._checked

    def _put(self, digest: str, data: bytes) -> None:
        if self._has(digest):
            return
        self._copies.put(data)
        self._checked.add(digest)
        self._new += 1

    def _copy_folder(self) -> None:
        for name in self._names():
            # Services remove files at any time.
            with suppress(FileNotFoundError):
                if name not in self._found:
                    self._found[name] = self._copy(name)

    def _copy(self, name: str) -> FileCopy:
        path = self._planned.folder / name
        mode = stat.S_IMODE(path.stat().st_mode) & 0o777
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB; move it out of the contest's folder")
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        self._put(digest, data)
        return FileCopy(sha256=digest, mode=mode)

    def _names(self) -> Iterator[str]:
        """Adds to `_keys` and `_links`."""
        left_out, mail = self._left_out(), self._planned.plan.intake.notices.password_file
        waiting: list[tuple[str, Set[Path]]] = [("", {self._home})]
        while waiting:
            folder, above = waiting.pop()
            names: list[str] = []
            with suppress(FileNotFoundError):
                names = sorted(path.name for path in (self._home / folder).iterdir())
            for name in (f"{folder}/{each}".removeprefix("/") for each in names):
                path = self._home / name
                if name in left_out or (not folder and name.endswith(PARTIAL)):
                    continue
                if is_directory(path):
                    real = path.resolve()
                    is_followed = (
                        real.is_relative_to(self._home) and real not in above and not self._is_of_program(name)
                    )
                    if is_followed or not path.is_symlink():
                        waiting.append((name, {*above, real}))
                    else:
                        self._links.add(name)
                elif path.is_file():
                    try:
                        name.encode()
                    except UnicodeEncodeError:
                        raise InputError(
                            f"{name!a}: its name is not UTF-8: rename it, or move it out of the folder"
                        ) from None
                    if name in (mail, LINKS) or (not self._is_of_program(name) and _is_private_key(path)):
                        self._keys.add(name)
                    else:
                        yield name

    def _left_out(self) -> Set[str]:
        found = {*DERIVED}
        paths = [self._planned.files, self._planned.agents]
        if (database := self._planned.database_file) is not None:
            paths += [database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal")]
        for path in paths:
            with suppress(ValueError):
                found.add(path.resolve().relative_to(self._home).as_posix())
        return found

    def _is_of_program(self, name: str) -> bool:
        return any(name.startswith(f"{program}/") for program in self._programs)

    def _digests_of_programs(self) -> dict[str, str]:
        digests = {}
        for name, path in self._programs.items():
            digests[name] = program_digest(path)
            if digests[name] != digest_of_copies(self._found, name):
                raise HostError(f"{path}: the copy differs: the agent changes during the backup; try again")
        return digests


def _programs(planned: Planned) -> Iterator[tuple[str, Path]]:
    for each in planned.plan.agents:
        path = Path(each.locate(planned.folder))
        name = os.path.normpath(each.path)
        is_inside = not Path(name).is_absolute() and name.partition("/")[0] not in ("", ".", "..")
        if is_inside and is_directory(path) and not path.is_symlink():
            yield Path(name).as_posix(), path


def _is_private_key(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        return b"PRIVATE KEY-----" in file.read(200)
    return False
