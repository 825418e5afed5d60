"""Locks on files and directories (flock(2)), which the kernel releases when the file is closed or the process ends.

Nothing is written to the file. Windows has no flock: there, records can only be read.
"""

import ctypes
import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, get_ident
from typing import IO, Any

WAKE_UP_INTERVAL_S = 0.001


def lock(file: int | IO[Any], *, shared: bool = False) -> None:
    """Wait for the lock. Raises OSError."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def try_lock(file: int | IO[Any], *, shared: bool = False) -> bool:
    """Whether the file is locked now, without waiting. Raises OSError."""
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_lock_directory(directory: Path) -> IO[bytes] | None:
    """Lock the file `lock` of a directory, which is created if missing. None if it is locked. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    file = (directory / "lock").open("wb")
    if try_lock(file):
        return file
    file.close()
    return None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock of a file, which is created if missing. Raises OSError."""
    with path.open("ab") as file:
        lock(file)
        yield


class CancellableWaits:
    """Waits of some threads for locks, until another thread cancels them."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._threads: set[int] = set()
        """In a wait, and so alive while `_guard` is locked."""
        self._is_cancelled = False

    def lock(self, file: int, *, shared: bool = False) -> bool:
        """Wait for the lock. False, without it, once `cancel` is called. Raises OSError."""
        import fcntl

        libc = ctypes.CDLL(None, use_errno=True)
        with self._waiting():
            while not self._is_cancelled:
                # fcntl.flock would continue after a signal.
                if libc.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX) == 0:
                    return True
                number = ctypes.get_errno()
                if number != errno.EINTR:
                    raise OSError(number, os.strerror(number))
        return False

    def cancel(self) -> None:
        """End all waits, and return when they have ended. Later ones end at once."""
        self._is_cancelled = True
        _handle_wake_up()
        while True:
            with self._guard:
                for thread in self._threads:
                    signal.pthread_kill(thread, signal.SIGURG)
                if not self._threads:
                    return
            time.sleep(WAKE_UP_INTERVAL_S)  # a signal before the system call has no effect

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        thread = get_ident()
        with self._guard:
            self._threads.add(thread)
        try:
            yield
        finally:
            with self._guard:
                self._threads.remove(thread)


def _handle_wake_up() -> None:
    """Let SIGURG, which is ignored by default, only interrupt system calls.

    Only the main thread could set a handler in Python. `abs` is a C function without effects.
    """
    libc = ctypes.CDLL(None)
    libc.signal(int(signal.SIGURG), ctypes.cast(libc.abs, ctypes.c_void_p))
    signal.siginterrupt(signal.SIGURG, True)
