"""A value that is read from a file, and read again after each change of the file."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from judge.base.errors import InputError
from judge.base.logs import get_logger

Value = TypeVar("Value")

log = get_logger()


class WatchedFile(Generic[Value]):
    """The value of a file, for any thread. A file with a mistake, or that cannot be read, does not change it."""

    def __init__(self, path: Path | None, read: Callable[[Path], Value], value: Value) -> None:
        """`read` raises InputError for a mistake. `value` applies until the first read, without a `path` always."""
        self._path = path
        self._read = read
        self._value = value
        self._version: tuple[int, int, int] | None = None  # the file may be newer than the value
        self._lock = Lock()
        self.problem = ""
        """The mistake in the file, which has no effect."""

    def current_value(self) -> Value:
        """The current value."""
        if self._path is None:
            return self._value
        try:
            status = self._path.stat()
        except OSError:
            return self._value
        version = (status.st_mtime_ns, status.st_size, status.st_ino)
        with self._lock:
            if version == self._version:
                return self._value
            self._version = version
        value, problem = self._value, ""
        try:
            value = self._read(self._path)
        except InputError as error:
            problem = str(error)
            log.error("a changed file has a mistake; it has no effect", error=problem)  # noqa: TRY400
        with self._lock:
            if version == self._version:  # else another thread has read a newer file
                self._value, self.problem = value, problem
            return self._value
