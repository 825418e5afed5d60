"""Examines the host for the organisers' page: the process that parses requests opens no socket of the Engine."""

from collections.abc import Sequence
from datetime import UTC, datetime

from judge.base.worker_processes import Worker, wait
from judge.host.doctor import run_checks
from judge.host.findings import HostFinding
from judge.host.host import read_host
from judge.host.kernel_checks import NAMES
from judge.sandbox.machine.cores import on_all_processors
from judge.web.player.status import PlayerFiles


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
