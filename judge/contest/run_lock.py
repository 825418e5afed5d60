"""The lock of a contest's folder: one process per machine plays it. The lock of a contest's player."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import try_lock
from judge.contest.file_names import LOCK_FILE, PLAYER_DIRECTORY
from judge.contest.plan import Planned


@contextmanager
def alone(planned: Planned) -> Iterator[None]:
    """Hold the folder's lock. Raises InputError if another process has it."""
    path = planned.folder / LOCK_FILE
    with os_errors_as(HostError, path):
        file = path.open("ab+", buffering=0)  # unbuffered: closing must not also fail on a full disk
    with file:
        # A shared lock belongs to a concurrent `player_of`.
        if not try_lock(file) and not (try_lock(file, shared=True) and try_lock(file)):
            file.seek(0)
            raise InputError(
                f"another judge (process {file.read(20).decode('ascii', 'replace').strip() or 'unknown'}) "
                f"runs {planned.name}; "
                f"judge contest pause {planned.path} stops it after the running games"
            )
        with os_errors_as(HostError, path, ": make room there, and run the same command again"):
            file.truncate(0)
            file.write(b"%d" % os.getpid())
        yield


def player_of(folder: Path) -> str | None:
    """Id of the process that plays the contest of a folder on this machine, or None."""
    try:
        with (folder / LOCK_FILE).open("r", encoding="ascii", errors="replace") as file:
            return None if try_lock(file, shared=True) else file.read(20).strip() or "unknown"
    except OSError:
        return None


def player_directory(folder: Path, contest: str) -> Path:
    """The directory of a contest's player, in the contest's folder."""
    return folder / PLAYER_DIRECTORY / contest


def has_player(folder: Path, contest: str) -> bool:
    """Whether a service on this machine checks the contest's submissions, starts and exports it."""
    try:
        with (player_directory(folder, contest) / "lock").open("rb") as file:
            return not try_lock(file, shared=True)
    except OSError:
        return False
