"""Who plays a contest on this machine: the process that has the lock of its folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from judge.base.errors import HostError, InputError
from judge.base.locks import try_lock
from judge.contest.plan import Planned

LOCK_FILE = "lock"


@contextmanager
def alone(planned: Planned) -> Iterator[None]:
    """Hold the lock of the contest's folder. Raises InputError if another judge runs it."""
    path = planned.folder / LOCK_FILE
    try:
        file = path.open("ab+", buffering=0)  # unbuffered: on a full disk, closing does not fail as well
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    with file:
        # A shared lock is of `player_of`, which looked at this moment.
        if not try_lock(file) and not (try_lock(file, shared=True) and try_lock(file)):
            file.seek(0)
            raise InputError(
                f"another judge (process {file.read(20).decode('ascii', 'replace').strip() or 'unknown'}) "
                f"runs {planned.name}; "
                f"judge contest pause {planned.path} ends it politely"
            )
        try:
            file.truncate(0)
            file.write(b"%d" % os.getpid())
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}: make room there, and run the same command again") from None
        yield


def player_of(planned: Planned) -> str | None:
    """The process that plays a contest on this machine, as its lock says; None if nobody does."""
    try:
        with (planned.folder / LOCK_FILE).open("r", encoding="ascii", errors="replace") as file:
            return None if try_lock(file, shared=True) else file.read(20).strip() or "unknown"
    except OSError:
        return None
