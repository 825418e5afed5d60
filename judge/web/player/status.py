"""What a contest's player reports to the service, also about its host: the process that parses requests opens no socket
of the Engine.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import InputError
from judge.base.locks import try_lock_directory
from judge.base.parsing import FailFastTuple, FrozenModel, StrictDatetime, parse_foreign
from judge.base.worker_processes import Worker, wait
from judge.contest.run_lock import has_player, player_directory
from judge.host.doctor import run_checks
from judge.host.findings import HostFinding
from judge.host.host import read_host
from judge.host.kernel_checks import NAMES
from judge.sandbox.machine.cores import on_all_processors

STATUS, REQUEST = "status.json", "check-host"
"""Files of the player's directory."""

MAX_STATUS_BYTES = 1 << 20

NO_PLAYER = "no process checks submissions and plays: judge serve --only-play starts one"
MISTAKE = "the contest's file has a mistake: nothing checks submissions and plays until it is repaired"
NOT_OPENED = "nothing checks submissions and plays: the contest's store or host failed, and is tried again"
UNREADABLE = "the status of the process that plays is unreadable"


class PlayerStatus(FrozenModel):
    """`waiting`: submissions that wait for a slot. `problems`: public. `mistake`: in the contest's file. `findings`:
    about its host, which was examined at `checked_at`.
    """

    waiting: FailFastTuple[int] = ()
    problems: FailFastTuple[str] = ()
    mistake: str = ""
    findings: FailFastTuple[HostFinding] = ()
    checked_at: StrictDatetime | None = None


class PlayerFiles:
    """Lock and status of a contest's player. Of several processes, one has the lock, and writes the status."""

    def __init__(self, folder: Path, contest: str) -> None:
        """Of a contest in its folder."""
        self._directory = player_directory(folder, contest)
        self._lock: IO[bytes] | None = None
        self._written = b""

    def take(self) -> bool:
        """Whether this process has the lock, which it takes if it is free. Raises OSError."""
        if self._lock is None and (lock := try_lock_directory(self._directory)) is not None:
            self._lock = lock
            (self._directory / STATUS).unlink(missing_ok=True)  # of a process that was killed
        return self._lock is not None

    def write(self, status: PlayerStatus) -> None:
        """Write a changed status, with the lock. Raises OSError."""
        data = status.model_dump_json().encode()
        if self.take() and data != self._written:
            write_durably(self._directory / STATUS, data)
            self._written = data

    def take_request(self) -> bool:
        """Whether a service has asked for a check of the host since the last call. Raises OSError."""
        try:
            (self._directory / REQUEST).unlink()
        except FileNotFoundError:
            return False
        return True

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def player_status(folder: Path, contest: str) -> PlayerStatus:
    """The current status of the player of a contest in its folder."""
    if not has_player(folder, contest):
        return PlayerStatus(problems=(NO_PLAYER,))
    path = player_directory(folder, contest) / STATUS
    if not path.exists():
        return PlayerStatus()
    try:
        return parse_foreign(PlayerStatus, read_bounded(path, MAX_STATUS_BYTES), str(path))
    except InputError:
        return PlayerStatus(problems=(UNREADABLE,))


def ask_for_host_check(folder: Path, contest: str) -> None:
    """Let the player of a contest in its folder, if there is one, examine its host. Raises OSError."""
    if has_player(folder, contest):
        (player_directory(folder, contest) / REQUEST).touch()


# --- the host ---------------------------------------------------------------------------------------------------------


class HostCheck:
    """`judge doctor` in a worker process, when a service has asked for it."""

    def __init__(self, files: PlayerFiles) -> None:
        self.findings: Sequence[HostFinding] = ()
        self.checked_at: datetime | None = None
        self._files = files
        self._worker = Worker[Sequence[HostFinding]]()
        self._is_running = False

    def step(self, *, is_playing: bool) -> None:
        """Begin a check that is asked for, or take its findings. It keeps a core busy, so none begins during games."""
        if self._is_running and wait([self._worker], 0):
            self._is_running = False
            self.findings = self._worker.result()
            self.checked_at = datetime.now(UTC)
        elif not self._is_running and not is_playing and self._files.take_request():
            self._worker.start(examine_host)
            self._is_running = True

    def close(self) -> None:
        self._worker.kill()


def examine_host() -> Sequence[HostFinding]:
    """The findings about this host."""
    with on_all_processors():
        return run_checks(read_host(NAMES))
