"""Opens an SQLite database without write access: on read-only media, or of another user.

In WAL mode SQLite creates two more files next to the database.

    existing files          how it is opened
    neither                 `immutable=1`: it has no writer, and no file is created
    `-wal` and `-shm`       `mode=ro`: another process may be writing
    `-wal` alone            a private copy of both: the `-wal` has data, and a `-shm` cannot be created
"""

import os
import shutil
import sqlite3
import weakref
from contextlib import suppress
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from judge.base.errors import HostError, os_errors_as
from judge.base.owner import make_directory, remove_directory


def only_reads(path: Path) -> bool:
    """Whether a database can be read but not written."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


class ReadOnlyFile:
    """A database file that is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._taken: tuple[int, int, int] | None = None
        self._folder: Path | None = None

    def connect(self) -> sqlite3.Connection:
        # Writers create and remove files at any time.
        if not _size(self._path, "wal"):
            return _opened(self._path, "immutable=1")
        if self._path.with_name(f"{self._path.name}-shm").exists():
            with suppress(sqlite3.OperationalError):
                return _opened(self._path, "mode=ro")
        return _opened(self._newest_copy(), "mode=ro")

    def _newest_copy(self) -> Path:
        with self._lock:
            found = _size(self._path, ""), _size(self._path, "wal"), self._path.stat().st_mtime_ns
            if self._folder is None or found != self._taken:
                with os_errors_as(HostError, f"{self._path} cannot be copied for reading"):
                    folder = make_directory()
                    # Open connections keep an older copy.
                    weakref.finalize(self, remove_directory, folder)
                    for file in (self._path, self._path.with_name(f"{self._path.name}-wal")):
                        shutil.copyfile(file, folder / file.name)
                self._folder, self._taken = folder, found
            return self._folder / self._path.name


def _opened(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, check_same_thread=False)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _size(path: Path, end: str) -> int:
    try:
        return (path.with_name(f"{path.name}-{end}") if end else path).stat().st_size
    except OSError:
        return 0
