"""A value that is read from a file, and read again after each change of the file."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from judge.base.errors import InputError
from judge.base.logs import get_logger

Value = TypeVar("Value")

log = get_logger()


class WatchedFile(Generic[Value]):
    """The value of a file. A file with a mistake, or that cannot be read, does not change it."""

    def __init__(self, path: Path | None, read: Callable[[Path], Value], value: Value) -> None:
        """`read` raises InputError for a mistake. `value` applies until the first read, without a `path` always."""
        self._path = path
        self._read = read
        self._value = value
        self._version: tuple[int, ...] | None = None  # the file may be newer than the value
        self.problem = ""
        """The mistake in the file, which has no effect."""

    def current_value(self) -> Value:
        """The current value."""
        version = self._version_of_file()
        if self._path is not None and version and version != self._version:
            self._version = version
            try:
                self._value = self._read(self._path)
                self.problem = ""
            except InputError as error:
                self.problem = str(error)
                log.error("a changed file has a mistake; it has no effect", error=str(error))  # noqa: TRY400
        return self._value

    def _version_of_file(self) -> tuple[int, ...]:
        try:
            found = None if self._path is None else self._path.stat()
        except OSError:
            return ()
        return () if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
