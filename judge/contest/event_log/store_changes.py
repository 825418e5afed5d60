"""Detects changes of a contest's store: by inotify, or by polling (PostgreSQL, some file systems)."""

import ctypes
import os
import time
from contextlib import suppress
from pathlib import Path

from judge.contest.plan import Planned

POLL_INTERVAL_S = 0.25

_IN_MODIFY, _IN_NONBLOCK, _IN_CLOEXEC = 0x2, os.O_NONBLOCK, os.O_CLOEXEC


def _files(planned: Planned) -> tuple[Path, ...]:
    start, name = "sqlite:///", planned.store_url.removeprefix("sqlite:///")
    return (Path(name), Path(f"{name}-wal")) if planned.store_url.startswith(start) else ()


class StoreStamp:
    """A value that changes with a contest's store, or every `POLL_INTERVAL_S` without SQLite."""

    def __init__(self, planned: Planned) -> None:
        self._paths = _files(planned)

    def read(self) -> object:
        if not self._paths:
            return int(time.monotonic() / POLL_INTERVAL_S)
        found = []
        for path in self._paths:
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size))
        return found


class StoreChanges:
    """A file descriptor, readable after changes of the store; -1 without notification."""

    def __init__(self, planned: Planned) -> None:
        self._paths = _files(planned)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC) if self._paths else -1
        self.watch()

    def fileno(self) -> int:
        return self._fd

    def watch(self) -> None:
        """Watch the existing files; SQLite recreates them."""
        watched = [self._libc.inotify_add_watch(self._fd, os.fsencode(path), _IN_MODIFY) >= 0 for path in self._paths]
        if self._fd >= 0 and not any(watched):
            self.close()

    def take(self) -> None:
        """Discard the changes so far."""
        with suppress(BlockingIOError):
            os.read(self._fd, 1 << 16)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
