"""When a contest's store has changed: seen from its files, and waited for without looking (inotify).

What changes elsewhere, as in PostgreSQL or on a file system that tells nothing, is looked for a few times a second.
"""

import ctypes
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from judge.contest.plan import Planned

LOOK_S = 0.25
"""How often it is looked for what nobody tells."""

_IN_MODIFY, _IN_NONBLOCK, _IN_CLOEXEC = 0x2, os.O_NONBLOCK, os.O_CLOEXEC


def _files(planned: Planned) -> tuple[Path, ...]:
    start, name = "sqlite:///", planned.store_url.removeprefix("sqlite:///")
    return (Path(name), Path(f"{name}-wal")) if planned.store_url.startswith(start) else ()


def stamp_of(planned: Planned) -> Callable[[], object]:
    """What changes whenever the store does; a few times a second if that cannot be seen from its files."""
    paths = _files(planned)
    if not paths:
        return lambda: int(time.monotonic() / LOOK_S)

    def stamp() -> object:
        found = []
        for path in paths:
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size))
        return found

    return stamp


class StoreChanges:
    """A file descriptor that can be read when the files of a store have changed; `fileno` is -1 where none tells."""

    def __init__(self, planned: Planned) -> None:
        self._paths = _files(planned)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.inotify_init1(_IN_NONBLOCK | _IN_CLOEXEC) if self._paths else -1
        self.watch()

    def fileno(self) -> int:
        """The descriptor."""
        return self._fd

    def watch(self) -> None:
        """Watch the files that there are now; SQLite removes one and makes it again. Twice is once."""
        watched = [self._libc.inotify_add_watch(self._fd, os.fsencode(path), _IN_MODIFY) >= 0 for path in self._paths]
        if self._fd >= 0 and not any(watched):
            self.close()

    def take(self) -> None:
        """Forget what has changed so far."""
        with suppress(BlockingIOError):
            os.read(self._fd, 1 << 16)

    def close(self) -> None:
        """Watch nothing any more."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
