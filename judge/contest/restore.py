"""Restores a contest from a backup, complete or not at all."""

import random
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from judge.agents.store import AgentStore
from judge.base.durable_files import read_bounded, sha256_of, sync
from judge.base.errors import HostError, InputError
from judge.base.parsing import parse_json
from judge.base.progress import Tracker, untracked
from judge.base.worker_processes import in_parallel
from judge.contest.backup import BackupManifest, database_file, log_of, read_manifest, refuse_fork
from judge.contest.contest import open_store
from judge.contest.plan import PLAN_FILE, load_plan
from judge.referee.bounds import MAX_RECORD_BYTES
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.store.files import Files
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, read_checkpoint


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The manifest and the number of replayed games."""

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
    partial = target.absolute().with_name(f".{target.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700, parents=True)
        _write(source, partial, manifest, track)
        replayed = _check(partial, manifest, sample, since, track)
        for path in (partial, *partial.rglob("*")):
            sync(path)
        partial.replace(target)
        sync(target.absolute().parent)
    except OSError as error:
        raise HostError(f"{error.filename or target}: {error.strerror}: nothing is restored") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return RestoreReport(manifest, replayed)


def _write(source: Path, folder: Path, manifest: BackupManifest, track: Tracker) -> None:
    copies = Files(source / "files")
    for name, copy in manifest.files.items():
        path = folder / _plain(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(copies.get(copy.sha256))
        path.chmod(copy.mode)
    if not (folder / PLAN_FILE).is_file():
        raise InputError(f"{source}: the backup has no {PLAN_FILE}")
    planned = load_plan(folder / PLAN_FILE)
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
        path = _database_of(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(database, path)
        path.chmod(0o600)


def _database_of(folder: Path) -> Path:
    path = database_file(load_plan(folder / PLAN_FILE))
    if path is None:
        raise InputError(f"{PLAN_FILE} names PostgreSQL, the backup has an SQLite database")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path}: the contest's database is outside its folder; move it to its place by hand")
    return path


def _plain(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or str(path) != name:
        raise InputError(f"{name!r:.100}: not a valid path of a file in a backup")
    return name


def _check(folder: Path, manifest: BackupManifest, sample: int, since: Path | None, track: Tracker) -> int:
    planned = load_plan(folder / PLAN_FILE)
    if planned.name != manifest.contest:
        raise InputError(f"{PLAN_FILE} names the contest {planned.name!r}, the backup {manifest.contest!r}")
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
    if missing := sorted(records - set(manifest.stored)):
        raise InputError(f"{len(missing)} records are missing in the backup, first {missing[0]}")
    chosen = random.SystemRandom().sample(sorted(records), min(sample, len(records)))
    paths = [Files(planned.files).path(digest) for digest in chosen]
    for problems in track(in_parallel(_replay_problems, paths), len(paths), "replaying games"):
        if problems:
            raise InputError(f"a replay of the restored records failed: {problems[0]}")
    return len(paths)


def _replay_problems(path: Path) -> Sequence[str]:
    data = read_bounded(path, MAX_RECORD_BYTES)
    file = parse_json(RecordFile, data, f"{path}: not a record of a game")
    return [f"{path.name}: {problem}" for problem in verify(file).problems]
